// SPDX-License-Identifier: Apache-2.0
// A file that a comment names with its folder exists: comments follow moves.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

namespace fs = std::filesystem;

// The folders that comments leave out of a path, besides the file's own and the one above it.
const std::vector<std::string> kRoots = {
    "", "source", "source/device", "source/device/cpu", "include", "include/tengine", "tests",
};

// Files that the build makes, and headers of other libraries.
const std::regex kForeign("registry/.*|<.*|.*tensorflow/.*");

std::vector<std::string> find_paths(const std::string& text)
{
    static const std::regex path("[<\\w.-]*(?:\\w/)[\\w./-]*\\.(?:h|hpp|c|cc)\\b");
    std::vector<std::string> paths;
    for (std::sregex_iterator match(text.begin(), text.end(), path), end; match != end; ++match)
        if (!std::regex_match(match->str(), kForeign)) paths.push_back(match->str());
    return paths;
}

bool exists(const std::string& path, const fs::path& folder)
{
    const fs::path root(TENGINE_SOURCE_DIR);
    return fs::exists(root / folder / path) || fs::exists(root / folder.parent_path() / path) ||
           std::any_of(kRoots.begin(), kRoots.end(),
                       [&](const std::string& above) { return fs::exists(root / above / path); });
}

TEST(Paths, InCommentsExist)
{
    size_t number = 0;
    for (const char* top : {"include", "source", "tools", "examples", "benchmark", "tests"}) {
        for (const SourceFile& file : code_below(top)) {
            if (starts_with(file.path, "tests/integration/original_device/toynpu")) continue;
            const fs::path folder = fs::path(file.path).parent_path();
            for (const std::string& line : file.lines) {
                const size_t comment = line.find("// ");
                if (comment == std::string::npos) continue;
                for (const std::string& path : find_paths(line.substr(comment))) {
                    EXPECT_TRUE(exists(path, folder)) << file.path << " names " << path;
                    ++number;
                }
            }
        }
    }
    EXPECT_GT(number, 100u) << "comments name files in another way now";
}

TEST(Paths, AreRecognised)
{
    using Paths = std::vector<std::string>;
    EXPECT_EQ(find_paths("see graph/body.h, x.cc and device/cpu/a-inl.h."),
              (Paths{"graph/body.h", "device/cpu/a-inl.h"}));
    EXPECT_EQ(find_paths("16 * gates/hidden, registry/selection.h, <hwy/highway.h>"), Paths());
    EXPECT_TRUE(exists("graph/body.h", "source/operator"));
    EXPECT_TRUE(exists("onnx/row.h", "source/operator") || exists("row.h", "source/operator/onnx"));
    EXPECT_FALSE(exists("graph/no_such_file.h", "source/operator"));
}

}  // namespace
}  // namespace tengine::rules
