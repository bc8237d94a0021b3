// SPDX-License-Identifier: Apache-2.0
// Operators at sizes that are awkward for fast kernels, and at sizes of real networks: one table
// for the tests of the CPU kernels (tests/device/cpu/kernel_test.cc, which take all of it) and for
// kernel_benchmark.cc (which takes the latter).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tengine {

// One node with fp32 inputs. Input 0 is fed, the others are constants.
struct KernelCase
{
    std::string op;
    std::vector<std::vector<int>> inputs;  // shapes
    // Attributes by kind.
    std::vector<std::pair<std::string, std::vector<int64_t>>> lists = {};
    std::vector<std::pair<std::string, int>> ints = {};
    std::vector<std::pair<std::string, float>> floats = {};
    bool is_benchmark = false;
    std::vector<int64_t> axes = {};  // an int64 constant after the inputs; none: no such input

    // "Conv 1x3x7x7 4x3x3x3 pads=1,1,1,1": unique in the table.
    std::string name() const
    {
        std::string text = op;
        for (const auto& shape : inputs)
            text += " " + (shape.empty() ? "scalar" : join(shape, 'x'));
        for (const auto& [key, values] : lists)
            text += " " + key + "=" + join(values, ',');
        for (const auto& [key, value] : ints)
            text += " " + key + "=" + std::to_string(value);
        for (const auto& [key, value] : floats)
            text += " " + key + "=" + std::to_string(value);
        return axes.empty() ? text : text + " axes=" + join(axes, ',');
    }

  private:
    template <class T>
    static std::string join(const std::vector<T>& values, char separator)
    {
        std::string text;
        for (const T& value : values)
            text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(value);
        return text;
    }
};

// How a convolution's window differs from stride 1, no padding, no dilation, one group.
struct ConvWindow
{
    std::vector<int64_t> strides = {}, pads = {}, dilations = {};
    int group = 1;
    bool has_bias = true;
};

inline KernelCase conv_case(const char* op, const std::vector<int>& input,
                            const std::vector<int>& weight, const ConvWindow& window = {})
{
    KernelCase made;
    made.op = op;
    made.inputs = {input, weight};
    const bool transposed = made.op == "ConvTranspose";
    if (window.has_bias) made.inputs.push_back({transposed ? weight[1] * window.group : weight[0]});
    if (!window.strides.empty()) made.lists.push_back({"strides", window.strides});
    if (!window.pads.empty()) made.lists.push_back({"pads", window.pads});
    if (!window.dilations.empty()) made.lists.push_back({"dilations", window.dilations});
    if (window.group != 1) made.ints.push_back({"group", window.group});
    return made;
}

