// SPDX-License-Identifier: Apache-2.0
// --option and --affinity of `tengine run`, `bench` and `inspect`, and the list of options that
// `tengine devices` ends with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::vector<std::string>>& commands()
{
    static const std::vector<std::vector<std::string>> all = {
        {"run"}, {"inspect"}, {"bench", "--runs", "1", "--warmup", "0"}};
    return all;
}

Finished run_with(std::vector<std::string> command, std::vector<std::string> more)
{
    command.insert(command.end(), {data_file("digits.onnx"), "--shape", "image=1x1x8x8"});
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
}

// Expects one line that contains all these words.
void expect_failure(const Finished& finished, int status, std::vector<std::string> words)
{
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.errors, StartsWith("tengine: "));
    EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size());
    for (const std::string& word : words)
        EXPECT_THAT(finished.errors, HasSubstr(word));
}

TEST(OptionArgument, EveryCommandTakesSeveral)
{
    for (const auto& command : commands()) {
        const Finished finished = run_with(
            command, {"--option", "split.prune=0", "--option",
                      "scheduler=", "--option=split.report=none", "--option", "scheduler=sync"});
        EXPECT_EQ(finished.status, 0) << command[0] << finished.errors;
        EXPECT_EQ(finished.errors, "") << command[0];
    }
}

TEST(OptionArgument, WhatIsWrongIsSaid)
{
    for (const auto& command : commands()) {
        expect_failure(
            run_with(command, {"--option", "split.prun=0"}), 1,
            {"--option split.prun=0: ", "unknown option 'split.prun'", "split.prune", "CPU.<key>"});
        expect_failure(run_with(command, {"--option", "split.prune=yes"}), 1, {"'yes'", "0 1"});
        expect_failure(run_with(command, {"--option", "pipeline.frames=65"}), 1, {"1 to 64"});
        expect_failure(run_with(command, {"--option", "scheduler=none"}), 1, {"'none'", "sync"});
        expect_failure(run_with(command, {"--option", "split.prune"}), 2,
                       {"--option", "invalid value 'split.prune': expected KEY=VALUE"});
        expect_failure(run_with(command, {"--option", "=0"}), 2,
                       {"invalid value '=0': expected KEY=VALUE"});
        expect_failure(run_with(command, {"--option"}), 2, {"--option"});
    }
}

// Returns a device of this build, such as the skeleton, that takes no operator; "" if there is
// none.
std::string idle_device()
{
    const json report = json::parse(run({"devices", "--json", "-"}).output);
    for (const json& device : report["devices"])
        if (device["operators"].empty()) return device["name"];
    return "";
}

// Returns a device besides the CPU; "" if there is none.
std::string second_device()
{
    const json report = json::parse(run({"devices", "--json", "-"}).output);
    for (const json& device : report["devices"])
        if (device["name"] != "CPU") return device["name"];
    return "";
}

TEST(OptionArgument, ADeviceMustBeInTheList)
{
    const std::string device = idle_device();
    if (device.empty()) GTEST_SKIP() << "this build has no device that takes nothing";
    const std::string option = device + ".fast=1";
    expect_failure(run_with({"run"}, {"--option", option}), 1,
                   {"unknown option '" + device + ".fast'", "CPU.<key>"});
    expect_failure(run_with({"run"}, {"--option", option, "--device", device + ",CPU"}), 1,
                   {"device '" + device + "' has no option 'fast'"});
}

TEST(AffinityArgument, EveryCommandTakesSeveral)
{
    for (const auto& command : commands()) {
        const Finished finished =
            run_with(command, {"--affinity", "op:Conv=CPU", "--affinity", "*=CPU", "--affinity",
                               "*= CPU", "--option", "split.report=none"});
        EXPECT_EQ(finished.status, 0) << command[0] << finished.errors;
        EXPECT_EQ(finished.errors, "") << command[0];
    }
}

