// SPDX-License-Identifier: Apache-2.0
// The files of `tengine quantize`: pairs, scales and constants of small networks against values
// computed by hand.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using testing::ElementsAre;
using testing::HasSubstr;

tools::Tensor tensor_of(const std::vector<int64_t>& shape, const std::vector<double>& values)
{
    tools::Tensor tensor = tools::make_tensor(TENGINE_DT_FP32, shape);
    for (size_t i = 0; i < values.size(); ++i)
        tools::set_element(&tensor, i, values[i]);
    return tensor;
}

struct Quantized
{
    ModelProto model;
    json report;
    std::string path;
};

// Quantises with `sample` as the only sample, for the input "x". A weight has one scale unless
// `more` changes that.
Quantized quantize(const ModelMaker& maker, const tools::Tensor& sample,
                   std::vector<std::string> more = {})
{
    const std::string folder = scratch_folder();
    std::filesystem::create_directories(folder + "/data");
    tools::write_tensor(folder + "/data/0.npy", sample);
    Quantized result;
    result.path = folder + "/quantized.onnx";
    std::vector<std::string> arguments = {
        "quantize", maker.write(folder), "--data", folder + "/data",
        "-o",       result.path,         "--json", "-"};
    if (std::find(more.begin(), more.end(), "--per-channel") == more.end())
        arguments.push_back("--per-tensor");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    if (finished.status != 0) return result;
    result.model = load_model(result.path);
    result.report = json::parse(finished.output);
    return result;
}

// y = Relu(conv(x)), one pixel, 1x1: y0 = x0 - 0.5 x1 + 1, y1 = 0.25 x1 - 2
ModelMaker conv_relu()
{
    ModelMaker maker({1, 2, 1, 2});
    maker.constant("w", {2, 2, 1, 1}, {1.0f, -0.5f, 0.0f, 0.25f});
    maker.constant("b", {2}, {1.0f, -2.0f});
    maker.node("Conv", {"x", "w", "b"}, "conv");
    maker.node("Relu", {"conv"}, "y");
    return maker;
}

// Pixels (5, -1) and (-3, 2): conv = (6.5, -2.25) and (-3, -1.5), of which Relu leaves 6.5.
tools::Tensor conv_sample()
{
    return tensor_of({1, 2, 1, 2}, {5, -3, -1, 2});
}

TEST(Quantize, ScalesOfAConvAreThoseOfTheFormulas)
{
    const ModelProto model = quantize(conv_relu(), conv_sample()).model;
    ASSERT_EQ(count_nodes(model, "QuantizeLinear"), 2);
    const NodeProto input = producer(model, "x_quantized");
    EXPECT_EQ(input.input(0), "x");
    EXPECT_FLOAT_EQ(scale_of(model, input), 8.0f / 255);
    EXPECT_EQ(zero_point_of(model, input), 96);  // 95.625
    const NodeProto output = producer(model, "y_quantized");
    EXPECT_FLOAT_EQ(scale_of(model, output), 6.5f / 255);
    EXPECT_EQ(zero_point_of(model, output), 0);

    const NodeProto conv = producer(model, "conv");
    EXPECT_EQ(conv.input(0), "x_dequantized");
    const NodeProto weight = producer(model, conv.input(1));
    EXPECT_FLOAT_EQ(scale_of(model, weight), 1.0f / 127);
    // 63.5 and 31.75 in units of the scale; halves are rounded to even.
    EXPECT_THAT(elements<int8_t>(initializer(model, weight.input(0))),
                ElementsAre(127, -64, 0, 32));
    const NodeProto bias = producer(model, conv.input(2));
    const float bias_scale = 8.0f / 255 * (1.0f / 127);
    EXPECT_FLOAT_EQ(scale_of(model, bias), bias_scale);
    EXPECT_THAT(elements<int32_t>(initializer(model, bias.input(0))),
                ElementsAre(std::lround(1 / bias_scale), std::lround(-2 / bias_scale)));
}

