// SPDX-License-Identifier: Apache-2.0
// The files that `tengine` writes: an existing one is replaced by a complete new one or kept, and
// one that cannot be written is an error.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../api/onnx_bytes.h"
#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Runs a command that writes `file`, which exists under a second name too. Writing into the old
// file changes it under that name; replacing it does not.
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

// Users who can create names in a folder of results cannot redirect the written file.
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

// The names of a model's outputs may be longer than those of files, and equal in the part that is
// kept.
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

// Writes a model with its weight in an external file.
void write_model_with_data(const std::string& folder)
{
    ModelMaker maker({1, 4});
    maker.constant("w", {4, 4}, std::vector<float>(16, 2));
    maker.node("MatMul", {"x", "w"}, "y");
    onnx::TensorProto* weight = maker.model.mutable_graph()->mutable_initializer(0);
    tools::write_file(folder + "/w.data",
                      weight->has_raw_data()
                          ? weight->raw_data()
                          : std::string(reinterpret_cast<const char*>(weight->float_data().data()),
                                        16 * sizeof(float)));
    weight->clear_raw_data();
    weight->clear_float_data();
    weight->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = weight->add_external_data();
    entry->set_key("location");
    entry->set_value("w.data");
    maker.model.mutable_graph()->mutable_output(0)->set_name("y");
    tools::write_file(folder + "/m.onnx", maker.model.SerializeAsString());
}

// Any name of the file is detected: the same, another path to it, a link, a hard link.
TEST(OutputFile, NoCommandOverwritesWhatItReads)
{
    const std::string folder = scratch_folder();
    write_model_with_data(folder);
    const std::string model = folder + "/m.onnx", data = folder + "/w.data";
    ASSERT_EQ(run({"convert", model, folder + "/t.tmfile"}).status, 0);
    const std::string tmfile = folder + "/t.tmfile";
    fs::create_symlink("m.onnx", folder + "/link.onnx");
    fs::create_hard_link(model, folder + "/hard.onnx");
    fs::create_hard_link(data, folder + "/hard.data.onnx");
    fs::create_hard_link(tmfile, folder + "/hard.tmfile");
    fs::create_hard_link(model, folder + "/hard.of.onnx.tmfile");
    const std::vector<std::string> onnx = {model, folder + "/./m.onnx", folder + "/link.onnx",
                                           folder + "/hard.onnx", folder + "/hard.data.onnx"};
    const std::string before[] = {tools::read_file(model), tools::read_file(data),
                                  tools::read_file(tmfile)};
    std::vector<std::vector<std::string>> commands = {
        {"compile", tmfile, "--output", folder + "/hard.tmfile"},
        {"compile", model, "--output", folder + "/hard.of.onnx.tmfile"},
        {"convert", tmfile, folder + "/hard.tmfile"},
        {"quantize", tmfile, "--random", "1", "--output", tmfile},
        {"bench", model, "--runs", "1", "--json", model},
        {"verify", "--device", "CPU", "--model", model, "--json", model},
    };
    for (const std::string& path : onnx) {
        commands.push_back({"convert", model, path});
        commands.push_back({"quantize", model, "--random", "1", "--output", path});
        commands.push_back({"quantize", model, "--random", "1", "--table", path});
        commands.push_back({"quantize", model, "--dynamic", "--output", path});
        commands.push_back({"run", model, "--json", path});
        commands.push_back({"inspect", model, "--json", path});
        commands.push_back({"inspect", model, "--dot", path});
    }
    for (const std::vector<std::string>& command : commands) {
        const Finished finished = run(command);
        EXPECT_EQ(finished.status, 1) << testing::PrintToString(command);
        EXPECT_THAT(finished.errors, HasSubstr("would overwrite the model that is read"))
            << testing::PrintToString(command);
    }
    EXPECT_EQ(tools::read_file(model), before[0]);
    EXPECT_EQ(tools::read_file(data), before[1]);
    EXPECT_EQ(tools::read_file(tmfile), before[2]);
    for (const auto& entry : fs::directory_iterator(folder))
        EXPECT_FALSE(entry.is_directory()) << entry.path() << " is left";
}

TEST(OutputFile, OutputsWhoseNamesAreAlikeHaveFilesOfTheirOwn)
{
    const std::string folder = scratch_folder();
    ModelMaker maker({1, 4});
    const std::vector<std::string> names = {"a/b", "a_b", "a b", "a_b_"};
    for (const std::string& name : names)
        maker.node(name == "a/b"   ? "Neg"
                   : name == "a_b" ? "Exp"
                   : name == "a b" ? "Log"
                                   : "Abs",
                   {"x"}, name);
    auto* graph = maker.model.mutable_graph();
    const ::onnx::ValueInfoProto like = graph->output(0);
    graph->clear_output();
    for (const std::string& name : names) {
        *graph->add_output() = like;
        graph->mutable_output(graph->output_size() - 1)->set_name(name);
    }
    ASSERT_EQ(run({"run", maker.write(folder), "--output", folder + "/out"}).status, 0);
    std::set<std::string> contents;
    for (const auto& entry : fs::directory_iterator(folder + "/out"))
        contents.insert(tools::read_file(entry.path().string()));
    EXPECT_EQ(contents.size(), names.size());
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

// Returns the status and the message of the program with standard output on a full disk.
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
