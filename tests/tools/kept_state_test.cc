// SPDX-License-Identifier: Apache-2.0
// --keep-state, and `tengine run --state`: the states of a model in files and between runs.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

// sum = x + before, y = -sum, of shape [1, 2].
std::string write_sum(const std::string& folder)
{
    ModelMaker maker({1, 2});
    maker.add_input("before", {1, 2});
    maker.node("Add", {"x", "before"}, "sum");
    maker.node("Neg", {"sum"}, "y");
    auto* sum = maker.model.mutable_graph()->add_output();
    *sum = maker.model.graph().output(0);
    sum->set_name("sum");
    return maker.write(folder);
}

std::string write_x(const std::string& folder)
{
    tools::Tensor x = tools::make_tensor(TENGINE_DT_FP32, {1, 2});
    tools::set_element(&x, 0, 1);
    tools::set_element(&x, 1, 2);
    tools::write_tensor(folder + "/x.npy", x);
    return folder + "/x.npy";
}

// A run with the states of the folder, which writes y.
void expect_sum(const std::vector<std::string>& model, const std::string& folder, double times)
{
    std::vector<std::string> arguments = {
        "run", "--input", write_x(folder), "--state", folder + "/state", "--output", folder};
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Finished finished = run(arguments);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const tools::Tensor y = tools::read_tensor(folder + "/y.npy");
    EXPECT_EQ(tools::get_element(y, 0), -times);
    EXPECT_EQ(tools::get_element(y, 1), -2 * times);
    const tools::Tensor state = tools::read_tensor(folder + "/state/before.npy");
    EXPECT_EQ(tools::get_element(state, 1), 2 * times);
}

TEST(KeptStates, RunsContinue)
{
    const std::string folder = scratch_folder(), model = write_sum(folder);
    for (int i = 1; i < 4; ++i)
        expect_sum({model, "--keep-state", "before=sum"}, folder, i);
}

TEST(KeptStates, FilesHaveThem)
{
    const std::string folder = scratch_folder(), model = write_sum(folder);
    int runs = 0;
    for (const std::string name : {"/kept.onnx", "/kept.tmfile"}) {
        const Finished finished =
            run({"convert", model, folder + name, "--keep-state", "before=sum"});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        expect_sum({folder + name}, folder, ++runs);
    }
    ASSERT_EQ(run({"convert", folder + "/kept.tmfile", folder + "/again.onnx"}).status, 0);
    expect_sum({folder + "/again.onnx"}, folder, ++runs);
    const Finished finished = run({"compile", folder + "/kept.onnx", "--allow-empty", "--output",
                                   folder + "/compiled.tmfile"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    expect_sum({folder + "/compiled.tmfile"}, folder, ++runs);
}

// Layers are verified one by one, with states as other inputs.
TEST(KeptStates, ModelsAreVerified)
{
    const std::string folder = scratch_folder(), model = folder + "/kept.onnx";
    ASSERT_EQ(run({"convert", write_sum(folder), model, "--keep-state", "before=sum"}).status, 0);
    const Finished finished = run({"verify", "--device", "CPU", "--model", model});
    EXPECT_EQ(finished.status, 0) << finished.errors << finished.output;
    EXPECT_THAT(finished.output, HasSubstr("layers       2       0        0"));
}

std::string read_bytes(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::string& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

// Bytes of a state's file are changed: it is read, or refused by its name and left as it is.
TEST(KeptStates, DamagedFiles)
{
    const std::string folder = scratch_folder(), model = write_sum(folder);
    const std::string state = folder + "/state/before.npy";
    const std::vector<std::string> words = {"run",        model,          "--keep-state",
                                            "before=sum", "--state",      folder + "/state",
                                            "--input",    write_x(folder)};
    ASSERT_EQ(run(words).status, 0);
    const std::string good = read_bytes(state);
    int refused = 0;
    for (size_t i = 0; i < good.size(); i += 3) {
        std::string damaged = good;
        damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 == 0 ? 0x40 : 0xff));
        write_bytes(state, damaged);
        const Finished finished = run(words);
        if (finished.status == 0) continue;
        ++refused;
        EXPECT_EQ(finished.status, 1) << "byte " << i;
        EXPECT_THAT(finished.errors, HasSubstr("before")) << "byte " << i;
        EXPECT_EQ(read_bytes(state), damaged) << "byte " << i;
    }
    EXPECT_GT(refused, 12);
    write_bytes(state, good.substr(0, good.size() - 1));
    EXPECT_EQ(run(words).status, 1);
    write_bytes(state, good);
    EXPECT_EQ(run(words).status, 0);
}

// A disk that is full leaves the state of the run before.
TEST(KeptStates, AFullDisk)
{
    constexpr int64_t kSize = 20000;
    const std::string folder = scratch_folder();
    ModelMaker maker({1, kSize});
    maker.add_input("before", {1, kSize});
    maker.node("Add", {"x", "before"}, "sum");
    maker.node("ReduceMax", {"sum"}, "y");
    auto* sum = maker.model.mutable_graph()->add_output();
    *sum = maker.model.graph().output(0);
    sum->set_name("sum");
    const std::string model = maker.write(folder), state = folder + "/state/before.npy";
    tools::write_tensor(folder + "/x.npy", tools::make_tensor(TENGINE_DT_FP32, {1, kSize}));
    const std::vector<std::string> words = {"run",          model,
                                            "--keep-state", "before=sum",
                                            "--state",      folder + "/state",
                                            "--input",      "x=" + folder + "/x.npy"};
    Finished finished = run(words);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const std::string good = read_bytes(state);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 32768;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    finished = run(words);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("before.npy"));
    EXPECT_EQ(read_bytes(state), good);
    for (const auto& file : std::filesystem::directory_iterator(folder + "/state"))
        EXPECT_EQ(file.path().filename(), "before.npy");
}

TEST(KeptStates, WrongArguments)
{
    const std::string folder = scratch_folder(), model = write_sum(folder);
    Finished finished = run({"run", model, "--keep-state", "after=sum"});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("the graph has no input 'after'"));
    finished = run({"run", model, "--keep-state", "before"});
    EXPECT_THAT(finished.errors, HasSubstr("expected INPUT=OUTPUT"));
    tools::Tensor wide = tools::make_tensor(TENGINE_DT_FP32, {1, 3});
    tools::write_tensor(folder + "/before.npy", wide);
    finished = run({"run", model, "--keep-state", "before=sum", "--state", folder});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("state 'before' is fp32 1x2, '"));
    EXPECT_THAT(finished.errors, HasSubstr("holds fp32 1x3"));
}

}  // namespace
}  // namespace tengine::program
