// SPDX-License-Identifier: Apache-2.0
// Equalised convolutions compute as before. The values of weights and biases are tested in
// tests/api.
#include "calibration/convolution.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibration/graph_reader.h"

namespace tengine::calibration {
namespace {

tensor_t add_node(graph_t graph, const char* name, const char* op,
                  const std::vector<tensor_t>& inputs)
{
    const node_t node = create_graph_node(graph, name, op);
    const tensor_t tensor = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    const bool is_constant = std::string(op) == "Const";
    EXPECT_EQ(
        set_node_output_tensor(node, 0, tensor, is_constant ? TENSOR_TYPE_CONST : TENSOR_TYPE_VAR),
        0);
    for (size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(set_node_input_tensor(node, static_cast<int>(i), inputs[i]), 0);
    return tensor;
}

// Weights of very different ranges.
tensor_t add_weight(graph_t graph, const char* name, int outputs, int inputs, int taps = 3)
{
    const int dims[] = {outputs, inputs, 1, taps};
    std::vector<float> values(static_cast<size_t>(outputs * inputs * taps));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = std::ldexp(std::sin(static_cast<float>(i + 1)), static_cast<int>(i % 7) - 3);
    const tensor_t tensor = add_node(graph, name, "Const", {});
    EXPECT_EQ(set_tensor_shape(tensor, dims, 4), 0);
    EXPECT_EQ(set_tensor_data(tensor, values.data(), get_tensor_buffer_size(tensor)), 0);
    return tensor;
}

tensor_t add_convolution(graph_t graph, const char* name, tensor_t input, tensor_t weight,
                         int group)
{
    const tensor_t result = add_node(graph, name, "Conv", {input, weight});
    EXPECT_EQ(set_node_attr_int(get_graph_node(graph, name), "group", &group), 0);
    return result;
}

// Convolutions of one group, with a Relu behind, of a group for each channel, of two groups, and
// with a result that two nodes read.
graph_t create_convolutions()
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const int dims[] = {1, 1, 1, 16};
    const tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);
    EXPECT_EQ(
        set_node_output_tensor(create_graph_node(graph, "x", "InputOp"), 0, x, TENSOR_TYPE_INPUT),
        0);
    EXPECT_EQ(set_tensor_shape(x, dims, 4), 0);
    const tensor_t a = add_convolution(graph, "a", x, add_weight(graph, "wa", 4, 1), 1);
    const tensor_t r = add_node(graph, "r", "Relu", {a});
    const tensor_t d = add_convolution(graph, "d", r, add_weight(graph, "wd", 8, 1), 4);
    const tensor_t g = add_convolution(graph, "g", d, add_weight(graph, "wg", 4, 4), 2);
    const tensor_t e = add_convolution(graph, "e", g, add_weight(graph, "we", 2, 4), 1);
    const tensor_t f = add_convolution(graph, "f", e, add_weight(graph, "wf", 2, 2, 1), 1);
    add_node(graph, "y", "Add", {e, f});
    const char *inputs[] = {"x"}, *outputs[] = {"y"};
    EXPECT_EQ(set_graph_input_node(graph, inputs, 1), 0);
    EXPECT_EQ(set_graph_output_node(graph, outputs, 1), 0);
    return graph;
}

std::vector<float> run(graph_t graph)
{
    std::vector<float> x(16);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = std::cos(static_cast<float>(i));
    EXPECT_EQ(set_tensor_buffer(get_graph_tensor(graph, "x"), x.data(), 64), 0);
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph, 1), 0);
    const tensor_t y = get_graph_tensor(graph, "y");
    const auto* values = static_cast<const float*>(get_tensor_buffer(y));
    return {values, values + get_tensor_buffer_size(y) / 4};
}

std::vector<float> data_of(graph_t graph, const char* name)
{
    const tensor_t tensor = get_graph_tensor(graph, name);
    const auto* values = static_cast<const float*>(get_tensor_buffer(tensor));
    return {values, values + get_tensor_buffer_size(tensor) / 4};
}

TEST(CalibrationConvolution, EqualizedOnesComputeAsBefore)
{
    ASSERT_EQ(init_tengine(), 0);
    const graph_t graph = create_convolutions(), equalized = create_convolutions();
    ASSERT_EQ(equalize(equalized), 0);
    // The second convolution of a pair has one group, or one for each channel.
    for (const char* weight : {"wa", "wd", "wg", "we"})
        EXPECT_NE(data_of(graph, weight), data_of(equalized, weight)) << weight;
    EXPECT_EQ(data_of(graph, "wf"), data_of(equalized, "wf")) << "e has two readers";
    const std::vector<float> expected = run(graph), actual = run(equalized);
    ASSERT_EQ(actual.size(), expected.size());
    float largest = 0;
    for (const float value : expected)
        largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-5f * largest) << i;
    release_tengine();
}

}  // namespace
}  // namespace tengine::calibration
