// SPDX-License-Identifier: Apache-2.0
// The version, and the man pages and the completion that the program generates from its own
// options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const char* const kCommands[] = {"run", "bench", "inspect", "devices", "quantize", "convert"};

class Manual : public testing::Test
{
  protected:
    void SetUp() override
    {
        const Finished finished = run({"manual", folder_});
        ASSERT_EQ(finished.status, 0) << finished.errors;
    }

    std::string read(const std::string& name) const
    {
        return tools::read_file(folder_ + "/" + name);
    }

    std::string folder_ = scratch_folder();
};

// Returns the long options in the output of --help.
std::vector<std::string> options_of(const std::string& help)
{
    std::vector<std::string> options;
    for (size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
        const bool begins_column = at >= 2 && (help[at - 1] == ' ' || help[at - 1] == ',') &&
                                   help.rfind("\n  ", at) + 8 >= at;
        if (begins_column) options.push_back(help.substr(at, help.find_first_of(" ,\n", at) - at));
    }
    return options;
}

TEST_F(Manual, EveryOptionOfHelpIsThere)
{
    const std::string completion = read("bash/tengine");
    for (const std::string command : kCommands) {
        const std::string page = read("man1/tengine-" + command + ".1");
        const std::vector<std::string> options = options_of(run({command, "--help"}).output);
        EXPECT_GE(options.size(), 2u) << command;
        for (const std::string& option : options) {
            std::string escaped;
            for (const char letter : option)
                escaped += letter == '-' ? "\\-" : std::string(1, letter);
            EXPECT_THAT(page, HasSubstr(escaped)) << command;
            EXPECT_THAT(completion, HasSubstr(option)) << command;
        }
    }
}

TEST_F(Manual, ThePagesKnowEachOther)
{
    const std::string page = read("man1/tengine.1");
    EXPECT_THAT(page, testing::StartsWith(".TH \"TENGINE\" 1 \"\" \"tengine "));
    for (const std::string command : kCommands) {
        EXPECT_THAT(page, HasSubstr(".BR tengine\\-" + command + " (1)"));
        EXPECT_THAT(read("man1/tengine-" + command + ".1"), HasSubstr(".BR tengine (1)"));
    }
    EXPECT_THAT(page, Not(HasSubstr("manual")));
    EXPECT_THAT(run({"--help"}).output, Not(HasSubstr("manual")));
}

// If this fails, the page has to be generated again: tengine manual DIR && cp DIR/cli.md docs/
TEST_F(Manual, ThePageInDocsIsUpToDate)
{
    EXPECT_EQ(read("cli.md"), tools::read_file(TENGINE_SOURCE_DIR "/docs/cli.md"));
}

TEST(Version, HasTheCommitOfACheckout)
{
    EXPECT_THAT(run({"--version"}).output,
                MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+[-a-z]*( \\([0-9a-f]+\\))?\n"));
}

}  // namespace
}  // namespace tengine::program
