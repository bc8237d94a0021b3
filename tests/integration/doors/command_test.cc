// SPDX-License-Identifier: Apache-2.0
// Every kind of device under every command takes little longer than the CPU alone, in processor
// time.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "door.h"
#include "process.h"

namespace tengine {
namespace {

struct Command
{
    std::string name;
    std::vector<std::string> words;  // MODEL and OUTPUT are placeholders for files
    bool names_device = true;
};

const std::vector<Command> kCommands = {
    {"run", {"run", "MODEL"}},
    {"bench", {"bench", "MODEL", "--runs", "2", "--warmup", "0"}},
    {"inspect", {"inspect", "MODEL"}},
    {"devices", {"devices"}, false},
    {"verify", {"verify", "--only", "Abs fp32", "--quiet"}},
    {"compile", {"compile", "MODEL", "-o", "OUTPUT.tmfile", "--allow-empty", "--quiet"}},
    {"quantize", {"quantize", "MODEL", "--random", "2", "-o", "OUTPUT.onnx", "--quiet"}, false}};

struct Case
{
    Door door;
    Command command;
};

std::vector<Case> list_cases()
{
    std::vector<Case> cases;
    for (const Door& door : list_doors())
        for (const Command& command : kCommands)
            cases.push_back({door, command});
    return cases;
}

class DoorCommand : public testing::TestWithParam<Case>
{
  protected:
    void SetUp() override
    {
        folder_ = testing::TempDir() + "doors_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
        std::ofstream(folder_ + "/model.onnx", std::ios::binary) << make_ten_nodes();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::vector<std::string> list_words(const Command& command, const Door& door) const
    {
        std::vector<std::string> words = {TENGINE_TOOL};
        for (const std::string& word : command.words)
            words.push_back(word == "MODEL"                ? folder_ + "/model.onnx"
                            : word.rfind("OUTPUT", 0) == 0 ? folder_ + "/" + word
                                                           : word);
        for (const std::string& plugin : door.plugins)
            words.insert(words.end(), {"--plugin", plugin});
        if (command.names_device) words.insert(words.end(), {"--device", door.device});
        return words;
    }

    Finished run(const std::vector<std::string>& words) const
    {
        return run_process(words, folder_ + "/output");
    }

    std::string folder_;
};

// A walk over all operators for each of them took 0.1 s in every preparation, and minutes for the
// list of devices. Other load makes one command slower, but not all of four in a row.
TEST_P(DoorCommand, CostsLittleMoreThanTheCpu)
{
    const auto& [door, command] = GetParam();
    Finished finished;
    double allowed = 0;
    for (int attempt = 0; attempt < 4; ++attempt) {
        finished = run(list_words(command, door));
        // The results of a device are not checked.
        ASSERT_TRUE(finished.status == 0 || (command.name == "verify" && finished.status == 1))
            << finished.output;
        EXPECT_EQ(finished.output.find("no case"), std::string::npos) << finished.output;
        allowed = 2 * run(list_words(command, {"CPU", {}})).seconds + 0.1;
        if (finished.seconds < allowed) break;
    }
    RecordProperty("milliseconds", static_cast<int>(finished.seconds * 1e3));
    EXPECT_LT(finished.seconds, allowed);
}

INSTANTIATE_TEST_SUITE_P(Doors, DoorCommand, testing::ValuesIn(list_cases()),
                         [](const auto& tested) {
                             return tested.param.door.device + "_" + tested.param.command.name;
                         });

}  // namespace
}  // namespace tengine
