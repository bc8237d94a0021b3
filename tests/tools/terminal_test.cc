// SPDX-License-Identifier: Apache-2.0
// The output of `tengine` on a terminal: tables that fit, colours, progress, and the state after
// Ctrl-C.
#include "tools/terminal.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "../api/onnx_bytes.h"
#include "tensor_file/tensor_file.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const char* const kColour = "\033[";

size_t longest_line(const std::string& text)
{
    size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, line.size());
    return longest;
}

// Returns a device that takes no node, and so gives a reason for every node.
std::string refusing_device()
{
    const json devices = json::parse(run({"devices", "--json", "-"}).output)["devices"];
    for (const json& device : devices)
        if (device["operators"].empty()) return device["name"];
    return "";
}

TEST(Terminal, InspectFitsItsWidth)
{
    const std::string device = refusing_device();
    for (const int columns : {72, 80, 200}) {
        std::vector<std::string> words = {"inspect", data_file("digits.onnx"), "--option",
                                          "split.report=none"};
        if (!device.empty()) words.insert(words.end(), {"--device", device});
        const Finished finished = run_on_terminal(words, {columns, ""});
        EXPECT_EQ(finished.status, 0);
        const std::string text = without_colours(finished.output);
        EXPECT_LE(longest_line(text), static_cast<size_t>(columns)) << text;
        EXPECT_THAT(text, HasSubstr("reason")) << text;
    }
}

TEST(Terminal, LongNamesAreShortenedInTheMiddle)
{
    const std::string model = data_file("digits.onnx");
    const std::string name = "/global_pool/GlobalAveragePool";
    EXPECT_THAT(run_on_terminal({"inspect", model}, {120, ""}).output, HasSubstr(name));
    const std::string narrow = run_on_terminal({"inspect", model}, {65, ""}).output;
    EXPECT_THAT(narrow, Not(HasSubstr(name)));
    EXPECT_THAT(narrow, testing::ContainsRegex("/glo[a-z_]*\\.\\.\\.[A-Za-z]*Pool"));
    EXPECT_THAT(run({"inspect", model}).output, HasSubstr(name)) << "no terminal: all of it";
}

TEST(Terminal, DevicesHaveColoursUnlessNoColorIsSet)
{
    const std::vector<std::string> words = {"inspect", data_file("digits.onnx")};
    ASSERT_EQ(setenv("TERM", "xterm", 1), 0);
    const std::string coloured = run_on_terminal(words, {}).output;
    EXPECT_THAT(coloured, HasSubstr(std::string(kColour) + "36mCPU"));
    ASSERT_EQ(setenv("NO_COLOR", "1", 1), 0);
    const std::string plain = run_on_terminal(words, {}).output;
    ASSERT_EQ(unsetenv("NO_COLOR"), 0);
    EXPECT_THAT(plain, Not(HasSubstr(kColour)));
    // Predictions differ a little: the machine's speed is measured again.
    const std::regex figures("[0-9.]+");
    EXPECT_EQ(std::regex_replace(without_colours(coloured), figures, ""),
              std::regex_replace(plain, figures, ""));
    ASSERT_EQ(setenv("TERM", "dumb", 1), 0);
    EXPECT_THAT(run_on_terminal(words, {}).output, Not(HasSubstr(kColour)));
    ASSERT_EQ(unsetenv("TERM"), 0);
    EXPECT_THAT(run(words).output, Not(HasSubstr(kColour))) << "no terminal";
}

TEST(Terminal, BenchShowsHowFarItIs)
{
    const std::vector<std::string> words = {"bench", data_file("digits.onnx"), "--seconds", "1"};
    const Finished finished = run_on_terminal(words, {});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.output, testing::ContainsRegex(": [0-9]+, [0-9]+ %, [0-9]+ s left"));
    std::vector<std::string> quiet = words;
    quiet.push_back("--quiet");
    EXPECT_THAT(run_on_terminal(quiet, {}).output, Not(HasSubstr(" left")));
}

// Returns the final content of each line, after the last sequence that clears it.
std::vector<std::string> lines_shown(const std::string& text)
{
    std::vector<std::string> shown;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t wiped = line.rfind("\r\033[K");
        shown.push_back(wiped == std::string::npos ? line : line.substr(wiped + 4));
    }
    return shown;
}

// The model declares only its batch, and the command prints the value that it uses.
TEST(Terminal, ProgressIsWipedBeforeAMessage)
{
    const std::string model = data_file("digits.onnx");
    const std::string output = run_on_terminal({"bench", model, "--runs", "3"}, {200, ""}).output;
    ASSERT_THAT(output, HasSubstr("\r" + model + "\033[K")) << "progress is shown";
    EXPECT_THAT(lines_shown(output),
                testing::Contains(testing::StartsWith("tengine: " + model + ": input 'image'")));
}

