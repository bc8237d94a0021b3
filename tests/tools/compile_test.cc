// SPDX-License-Identifier: Apache-2.0
// `tengine compile`, and other commands on the files that it writes.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/file.h>
#include <sys/wait.h>

#include "tengine/inspect.h"
#include "tensor_file/tensor_file.h"
#include "tools/accelerated_run.h"
#include "tools/program.h"
#include "tools/quantize_model.h"
#include "tools/terminal.h"

namespace tengine::program {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPlugins = TENGINE_PLUGIN_DIR;

// The network is so small that the TPU would not pay on a fast processor.
const std::vector<std::string> kOnTpu = {"--device", "TPU",      "--precision",
                                         "int8",     "--option", "split.prune=0"};

class Compile : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (run({"devices"}).output.find("\ndevice TPU") == std::string::npos)
            GTEST_SKIP() << "this build has no TPU";
        const Finished made =
            run({"quantize", data_file("digits.onnx"), "--random", "8", "-o", quantised_});
        ASSERT_EQ(made.status, 0) << made.errors;
    }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    std::vector<std::string> files() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            if (entry.path() != quantised_) names.push_back(entry.path().filename());
        return names;
    }

    static std::vector<std::string> on_tpu(std::vector<std::string> words,
                                           const std::vector<std::string>& more = {})
    {
        words.insert(words.end(), kOnTpu.begin(), kOnTpu.end());
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    static Finished compile(const std::string& model, const std::string& output,
                            const std::vector<std::string>& more = {})
    {
        return run(on_tpu({"compile", model, "-o", output}, more));
    }

    static nlohmann::json inspect(const std::string& model,
                                  const std::vector<std::string>& more = {})
    {
        const Finished finished = run(on_tpu({"inspect", model, "--json", "-"}, more));
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return nlohmann::json::parse(finished.output);
    }

    // Returns the origin of the accelerator's part.
    static std::string origin(const nlohmann::json& report)
    {
        for (const auto& part : report["parts"])
            if (part["device"] == kAccelerator) return part["origin"];
        return "no part";
    }

    // Writes a model in which no kernel of the CPU packs anything.
    static void write_relu(const std::string& path)
    {
        ASSERT_EQ(init_tengine(), 0);
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        const tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);
        const tensor_t y = create_graph_tensor(graph, "y", TENGINE_DT_FP32);
        const int dims[] = {1, 4};
        set_tensor_shape(x, dims, 2);
        const node_t input = create_graph_node(graph, "x", "InputOp");
        const node_t relu = create_graph_node(graph, "y", "Relu");
        set_node_output_tensor(input, 0, x, TENSOR_TYPE_INPUT);
        set_node_input_tensor(relu, 0, x);
        set_node_output_tensor(relu, 0, y, TENSOR_TYPE_VAR);
        const char* names[] = {"x", "y"};
        set_graph_input_node(graph, &names[0], 1);
        set_graph_output_node(graph, &names[1], 1);
        EXPECT_EQ(save_graph(graph, "tengine", path.c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
        release_tengine();
    }

    const std::string folder_ = scratch_folder();
    const std::string quantised_ = folder_ + "/digits_int8.onnx";
};

// The memory of the graph is known without preparing it, for each shape.
TEST_F(Compile, PreparationsAreListed)
{
    const std::string file = path("digits.tmfile");
    for (const char* shape : {"image=1x1x8x8", "image=3x1x8x8"})
        ASSERT_EQ(run({"compile", shape[6] == '1' ? data_file("digits.onnx") : file, "-o", file,
                       "--shape", shape})
                      .status,
                  0);
    const Finished finished = run({"inspect", file, "--shape", "image=3x1x8x8", "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const nlohmann::json list = nlohmann::json::parse(finished.output)["preparations"];
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0]["terms"], "image 1x1x8x8 fp32 in fp32 on CPU");
    EXPECT_EQ(list[1]["terms"], "image 3x1x8x8 fp32 in fp32 on CPU");
    EXPECT_EQ(list[1]["parts"], 1);
    EXPECT_GT(list[1]["arena_bytes"], list[0]["arena_bytes"]);
    EXPECT_GE(list[1]["between_bytes"], 3 * 10 * 4);
    EXPECT_THAT(run({"inspect", file}).output, HasSubstr("\nprepared for "));

    ASSERT_EQ(init_tengine(), 0);
    const graph_t graph = create_graph(nullptr, "tengine", file.c_str());
    tengine_model_preparation preparation = {};
    EXPECT_EQ(tengine_graph_get_model_preparation_number(graph), 2);
    EXPECT_EQ(tengine_graph_get_model_preparation(graph, 2, &preparation, sizeof preparation), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_ERANGE);
    EXPECT_EQ(tengine_graph_get_model_preparation(graph, -1, &preparation, sizeof preparation), -1);
    EXPECT_EQ(tengine_graph_get_model_preparation(graph, 0, nullptr, sizeof preparation), -1);
    EXPECT_EQ(tengine_graph_get_model_preparation(graph, 1, &preparation, sizeof preparation), 0);
    EXPECT_EQ(preparation.arena_bytes, list[1]["arena_bytes"].get<int64_t>());
    destroy_graph(graph);
    release_tengine();
}

TEST_F(Compile, AFailureNamesTheModel)
{
    const std::string model = data_file("digits.onnx");
    const Finished finished = compile(model, path("digits.tmfile"));
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("tengine: " + model + ": graph "));
    EXPECT_THAT(finished.errors, HasSubstr("cannot run in int8"));
    EXPECT_THAT(files(), IsEmpty());
}

