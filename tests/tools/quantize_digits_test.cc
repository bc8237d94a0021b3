// SPDX-License-Identifier: Apache-2.0
// `tengine quantize` on the shipped network, with the held-out pictures as data, and its messages
// when it is misused.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/heldout_images.h"
#include "tools/npz_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class QuantizeDigits : public testing::Test
{
  protected:
    json quantize(int samples, const std::vector<std::string>& more)
    {
        const std::string images = write_heldout_images(folder_, samples);
        std::vector<std::string> arguments = {"quantize", model_, "--data", images,
                                              "-o",       out_,   "--json", "-"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return finished.status == 0 ? json::parse(finished.output) : json();
    }

    // Returns the percentage of held-out images that `model` reads correctly.
    double accuracy(const std::string& model) const
    {
        const Finished finished =
            run({"run", model, "--input", data_file("heldout_images.npy"), "--output", folder_});
        EXPECT_EQ(finished.status, 0) << finished.errors;
        const tools::Tensor scores = tools::read_tensor(folder_ + "/probabilities.npy");
        return 100.0 * count_right(scores) / kHeldoutImages;
    }

    std::string model_ = data_file("digits.onnx");
    std::string folder_ = scratch_folder();
    std::string out_ = folder_ + "/quantized.onnx";
};

class QuantizeMethod : public QuantizeDigits, public testing::WithParamInterface<const char*>
{
};

TEST_P(QuantizeMethod, KeepsTheAccuracyWithinHalfAPoint)
{
    const double in_float = accuracy(model_);
    for (const bool is_per_channel : {false, true}) {
        std::vector<std::string> arguments = {"--method", GetParam()};
        arguments.push_back(is_per_channel ? "--per-channel" : "--per-tensor");
        const json report = quantize(kCalibrationImages, arguments);
        EXPECT_EQ(report["samples"], kCalibrationImages);
        EXPECT_EQ(report["quantized_nodes"], 15);
        EXPECT_NEAR(accuracy(out_), in_float, 0.5) << is_per_channel;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, QuantizeMethod,
                         testing::Values("minmax", "percentile", "kl", "mse"));

TEST_F(QuantizeDigits, TheReportHasEveryLayerWithItsNoise)
{
    const json report = quantize(kHeldoutImages, {});
    EXPECT_EQ(report["folded_batch_norms"], 5);
    EXPECT_EQ(report["layers"].size(), 10u);
    for (const json& layer : report["layers"]) {
        EXPECT_GT(layer["snr_db"], 25.0) << layer;
        EXPECT_LT(layer["snr_db"], 60.0) << layer;
        EXPECT_TRUE(report["tensor_snr_db"].contains(layer["tensor"])) << layer;
    }
    EXPECT_EQ(report["decisions"], 382);
    EXPECT_GE(report["same_decisions"], 378);
}

TEST_F(QuantizeDigits, ABoundPutsNodesBackToFloatAndIsKept)
{
    const json loose = quantize(kCalibrationImages, {"--per-tensor", "--max-drop", "100"});
    const json tight = quantize(kCalibrationImages, {"--per-tensor", "--max-drop", "0"});
    int in_float = 0;
    for (const json& node : loose["chosen"])
        EXPECT_EQ(node["precision"], "int8") << node;
    for (const json& node : tight["chosen"])
        in_float += node["precision"] == "float" ? 1 : 0;
    EXPECT_GT(in_float, 0);
    EXPECT_LT(in_float, 8);
    EXPECT_EQ(tight["drop_percent"], 0.0);
    EXPECT_LT(tight["quantized_nodes"], loose["quantized_nodes"]);
}

TEST_F(QuantizeDigits, TheTableNamesNodesAndTheFile)
{
    const Finished finished = run({"quantize", model_, "--random", "4", "-o", out_});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output,
                StartsWith("samples     4\nthreads     1\nfolded      5 BatchNormalization"));
    EXPECT_THAT(finished.output, HasSubstr("quantised   15 of 16 nodes\n"));
    EXPECT_THAT(finished.output, HasSubstr("/block/conv2/Conv\n"));
    EXPECT_THAT(finished.output, HasSubstr("decisions   "));
    EXPECT_THAT(finished.output, HasSubstr("wrote       " + out_ + "\n"));
}

// The example, a program in C with a callback.
TEST_F(QuantizeDigits, AProgramMakesTheSameFile)
{
    const std::string program =
        std::filesystem::path(TENGINE_PROGRAM).parent_path().string() + "/calibrate";
    if (!std::filesystem::exists(program)) GTEST_SKIP() << "built without examples";
    const std::string made = folder_ + "/made.onnx";
    quantize(kHeldoutImages, {});
    const std::string command =
        program + " " + model_ + " " + data_file("heldout_images.npy") + " " + made + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(tools::read_file(made), tools::read_file(out_));
}

// With one scale for a weight, both changes lose less.
TEST_F(QuantizeDigits, EqualizedAndCorrectedConvolutionsLoseLess)
{
    const auto decibels = [this](std::vector<std::string> more) {
        more.emplace_back("--per-tensor");
        return quantize(kHeldoutImages, more)["output_snr_db"]["probabilities"].get<double>();
    };
    const double plain = decibels({});
    EXPECT_GT(decibels({"--equalize"}), plain);
    EXPECT_GT(decibels({"--correct-bias"}), plain);
    EXPECT_GT(decibels({"--equalize", "--correct-bias"}), plain + 2);
}

// The file has licences and names of dimensions.
TEST_F(QuantizeDigits, TheFileSaysWhatTheModelSays)
{
    ASSERT_EQ(run({"quantize", model_, "--random", "2", "-o", out_}).status, 0);
    ::onnx::ModelProto model = load_model(model_);
    ::onnx::ModelProto quantized = load_model(out_);
    const auto attribute_names = [](const ::onnx::ModelProto& owner) {
        std::vector<std::string> names;
        for (const auto& node : owner.graph().node())
            if (node.name() == "/stem/Conv")
                for (const auto& attribute : node.attribute())
                    names.push_back(attribute.name());
        return names;
    };
    EXPECT_EQ(attribute_names(quantized), attribute_names(model));
    EXPECT_THAT(quantized.doc_string(), HasSubstr("CC BY 4.0"));
    EXPECT_EQ(quantized.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "N");
    for (::onnx::ModelProto* each : {&model, &quantized}) {
        each->mutable_graph()->clear_node();
        each->mutable_graph()->clear_initializer();
    }
    model.mutable_opset_import(0)->set_version(21);  // which every file is written for
    model.set_ir_version(10);
    EXPECT_EQ(quantized.SerializeAsString(), model.SerializeAsString());
}

TEST_F(QuantizeDigits, RandomSamplesFollowTheSeed)
{
    const auto bytes = [this](const char* seed) {
        EXPECT_EQ(run({"quantize", model_, "--random", "2", "--seed", seed, "-o", out_}).status, 0);
        return tools::read_file(out_);
    };
    const std::string first = bytes("1");
    EXPECT_EQ(first, bytes("1"));
    EXPECT_NE(first, bytes("2"));
}

class QuantizeMisuse : public QuantizeDigits
{
  protected:
    void expect_error(const std::vector<std::string>& words, int status, const std::string& text)
    {
        std::vector<std::string> arguments = {"quantize"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        if (status == 1) arguments.insert(arguments.end(), {"-o", out_});
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, status) << text;
        EXPECT_THAT(finished.errors, StartsWith("tengine: "));
        EXPECT_THAT(finished.errors, HasSubstr(text));
        EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size());
        EXPECT_FALSE(std::filesystem::exists(out_)) << text;
    }
};

