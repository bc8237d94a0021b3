// SPDX-License-Identifier: Apache-2.0
// A quantised convolution built by hand, with uint8 activations, int8 weights with a scale for each
// output channel and an int32 bias: saved as a tmfile, loaded and run, against integer arithmetic
// here. All scales are powers of two, so that every step is exact.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "models/sample_graph.h"

namespace tengine::models {
namespace {

constexpr int kInputs = 2, kOutputs = 3, kSize = 5, kKernel = 3, kResult = 3;
constexpr float kInputScale = 0x1p-4f, kOutputScale = 0x1p-3f;
constexpr int kInputZero = 120, kOutputZero = 110;
constexpr float kWeightScales[kOutputs] = {0x1p-7f, 0x1p-8f, 0x1p-9f};

// Values of the model; input, weights and bias spread over the ranges of their types.
int input_at(int c, int y, int x)
{
    return ((c * kSize + y) * kSize + x) * 37 % 256;
}

int weight_at(int o, int c, int y, int x)
{
    return (((o * kInputs + c) * kKernel + y) * kKernel + x) * 53 % 255 - 127;
}

constexpr int kBias[kOutputs] = {1000, -3000, 5001};

class QuantizedGraph
{
  public:
    QuantizedGraph() : graph_(create_graph(nullptr, nullptr, nullptr))
    {
        tensor_t image = add("image", "InputOp", {1, kInputs, kSize, kSize}, TENGINE_DT_UINT8,
                             TENSOR_TYPE_INPUT);
        quantize(image, {kInputScale}, {kInputZero});
        tensor_t weights = add("weights", "Const", {kOutputs, kInputs, kKernel, kKernel},
                               TENGINE_DT_INT8, TENSOR_TYPE_CONST);
        quantize(weights, {kWeightScales, kWeightScales + kOutputs}, {0, 0, 0});
        tensor_t bias = add("bias", "Const", {kOutputs}, TENGINE_DT_INT32, TENSOR_TYPE_CONST);
        std::vector<float> bias_scales;
        for (const float scale : kWeightScales)
            bias_scales.push_back(kInputScale * scale);
        quantize(bias, bias_scales, {0, 0, 0});
        fill(weights, bias);
        tensor_t result = add("conv", "Convolution", {}, TENGINE_DT_UINT8, TENSOR_TYPE_VAR);
        quantize(result, {kOutputScale}, {kOutputZero});
        connect({image, weights, bias});
    }
    ~QuantizedGraph() { destroy_graph(graph_); }
    QuantizedGraph(const QuantizedGraph&) = delete;
    QuantizedGraph& operator=(const QuantizedGraph&) = delete;

    void save(const std::string& path)
    {
        EXPECT_EQ(save_graph(graph_, "tengine", path.c_str()), 0) << get_tengine_error();
    }

  private:
    static void expect_done(int status) { EXPECT_EQ(status, 0) << get_tengine_error(); }

    tensor_t add(const char* name, const char* op, const Shape& shape, int data_type, int type)
    {
        const node_t node = create_graph_node(graph_, name, op);
        const tensor_t tensor = create_graph_tensor(graph_, name, data_type);
        expect_done(set_node_output_tensor(node, 0, tensor, type));
        if (!shape.empty())
            expect_done(set_tensor_shape(tensor, shape.data(), static_cast<int>(shape.size())));
        return tensor;
    }

    static void quantize(tensor_t tensor, std::vector<float> scales, std::vector<int> zero_points)
    {
        expect_done(set_tensor_quant_param(tensor, scales.data(), zero_points.data(),
                                           static_cast<int>(scales.size())));
    }

    static void fill(tensor_t weights, tensor_t bias)
    {
        std::vector<int8_t> values;
        for (int o = 0; o < kOutputs; ++o)
            for (int i = 0; i < kInputs * kKernel * kKernel; ++i)
                values.push_back(static_cast<int8_t>(weight_at(o, 0, 0, i)));
        expect_done(set_tensor_data(weights, values.data(), static_cast<int>(values.size())));
        expect_done(set_tensor_data(bias, kBias, sizeof(kBias)));
    }

    void connect(const std::vector<tensor_t>& inputs)
    {
        const node_t node = get_graph_node(graph_, "conv");
        for (size_t i = 0; i < inputs.size(); ++i)
            expect_done(set_node_input_tensor(node, static_cast<int>(i), inputs[i]));
        for (const char* name : {"kernel_h", "kernel_w"})
            expect_done(set_node_attr_int(node, name, &kKernel));
        expect_done(set_node_attr_int(node, "output_channel", &kOutputs));
        const char *first = "image", *last = "conv";
        expect_done(set_graph_input_node(graph_, &first, 1));
        expect_done(set_graph_output_node(graph_, &last, 1));
    }

    graph_t graph_;
};

int expected_at(int o, int y, int x)
{
    int sum = kBias[o];
    for (int c = 0; c < kInputs; ++c)
        for (int j = 0; j < kKernel; ++j)
            for (int i = 0; i < kKernel; ++i)
                sum += (input_at(c, y + j, x + i) - kInputZero) * weight_at(o, c, j, i);
    const double steps = sum * static_cast<double>(kInputScale * kWeightScales[o] / kOutputScale);
    return static_cast<int>(std::clamp(std::nearbyint(steps) + kOutputZero, 0.0, 255.0));
}

TEST(QuantizedGraphTmfile, ComputesInIntegers)
{
    ASSERT_EQ(init_tengine(), 0);
    const std::string path =
        testing::TempDir() + "quantized_graph_" + std::to_string(getpid()) + ".tmfile";
    QuantizedGraph().save(path);
    tools::Tensor image = tools::make_tensor(TENGINE_DT_UINT8, {1, kInputs, kSize, kSize});
    for (int i = 0; i < kInputs * kSize * kSize; ++i)
        tools::set_element(&image, static_cast<size_t>(i), input_at(0, 0, i));
    const tools::Tensor result = SampleGraph(path).prepare_and_run(image).at(0);
    std::filesystem::remove(path);
    ASSERT_EQ(result.shape, (Shape{1, kOutputs, kResult, kResult}));
    ASSERT_EQ(result.data_type, TENGINE_DT_UINT8);
    int within = 0;
    for (int o = 0; o < kOutputs; ++o)
        for (int i = 0; i < kResult * kResult; ++i) {
            const int expected = expected_at(o, i / kResult, i % kResult);
            EXPECT_EQ(tools::get_element(result, static_cast<size_t>(o * kResult * kResult + i)),
                      expected)
                << o << ' ' << i;
            within += expected > 0 && expected < 255 ? 1 : 0;
        }
    EXPECT_GT(within, 18);  // not all are saturated
    release_tengine();
}

}  // namespace
}  // namespace tengine::models