// The accelerator takes the nodes that multiply, add and move, ahead of time as in a run of the
// ONNX model.
TEST_F(Compile, AttentionReachesTheAccelerator)
{
    ModelMaker model({1, 6, 8});
    std::vector<float> weights;
    for (int i = 0; i < 64; ++i)
        weights.push_back(static_cast<float>(i * 37 % 64 - 32) / 64);
    model.constant("w", {8, 8}, weights);
    for (const char* name : {"q", "k", "v"})
        model.node("MatMul", {"x", "w"}, name);
    set_ints(model.node("Transpose", {"k"}, "turned"), "perm", {0, 2, 1});
    model.node("MatMul", {"q", "turned"}, "weight");
    set_int(model.node("Softmax", {"weight"}, "share"), "axis", -1);
    model.node("MatMul", {"share", "v"}, "mixed");
    model.node("MatMul", {"mixed", "w"}, "y");
    const std::string onnx = path("attention_int8.onnx");
    ASSERT_EQ(run({"quantize", model.write(folder_), "--random", "4", "-o", onnx}).status, 0);
    const Finished finished = compile(onnx, path("net.tmfile"));
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(origin(inspect(path("net.tmfile"))), "model");
    const auto run_on_tpu = [&](const std::string& file) {
        return run_model(file, folder_, on_tpu({"--seed", "3"}));
    };
    const ModelResult expected = run_on_tpu(onnx), result = run_on_tpu(path("net.tmfile"));
    EXPECT_EQ(result.output.data_type, TENGINE_DT_FP32);
    EXPECT_TRUE(result.output.bytes == expected.output.bytes) << "different bytes";
    EXPECT_GT(expected.mac_share(kAccelerator), 0.5);
    EXPECT_EQ(result.mac_share(kAccelerator), expected.mac_share(kAccelerator));
}