TEST_F(QuantizeMisuse, TheCommandLineIsWrong)
{
    const std::string images = write_heldout_images(folder_, 1);
    expect_error({}, 2, "MODEL is required");
    expect_error({model_, "--data", images}, 2, "--output or --table is required");
    expect_error({model_, "--data", images, "-o", out_, "--max-drop", "101"}, 2,
                 "101 not in range");
    expect_error({model_, "--random", "0", "-o", out_}, 2, "0 not in range");
    expect_error({model_, "--data", images, "--method", "max"}, 1,
                 "'max': expected one of minmax, percentile, kl, mse");
    expect_error({model_, "--data", images, "-o", out_, "--activations", "int4"}, 2,
                 "invalid --activations 'int4': expected int8 or uint8");
    expect_error({model_, "--data", images, "--equalize", "--table", out_}, 2,
                 "--table cannot be combined with --equalize and --correct-bias");
    expect_error({model_}, 1, "--data or --random is required");
    expect_error({model_, "--data", images, "--random", "1"}, 2, "--data excludes --random");
    expect_error({model_, "--data", images, "--keep-float", "no*"}, 1,
                 "--keep-float: 'no*' matches no node");
    expect_error({model_, "--data", images, "--keep-float", "*"}, 1, "keeps every node in float");
}

TEST_F(QuantizeMisuse, TheDataIsWrong)
{
    expect_error({model_, "--data", folder_ + "/none"}, 1, "expected a folder or an .npz file");
    expect_error({model_, "--data", folder_ + "/none.npz"}, 1, "none.npz");
    expect_error({model_, "--data", "image=" + folder_ + "/none"}, 1, "cannot be read");
    const std::string empty = folder_ + "/empty";
    std::filesystem::create_directories(empty);
    expect_error({model_, "--data", empty}, 1, "holds no files");
    tools::Tensor wrong = tools::make_tensor(TENGINE_DT_FP32, {2, 8, 8});
    wrong.name = "image";
    const std::string npz = folder_ + "/wrong.npz";
    tools::write_file(npz, encode_npz({wrong}));
    expect_error({model_, "--data", npz}, 1, "has shape 2x8x8, expected samples");
    wrong = tools::make_tensor(TENGINE_DT_INT8, {1, 1, 8, 8});
    tools::write_file(npz, encode_npz({wrong}));
    expect_error({model_, "--data", npz}, 1, "holds int8, the input 'image' takes fp32");
    tools::write_file(npz, encode_npz({wrong, wrong}));
    expect_error({model_, "--data", npz}, 1, "no array for the input 'image'");
    tools::write_file(npz, "PK");
    expect_error({model_, "--data", npz}, 1, "not an .npz file");
}

