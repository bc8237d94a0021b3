// SPDX-License-Identifier: Apache-2.0
// tengine_graph_quantize: the calls to the program, and the resulting graph. The choice of
// operators and their quantisation are tested with `tengine quantize`.
#include "tengine/quantize.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Names = std::vector<std::string>;

struct Range
{
    double low, high;
};

struct Layer
{
    Names nodes, operators;
    std::string tensor;
    bool stands_alone;
};

// The program's functions.
struct Calibration
{
    std::map<std::string, Range> ranges;
    std::set<std::string> refused;  // layers by their first node
    Names asked;
    std::vector<Layer> layers;
    std::map<std::string, tengine_quantized_tensor> tensors;
    std::map<std::string, std::string> dequantized;
    Names kept;

    tengine_quantization how()
    {
        tengine_quantization how = {};
        how.per_channel = TENGINE_PER_TENSOR;
        how.user = this;
        how.get_range = get_range;
        how.choose = choose;
        how.take_tensor = take_tensor;
        how.take_kept = [](void* user, const char* node) {
            static_cast<Calibration*>(user)->kept.emplace_back(node);
        };
        return how;
    }

  private:
    static int get_range(void* user, const char* tensor, double* low, double* high)
    {
        auto& self = *static_cast<Calibration*>(user);
        self.asked.emplace_back(tensor);
        const auto found = self.ranges.find(tensor);
        if (found == self.ranges.end()) return 0;
        *low = found->second.low;
        *high = found->second.high;
        return 1;
    }
    static int choose(void* user, const tengine_quantized_layer* layer)
    {
        auto& self = *static_cast<Calibration*>(user);
        self.layers.push_back({{layer->nodes, layer->nodes + layer->node_number},
                               {layer->operators, layer->operators + layer->node_number},
                               layer->tensor,
                               layer->stands_alone != 0});
        return self.refused.count(layer->nodes[0]) == 0 ? 1 : 0;
    }
    static void take_tensor(void* user, const tengine_quantized_tensor* tensor)
    {
        auto& self = *static_cast<Calibration*>(user);
        self.tensors[tensor->name] = *tensor;
        self.dequantized[tensor->name] = tensor->dequantized;
    }
};

class QuantizeTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        // y = MaxPool(Relu(Conv(x))): one output channel, weight 2, bias 1, window 1.
        graph_ = create_graph(nullptr, nullptr, nullptr);
        const float weight = 2, bias = 1;
        const tensor_t x = add_input(graph_, "x", {1, 1, 1, 4});
        const tensor_t w = add_constant(graph_, "w", {1, 1, 1, 1}, &weight);
        const tensor_t b = add_constant(graph_, "b", {1}, &bias);
        const tensor_t c = add_node(graph_, "c", "Conv", {x, w, b});
        const tensor_t r = add_node(graph_, "r", "Relu", {c});
        add_node(graph_, "y", "MaxPool", {r});
        const int window[] = {1, 1};
        EXPECT_EQ(set_node_attr_generic(get_graph_node(graph_, "y"), "kernel_shape", "int[]",
                                        window, sizeof window),
                  0);
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
        calibration_.ranges = {{"x", {-1, 1.55}}, {"r", {0, 5.1}}, {"y", {0, 5.1}}};
    }

    graph_t quantize()
    {
        const tengine_quantization how = calibration_.how();
        return tengine_graph_quantize(graph_, &how);
    }

    void expect_failure(const tengine_quantization& how, int code, const std::string& part)
    {
        EXPECT_EQ(tengine_graph_quantize(graph_, &how), nullptr);
        EXPECT_NE(std::string(get_tengine_error()).find(part), std::string::npos)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(code));
    }

    static std::vector<float> run(graph_t graph)
    {
        if (!write_floats(tengine_graph_get_input(graph, 0), {-1, 0.25f, 1, 1.5f}) ||
            prerun_graph(graph) < 0 || run_graph(graph, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_floats(tengine_graph_get_output(graph, 0));
    }

    static std::string operator_of(graph_t graph, const char* node)
    {
        const node_t found = get_graph_node(graph, node);
        return !found ? "none" : get_node_op(found);
    }

    graph_t graph_ = nullptr;
    Calibration calibration_;
};

TEST_F(QuantizeTest, TheGraphHasPairsAndOutlivesTheModel)
{
    const graph_t quantized = quantize();
    ASSERT_NE(quantized, nullptr) << get_tengine_error();
    EXPECT_EQ(get_graph_node(graph_, "x_QuantizeLinear"), nullptr);
    take_logged_failures();
    EXPECT_EQ(destroy_graph(graph_), 0);
    EXPECT_EQ(operator_of(quantized, "x_QuantizeLinear"), "QuantizeLinear");
    EXPECT_EQ(operator_of(quantized, "w_DequantizeLinear"), "DequantizeLinear");
    const node_t conv = get_graph_node(quantized, "c");
    EXPECT_STREQ(get_tensor_name(get_node_input_tensor(conv, 0)), "x_dequantized");
    EXPECT_STREQ(get_tensor_name(get_node_input_tensor(conv, 2)), "b_dequantized");
    // Quantisation steps are 0.01 for x and 0.02 for y; 1.5 and the weight are exact.
    const std::vector<float> y = run(quantized);
    const std::vector<float> expected = {0, 1.5f, 3, 4};
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR(y[i], expected[i], 0.0201) << i;
    EXPECT_EQ(destroy_graph(quantized), 0);
}

TEST_F(QuantizeTest, TheProgramIsAskedOnceAndTold)
{
    const graph_t quantized = quantize();
    ASSERT_NE(quantized, nullptr) << get_tengine_error();
    EXPECT_EQ(calibration_.asked, (Names{"x", "r", "y"}));
    ASSERT_EQ(calibration_.layers.size(), 2u);
    EXPECT_EQ(calibration_.layers[0].nodes, (Names{"c", "r"}));
    EXPECT_EQ(calibration_.layers[0].operators, (Names{"Conv", "Relu"}));
    EXPECT_EQ(calibration_.layers[0].tensor, "r");
    EXPECT_TRUE(calibration_.layers[0].stands_alone);
    EXPECT_EQ(calibration_.layers[1].nodes, Names{"y"});
    EXPECT_FALSE(calibration_.layers[1].stands_alone);
    ASSERT_EQ(calibration_.tensors.size(), 3u);
    EXPECT_FLOAT_EQ(calibration_.tensors["x"].scale, 0.01f);
    EXPECT_EQ(calibration_.tensors["x"].zero_point, -28);
    EXPECT_EQ(calibration_.dequantized["x"], "x_dequantized");
    EXPECT_FLOAT_EQ(calibration_.tensors["y"].scale, 0.02f);
    EXPECT_EQ(calibration_.tensors["y"].zero_point, -128);
    EXPECT_EQ(calibration_.dequantized["y"], "y");
    EXPECT_EQ(destroy_graph(quantized), 0);
}

TEST_F(QuantizeTest, ALayerThatIsRefusedOrHasNoRangeStaysInFloatWithItsFollowers)
{
    calibration_.refused = {"c"};
    for (int i = 0; i < 2; ++i) {
        const graph_t same = quantize();
        ASSERT_NE(same, nullptr) << get_tengine_error();
        EXPECT_EQ(calibration_.layers.size(), i == 0 ? 1u : 0u);
        EXPECT_TRUE(calibration_.tensors.empty());
        EXPECT_EQ(run(same), run(graph_));
        EXPECT_EQ(destroy_graph(same), 0);
        calibration_ = {};
    }
}

// In uint8 the same values are 128 higher.
TEST_F(QuantizeTest, ActivationsMayBeUnsigned)
{
    tengine_quantization how = calibration_.how();
    how.unsigned_activations = 1;
    graph_t made = tengine_graph_quantize(graph_, &how);
    ASSERT_NE(made, nullptr) << get_tengine_error();
    EXPECT_EQ(calibration_.tensors["x"].zero_point, 100);  // range -1 to 1.55
    EXPECT_EQ(calibration_.tensors["r"].zero_point, 0);
    EXPECT_EQ(get_tensor_data_type(get_graph_tensor(made, "x_quantized")), TENGINE_DT_UINT8);
    EXPECT_EQ(get_tensor_data_type(get_graph_tensor(made, "w_quantized")), TENGINE_DT_INT8);
    graph_t signed_one = quantize();
    EXPECT_EQ(get_tensor_data_type(get_graph_tensor(signed_one, "x_quantized")), TENGINE_DT_INT8);
    EXPECT_EQ(run(made), run(signed_one));
    EXPECT_EQ(destroy_graph(signed_one), 0);
    EXPECT_EQ(destroy_graph(made), 0);
}

TEST_F(QuantizeTest, KeptNodesAreNamed)
{
    const char* patterns[] = {"?", "op:Conv"};
    tengine_quantization how = calibration_.how();
    how.keep_float = patterns + 1;
    how.keep_float_number = 1;
    graph_t kept = tengine_graph_quantize(graph_, &how);
    ASSERT_NE(kept, nullptr) << get_tengine_error();
    EXPECT_EQ(calibration_.kept, Names{"c"});
    EXPECT_TRUE(calibration_.layers.empty());
    EXPECT_EQ(destroy_graph(kept), 0);
    how.keep_float = patterns;
    how.keep_float_number = 2;
    calibration_.kept.clear();
    kept = tengine_graph_quantize(graph_, &how);
    EXPECT_EQ(calibration_.kept, (Names{"c", "r", "y"}));
    EXPECT_EQ(destroy_graph(kept), 0);
}

TEST_F(QuantizeTest, WhatIsWrongIsTold)
{
    tengine_quantization how = calibration_.how();
    EXPECT_EQ(tengine_graph_quantize(graph_, nullptr), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    how.get_range = nullptr;
    expect_failure(how, TENGINE_EINVAL, "get_range is NULL");
    how = calibration_.how();
    how.keep_float_number = -1;
    expect_failure(how, TENGINE_EINVAL, "keep_float_number is -1");
    how.keep_float_number = 1;
    expect_failure(how, TENGINE_EINVAL, "a pattern of keep_float");
    const char* pattern = "no*";
    how.keep_float = &pattern;
    expect_failure(how, TENGINE_ENOENT, "keep_float: 'no*' matches no node");
    how = calibration_.how();
    const double infinite = std::numeric_limits<double>::infinity();
    for (const Range range : {Range{1, 0}, Range{0, infinite}, Range{std::nan(""), 1}}) {
        calibration_.ranges["r"] = range;
        expect_failure(how, TENGINE_EINVAL, "the range of tensor 'r' is");
    }
}

// `tengine quantize --device` makes the same calls; its tests have a device that refuses.
TEST_F(QuantizeTest, TheDefaultDeviceAloneChoosesTheFirst)
{
    tengine_quantization how[] = {calibration_.how(), calibration_.how()};
    how[1].per_channel = TENGINE_PER_TENSOR;
    tengine_quantization_choice choice = {};
    ASSERT_EQ(tengine_graph_choose_quantization(graph_, how, 2, &choice, sizeof choice), 0)
        << get_tengine_error();
    EXPECT_EQ(choice.index, 0);
    EXPECT_EQ(choice.mac_number, 0);
    EXPECT_STREQ(choice.refusal, "");
    EXPECT_EQ(tengine_graph_choose_quantization(graph_, how, 0, &choice, sizeof choice), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_choose_quantization(graph_, nullptr, 2, &choice, sizeof choice), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_choose_quantization(graph_, how, 2, nullptr, sizeof choice), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    how[1].get_range = nullptr;
    EXPECT_EQ(tengine_graph_choose_quantization(graph_, how, 2, &choice, sizeof choice), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL)) << "as tengine_graph_quantize fails";
}

TEST_F(QuantizeTest, AConstantThatIsNotFiniteIsAnError)
{
    float infinite = std::numeric_limits<float>::infinity();
    ASSERT_EQ(set_tensor_data(get_graph_tensor(graph_, "w"), &infinite, sizeof infinite), 0);
    expect_failure(calibration_.how(), TENGINE_EINVAL,
                   "constant 'w' has values that are not finite");
}

// y = x w + b; the range is that of each run. With weights and inputs that are multiples of the
// step nothing is rounded.
TEST_F(QuantizeTest, DynamicOnesNeedNoRanges)
{
    EXPECT_EQ(destroy_graph(graph_), 0);
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const float weight[] = {127, 0, 1, -254}, bias[] = {0.5f, -1};
    const tensor_t x = add_input(graph_, "x", {2, 2});
    const tensor_t w = add_constant(graph_, "w", {2, 2}, weight);
    const tensor_t b = add_constant(graph_, "b", {2}, bias);
    add_node(graph_, "y", "Gemm", {x, w, b});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    tengine_quantization how = calibration_.how();
    how.per_channel = 0;
    how.dynamic = 1;
    how.get_range = nullptr;
    how.take_tensor = nullptr;
    graph_t made = tengine_graph_quantize(graph_, &how);
    ASSERT_NE(made, nullptr) << get_tengine_error();
    ASSERT_EQ(calibration_.layers.size(), 1u);
    EXPECT_EQ(calibration_.layers[0].operators, Names{"Gemm"});
    EXPECT_EQ(operator_of(made, "x_DynamicQuantizeLinear"), "DynamicQuantizeLinear");
    EXPECT_EQ(operator_of(made, "y"), "MatMulInteger");
    ASSERT_TRUE(write_floats(tengine_graph_get_input(made, 0), {-55, 200, 0, 1}));
    ASSERT_EQ(prerun_graph(made), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(made, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(made, 0)),
              (std::vector<float>{-55 * 127 + 200.5f, -200 * 254 - 1, 1.5f, -255}));
    EXPECT_EQ(destroy_graph(made), 0);
    const char* all = "y";
    how.keep_float = &all;
    how.keep_float_number = 1;
    made = tengine_graph_quantize(graph_, &how);
    EXPECT_EQ(operator_of(made, "y"), "Gemm");
    EXPECT_EQ(destroy_graph(made), 0);
}

TEST_F(QuantizeTest, DynamicOnesTakeNothingElse)
{
    tengine_quantization how = calibration_.how();
    how.per_channel = 0;
    how.dynamic = 1;
    expect_failure(how, TENGINE_EINVAL, "dynamic is set, and so is get_range");
    how.get_range = nullptr;
    expect_failure(how, TENGINE_EINVAL, "dynamic is set, and so is take_tensor");
    how.take_tensor = nullptr;
    how.unsigned_activations = 1;
    expect_failure(how, TENGINE_EINVAL, "dynamic is set, and so is unsigned_activations");
    how.unsigned_activations = 0;
    how.per_channel = 1;
    expect_failure(how, TENGINE_EINVAL, "dynamic is set, and so is per_channel");
    how.per_channel = TENGINE_PER_TENSOR;
    expect_failure(how, TENGINE_EINVAL, "dynamic is set, and so is per_channel");
}

// y = Conv(x) with weights 100 and 1: with one scale the second has one of 127 steps, with its own
// scale all of them.
TEST_F(QuantizeTest, AChannelHasItsScaleUnlessTheWeightHasOne)
{
    EXPECT_EQ(destroy_graph(graph_), 0);
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const float weights[] = {100, 0.5f};
    const tensor_t x = add_input(graph_, "x", {1, 1, 1, 1});
    const tensor_t w = add_constant(graph_, "w", {2, 1, 1, 1}, weights);
    add_node(graph_, "r", "Conv", {x, w});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"r"}));
    calibration_.ranges = {{"x", {0, 1}}, {"r", {0, 100}}};
    for (const int per_channel : {0, 1, TENGINE_PER_TENSOR}) {
        tengine_quantization how = calibration_.how();
        how.per_channel = per_channel;
        const graph_t made = tengine_graph_quantize(graph_, &how);
        ASSERT_NE(made, nullptr) << get_tengine_error();
        std::set<size_t> scale_counts;
        for (int i = 0; i < get_graph_node_num(made); ++i) {
            const node_t node = get_graph_node_by_idx(made, i);
            if (std::string(get_node_op(node)) != "DequantizeLinear") continue;
            scale_counts.insert(read_floats(get_node_input_tensor(node, 1)).size());
        }
        EXPECT_EQ(scale_counts.count(2), per_channel == TENGINE_PER_TENSOR ? 0u : 1u);
        EXPECT_EQ(destroy_graph(made), 0);
    }
    tengine_quantization how = calibration_.how();
    how.per_channel = 2;
    expect_failure(how, TENGINE_EINVAL, "per_channel is 2: expected 0, 1 or TENGINE_PER_TENSOR");
}