TEST_F(Compile, WhatItWritesIsLoaded)
{
    const Finished finished = compile(quantised_, path("net.tmfile"));
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("compiler 2"));
    EXPECT_THAT(finished.output, EndsWith("net.tmfile written: compiled parts: 1, new: 1\n"));
    EXPECT_THAT(files(), testing::ElementsAre("net.tmfile"));
    const nlohmann::json report = inspect(path("net.tmfile"));
    EXPECT_EQ(origin(report), "model");
    EXPECT_EQ(report["parts"][0]["device"], "CPU");
    EXPECT_EQ(report["parts"][0]["origin"], "compiled");
    ASSERT_EQ(report["compiled_parts"].size(), 1u);
    EXPECT_EQ(report["compiled_parts"][0]["hash"].get<std::string>().size(), 64u);
    EXPECT_GT(report["compiled_parts"][0]["bytes"], 1000);
    EXPECT_THAT(run(on_tpu({"inspect", path("net.tmfile")})).output, HasSubstr("model's file"));
}

// The file has the weights as the CPU's kernels have packed them.
TEST(CompileForTheCpu, WhatItWritesIsLoaded)
{
    if (run({"devices"}).output.find("plain C++") != std::string::npos)
        GTEST_SKIP() << "kernels pack nothing without Highway";
    const std::string folder = scratch_folder(), file = folder + "/net.tmfile";
    const std::string image = data_file("digit_3_003.png");
    const Finished finished = run({"compile", data_file("digits.onnx"), "-o", file});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("kernels 2."));
    EXPECT_THAT(finished.output, EndsWith("net.tmfile written: compiled parts: 1, new: 1\n"));
    const auto report = nlohmann::json::parse(run({"inspect", file, "--json", "-"}).output);
    EXPECT_EQ(report["parts"][0]["device"], "CPU");
    EXPECT_EQ(report["parts"][0]["origin"], "model");
    std::string results[2];
    for (const std::string& model : {data_file("digits.onnx"), file}) {
        const Finished ran = run({"run", model, "--input", "image=" + image, "--output", folder});
        ASSERT_EQ(ran.status, 0) << ran.errors;
        results[model == file] = tools::read_file(folder + "/probabilities.npy");
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST(CompileForTheCpu, NodesKeepTheirNames)
{
    const std::string file = scratch_folder() + "/net.tmfile";
    ASSERT_EQ(run({"compile", data_file("digits.onnx"), "--allow-empty", "-o", file}).status, 0);
    const auto list_names = [](const std::string& model) {
        const auto report = nlohmann::json::parse(run({"inspect", model, "--json", "-"}).output);
        std::vector<std::string> names;
        for (const auto& node : report["nodes"])
            names.push_back(node["name"]);
        return names;
    };
    const std::vector<std::string> names = list_names(data_file("digits.onnx"));
    EXPECT_THAT(names, testing::Contains("/Relu_1"));
    EXPECT_EQ(list_names(file), names);
}

// Weights have one layout for all batches except a batch of one row.
TEST(CompileForTheCpu, WhatShapesHaveInCommonIsInTheFileOnce)
{
    if (run({"devices"}).output.find("plain C++") != std::string::npos)
        GTEST_SKIP() << "kernels pack nothing without Highway";
    const std::string file = scratch_folder() + "/net.tmfile";
    const auto add = [&](const std::string& model, const char* shape) {
        const Finished finished = run({"compile", model, "--shape", shape, "-o", file});
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return std::filesystem::file_size(file);
    };
    const auto one = add(data_file("digits.onnx"), "image=4x1x8x8");
    const auto two = add(file, "image=8x1x8x8");
    const auto report = nlohmann::json::parse(
        run({"inspect", file, "--shape", "image=8x1x8x8", "--json", "-"}).output);
    EXPECT_EQ(report["parts"][0]["origin"], "model");
    const auto& parts = report["compiled_parts"];
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0]["hash"], parts[1]["hash"]);
    EXPECT_LT(two - one, parts[1]["bytes"].get<size_t>() / 10);
}