// Progress counts both passes over the samples: shares only grow, and the total is two of each
// sample.
TEST(Terminal, QuantizePromisesBothPassesAtOnce)
{
    const std::string output = run_on_terminal({"quantize", data_file("digits.onnx"), "--random",
                                                "12000", "-o", scratch_folder() + "/q.onnx"},
                                               {200, ""})
                                   .output;
    const std::regex step(": ([0-9]+) of ([0-9]+), [0-9]+ %");
    int last = 0, number = 0;
    for (std::sregex_iterator at(output.begin(), output.end(), step), end; at != end; ++at) {
        const int done = std::stoi((*at)[1]);
        EXPECT_GE(done, last);
        EXPECT_EQ((*at)[2], "24000");
        last = done;
        ++number;
    }
    EXPECT_GE(number, 2);
    EXPECT_GT(last, 12000) << "the second pass is shown";
}

TEST(Terminal, BenchFitsItsWidth)
{
    const std::string model = data_file("digits.onnx");
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--profile"}, {"--frames", "2"}}) {
        std::vector<std::string> words = {"bench",   model,     "--runs", "3",
                                          "--quiet", "--shape", "1x1x8x8"};
        words.insert(words.end(), more.begin(), more.end());
        const Finished finished = run_on_terminal(words, {80, ""});
        EXPECT_EQ(finished.status, 0);
        EXPECT_LE(longest_line(finished.output), 80u) << finished.output;
        EXPECT_THAT(finished.output, testing::AllOf(HasSubstr("median ms"), HasSubstr("peak MiB")));
    }
}

TEST(Terminal, CtrlCPrintsWhatHasBeenVerified)
{
    const Finished finished = run_on_terminal({"verify", "--device", "CPU"}, {200, " left"});
    EXPECT_EQ(finished.status, -SIGINT);
    EXPECT_THAT(
        finished.output,
        testing::AllOf(HasSubstr("interrupted: the cases that were not reached are not verified"),
                       HasSubstr("operator")));
}

TEST(Terminal, CtrlCPrintsAndWritesWhatHasBeenMeasured)
{
    const std::string file = scratch_folder() + "/bench.json";
    const std::string model = data_file("digits.onnx");
    const Finished finished = run_on_terminal(
        {"bench", model, model, "--seconds", "1000", "--json", file}, {200, " left"});
    EXPECT_EQ(finished.status, -SIGINT) << "a shell's loop ends as well";
    EXPECT_THAT(finished.output, HasSubstr("GFLOP/s"));
    const json report = json::parse(tools::read_file(file));
    EXPECT_EQ(report["interrupted"], true);
    ASSERT_EQ(report["results"].size(), 1u) << "the second was not begun";
    EXPECT_GT(report["results"][0]["runs"], 0);
    EXPECT_GT(report["results"][0]["median_ms"], 0.0);
}

// y = x, negated in rounds without a limit; `batch` is free.
std::string make_endless_model()
{
    const auto value = [](const std::string& name) { return make_value_info(name, {"batch"}); };
    const auto scalar = [](const std::string& name, uint64_t data_type) {
        const std::string tensor = Message().number(1, data_type).bytes(2, "").text();
        return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
    };
    constexpr uint64_t kInt64 = 7, kBool = 9;
    const std::string body = Message()
                                 .bytes(1, make_node("Identity", {"on"}, "goes_on", "identity"))
                                 .bytes(1, make_node("Neg", {"v"}, "w", "neg"))
                                 .bytes(2, "body")
                                 .bytes(11, scalar("i", kInt64))
                                 .bytes(11, scalar("on", kBool))
                                 .bytes(11, value("v"))
                                 .bytes(12, scalar("goes_on", kBool))
                                 .bytes(12, value("w"))
                                 .text();
    const std::string attribute = Message().bytes(1, "body").bytes(6, body).number(20, 5).text();
    const std::string loop =
        make_node("Loop", {"", "", "x"}, "y", "loop") + Message().bytes(5, attribute).text();
    return make_model({loop}, {value("x")}, value("y"));
}

// The line before the first run is the moment; that run ends.
TEST(Terminal, CtrlCEndsARunThatTakesLong)
{
    const std::string file = scratch_folder() + "/endless.json";
    const std::string model = scratch_folder() + "/endless.onnx";
    tools::write_file(model, make_endless_model());
    const std::vector<std::string> words = {"bench", model, "--json", file};
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--frames", "2"}, {"--threads", "2"}}) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        const Finished finished = run_on_terminal(all, {200, "set it with --shape"});
        EXPECT_EQ(finished.status, -SIGINT) << finished.output;
        EXPECT_THAT(finished.output, Not(HasSubstr("cancel")));
        const json report = json::parse(tools::read_file(file));
        EXPECT_EQ(report["interrupted"], true);
        EXPECT_EQ(report["results"].size(), 0u);
    }
}

}  // namespace
}  // namespace tengine::program