inline void add_conv_cases(std::vector<KernelCase>& cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases.push_back(conv_case("Conv", input, weight, window));
    };
    // 1x1: the input is the matrix; with stride or padding it is not.
    add({1, 1, 1, 1}, {1, 1, 1, 1});
    add({1, 13, 7, 17}, {7, 13, 1, 1});
    add({2, 17, 13, 31}, {33, 17, 1, 1});
    add({3, 5, 1, 1}, {17, 5, 1, 1}, {{}, {}, {}, 1, false});
    add({1, 7, 13, 13}, {5, 7, 1, 1}, {{2, 2}});
    add({3, 9, 11, 7}, {40, 9, 1, 1}, {{3, 2}});
    add({2, 70, 9, 21}, {37, 70, 1, 1}, {{1, 2}});
    add({1, 7, 5, 6}, {5, 7, 1, 1}, {{}, {1, 0, 2, 1}});
    // Windows: strides, one-sided padding, dilation, padding beyond the kernel, groups.
    add({1, 3, 7, 7}, {4, 3, 3, 3}, {{}, {1, 1, 1, 1}});
    add({2, 3, 31, 33}, {13, 3, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 5, 17, 13}, {7, 5, 5, 3}, {{3, 2}, {0, 2, 1, 0}, {}, 1, false});
    add({1, 4, 17, 19}, {6, 4, 3, 3}, {{}, {2, 2, 2, 2}, {2, 3}});
    add({1, 2, 5, 5}, {3, 2, 3, 3}, {{4, 4}, {6, 6, 6, 6}, {3, 3}});
    add({2, 12, 9, 9}, {8, 3, 3, 3}, {{}, {1, 1, 1, 1}, {}, 4});
    add({1, 6, 7, 11}, {9, 2, 1, 1}, {{}, {}, {}, 3});
    add({1, 3, 64, 65}, {17, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}});
    // Padding and strides that no model has, and few results.
    add({1, 3, 5, 5}, {20, 3, 3, 3},
        {{300000000, 300000000},
         {1000000000, 1000000000, 1000000000, 1000000000},
         {500000000, 500000000}});
    // Windows that lie beyond the input: in part, all but their middle, entirely.
    add({1, 37, 9, 13}, {70, 37, 3, 3}, {{}, {6, 6, 6, 6}, {6, 6}});
    add({2, 8, 5, 7}, {10, 4, 3, 3}, {{}, {7, 7, 7, 7}, {7, 7}, 2});
    add({1, 6, 3, 4}, {7, 6, 3, 3}, {{}, {5, 4, 6, 5}});
    // More columns than a block has.
    add({1, 33, 61, 67}, {5, 33, 7, 7}, {{}, {3, 3, 3, 3}});
    // 1-d and 3-d.
    add({2, 5, 33}, {7, 5, 4}, {{2}, {1, 2}});
    add({1, 7, 129}, {3, 7, 1});
    add({1, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {{2, 1, 1}, {1, 1, 0, 1, 0, 1}});
    add({1, 4, 3, 5, 4}, {6, 2, 2, 2, 2}, {{}, {1, 0, 1, 0, 1, 1}, {2, 1, 1}, 2});
    // Nothing to do, and nothing to sum.
    add({0, 3, 5, 5}, {2, 3, 3, 3});
    add({1, 0, 5, 5}, {2, 0, 3, 3});
}