TEST_F(Compile, ResultsAreThoseOfThePlainFile)
{
    ASSERT_EQ(run({"convert", quantised_, path("plain.tmfile")}).status, 0);
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    std::string results[2];
    for (const std::string model : {"plain", "net"}) {
        const Finished finished =
            run(on_tpu({"run", path(model + ".tmfile"), "--output", path(model)}));
        ASSERT_EQ(finished.status, 0) << finished.errors;
        results[model == "net"] = tools::read_file(path(model + "/probabilities.npy"));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(origin(inspect(path("plain.tmfile"))), "compiled");
}

TEST_F(Compile, SeveralTargetsAndMoreLater)
{
    const std::string small = "TPU.config=edge", large = "TPU.config=scale32";
    ASSERT_EQ(
        compile(quantised_, path("net.tmfile"), {"--target", small, "--target", large}).status, 0);
    EXPECT_EQ(origin(inspect(path("net.tmfile"), {"--option", small})), "model");
    EXPECT_EQ(origin(inspect(path("net.tmfile"), {"--option", large})), "model");
    EXPECT_EQ(origin(inspect(path("net.tmfile"))), "compiled");
    const Finished finished = compile(path("net.tmfile"), path("net.tmfile"));
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, EndsWith("written: compiled parts: 3, new: 1\n"));
    EXPECT_EQ(origin(inspect(path("net.tmfile"))), "model");
}

TEST_F(Compile, OtherShapesAreAdded)
{
    const std::string file = path("net.tmfile");
    ASSERT_EQ(compile(quantised_, file).status, 0);
    const Finished finished = compile(file, file, {"--shape", "image=2x1x8x8"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, EndsWith("written: compiled parts: 2, new: 1\n"));
    const auto find_origin = [&](const char* shape) {
        return origin(inspect(file, {"--shape", shape}));
    };
    EXPECT_EQ(find_origin("image=1x1x8x8"), "model");
    EXPECT_EQ(find_origin("image=2x1x8x8"), "model");
    EXPECT_EQ(find_origin("image=3x1x8x8"), "compiled");
    EXPECT_THAT(compile(file, file, {"--shape", "image=2x1x8x8"}).output,
                EndsWith("written: compiled parts: 2, new: 0\n"));
}

// Two devices that support saving, with a part each.
TEST_F(Compile, SeveralDevices)
{
    if (run({"devices"}).output.find("plain C++") != std::string::npos)
        GTEST_SKIP() << "kernels pack nothing without Highway";
    const std::vector<std::string> split = {"--device", "CPU", "--affinity", "/stem/Conv=CPU"};
    const Finished finished = compile(quantised_, path("net.tmfile"), split);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, EndsWith("net.tmfile written: compiled parts: 2, new: 2\n"));
    const nlohmann::json report = inspect(path("net.tmfile"), split);
    std::set<std::string> compiled, loaded;
    for (const auto& part : report["compiled_parts"])
        compiled.insert(part["device"]);
    for (const auto& part : report["parts"])
        if (part["origin"] == "model") loaded.insert(part["device"]);
    EXPECT_THAT(compiled, testing::ElementsAre("CPU", "TPU"));
    EXPECT_THAT(loaded, testing::ElementsAre("CPU", "TPU"));
}

TEST_F(Compile, ProgressIsShownUnlessQuiet)
{
    std::vector<std::string> words =
        on_tpu({"compile", quantised_, "--shape", "image=256x1x8x8", "-o", path("net.tmfile")});
    for (int i = 0; i < 60; ++i)
        words.insert(words.end(), {"--target", "TPU.config=edge"});
    const Finished finished = run_on_terminal(words, {});
    EXPECT_EQ(finished.status, 0) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr("\rcompiling " + quantised_));
    EXPECT_THAT(finished.output, testing::ContainsRegex(": [0-9]+ of 60, [0-9]+ %, [0-9]+ s left"));
    EXPECT_THAT(finished.output, HasSubstr("net.tmfile written: compiled parts: 1, new: 1\n"));
    words.push_back("--quiet");
    const Finished quiet = run_on_terminal(words, {});
    EXPECT_EQ(quiet.status, 0) << quiet.output;
    EXPECT_THAT(quiet.output, testing::Not(HasSubstr("compiling ")));
    EXPECT_THAT(quiet.output, HasSubstr("net.tmfile written: compiled parts: 1, new: 1\n"));
}

