// SPDX-License-Identifier: Apache-2.0
// Quantisation in tensors (Tengine's dialect) and in nodes (ONNX's dialect), and conversions
// between them.
#include <algorithm>
#include <cmath>
#include <memory>

#include "graph/graph.h"
#include "gtest/gtest.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/integer_borders.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

struct DestroyGraph
{
    void operator()(graph* graph) const { destroy_ir_graph(graph); }
};
using Graph = std::unique_ptr<graph, DestroyGraph>;

void quantize(tensor* tensor, const std::vector<float>& scales, const std::vector<int>& zero_points)
{
    ASSERT_EQ(set_ir_tensor_quantization_parameter(tensor, scales.data(), zero_points.data(),
                                                   static_cast<int>(scales.size())),
              TENGINE_OK);
}

int count_ops(const graph& graph, const std::string& op)
{
    return static_cast<int>(
        std::count_if(graph.node_list, graph.node_list + graph.node_num,
                      [&](const node* node) { return get_ir_node_op(node) == op; }));
}

constexpr int kChannels = 3;
constexpr int kPixels = 5;
constexpr float kInputScale = 0.25f, kOutputScale = 0.5f;
constexpr int kInputZero = 120, kOutputZero = 100;
const std::vector<float> kWeightScales = {0.5f, 0.125f, 1};

// A 1x1 convolution of two channels to three, all quantised: activations uint8, weights int8 per
// output channel, bias int32.
class QuantizedTensorsTest : public testing::Test
{
  protected:
    void build()
    {
        tensor* x = builder_.input("x", {1, 2, 1, kPixels}, TENGINE_DT_UINT8);
        tensor* w = builder_.constant<int8_t>("w", {kChannels, 2, 1, 1}, weights_, TENGINE_DT_INT8);
        tensor* b = builder_.constant<int32_t>("b", {kChannels}, bias_, TENGINE_DT_INT32);
        node* conv = builder_.add("tengine.Convolution", {"x", "w", "b"}, {"y"});
        ASSERT_EQ(set_node_int(conv, "output_channel", kChannels), TENGINE_OK);
        tensor* y = builder_.find("y");
        ASSERT_EQ(set_ir_tensor_data_type(y, TENGINE_DT_UINT8), TENGINE_OK);
        std::vector<float> bias_scales;
        for (const float scale : kWeightScales)
            bias_scales.push_back(scale * kInputScale);
        quantize(x, {kInputScale}, {kInputZero});
        quantize(y, {kOutputScale}, {kOutputZero});
        quantize(w, kWeightScales, {0, 0, 0});
        quantize(b, bias_scales, {0, 0, 0});
        builder_.outputs({"y"});
    }

    // Computes the model in real numbers.
    double value(int channel, int pixel) const
    {
        double sum = bias_[channel] * double{kInputScale} * kWeightScales[channel];
        for (int c = 0; c < 2; ++c)
            sum += (inputs_[c * kPixels + pixel] - kInputZero) * double{kInputScale} *
                   weights_[channel * 2 + c] * kWeightScales[channel];
        return sum;
    }

    std::vector<uint8_t> inputs_ = {0, 120, 255, 33, 130, 7, 119, 200, 64, 121};
    std::vector<int8_t> weights_ = {3, -2, 127, -127, 1, 0};
    std::vector<int32_t> bias_ = {10, -400, 3};
    IrBuilder builder_;
};

TEST_F(QuantizedTensorsTest, AModelOfIntegersIsComputedInIntegers)
{
    build();
    const Graph made(make_execution_graph(builder_.get()));
    ASSERT_NE(made, nullptr) << tengine_error_message();
    EXPECT_EQ(made->run_options->precision, TENGINE_MODE_UINT8);
    EXPECT_EQ(count_ops(*made, "QLinearConv"), 1);
    EXPECT_EQ(made->node_num, 1);
}

