// SPDX-License-Identifier: Apache-2.0
// The nodes that `tengine quantize` combines, without pairs between them, and those that it leaves
// in float.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using testing::HasSubstr;

struct Quantized
{
    ModelProto model;
    std::string text;
};

Quantized quantize(const ModelMaker& maker, const std::vector<std::string>& more = {})
{
    const std::string folder = scratch_folder();
    const std::string path = folder + "/quantized.onnx";
    std::vector<std::string> arguments = {"quantize", maker.write(folder), "--random", "2", "-o",
                                          path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    if (finished.status != 0) return {};
    return {load_model(path), finished.output};
}

// Returns the number of tensors that a QuantizeLinear reads.
int count_pairs(const ModelProto& model)
{
    return count_nodes(model, "QuantizeLinear");
}

// x -> Conv "c"
ModelMaker conv_maker()
{
    ModelMaker maker({1, 2, 4, 4});
    maker.constant("w", {2, 2, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f});
    maker.node("Conv", {"x", "w"}, "c");
    return maker;
}

TEST(QuantizeUnits, AFunctionOfOneTensorHasNoPairsInside)
{
    ModelMaker maker = conv_maker();
    maker.node("Sigmoid", {"c"}, "s");
    maker.node("Mul", {"c", "s"}, "y");
    const Quantized quantized = quantize(maker);
    EXPECT_EQ(count_pairs(quantized.model), 3);  // x, c and y
    EXPECT_EQ(producer(quantized.model, "s").input(0), "c_dequantized");
    const NodeProto mul =
        producer(quantized.model, producer(quantized.model, "y_quantized").input(0));
    EXPECT_EQ(mul.input(0), "c_dequantized");
    EXPECT_EQ(mul.input(1), "s");
    EXPECT_THAT(quantized.text, HasSubstr("quantised   3 of 3 nodes"));
    EXPECT_THAT(quantized.text, HasSubstr("Sigmoid+Mul"));
}

TEST(QuantizeUnits, WhatOthersReadOfAFunctionIsQuantised)
{
    ModelMaker maker = conv_maker();
    maker.node("Sigmoid", {"c"}, "s");
    maker.node("Mul", {"c", "s"}, "m");
    set_ints(maker.node("MaxPool", {"s"}, "p"), "kernel_shape", {1, 1});
    maker.node("Add", {"m", "p"}, "y");
    const Quantized quantized = quantize(maker);
    for (const char* tensor : {"x", "c", "s", "m", "p", "y"})
        EXPECT_EQ(producer(quantized.model, std::string(tensor) + "_quantized").op_type(),
                  "QuantizeLinear")
            << tensor;
}

TEST(QuantizeUnits, ConstantsOfOneValueBelongToTheFunction)
{
    ModelMaker maker = conv_maker();
    maker.constant("three", {}, {3.0f});
    maker.constant("zero", {}, {0.0f});
    maker.constant("six", {}, {6.0f});
    maker.node("Add", {"c", "three"}, "a");
    maker.node("Clip", {"a", "zero", "six"}, "b");
    maker.node("Mul", {"c", "b"}, "m");
    maker.node("Div", {"m", "six"}, "y");
    const Quantized quantized = quantize(maker);
    EXPECT_EQ(count_pairs(quantized.model), 3);  // x, c and y
    EXPECT_EQ(producer(quantized.model, "a").input(1), "three");
}

TEST(QuantizeUnits, AFunctionBehindAFloatNodeStaysInFloat)
{
    ModelMaker maker({1, 2, 4, 4});
    maker.node("Sigmoid", {"x"}, "s");
    maker.constant("w", {2, 2, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f});
    maker.node("Conv", {"s", "w"}, "y");
    const Quantized quantized = quantize(maker);
    EXPECT_EQ(count_pairs(quantized.model), 2);  // s and y
    EXPECT_EQ(producer(quantized.model, "s").input(0), "x");
}

TEST(QuantizeUnits, ANodeThatIsKeptInFloatIsNoPartOfAFunction)
{
    ModelMaker maker = conv_maker();
    maker.node("Sigmoid", {"c"}, "s");
    maker.node("Mul", {"c", "s"}, "y");
    const Quantized quantized = quantize(maker, {"--keep-float", "s"});
    EXPECT_EQ(count_pairs(quantized.model), 4);  // x, c, s and y
}

TEST(QuantizeUnits, AMatMulAndItsBiasHaveNoPairBetween)
{
    ModelMaker maker({2, 2});
    maker.constant("w", {2, 3}, {1.0f, -0.5f, 0.25f, 0.5f, 2.0f, 3.0f});
    maker.constant("b", {3}, {0.1f, 0.2f, -0.5f});
    maker.node("MatMul", {"x", "w"}, "m");
    maker.node("Add", {"b", "m"}, "a");
    maker.node("Relu", {"a"}, "y");
    const Quantized quantized = quantize(maker);
    EXPECT_EQ(count_pairs(quantized.model), 2);  // x and y
    EXPECT_EQ(producer(quantized.model, "a").input(0), "b");
    EXPECT_THAT(quantized.text, HasSubstr("MatMul+Add+Relu"));
}

TEST(QuantizeUnits, MeansOverAllSpatialAxesAreQuantised)
{
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{2, 3}, {-1, -2}, {1, 2}, {3}}) {
        ModelMaker maker = conv_maker();
        NodeProto* mean = maker.node("ReduceMean", {"c"}, "y");
        set_ints(mean, "axes", axes);
        const bool is_spatial = axes.size() == 2 && axes[0] != 1;
        EXPECT_EQ(count_pairs(quantize(maker).model), is_spatial ? 3 : 2) << axes[0];
    }
}

TEST(QuantizeUnits, ABatchNormalizationOfItsOwnIsQuantisedWithItsRelu)
{
    ModelMaker maker({1, 2, 4, 4});
    for (const char* name : {"scale", "bias", "mean", "variance"})
        maker.constant(name, {2}, {0.5f, 1.5f});
    maker.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, "n");
    maker.node("Relu", {"n"}, "y");
    const Quantized quantized = quantize(maker);
    EXPECT_EQ(count_pairs(quantized.model), 2);  // x and y
    EXPECT_EQ(producer(quantized.model, "n").input(0), "x_dequantized");
    EXPECT_EQ(producer(quantized.model, "n").input(1), "scale");
}

TEST(QuantizeUnits, PadsOfZerosAreMovements)
{
    for (const float value : {0.0f, 1.0f}) {
        ModelMaker maker = conv_maker();
        maker.constant("value", {}, {value});
        maker.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
        maker.node("Pad", {"c", "pads", "value"}, "y");
        EXPECT_EQ(count_pairs(quantize(maker).model), value == 0 ? 3 : 2) << value;
    }
}

}  // namespace
}  // namespace tengine::program