// A byte of the compiled part, which is most of the file: the prepared graph follows it.
size_t find_part_byte(const std::string& file)
{
    const size_t prepared = file.find("prepared graph1");
    EXPECT_NE(prepared, std::string::npos);
    return prepared - 8000;
}

TEST_F(Compile, AnAlteredFileIsCompiledAgain)
{
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    std::string bytes = tools::read_file(path("net.tmfile"));
    bytes[find_part_byte(bytes)] ^= 1;
    std::ofstream(path("net.tmfile"), std::ios::binary) << bytes;
    const Finished finished = run(on_tpu({"run", path("net.tmfile")}));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("has been altered: its bytes have another hash"));
    EXPECT_EQ(origin(inspect(path("net.tmfile"))), "compiled");
}

// As on a board, which has only the dispatch: the error names the missing compiler, and the log the
// fault of the file.
TEST_F(Compile, AnAlteredFileFailsWhereFallbackIsForbidden)
{
    const std::string compiler = kPlugins + "/tpu_compiler.so", file = path("net.tmfile");
    if (!std::filesystem::exists(compiler)) GTEST_SKIP() << "this build has no plug-ins";
    ASSERT_EQ(run({"compile", quantised_, "--plugin", compiler, "--device", "TPU_PLUGIN",
                   "--precision", "int8", "--option", "split.prune=0", "-o", file})
                  .status,
              0);
    const std::string bytes = tools::read_file(file);
    const auto run_altered = [&](size_t place) {
        std::string altered = bytes;
        if (place < altered.size()) altered[place] ^= 1;
        std::ofstream(file, std::ios::binary) << altered;
        return run({"run", file, "--plugin", kPlugins + "/tpu_dispatch.so", "--device",
                    "TPU_PLUGIN", "--precision", "int8", "--option", "split.max_fallback_macs=0",
                    "--option", "split.prune=0"});
    };
    Finished finished = run_altered(bytes.size());
    EXPECT_EQ(finished.status, 0) << "not altered: " << finished.errors;
    const size_t mark = bytes.find("compiled parts\n");
    ASSERT_NE(mark, std::string::npos);
    const std::pair<size_t, const char*> places[] = {
        {find_part_byte(bytes), "TPU_PLUGIN has been altered: its bytes have another hash"},
        {mark, "the compiled parts in the model's file are not used, or not all: their mark"},
        {mark + 16, "not used, or not all: their list has been altered: its hash differs"}};
    for (const auto& [place, warning] : places) {
        finished = run_altered(place);
        EXPECT_EQ(finished.status, 1) << place;
        EXPECT_THAT(finished.errors, HasSubstr(warning));
        EXPECT_THAT(finished.errors, HasSubstr("of the MACs would fall back to CPU, but "
                                               "split.max_fallback_macs allows 0 %"));
        EXPECT_THAT(finished.errors, HasSubstr("no compiler"));
    }
}