TEST_F(QuantizeMisuse, TheModelIsWrong)
{
    expect_error({folder_ + "/none.onnx", "--random", "1"}, 1, "none.onnx");
    ModelMaker nothing({1, 4});
    nothing.node("Softmax", {"x"}, "y");
    expect_error({nothing.write(folder_), "--random", "1"}, 1,
                 "there is nothing to quantise: no node has an int8 form");
    ModelMaker infinite({1, 4});
    infinite.constant("zero", {1}, {0.0f});
    infinite.node("Div", {"x", "zero"}, "d");
    infinite.node("Add", {"d", "d"}, "y");
    expect_error({infinite.write(folder_), "--random", "1"}, 1,
                 "there is nothing to quantise: tensor 'y' has values that are not finite");
}

// QuantizeLinear was added in opset 10, its axis in 13: the file has a newer one than the model.
TEST_F(QuantizeMisuse, AModelOfAnOldOpsetIsNone)
{
    for (const int64_t opset : {7, 9, 12}) {
        ModelMaker maker({1, 2, 3, 3}, opset);
        maker.constant("w", {3, 2, 1, 1}, {1.0f, -2.0f, 0.5f, 0.25f, 30.0f, 40.0f});
        maker.node("Conv", {"x", "w"}, "c");
        set_ints(maker.node("ReduceSum", {"c"}, "y"), "axes", {2, 3});
        const std::string model = maker.write(folder_), out = folder_ + "/out.onnx";
        for (const bool is_per_channel : {false, true}) {
            std::vector<std::string> arguments = {"quantize", model, "--random", "2", "-o", out};
            arguments.push_back(is_per_channel ? "--per-channel" : "--per-tensor");
            const Finished finished = run(arguments);
            ASSERT_EQ(finished.status, 0) << opset << ": " << finished.errors;
            const ::onnx::ModelProto written = load_model(out);
            EXPECT_EQ(written.opset_import(0).version(), 21);
            EXPECT_EQ(count_nodes(written, "DequantizeLinear"), 3);
            const Finished used = run({"run", out, "--precision", "int8"});
            EXPECT_EQ(used.status, 0) << used.errors;
        }
    }
}

// As in the buckets of T5's distances: log(0) before a selection that does not use it.
TEST_F(QuantizeMisuse, WhatIsNotFiniteStaysInFloat)
{
    ModelMaker maker({1, 4});
    maker.constant("zero", {4}, {0.0f, 0.0f, 0.0f, 0.0f});
    maker.constant("two", {4}, {2.0f, 3.0f, 4.0f, 5.0f});
    maker.node("Add", {"x", "two"}, "sum");
    maker.node("Mul", {"sum", "two"}, "product");
    maker.node("Mul", {"product", "zero"}, "nothing");
    maker.node("Log", {"nothing"}, "log");
    maker.node("Add", {"log", "two"}, "lowest");
    maker.node("Max", {"product", "lowest"}, "y");
    const std::string model = maker.write(folder_), out = folder_ + "/out.onnx";
    const std::string table = folder_ + "/table.txt", report = folder_ + "/report.json";
    const Finished finished =
        run({"quantize", model, "--random", "2", "-o", out, "--table", table, "--json", report});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("\nin float    nodes that read or compute tensors with "
                                           "values that are not finite: log and 1 more\n"));
    const json told = json::parse(std::ifstream(report));
    EXPECT_EQ(told["not_finite"], json({"log", "lowest"}));
    EXPECT_EQ(told["quantized_nodes"], 3);
    EXPECT_EQ(producer(load_model(out), "lowest").input(0), "log");
    const Finished by_table =
        run({"run", model, "--precision", "int8", "--option", "precision.table=" + table});
    EXPECT_EQ(by_table.status, 0) << by_table.errors;
}

// Cancellation: the difference is smaller than a step of int8.
TEST_F(QuantizeMisuse, ABoundThatNoNodeCanKeepIsAnError)
{
    ModelMaker maker({8, 3});
    maker.constant("large", {3}, {1000.0f, 1000.0f, 1000.0f});
    maker.node("Add", {"x", "large"}, "sum");
    maker.node("Sub", {"sum", "large"}, "y");
    expect_error({maker.write(folder_), "--random", "2", "--max-drop", "0"}, 1,
                 "--max-drop 0 cannot be reached: with 'sum' as the only node in int8");
}

}  // namespace
}  // namespace tengine::program