inline void add_depthwise_cases(std::vector<KernelCase>& cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         ConvWindow window = {}) {
        window.group = input[1];
        cases.push_back(conv_case("Conv", input, weight, window));
    };
    for (int width : {1, 7, 13, 16, 17, 31, 33, 67})
        add({1, 3, 9, width}, {3, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    for (int height : {1, 2, 3, 4, 5, 8})
        add({1, 2, height, 19}, {2, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({2, 5, 17, 35}, {5, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 5, 16, 34}, {5, 1, 5, 5}, {{2, 2}, {2, 1, 2, 3}});
    add({1, 3, 13, 13}, {3, 1, 5, 5}, {{}, {2, 2, 2, 2}, {}, 1, false});
    add({1, 3, 13, 31}, {9, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 2, 21, 23}, {4, 1, 3, 3}, {{3, 5}, {1, 4, 2, 0}, {2, 2}});
    add({1, 2, 21, 23}, {2, 1, 3, 2}, {{2, 3}, {0, 3, 0, 3}, {1, 4}});
    add({1, 2, 3, 3}, {2, 1, 3, 3}, {{2, 2}, {7, 7, 7, 7}});
    add({1, 3, 40, 9}, {3, 1, 1, 1});
    add({2, 4, 77}, {8, 1, 5}, {{2}, {2, 2}});
    add({1, 4, 1001}, {4, 1, 9}, {{}, {8, 0}});
    // More rows than a band has; strides too wide for the band (the product takes it).
    add({1, 1, 700, 300}, {1, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 2, 33, 35}, {2, 1, 3, 3}, {{11, 9}, {1, 1, 1, 1}});
    add({1, 4, 3, 5, 6}, {4, 1, 2, 2, 2});
    // Enough channels for the windows of pairs of vectors.
    for (const int kernel : {3, 5})
        for (const int stride : {1, 2}) {
            const int pad = kernel / 2;
            add({1, 67, 9, 21}, {67, 1, kernel, kernel}, {{stride, stride}, {pad, pad, pad, pad}});
        }
    // Images that are copied: lines of seven pixels, of some more, of few, and of too few.
    add({2, 67, 7, 7}, {67, 1, 5, 5}, {{}, {2, 2, 2, 2}});
    add({1, 70, 5, 10}, {70, 1, 5, 5}, {{}, {2, 1, 0, 3}});
    add({1, 64, 9, 5}, {64, 1, 5, 5}, {{}, {4, 2, 4, 2}, {2, 1}});
    add({1, 64, 6, 3}, {64, 1, 5, 5}, {{}, {2, 2, 2, 2}});
}

inline void add_conv_transpose_cases(std::vector<KernelCase>& cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases.push_back(conv_case("ConvTranspose", input, weight, window));
    };
    add({1, 1, 1, 1}, {1, 1, 1, 1});
    add({1, 3, 7, 5}, {3, 4, 3, 3});
    add({2, 5, 13, 7}, {5, 3, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 4, 6, 5}, {4, 3, 3, 2}, {{3, 2}, {0, 1, 2, 0}, {2, 3}, 2});
    add({1, 2, 3, 3}, {2, 3, 2, 2}, {{5, 4}, {}, {}, 1, false});
    add({1, 7, 33}, {7, 5, 4}, {{2}, {1, 1}});
    add({1, 3, 3, 4, 5}, {3, 2, 2, 3, 2}, {{2, 1, 2}, {1, 0, 0, 0, 1, 1}});
    // Strides, windows, dilations and padding that differ; groups, more than a panel of channels,
    // tiles along columns, strides wider than the window, padding beyond it, a single pixel.
    add({2, 20, 9, 14}, {20, 37, 2, 2}, {{2, 2}});
    add({1, 12, 30, 5}, {12, 70, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 9, 11, 8}, {9, 18, 3, 3}, {{2, 2}, {1, 1, 0, 0}});
    add({1, 6, 8, 9}, {6, 20, 5, 3}, {{2, 3}, {4, 1, 0, 2}, {3, 2}});
    add({2, 8, 5, 6}, {8, 13, 4, 3}, {{2, 1}, {1, 1, 1, 1}, {1, 4}, 4});
    add({1, 3, 4, 5}, {3, 40, 2, 1}, {{5, 3}, {1, 0, 0, 0}, {2, 1}});
    add({2, 17, 1, 1}, {17, 19, 4, 4});
    add({1, 5, 3, 2}, {5, 17, 7, 6}, {{}, {3, 2, 3, 2}});
    add({1, 4, 6, 7}, {4, 14, 3, 3}, {{2, 2}, {7, 0, 2, 9}, {2, 3}});
    add({1, 4, 2, 2}, {4, 12, 5, 5}, {{30, 2}, {2, 2, 2, 2}});
    // More than one block of channels, and of rows.
    add({1, 8, 65, 67}, {8, 9, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 2, 301, 303}, {2, 2, 5, 5}, {{}, {2, 2, 2, 2}});
}

inline void add_product_cases(std::vector<KernelCase>& cases)
{
    const auto add = [&](const char* op, const std::vector<std::vector<int>>& shapes,
                         const std::vector<std::pair<std::string, int>>& ints = {},
                         const std::vector<std::pair<std::string, float>>& floats = {}) {
        cases.push_back({op, shapes, {}, ints, floats});
    };
    for (int m : {1, 7, 33})
        for (int n : {1, 13, 17})
            for (int k : {1, 31, 129})
                add("Gemm", {{m, k}, {n, k}, {n}}, {{"transB", 1}});
    for (int transposed_a : {0, 1})
        for (int transposed_b : {0, 1})
            for (int size : {1, 13}) {
                const std::vector<int> a =
                    transposed_a ? std::vector{17, size} : std::vector{size, 17};
                const std::vector<int> b = transposed_b ? std::vector{31, 17} : std::vector{17, 31};
                add("Gemm", {a, b}, {{"transA", transposed_a}, {"transB", transposed_b}});
                add("Gemm", {a, b, {size, 1}}, {{"transA", transposed_a}, {"transB", transposed_b}},
                    {{"alpha", 1.5f}, {"beta", 2.25f}});
            }
    for (const std::vector<int>& addend : std::vector<std::vector<int>>{{}, {1}, {1, 33}, {13, 33}})
        add("Gemm", {{13, 7}, {7, 33}, addend});
    add("Gemm", {{13, 7}, {7, 33}, {33}}, {}, {{"beta", 0.0f}});
    add("Gemm", {{3, 0}, {0, 5}, {5}});
    add("Gemm", {{0, 4}, {4, 5}});

    for (int m : {2, 9, 16})
        for (int n : {2, 3, 5, 9, 15, 33})
            add("MatMul", {{m, 31}, {31, n}});
    add("MatMul", {{7, 13}, {13, 17}});
    add("MatMul", {{13}, {13, 17}});
    add("MatMul", {{7, 13}, {13}});
    add("MatMul", {{13}, {13}});
    add("MatMul", {{2, 3, 7, 13}, {13, 17}});
    add("MatMul", {{2, 3, 7, 13}, {2, 3, 13, 5}});
    add("MatMul", {{2, 1, 7, 13}, {1, 3, 13, 5}});
    add("MatMul", {{7, 13}, {4, 13, 5}});
    add("MatMul", {{4, 7, 13}, {13}});
    add("MatMul", {{3, 5, 0}, {3, 0, 2}});
    add("MatMul", {{0, 5, 4}, {4, 2}});
    // Large enough to be cut into strips.
    add("MatMul", {{301, 203}, {203, 177}});
    add("MatMul", {{99, 203}, {203, 577}});
    add("MatMul", {{1, 1501}, {1501, 1777}});
    add("MatMul", {{1777, 1501}, {1501}});
}

inline void add_elementwise_cases(std::vector<KernelCase>& cases)
{
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "HardSigmoid",
                           "Elu", "Exp", "Gelu", "Softplus", "Swish"}) {
        for (int size : {1, 7, 13, 16, 17, 31, 33, 1001})
            cases.push_back({op, {{size}}});
        cases.push_back({op, {{2, 33000}}});
        cases.push_back({op, {{}}});
        cases.push_back({op, {{0, 3}}});
    }
    cases.push_back({"LeakyRelu", {{37}}, {}, {}, {{"alpha", 0.3f}}});
    cases.push_back({"HardSigmoid", {{37}}, {}, {}, {{"alpha", 0.4f}, {"beta", 0.1f}}});
    cases.push_back({"Swish", {{37}}, {}, {}, {{"alpha", 1.702f}}});
    for (int size : {1, 17, 40000})
        cases.push_back({"Clip", {{size}, {}, {}}});
    cases.push_back({"Clip", {{33}, {}}});
    cases.push_back({"Clip", {{33}}});
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum"}) {
        for (int size : {1, 7, 17, 33, 40000})
            cases.push_back({op, {{size}, {size}}});
        cases.push_back({op, {{7, 33}, {}}});
        cases.push_back({op, {{}, {7, 33}}});
        cases.push_back({op, {{2, 5, 7, 9}, {5, 1, 1}}});
        cases.push_back({op, {{5, 1, 1}, {2, 5, 7, 9}}});
        cases.push_back({op, {{2, 3, 17}, {17}}});
        cases.push_back({op, {{3, 1, 17}, {1, 5, 1}}});
        cases.push_back({op, {{0, 4}, {4}}});
        cases.push_back({op, {{}, {}}});
    }
    cases.push_back({"PRelu", {{2, 5, 7, 9}, {5, 1, 1}}});
    cases.push_back({"PRelu", {{33}, {33}}});
}