TEST_F(Compile, WhatCannotBeCompiledIsNotWritten)
{
    write_relu(path("relu.tmfile"));
    Finished finished = run({"compile", path("relu.tmfile"), "-o", path("net.tmfile")});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors,
                HasSubstr("there is nothing to keep: none of CPU took a part of the model and can "
                          "save"));
    std::filesystem::remove(path("relu.tmfile"));
    finished = compile(quantised_, path("net.onnx"));
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("the file name must end in .tmfile"));
    finished = compile(quantised_, path("net.tmfile"), {"--target", "small.json"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.errors, HasSubstr("'small.json': expected KEY=VALUE[,KEY=VALUE]..."));
    finished = compile(quantised_, path("net.tmfile"), {"--target", "TPU.colour=red"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("TPU.colour"));
    finished = compile(path("absent.onnx"), path("net.tmfile"));
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Compile, WhatTheCpuCompilesMayBeLeftOut)
{
    const std::vector<std::string> both = {"--device", "CPU", "--affinity", "/stem/Conv=CPU"};
    const auto list_devices = [&](std::vector<std::string> more) {
        more.insert(more.end(), both.begin(), both.end());
        const Finished finished = compile(quantised_, path("net.tmfile"), more);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        std::set<std::string> devices;
        const nlohmann::json report = inspect(path("net.tmfile"));
        for (const auto& part : report["compiled_parts"])
            devices.insert(part["device"]);
        return devices;
    };
    EXPECT_THAT(list_devices({"--no-host"}), testing::ElementsAre("TPU"));
    EXPECT_THAT(list_devices({"--option", "model.keep_host_parts=0"}), testing::ElementsAre("TPU"));
    const Finished alone = run({"compile", quantised_, "--no-host", "-o", path("host.tmfile")});
    EXPECT_EQ(alone.status, 1);
    EXPECT_THAT(alone.errors, HasSubstr("nothing to keep: none of CPU took a part"));
}

// The TPU supports no floats.
TEST_F(Compile, ATargetThatTakesNothingIsNamed)
{
    const std::vector<std::string> words = {
        "compile",  data_file("digits.onnx"), "--device", "TPU",
        "--target", "TPU.config=edge",        "-o",       path("net.tmfile")};
    Finished finished = run(words);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors,
                HasSubstr("target 'TPU.config=edge': TPU took no part of the model: node '"));
    EXPECT_THAT(finished.errors,
                HasSubstr("; --precision sets one that it has: int8 (of a quantised model), uint8 "
                          "(of a quantised model), bf16\n"));
    EXPECT_THAT(finished.errors, HasSubstr("not written, for there is nothing to keep for target "
                                           "'TPU.config=edge': none of TPU took a part"));
    EXPECT_THAT(files(), IsEmpty());
    std::vector<std::string> allowed = words;
    allowed.push_back("--allow-empty");
    finished = run(allowed);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("TPU took no part of the model"));
    EXPECT_THAT(finished.output, HasSubstr("net.tmfile written: compiled parts: "));
    EXPECT_EQ(run({"run", path("net.tmfile")}).status, 0);
}

TEST_F(Compile, TwoAtOnceIntoOneFile)
{
    const std::string output = path("net.tmfile");
    const pid_t other = fork();
    ASSERT_GE(other, 0);
    if (other == 0) {
        execl(TENGINE_PROGRAM, "tengine", "compile", quantised_.c_str(), "--device", "TPU",
              "--precision", "int8", "--option", "split.prune=0", "-o", output.c_str(), nullptr);
        _exit(127);
    }
    const Finished finished = compile(quantised_, output);
    int status = 0;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_THAT(files(), testing::ElementsAre("net.tmfile"));
    EXPECT_EQ(origin(inspect(output)), "model");
}