// y = ReLU(Convolution(x)) of Tengine, saved as a tmfile of int8 tensors.
TEST_F(QuantizeTest, OperatorsOfTengineBecomeATmfileOfBytes)
{
    EXPECT_EQ(destroy_graph(graph_), 0);
    const context_t context = create_context("bytes", 1);
    EXPECT_EQ(tengine_context_set_option(context, "model.integer_io", "1"), 0);
    graph_ = create_graph(context, nullptr, nullptr);
    const float weight = 2;
    const tensor_t x = add_input(graph_, "x", {1, 1, 1, 4});
    const tensor_t w = add_constant(graph_, "w", {1, 1, 1, 1}, &weight);
    const tensor_t c = add_node(graph_, "c", "Convolution", {x, w});
    add_node(graph_, "y", "ReLU", {c});
    const int one = 1;
    for (const char* name : {"kernel_h", "kernel_w", "output_channel"})
        EXPECT_EQ(set_node_attr_int(get_graph_node(graph_, "c"), name, &one), 0);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    const graph_t quantized = quantize();
    ASSERT_NE(quantized, nullptr) << get_tengine_error();
    EXPECT_EQ(operator_of(quantized, "c"), "Conv");
    const std::string path =
        testing::TempDir() + "quantize_test_" + std::to_string(getpid()) + ".tmfile";
    if (save_graph(quantized, "tengine", path.c_str()) < 0) {
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
        GTEST_SKIP() << "built without tmfiles";
    }
    const graph_t loaded = create_graph(nullptr, "tengine", path.c_str());
    std::remove(path.c_str());
    ASSERT_NE(loaded, nullptr) << get_tengine_error();
    EXPECT_EQ(operator_of(loaded, "c"), "Convolution");
    for (const char* name : {"x", "w_quantized", "y"})
        EXPECT_EQ(get_tensor_data_type(get_graph_tensor(loaded, name)), TENGINE_DT_INT8) << name;
    float scale = 0;
    int zero_point = 0;
    EXPECT_EQ(get_tensor_quant_param(get_graph_tensor(loaded, "y"), &scale, &zero_point, 1), 1);
    EXPECT_FLOAT_EQ(scale, 0.02f);
    EXPECT_EQ(zero_point, -128);
    EXPECT_EQ(destroy_graph(loaded), 0);
}

}  // namespace
}  // namespace tengine