TEST(AffinityArgument, IsAReasonInTheReport)
{
    const std::string device = second_device();
    if (device.empty()) GTEST_SKIP() << "this build has no second device";
    const Finished finished = run_with({"inspect", "--json", "-"},
                                       {"--device", device + ",CPU", "--affinity",
                                        "op:Conv=!" + device, "--option", "split.report=none"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(finished.output);
    bool seen = false;
    for (const json& node : report["nodes"]) {
        if (node["op"] != "Conv") continue;
        EXPECT_EQ(node["refused"][0]["code"], "affinity") << node;
        seen = true;
    }
    EXPECT_TRUE(seen);
}

TEST(AffinityArgument, MayNameGroups)
{
    const std::vector<std::string> groups = {"--affinity", "*=CPU#1", "--affinity",
                                             "op:Softmax=CPU#2"};
    std::vector<std::string> options = groups;
    options.insert(options.end(), {"--option", "split.report=none"});
    const Finished finished = run_with({"inspect", "--json", "-"}, options);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json parts = json::parse(finished.output)["parts"];
    ASSERT_EQ(parts.size(), 2U) << parts;
    EXPECT_EQ(parts[0]["group"], 1);
    EXPECT_EQ(parts[1]["group"], 2);
    EXPECT_THAT(run_with({"inspect"}, groups).output, testing::HasSubstr("device  group  nodes"));
    EXPECT_THAT(run_with({"inspect"}, {}).output, testing::Not(testing::HasSubstr("group")));
}

TEST(AffinityArgument, WhatIsWrongIsSaid)
{
    for (const auto& command : commands()) {
        expect_failure(run_with(command, {"--affinity", "op:Sofmax=CPU"}), 1,
                       {"--affinity op:Sofmax=CPU: ", "nodes of", "'op:Sofmax'"});
        expect_failure(run_with(command, {"--affinity", "*=NPU"}), 1, {"unknown device 'NPU'"});
        expect_failure(run_with(command, {"--affinity", "*="}), 1, {"empty"});
        expect_failure(run_with(command, {"--affinity", "*=CPU,!CPU"}), 1, {"mixes"});
        expect_failure(run_with(command, {"--affinity", "a=b=CPU"}), 1, {"'a=b'"});
        expect_failure(run_with(command, {"--affinity", "*=CPU#x"}), 1, {"invalid group 'x'"});
        expect_failure(run_with(command, {"--affinity", "CPU"}), 2,
                       {"invalid value 'CPU': expected NODES=DEVICES"});
    }
}

// docs/options.md refers to this list.
TEST(DevicesCommand, ListsTheOptionsOfDevices)
{
    const Finished finished = run({"devices"});
    const json devices = json::parse(run({"devices", "--json", "-"}).output)["devices"];
    for (const json& device : devices) {
        for (const json& option : device["options"]) {
            const std::string key = option["key"];
            EXPECT_THAT(key, StartsWith(device["name"].get<std::string>() + "."));
            EXPECT_THAT(finished.output, HasSubstr("\n  " + key + "=")) << key;
        }
        const bool is_tpu = device["name"] == "TPU";
        EXPECT_GE(device["options"].size(), is_tpu ? 3u : 0u);
    }
}

TEST(DevicesCommand, EndsWithTheOptions)
{
    const Finished finished = run({"devices"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const size_t begin = finished.output.find("\noptions (--option)");
    ASSERT_NE(begin, std::string::npos);
    EXPECT_THAT(finished.output.substr(begin),
                AllOf(HasSubstr("\n  split.prune=1\n    "), HasSubstr("\n  scheduler=\n    "),
                      HasSubstr("\n  pipeline.frames=2\n    ")));
}

TEST(DevicesCommand, HasTheOptionsInJson)
{
    const json options = json::parse(run({"devices", "--json", "-"}).output)["options"];
    ASSERT_FALSE(options.empty());
    EXPECT_EQ(options[0]["key"], "split.prune");
    EXPECT_EQ(options[0]["default"], "1");
    for (const json& option : options)
        EXPECT_FALSE(option["help"].get<std::string>().empty()) << option;
}

}  // namespace
}  // namespace tengine::program