// A locked folder belongs to a living program; folders with other names are not the cache's.
TEST_F(Compile, WhatAKilledOneLeftIsRemoved)
{
    const std::string left = "tengine-0123456789abcdef.unfinished";
    const std::string at_work = "tengine-1123456789abcdef.unfinished";
    const std::string other = "tengine-0123456789abcdef.unfinished.d";
    for (const std::string& name : {left, at_work, other}) {
        std::filesystem::create_directory(path(name));
        std::ofstream(path(name) + "/model.tmfile") << "half";
    }
    const int lock = open(path(at_work).c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    EXPECT_THAT(files(), testing::UnorderedElementsAre("net.tmfile", at_work, other));
    close(lock);
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    EXPECT_THAT(files(), testing::UnorderedElementsAre("net.tmfile", other));
}

// Each killed program runs for a different time; the next one then leaves only its file.
TEST_F(Compile, OneThatIsKilledIsTidiedUpAfter)
{
    const pid_t killed = fork();
    ASSERT_GE(killed, 0);
    if (killed == 0) {
        execl(TENGINE_PROGRAM, "tengine", "compile", quantised_.c_str(), "--device", "TPU",
              "--precision", "int8", "--option", "split.prune=0", "-o", path("net.tmfile").c_str(),
              nullptr);
        _exit(127);
    }
    while (files().empty() && waitpid(killed, nullptr, WNOHANG) == 0)
        usleep(100);
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    EXPECT_THAT(files(), testing::ElementsAre("net.tmfile"));
}

TEST_F(Compile, OtherFormatsHaveNoPlaceForIt)
{
    ASSERT_EQ(compile(quantised_, path("net.tmfile")).status, 0);
    Finished finished = run({"convert", path("net.tmfile"), path("net.onnx")});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("1 compiled parts of the model are not written"));
    finished = run({"convert", path("net.tmfile"), path("copy.tmfile")});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(origin(inspect(path("copy.tmfile"))), "model");
}

// The model must be a tmfile: parts compiled from an ONNX file's nodes would not be found in it.
TEST_F(Compile, AnOnnxFileMustBecomeATmfileFirst)
{
    ASSERT_EQ(init_tengine(), 0);
    context_t context = create_context("compile", 1);
    ASSERT_EQ(add_context_device(context, "TPU"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "model.keep_parts", "1"), 0);
    graph_t graph = create_graph(context, "onnx", quantised_.c_str());
    ASSERT_TRUE(graph) << get_tengine_error();
    const int dims[] = {1, 1, 8, 8};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph, 0), dims, 4), 0);
    const options_t options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0};
    ASSERT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_compiled_part_number(graph), 1);
    EXPECT_EQ(save_graph(graph, "tengine", path("net.tmfile").c_str()), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("save it before prerun_graph, then load"));
    EXPECT_THAT(files(), IsEmpty());
    tengine_compiled_part part;
    EXPECT_EQ(tengine_graph_get_compiled_part(graph, 1, &part, sizeof part), -1);
    EXPECT_EQ(tengine_graph_get_compiled_part(graph, 0, &part, 0), -1);
    EXPECT_EQ(tengine_graph_get_compiled_part(graph, 0, nullptr, sizeof part), -1);
    ASSERT_EQ(tengine_graph_get_compiled_part(graph, 0, &part, sizeof part), 0);
    EXPECT_STREQ(part.device, "TPU");
    tengine_graph_memory memory;
    ASSERT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0);
    EXPECT_GT(memory.owned_bytes, part.bytes);
    destroy_graph(graph);
    destroy_context(context);
    release_tengine();
}

// The TPU compiles nodes of ONNX's operators, whose parts a .tflite cannot have.
TEST_F(Compile, ATfliteNeedsByteCode)
{
    const std::string tflite = path("net.tflite");
    const Finished without = compile(quantised_, tflite);
    EXPECT_EQ(without.status, 1);
    EXPECT_THAT(without.errors,
                HasSubstr("net.tflite: not written, for it would have no byte code: "
                          "none of TPU has a compiler that compiles nodes of a "
                          ".tflite as they are"));
    EXPECT_FALSE(std::filesystem::exists(tflite));
    const Finished empty = compile(quantised_, tflite, {"--allow-empty"});
    EXPECT_EQ(empty.status, 0) << empty.errors;
    EXPECT_THAT(empty.output, EndsWith("net.tflite written: DISPATCH_OPs: 0\n"));
    const Finished two = compile(quantised_, tflite, {"--target", "A.b=1", "--target", "A.b=2"});
    EXPECT_THAT(two.errors, HasSubstr("a .tflite has the byte code of one target, 2 are given"));
    EXPECT_THAT(compile(quantised_, path("net.bin")).errors,
                HasSubstr("the file name must end in .tmfile or .tflite"));
}

}  // namespace
}  // namespace tengine::program
