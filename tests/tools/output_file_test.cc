// SPDX-License-Identifier: Apache-2.0
// What becomes of the files that `tengine` writes: an old one is replaced by a whole new one or
// stays, and what cannot be written is an error.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../api/onnx_bytes.h"
#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Runs a command that writes `file`, which is there already under a second name too. Who writes
// into the old file changes it under that name; who replaces it does not.
void expect_replaced(const std::string& file, const std::vector<std::string>& arguments)
{
    tools::write_file(file, "old");
    const std::string other = file + ".other_name";
    fs::create_hard_link(file, other);
    const Finished finished = run(arguments);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(tools::read_file(other), "old") << file;
    EXPECT_NE(tools::read_file(file), "old") << file;
}

TEST(OutputFile, EveryCommandReplacesIt)
{
    const std::string folder = scratch_folder();
    const std::string model = data_file("digits.onnx");
    const auto path = [&](const char* name) { return folder + "/" + name; };
    expect_replaced(path("run.json"), {"run", model, "--json", path("run.json")});
    expect_replaced(path("bench.json"),
                    {"bench", model, "--runs", "1", "--json", path("bench.json")});
    expect_replaced(path("inspect.json"), {"inspect", model, "--json", path("inspect.json")});
    expect_replaced(path("graph.dot"), {"inspect", model, "--dot", path("graph.dot")});
    expect_replaced(path("model.tmfile"), {"convert", model, path("model.tmfile")});
    expect_replaced(path("int8.onnx"),
                    {"quantize", model, "--random", "2", "--output", path("int8.onnx")});
    expect_replaced(path("table"), {"quantize", model, "--random", "2", "--table", path("table")});
    for (const auto& entry : fs::directory_iterator(folder))
        EXPECT_NE(entry.path().extension(), ".unfinished") << entry.path();
}

TEST(OutputFile, TensorsReplaceIt)
{
    const std::string folder = scratch_folder();
    const std::string model = data_file("digits.onnx");
    ASSERT_EQ(run({"run", model, "--output", folder}).status, 0);
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
        files.push_back(entry.path().string());
    ASSERT_FALSE(files.empty());
    for (const std::string& file : files)
        expect_replaced(file, {"run", model, "--output", folder});
}

// Who may make names in a folder of results does not choose what is overwritten.
TEST(OutputFile, LinksUnderNamesOfTheProgramAreNotFollowed)
{
    const std::string folder = scratch_folder(), victim = folder + "/victim";
    const std::string model = data_file("digits.onnx");
    tools::write_file(victim, "old");
    const std::vector<std::pair<std::string, std::vector<std::string>>> writers = {
        {"results", {"run", model, "--output", folder + "/results"}},
        {"pages", {"manual", folder + "/pages"}},
    };
    for (const auto& [name, arguments] : writers) {
        ASSERT_EQ(run(arguments).status, 0);
        std::vector<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(folder + "/" + name))
            if (entry.is_regular_file()) files.push_back(entry.path());
        ASSERT_FALSE(files.empty());
        for (const fs::path& file : files) {
            fs::remove(file);
            fs::create_symlink(victim, file);
            const Finished finished = run(arguments);
            EXPECT_EQ(finished.status, 1) << file;
            EXPECT_THAT(finished.errors, HasSubstr("it is a symbolic link")) << file;
            EXPECT_EQ(tools::read_file(victim), "old") << file;
            fs::remove(file);
        }
    }
}

// The names of a model's outputs may be longer than those of files, and equal in what is kept.
TEST(OutputFile, NamesOfOutputsMayBeLongAndControlNoTerminal)
{
    const std::string folder = scratch_folder(), file = folder + "/m.onnx";
    const std::string name = "y\033[31m" + std::string(100000, 'y');
    tools::write_file(file, make_model({make_node("Relu", {"x"}, name, "n")},
                                       {make_value_info("x")}, make_value_info(name)));
    const Finished finished = run({"run", file, "--output", folder + "/out"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.output.find('\033'), std::string::npos);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder + "/out"), {}), 1);
    EXPECT_EQ(run({"inspect", file}).output.find('\033'), std::string::npos);
}

TEST(OutputFile, WhatIsNoRegularFileStays)
{
    const std::string pipe = scratch_folder() + "/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--json", pipe});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("cannot write '" + pipe +
                                           "': it is a pipe, and only regular files are replaced"));
    EXPECT_TRUE(fs::is_fifo(pipe));
}

// The status and the complaint of the program with standard output on a disk that is full.
Finished run_on_full_disk(const std::string& arguments)
{
    const std::string errors = scratch_folder() + "/errors";
    const int status = std::system(
        (std::string(TENGINE_PROGRAM) + " " + arguments + " >/dev/full 2>'" + errors + "'")
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", tools::read_file(errors)};
}

TEST(OutputFile, AFullDiskBehindStandardOutputIsAnError)
{
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
    const std::string model = "'" + data_file("digits.onnx") + "'";
    const std::string commands[] = {
        "run " + model + " --json -",
        "bench " + model + " --runs 1 --json -",
        "inspect " + model + " --json -",
        "inspect " + model + " --dot -",
        "inspect " + model,
        "devices",
        "devices --json -",
    };
    for (const std::string& command : commands) {
        const Finished finished = run_on_full_disk(command);
        EXPECT_EQ(finished.status, 1) << command;
        EXPECT_THAT(finished.errors, HasSubstr("tengine: standard output cannot be written"))
            << command;
    }
}

}  // namespace
}  // namespace tengine::program