// y = 2 conv(x) if its largest element is above 1, else conv(x).
TEST(Quantize, BodiesStayInFloatInARunInIntegers)
{
    ModelMaker maker({1, 2, 1, 2});
    maker.constant("w", {2, 2, 1, 1}, {1.0f, -0.5f, 0.0f, 0.25f});
    maker.constant("one", {1}, {1.0f});
    maker.node("Conv", {"x", "w"}, "conv");
    set_int(maker.node("ReduceMax", {"conv"}, "largest"), "keepdims", 0);
    maker.node("Greater", {"largest", "one"}, "is_large");
    NodeProto* choice = maker.node("If", {"is_large"}, "y");
    for (const std::string branch : {"then_branch", "else_branch"}) {
        ::onnx::AttributeProto* attribute = choice->add_attribute();
        attribute->set_name(branch);
        attribute->set_type(::onnx::AttributeProto::GRAPH);
        ::onnx::GraphProto* body = attribute->mutable_g();
        body->set_name(branch);
        NodeProto* add = body->add_node();
        add->set_op_type(branch == "then_branch" ? "Add" : "Identity");
        for (int i = 0; i < (branch == "then_branch" ? 2 : 1); ++i)
            add->add_input("conv");
        add->add_output(branch + "_y");
        body->add_output()->set_name(branch + "_y");
        body->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
    }
    const Quantized quantized = quantize(maker, conv_sample());
    EXPECT_EQ(quantized.report["quantized_nodes"], 1);
    const std::string folder = std::filesystem::path(quantized.path).parent_path();
    const std::string input = folder + "/data/0.npy";
    const Finished finished =
        run({"run", quantized.path, "--precision", "int8", "--input", input, "--output", folder});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    const tools::Tensor y = tools::read_tensor(folder + "/y.npy");
    const double expected[] = {11, -8, -0.5, 1};  // 5.5, -4, -0.25, 0.5 twice
    for (size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(tools::get_element(y, i), expected[i], 2 * 9.5 / 255) << i;
}

// Half a step of int8 is rounded to 0, so that fewer elements are left.
TEST(Quantize, AnOutputOfAnotherShapeIsWrong)
{
    ModelMaker maker({1, 4});
    maker.constant("zeros", {4}, {0.0f, 0.0f, 0.0f, 0.0f});
    maker.node("Add", {"x", "zeros"}, "sum");
    maker.node("NonZero", {"sum"}, "places");
    set_int(maker.node("Cast", {"places"}, "y"), "to", ::onnx::TensorProto::FLOAT);
    const Quantized quantized = quantize(maker, tensor_of({1, 4}, {10, 0.001, -5, 3}));
    EXPECT_EQ(quantized.report["output_snr_db"]["y"], 0.0);
    EXPECT_EQ(quantized.report["same_decisions"], 0);
    EXPECT_EQ(quantized.report["decisions"], 2);  // rows
    EXPECT_GT(quantized.report["tensor_snr_db"]["sum"], 30.0);
}

// A Softmax at each of three positions, the second of which has two scores less than a step apart.
TEST(Quantize, EachRowOfProbabilitiesIsADecision)
{
    ModelMaker maker({1, 3, 4});
    maker.constant("zeros", {4}, {0.0f, 0.0f, 0.0f, 0.0f});
    maker.node("Add", {"x", "zeros"}, "sum");
    maker.node("Softmax", {"sum"}, "y");
    const Quantized quantized =
        quantize(maker, tensor_of({1, 3, 4}, {9, 1, 0, 0, 0, 9.99, 10, 0, 0, 0, 2, 8}));
    EXPECT_EQ(quantized.report["decisions"], 3);
    EXPECT_EQ(quantized.report["same_decisions"], 2);
    EXPECT_TRUE(quantized.report["hint"].is_string());
}

// The scales are equal; zero points are 128 lower.
TEST(Quantize, ActivationsCanBeInt8)
{
    const ModelProto model = quantize(conv_relu(), conv_sample(), {"--activations", "int8"}).model;
    const NodeProto input = producer(model, "x_quantized");
    EXPECT_FLOAT_EQ(scale_of(model, input), 8.0f / 255);
    EXPECT_EQ(initializer(model, input.input(2)).data_type(), ::onnx::TensorProto::INT8);
    EXPECT_EQ(zero_point_of(model, input), -32);
    EXPECT_EQ(zero_point_of(model, producer(model, "y_quantized")), -128);
}

TEST(Quantize, NoPairBetweenAConvAndItsReluAndTheOutputKeepsItsName)
{
    const ModelProto model = quantize(conv_relu(), conv_sample()).model;
    const NodeProto relu = producer(model, producer(model, "y_quantized").input(0));
    EXPECT_EQ(relu.op_type(), "Relu");
    EXPECT_EQ(relu.input(0), "conv");
    EXPECT_EQ(producer(model, "y").op_type(), "DequantizeLinear");
    EXPECT_EQ(model.graph().output(0).name(), "y");
}

TEST(Quantize, WithPerChannelEachOutputChannelHasItsScale)
{
    const ModelProto model = quantize(conv_relu(), conv_sample(), {"--per-channel"}).model;
    const NodeProto conv = producer(model, "conv");
    const NodeProto weight = producer(model, conv.input(1));
    EXPECT_EQ(weight.attribute(0).name(), "axis");
    EXPECT_EQ(weight.attribute(0).i(), 0);
    EXPECT_THAT(elements<float>(initializer(model, weight.input(1))),
                ElementsAre(1.0f / 127, 0.25f / 127));
    EXPECT_THAT(elements<int8_t>(initializer(model, weight.input(0))),
                ElementsAre(127, -64, 0, 127));
    EXPECT_THAT(elements<int8_t>(initializer(model, weight.input(2))), ElementsAre(0, 0));
    const NodeProto bias = producer(model, conv.input(2));
    EXPECT_EQ(elements<float>(initializer(model, bias.input(1))).size(), 2u);
}

TEST(Quantize, TheWrittenModelComputesWhatItsIntegersSay)
{
    const Quantized quantized = quantize(conv_relu(), conv_sample());
    const std::string folder = std::filesystem::path(quantized.path).parent_path().string();
    tools::write_tensor(folder + "/x.npy", conv_sample());
    const Finished finished =
        run({"run", quantized.path, "--input", folder + "/x.npy", "--output", folder});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const tools::Tensor y = tools::read_tensor(folder + "/y.npy");
    // The first pixel in steps of 8/255: 5 is 159 (of 159.4), -1 is -32. Its channel 0 in steps of
    // s = 8/255/127: 159 x 127 + 32 x 64 + the bias; the other results are negative.
    const double s = 8.0 / 255 / 127;
    const double sum = 159 * 127 + 32 * 64 + std::lround(1 / s);
    const double step = 6.5 / 255;
    EXPECT_NEAR(tools::get_element(y, 0), step * std::min(255.0, std::nearbyint(sum * s / step)),
                1e-5);
    for (size_t i = 1; i < 4; ++i)
        EXPECT_EQ(tools::get_element(y, i), 0) << i;
    EXPECT_EQ(quantized.report["quantized_nodes"], 2);
    EXPECT_TRUE(quantized.report["output_snr_db"]["y"].is_null());  // exact: 6.5 ends the range
}

TEST(Quantize, ALargeBiasEnlargesTheScaleOfTheWeight)
{
    ModelMaker maker({1, 1, 1, 1});
    maker.constant("w", {1, 1, 1, 1}, {1e-9f});
    maker.constant("b", {1}, {1000.0f});
    maker.node("Conv", {"x", "w", "b"}, "y");
    const ModelProto model = quantize(maker, tensor_of({1, 1, 1, 1}, {2.55})).model;
    const NodeProto bias =
        producer(model, producer(model, producer(model, "y_quantized").input(0)).input(2));
    const int32_t stored = elements<int32_t>(initializer(model, bias.input(0))).at(0);
    EXPECT_NEAR(stored * static_cast<double>(scale_of(model, bias)), 1000, 1e-3);
}

TEST(Quantize, NodesThatMoveValuesHaveOneScaleOnBothSides)
{
    ModelMaker maker({1, 1, 2, 2});
    maker.constant("w", {1, 1, 1, 1}, {1.0f});
    maker.constant("v", {1, 1, 1, 1}, {-3.0f});
    maker.node("Conv", {"x", "w"}, "a");
    maker.node("Conv", {"x", "v"}, "b");
    set_int(maker.node("Concat", {"a", "b"}, "joined"), "axis", 1);
    set_ints(maker.node("MaxPool", {"joined"}, "y"), "kernel_shape", {2, 2});
    const ModelProto model = quantize(maker, tensor_of({1, 1, 2, 2}, {1, 2, 3, -1})).model;
    // a: -1 to 3, b: -9 to 3
    for (const char* tensor : {"a", "b", "joined", "y"}) {
        const NodeProto node = producer(model, std::string(tensor) + "_quantized");
        EXPECT_FLOAT_EQ(scale_of(model, node), 12.0f / 255) << tensor;
        EXPECT_EQ(zero_point_of(model, node), 191) << tensor;
    }
}

TEST(Quantize, AConstantOperandIsQuantisedLikeAnActivation)
{
    ModelMaker maker({1, 2});
    maker.constant("c", {2}, {0.0f, 2.55f});
    maker.node("Add", {"x", "c"}, "y");
    const ModelProto model = quantize(maker, tensor_of({1, 2}, {1, 2})).model;
    const NodeProto constant = producer(model, "c_dequantized");
    EXPECT_THAT(elements<uint8_t>(initializer(model, constant.input(0))), ElementsAre(0, 255));
    EXPECT_EQ(initializer(model, "c").dims_size(), 0);  // nothing reads it any more
}

TEST(Quantize, KeptNodesStayInFloatWithTheirActivation)
{
    ModelMaker maker = conv_relu();
    maker.model.mutable_graph()->mutable_node(1)->set_output(0, "middle");
    maker.node("Mul", {"middle", "middle"}, "y");
    const ModelProto model = quantize(maker, conv_sample(), {"--keep-float", "co?v"}).model;
    EXPECT_EQ(producer(model, "conv").input(0), "x");
    EXPECT_EQ(producer(model, "conv").input(1), "w");
    EXPECT_EQ(producer(model, "middle").input(0), "conv");
    EXPECT_EQ(producer(model, "y").op_type(), "DequantizeLinear");
    EXPECT_EQ(count_nodes(model, "QuantizeLinear"), 2);  // middle and y
}

TEST(Quantize, TheTableHasWhatTheModelHas)
{
    const std::string path = scratch_folder() + "/a table";
    const Quantized quantized = quantize(conv_relu(), conv_sample(), {"--table", path});
    EXPECT_EQ(quantized.report["table"], path);
    std::istringstream table(tools::read_file(path));
    std::string line;
    std::getline(table, line);
    EXPECT_EQ(line, "# tengine calibration table 1");
    for (const char* tensor : {"x", "y"}) {
        const NodeProto pair = producer(quantized.model, std::string(tensor) + "_quantized");
        float scale = 0;
        int zero_point = 0;
        table >> scale >> zero_point >> line;
        EXPECT_EQ(scale, scale_of(quantized.model, pair));
        EXPECT_EQ(zero_point, zero_point_of(quantized.model, pair) - 128);  // as int8
        EXPECT_EQ(line, tensor);
    }
    EXPECT_FALSE(table >> line);
}

TEST(Quantize, TheTableAloneNamesNodesThatStayInFloat)
{
    ModelMaker maker({1, 2});
    maker.node("Add", {"x", "x"}, "a sum");
    maker.node("Mul", {"a sum", "x"}, "y");
    const std::string folder = scratch_folder();
    const std::string table = folder + "/table";
    const Finished finished = run(
        {"quantize", maker.write(folder), "--random", "1", "--table", table, "--keep-float", "y"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("\nwrote       " + table + "\n"));
    const std::string text = tools::read_file(table);
    EXPECT_THAT(text, HasSubstr(" -128 a sum\n"));
    EXPECT_THAT(text, HasSubstr(" x\nkeep y\n"));
}

TEST(Quantize, ANameWithALineBreakFitsNoTable)
{
    ModelMaker maker({1, 2});
    maker.node("Add", {"x", "x"}, "a\nb");
    maker.node("Add", {"a\nb", "x"}, "y");
    const std::string folder = scratch_folder();
    const std::string table = folder + "/table";
    const Finished finished =
        run({"quantize", maker.write(folder), "--random", "1", "--table", table});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("cannot hold 'a?b', a name with a line break\n"));
    EXPECT_FALSE(std::filesystem::exists(table));
}

TEST(Quantize, BatchNormalisationBecomesPartOfTheConv)
{
    ModelMaker maker({1, 1, 1, 2});
    maker.constant("w", {1, 1, 1, 1}, {2.0f});
    maker.constant("scale", {1}, {3.0f});
    maker.constant("bias", {1}, {0.5f});
    maker.constant("mean", {1}, {1.0f});
    maker.constant("variance", {1}, {4.0f});
    maker.node("Conv", {"x", "w"}, "conv");
    maker.node("BatchNormalization", {"conv", "scale", "bias", "mean", "variance"}, "y");
    const Quantized quantized = quantize(maker, tensor_of({1, 1, 1, 2}, {1, -1}));
    EXPECT_EQ(count_nodes(quantized.model, "BatchNormalization"), 0);
    EXPECT_EQ(quantized.report["folded_batch_norms"], 1);
    // y = 3 (2 x - 1) / 2 + 0.5 = 3 x - 1: from -4 to 2
    const NodeProto output = producer(quantized.model, "y_quantized");
    EXPECT_NEAR(scale_of(quantized.model, output), 6.0 / 255, 1e-6);
    EXPECT_EQ(zero_point_of(quantized.model, output), 170);
}

TEST(Quantize, SeveralInputsHaveAFolderEach)
{
    ModelMaker maker({1, 2});
    maker.add_input("z", {1, 2});
    maker.node("Add", {"x", "z"}, "y");
    const std::string folder = scratch_folder();
    for (const char* name : {"x", "z"}) {
        std::filesystem::create_directories(folder + "/data/" + name);
        tools::write_tensor(folder + "/data/" + name + "/0.npy", tensor_of({1, 2}, {1, 2}));
    }
    const std::string model = maker.write(folder);
    const std::string out = folder + "/out.onnx";
    for (const std::vector<std::string>& data : std::vector<std::vector<std::string>>{
             {"--data", folder + "/data"},
             {"--data", "x=" + folder + "/data/x", "--data", "z=" + folder + "/data/z"},
             {"--random", "2"}}) {
        std::vector<std::string> arguments = {"quantize", model, "-o", out};
        arguments.insert(arguments.end(), data.begin(), data.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        EXPECT_THAT(finished.output, HasSubstr("quantised   1 of 1 nodes"));
    }
}

}  // namespace
}  // namespace tengine::program