// Normalisations of rows. Some of those that add two tensors first broadcast the second.
inline void add_norm_cases(std::vector<KernelCase>& cases)
{
    for (const int size : {1, 7, 13, 16, 17, 33, 65, 129, 1001}) {
        cases.push_back({"RMSNormalization", {{3, size}, {size}}});
        for (const char* op : {"com.microsoft.SkipLayerNormalization",
                               "com.microsoft.SkipSimplifiedLayerNormalization"}) {
            cases.push_back({op, {{3, size}, {3, size}, {size}, {size}}});
            cases.push_back({op, {{2, 3, size}, {1, 3, size}, {size}}});
        }
    }
    cases.push_back({"RMSNormalization", {{5, 3, 4, 7}, {4, 7}}, {}, {{"axis", 2}}});
    cases.push_back({"RMSNormalization", {{0, 4}, {4}}});
    cases.push_back({"com.microsoft.SkipLayerNormalization", {{0, 4}, {0, 4}, {4}}});
    cases.push_back(
        {"com.microsoft.SkipLayerNormalization", {{2, 5, 17}, {5, 17}, {17}, {17}, {17}}});
}

// Heads with a cosine and a sine for each of their pairs, or of the first ones.
inline KernelCase rotary_case(int tokens, int heads, int half, int head_size, int interleaved)
{
    KernelCase made;
    made.op = "RotaryEmbedding";
    made.inputs = {{1, tokens, heads * head_size}, {1, tokens, half}, {1, tokens, half}};
    made.ints = {
        {"interleaved", interleaved}, {"num_heads", heads}, {"rotary_embedding_dim", 2 * half}};
    return made;
}