TEST_F(QuantizedTensorsTest, ResultsAreTheModelsArithmetic)
{
    build();
    tensor* x = builder_.find("x");
    ASSERT_EQ(allocate_ir_tensor(x), TENGINE_OK);
    std::copy(inputs_.begin(), inputs_.end(), x->u8);
    ir_run_options_t options = {};
    options.num_thread = 1;
    ASSERT_EQ(prerun_ir_graph(builder_.get(), &options), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(builder_.get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* y = builder_.find("y");
    for (int c = 0; c < kChannels; ++c)
        for (int p = 0; p < kPixels; ++p) {
            const double exact = value(c, p) / kOutputScale + kOutputZero;
            // One rounding, and one unit for the requantisation's fixed-point multiplier.
            EXPECT_NEAR(y->u8[c * kPixels + p], std::clamp(exact, 0.0, 255.0), 1)
                << "channel " << c << ", pixel " << p;
        }
}

TEST_F(QuantizedTensorsTest, WrongParametersAreNamed)
{
    build();
    quantize(builder_.find("w"), {1, 1}, {0, 0});
    EXPECT_EQ(make_execution_graph(builder_.get()), nullptr);
    EXPECT_STREQ(tengine_error_message(),
                 "tensor 'w' has 2 scales, but dimension 0 has 3 elements");
    quantize(builder_.find("w"), {1, -1, 1}, {0, 0, 0});
    EXPECT_EQ(make_execution_graph(builder_.get()), nullptr);
    EXPECT_STREQ(tengine_error_message(),
                 "tensor 'w' has the scale -1, expected a positive number");
    quantize(builder_.find("w"), {1, 1, 1}, {0, 0, 128});
    EXPECT_EQ(make_execution_graph(builder_.get()), nullptr);
    EXPECT_STREQ(tengine_error_message(), "tensor 'w' of int8 has the zero point 128");
}

// In reverse, the lowered graph is raised to the same tensors.
TEST_F(QuantizedTensorsTest, NodesBecomeTensorsAgain)
{
    build();
    graph* onnx = nullptr;
    ASSERT_EQ(create_saved_graph(builder_.get(), "", &onnx), TENGINE_OK) << tengine_error_message();
    const Graph onnx_owner(onnx);
    EXPECT_EQ(count_ops(*onnx, "DequantizeLinear"), 3);
    EXPECT_EQ(count_ops(*onnx, "QuantizeLinear"), 1);
    EXPECT_EQ(count_ops(*onnx, "Conv"), 1);
    graph* again = nullptr;
    ASSERT_EQ(create_saved_graph(onnx, "tengine", &again), TENGINE_OK) << tengine_error_message();
    const Graph again_owner(again);
    EXPECT_EQ(count_ops(*again, "Convolution"), 1);
    EXPECT_EQ(again->node_num, 4);  // and x, w, b
    for (const char* name : {"x", "w", "b", "y"}) {
        const tensor* before = builder_.find(name);
        const tensor* after = find_tensor(again, name);
        ASSERT_NE(after, nullptr) << name;
        EXPECT_EQ(after->data_type, before->data_type) << name;
        ASSERT_EQ(after->quant_param_num, before->quant_param_num) << name;
        std::vector<float> scales[2];
        std::vector<int> zeros[2];
        for (int i : {0, 1}) {
            const tensor* tensor = i == 0 ? before : after;
            scales[i].resize(static_cast<size_t>(tensor->quant_param_num));
            zeros[i].resize(scales[i].size());
            get_ir_tensor_quantization_parameter(tensor, scales[i].data(), zeros[i].data(),
                                                 tensor->quant_param_num);
        }
        EXPECT_EQ(scales[0], scales[1]) << name;
        EXPECT_EQ(zeros[0], zeros[1]) << name;
    }
}

// The tensor between an operator and its clamp: quantised like the result in a file, in float
// before a run, so that one integer operator computes both.
TEST(QuantizedTensors, WhatIsClampedIsQuantizedLikeTheResult)
{
    IrBuilder builder;
    builder.input("x", {4}, TENGINE_DT_INT8);
    builder.input("z", {4}, TENGINE_DT_INT8);
    builder.floats("scale", {}, {0.5f});
    builder.constant<int8_t>("zero", {}, {-128}, TENGINE_DT_INT8);
    builder.add("DequantizeLinear", {"x", "scale", "zero"}, {"left"});
    builder.add("DequantizeLinear", {"z", "scale", "zero"}, {"right"});
    builder.add("Add", {"left", "right"}, {"sum"});
    builder.add("Relu", {"sum"}, {"clamped"});
    builder.add("QuantizeLinear", {"clamped", "scale", "zero"}, {"y"});
    builder.outputs({"y"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &made), TENGINE_OK)
        << tengine_error_message();
    const Graph saved(made);
    const tensor* sum = find_tensor(made, "sum");
    EXPECT_EQ(sum->data_type, TENGINE_DT_INT8);
    ASSERT_EQ(sum->quant_param_num, 1);
    EXPECT_EQ(sum->scale, 0.5f);
    EXPECT_EQ(sum->zero_point, -128);
    const Graph run(make_execution_graph(made));
    ASSERT_NE(run, nullptr) << tengine_error_message();
    EXPECT_EQ(run->node_num, 1);
    EXPECT_EQ(count_ops(*run, "QLinearAdd"), 1);
}

// An operator and its clamp are one integer operator, also before another clamp.
TEST(QuantizedTensors, AClampBehindAClampIsOneOfIntegers)
{
    IrBuilder builder;
    builder.input("x", {4}, TENGINE_DT_UINT8);
    builder.input("z", {4}, TENGINE_DT_UINT8);
    builder.floats("scale", {}, {0.5f});
    builder.constant<uint8_t>("zero", {}, {0}, TENGINE_DT_UINT8);
    builder.add("DequantizeLinear", {"x", "scale", "zero"}, {"left"});
    builder.add("DequantizeLinear", {"z", "scale", "zero"}, {"right"});
    builder.add("Add", {"left", "right"}, {"sum"});
    builder.add("Relu", {"sum"}, {"first"});
    builder.add("QuantizeLinear", {"first", "scale", "zero"}, {"bytes"});
    builder.add("DequantizeLinear", {"bytes", "scale", "zero"}, {"again"});
    builder.add("Relu", {"again"}, {"second"});
    builder.add("QuantizeLinear", {"second", "scale", "zero"}, {"y"});
    builder.outputs({"y"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &made), TENGINE_OK)
        << tengine_error_message();
    const Graph saved(made);
    EXPECT_EQ(count_ops(*made, "ReLU"), 2);
    const Graph run(make_execution_graph(made));
    ASSERT_NE(run, nullptr) << tengine_error_message();
    EXPECT_EQ(count_ops(*run, "QLinearAdd"), 1);
}

// An input with another float reader is unchanged, and so is its QuantizeLinear.
TEST(QuantizedTensors, WhatIsAlsoReadInFloatStays)
{
    const IntegerBorders borders;
    IrBuilder builder(borders.context());
    builder.input("x", {4});
    builder.floats("scale", {}, {0.5f});
    builder.constant<int8_t>("zero", {}, {3}, TENGINE_DT_INT8);
    builder.add("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    builder.add("DequantizeLinear", {"q", "scale", "zero"}, {"d"});
    builder.add("Relu", {"d"}, {"y"});
    builder.add("Relu", {"x"}, {"z"});
    builder.outputs({"y", "z"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &made), TENGINE_OK)
        << tengine_error_message();
    const Graph owner(made);
    EXPECT_EQ(count_ops(*made, "QuantizeLinear"), 1);
    EXPECT_EQ(count_ops(*made, "DequantizeLinear"), 1);
    EXPECT_EQ(find_tensor(made, "x")->data_type, TENGINE_DT_FP32);
    EXPECT_EQ(find_tensor(made, "q")->data_type, TENGINE_DT_INT8);
    EXPECT_EQ(find_tensor(made, "q")->quant_param_num, 0);
}

// Without absorption: neither its producer nor its reader is Tengine's.
TEST(QuantizedTensors, NodesWithoutTengineAroundStay)
{
    IrBuilder builder;
    builder.input("x", {4});
    builder.floats("scale", {}, {0.5f});
    builder.add("QuantizeLinear", {"x", "scale"}, {"q"});
    builder.find("q")->data_type = TENGINE_DT_UINT8;
    builder.outputs({"q"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &made), TENGINE_OK)
        << tengine_error_message();
    const Graph owner(made);
    EXPECT_EQ(count_ops(*made, "QuantizeLinear"), 1);
    EXPECT_EQ(find_tensor(made, "x")->data_type, TENGINE_DT_FP32);
}

// ---- both ends of a tensor or none ----

// q = QuantizeLinear(Tanh(x)) -> <around> -> y, in a context with integer inputs and outputs.
class BothEndsTest : public testing::Test
{
  protected:
    BothEndsTest() : builder_(borders_.context())
    {
        builder_.input("x", {2, 3});
        builder_.floats("scale", {}, {0.5f});
        builder_.floats("other", {}, {0.25f});
        builder_.constant<int8_t>("zero", {}, {3}, TENGINE_DT_INT8);
        builder_.add("Tanh", {"x"}, {"t"});
        quantize("t", "q");
    }

    void quantize(const char* from, const char* to)
    {
        builder_.add("QuantizeLinear", {from, "scale", "zero"}, {to});
    }
    void dequantize(const char* from, const char* to, const char* scale = "scale")
    {
        builder_.add("DequantizeLinear", {from, scale, "zero"}, {to});
    }
    void save(std::initializer_list<std::string> outputs = {"y"})
    {
        builder_.outputs(outputs);
        graph* made = nullptr;
        ASSERT_EQ(create_saved_graph(builder_.get(), "tengine", &made), TENGINE_OK)
            << tengine_error_message();
        saved_.reset(made);
    }
    int count(const char* op) const { return count_ops(*saved_, op); }
    int count_linear() const { return count("QuantizeLinear") + count("DequantizeLinear"); }
    bool is_quantised(const char* tensor) const
    {
        return find_tensor(saved_.get(), tensor)->quant_param_num == 1;
    }

    const IntegerBorders borders_;
    IrBuilder builder_;
    Graph saved_;
};

TEST_F(BothEndsTest, GoWhereTenginesNodesAreAround)
{
    dequantize("q", "d");
    builder_.add("Sigmoid", {"d"}, {"y"});
    save();
    EXPECT_EQ(count_linear(), 0);
    EXPECT_TRUE(is_quantised("q"));
}

TEST_F(BothEndsTest, StayBesideAnOperatorOnTheBytes)
{
    dequantize("q", "d");
    builder_.add("Sigmoid", {"d"}, {"y"});
    builder_.add("Neg", {"q"}, {"n"});
    dequantize("n", "z");
    save({"y", "z"});
    EXPECT_EQ(count("QuantizeLinear"), 1);
    EXPECT_EQ(count("DequantizeLinear"), 2);
    EXPECT_EQ(count("Neg"), 1);  // ONNX's operator; Tengine's is Unary
    EXPECT_FALSE(is_quantised("q"));
    EXPECT_FALSE(is_quantised("n"));
}

TEST_F(BothEndsTest, StayBesideAnotherScale)
{
    dequantize("q", "d");
    dequantize("q", "e", "other");
    builder_.add("Add", {"d", "e"}, {"y"});
    save();
    EXPECT_EQ(count_linear(), 3);
    EXPECT_FALSE(is_quantised("q"));
}

TEST_F(BothEndsTest, StayBeforeWhatTengineHasNot)
{
    dequantize("q", "d");
    builder_.constant<int64_t>("axis", {}, {1}, TENGINE_DT_INT64);
    builder_.add("CumSum", {"d", "axis"}, {"y"});
    save();
    EXPECT_EQ(count_linear(), 2);
    EXPECT_FALSE(is_quantised("q"));
}

// All tensors of a chain of movements have one scale, or none has.
TEST_F(BothEndsTest, AreFoundBehindWhatMovesBytes)
{
    builder_.add("Transpose", {"q"}, {"m"});
    dequantize("m", "d");
    builder_.add("Sigmoid", {"d"}, {"y"});
    save();
    EXPECT_EQ(count_linear(), 0);
    EXPECT_TRUE(is_quantised("q"));
    EXPECT_TRUE(is_quantised("m"));
}

TEST_F(BothEndsTest, StayWhereBytesAreMovedToAnotherScale)
{
    builder_.add("Transpose", {"q"}, {"m"});
    dequantize("m", "d", "other");
    builder_.add("Sigmoid", {"d"}, {"y"});
    save();
    EXPECT_EQ(count_linear(), 2);
    EXPECT_FALSE(is_quantised("q"));
    EXPECT_FALSE(is_quantised("m"));
}

// A file of an earlier writer: the QuantizeLinear stayed, and the tensor is quantised nevertheless.
TEST(QuantizedTensors, OfAnOnnxNodeAreReadByTenginesNodesAsWhatTheyStandFor)
{
    IrBuilder builder;
    builder.input("x", {4});
    builder.floats("scale", {}, {0.5f});
    builder.constant<int8_t>("zero", {}, {3}, TENGINE_DT_INT8);
    builder.add("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    ASSERT_EQ(set_ir_tensor_data_type(builder.find("q"), TENGINE_DT_INT8), TENGINE_OK);
    quantize(builder.find("q"), {0.5f}, {3});
    builder.add("tengine.ReLU", {"q"}, {"y"});
    builder.outputs({"y"});
    const float x[] = {-1.3f, 0.1f, 0.8f, 100};
    ASSERT_EQ(allocate_ir_tensor(builder.find("x")), TENGINE_OK);
    std::copy(x, x + 4, builder.find("x")->f32);
    ir_run_options_t options = {};
    options.num_thread = 1;
    ASSERT_EQ(prerun_ir_graph(builder.get(), &options), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(builder.get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* y = builder.find("y");
    ASSERT_EQ(y->data_type, TENGINE_DT_FP32);
    EXPECT_EQ(std::vector<float>(y->f32, y->f32 + 4), (std::vector<float>{0, 0, 1, 62}));
}

}  // namespace
}  // namespace tengine::test