inline void add_rotary_cases(std::vector<KernelCase>& cases)
{
    for (const int interleaved : {0, 1}) {
        for (const int half : {1, 7, 13, 16, 17, 33})
            for (const int rest : {0, 3})
                cases.push_back(rotary_case(5, 3, half, 2 * half + rest, interleaved));
        cases.push_back({"RotaryEmbedding",
                         {{2, 3, 5, 26}, {2, 5, 13}, {2, 5, 13}},
                         {},
                         {{"interleaved", interleaved}}});
        cases.push_back(rotary_case(0, 3, 4, 8, interleaved));
    }
}

// Layers of ResNet-50, MobileNetV2 and transformers.
inline void add_network_cases(std::vector<KernelCase>& cases)
{
    const size_t first = cases.size();
    cases.push_back(conv_case("Conv", {1, 3, 224, 224}, {64, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}}));
    for (int channels : {64, 128, 256, 512}) {
        const int side = 56 * 64 / channels;
        cases.push_back(conv_case("Conv", {1, channels, side, side}, {channels, channels, 3, 3},
                                  {{}, {1, 1, 1, 1}}));
        cases.push_back(
            conv_case("Conv", {1, channels, side, side}, {channels * 4, channels, 1, 1}));
    }
    for (int stride : {1, 2}) {
        cases.push_back(conv_case("Conv", {1, 96, 112, 112}, {96, 1, 3, 3},
                                  {{stride, stride}, {1, 1, 1, 1}, {}, 96}));
        cases.push_back(conv_case("Conv", {1, 576, 14, 14}, {576, 1, 3, 3},
                                  {{stride, stride}, {1, 1, 1, 1}, {}, 576}));
    }
    cases.push_back(conv_case("Conv", {1, 3, 224, 224}, {32, 3, 3, 3}, {{2, 2}, {1, 1, 1, 1}}));
    cases.push_back(conv_case("Conv", {1, 2048, 7, 7}, {512, 2048, 1, 1}));
    cases.push_back(
        conv_case("Conv", {1, 480, 14, 14}, {480, 1, 5, 5}, {{}, {2, 2, 2, 2}, {}, 480}));
    // Those of U-Net, of generators (a point first), and with a window of 3 x 3.
    for (const auto& [size, channels] : {std::pair(16, 512), {32, 256}, {64, 128}, {128, 64}})
        cases.push_back(conv_case("ConvTranspose", {1, 2 * channels, size, size},
                                  {2 * channels, channels, 2, 2}, {{2, 2}}));
    cases.push_back(conv_case("ConvTranspose", {1, 100, 1, 1}, {100, 512, 4, 4}));
    for (const auto& [size, outputs] : {std::pair(8, 128), {16, 64}, {32, 3}})
        cases.push_back(conv_case("ConvTranspose", {1, 2048 / size, size, size},
                                  {2048 / size, outputs, 4, 4}, {{2, 2}, {1, 1, 1, 1}}));
    cases.push_back(
        conv_case("ConvTranspose", {1, 64, 28, 28}, {64, 32, 4, 4}, {{2, 2}, {1, 1, 1, 1}}));
    cases.push_back(
        conv_case("ConvTranspose", {1, 128, 28, 28}, {128, 64, 3, 3}, {{2, 2}, {1, 1, 0, 0}}));
    cases.push_back({"Gemm", {{1, 2048}, {1000, 2048}, {1000}}, {}, {{"transB", 1}}});
    cases.push_back({"MatMul", {{1, 128, 768}, {768, 768}}});
    cases.push_back({"MatMul", {{1, 64, 3072}, {3072, 256}}});
    cases.push_back({"MatMul", {{1, 12, 128, 64}, {1, 12, 64, 128}}});
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish"})
        cases.push_back({op, {{1, 64, 112, 112}}});
    for (const char* op : {"Abs", "Ceil", "Elu", "Exp", "Floor", "Gelu", "Log", "Mish", "Neg",
                           "Reciprocal", "Selu", "Softplus", "Sqrt", "Swish"})
        cases.push_back({op, {{1, 128, 768}}});
    for (const char* op : {"Max", "Min", "Pow", "Sum"})
        cases.push_back({op, {{1, 128, 768}, {1}}});
    for (const int rows : {1, 128}) {
        const std::vector<int> row = {2048};
        const std::vector<int> shape = {1, rows, 2048};
        cases.push_back({"RMSNormalization", {shape, row}});
        cases.push_back({"com.microsoft.SkipLayerNormalization", {shape, shape, row, row}});
        cases.push_back({"com.microsoft.SkipSimplifiedLayerNormalization", {shape, shape, row}});
        for (const int interleaved : {0, 1})
            cases.push_back(rotary_case(rows, 32, 32, 64, interleaved));
    }
    cases.push_back({"PRelu", {{1, 64, 56, 56}, {64, 1, 1}}});
    cases.push_back({"Add", {{1, 256, 56, 56}, {1, 256, 56, 56}}});
    cases.push_back({"Mul", {{1, 256, 56, 56}, {1, 256, 1, 1}}});
    for (size_t i = first; i < cases.size(); ++i)
        cases[i].is_benchmark = true;
}

// A layer of one sequence, without biases.
inline KernelCase recurrent_case(const char* op, int gates, int sequence, int input, int hidden)
{
    KernelCase made;
    made.op = op;
    made.inputs = {{sequence, 1, input}, {1, gates * hidden, input}, {1, gates * hidden, hidden}};
    return made;
}

// The convolutions of resnet50 and vgg16 that are not among those above, and recurrent layers of
// the size that spots keywords and of a larger one, for measurements only.
inline std::vector<KernelCase> list_layer_cases()
{
    std::vector<KernelCase> cases;
    const auto add = [&](int side, int inputs, int outputs, int kernel, int stride) {
        const int pad = kernel / 2;
        cases.push_back(conv_case("Conv", {1, inputs, side, side},
                                  {outputs, inputs, kernel, kernel},
                                  {{stride, stride}, {pad, pad, pad, pad}}));
    };
    for (int side : {56, 28, 14}) {
        const int channels = 256 * 56 / side;
        add(side, channels, channels / 4, 1, 1);
        add(side, channels, channels / 2, 1, 1);
        add(side, channels, channels * 2, 1, 2);
        add(side, channels / 2, channels / 2, 3, 2);
    }
    add(56, 64, 64, 1, 1);
    add(224, 3, 64, 3, 1);
    add(224, 64, 64, 3, 1);
    for (int inputs : {64, 128}) {
        add(112 * 64 / inputs, inputs, inputs * 2, 3, 1);
        add(112 * 64 / inputs, inputs * 2, inputs * 2, 3, 1);
    }
    add(28, 256, 512, 3, 1);
    add(28, 512, 512, 3, 1);
    add(14, 512, 512, 3, 1);
    for (const int hidden : {64, 512}) {
        cases.push_back(recurrent_case("LSTM", 4, 64, hidden, hidden));
        cases.push_back(recurrent_case("GRU", 3, 64, hidden, hidden));
        cases.push_back(recurrent_case("RNN", 1, 64, hidden, hidden));
    }
    for (const char* op :
         {"ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"}) {
        cases.push_back({op, {{1, 128, 768}}});
        cases.back().axes = {2};
        cases.push_back({op, {{1, 1280, 7, 7}}});
        cases.back().axes = {2, 3};
        cases.push_back({op, {{1, 128, 768}}});
        cases.back().axes = {1};
    }
    return cases;
}

inline std::vector<KernelCase> list_kernel_cases()
{
    std::vector<KernelCase> cases;
    add_conv_cases(cases);
    add_depthwise_cases(cases);
    add_conv_transpose_cases(cases);
    add_product_cases(cases);
    add_elementwise_cases(cases);
    add_norm_cases(cases);
    add_rotary_cases(cases);
    add_network_cases(cases);
    return cases;
}

}  // namespace tengine
