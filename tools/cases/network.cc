// SPDX-License-Identifier: Apache-2.0
// Layers at sizes of real networks.
#include "cases/case.h"

namespace tengine::tools {
namespace {

// The first operand is fed, the others are constants.
Case layer(const char* op, const std::vector<std::vector<int>>& shapes)
{
    Case made = {op, {}};
    for (const std::vector<int>& shape : shapes)
        made.inputs.push_back(made.inputs.empty() ? fed(shape) : constant(shape));
    made.types = float_types();
    return made;
}

void add_convolutions(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases->push_back(conv_case("Conv", input, weight, window));
    };
    add({1, 3, 224, 224}, {64, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}});
    for (const int channels : {64, 128, 256, 512}) {
        const int side = 56 * 64 / channels;
        add({1, channels, side, side}, {channels, channels, 3, 3}, {{}, {1, 1, 1, 1}});
        add({1, channels, side, side}, {channels * 4, channels, 1, 1});
    }
    for (const int stride : {1, 2}) {
        add({1, 96, 112, 112}, {96, 1, 3, 3}, {{stride, stride}, {1, 1, 1, 1}, {}, 96});
        add({1, 576, 14, 14}, {576, 1, 3, 3}, {{stride, stride}, {1, 1, 1, 1}, {}, 576});
    }
    add({1, 3, 224, 224}, {32, 3, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 2048, 7, 7}, {512, 2048, 1, 1});
    add({1, 480, 14, 14}, {480, 1, 5, 5}, {{}, {2, 2, 2, 2}, {}, 480});
}

// Layers of U-Net, of generators (a point first), and with a window of 3 x 3.
void add_transposed(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases->push_back(conv_case("ConvTranspose", input, weight, window));
    };
    for (const auto& [size, channels] : {std::pair(16, 512), {32, 256}, {64, 128}, {128, 64}})
        add({1, 2 * channels, size, size}, {2 * channels, channels, 2, 2}, {{2, 2}});
    add({1, 100, 1, 1}, {100, 512, 4, 4});
    for (const auto& [size, outputs] : {std::pair(8, 128), {16, 64}, {32, 3}})
        add({1, 2048 / size, size, size}, {2048 / size, outputs, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 64, 28, 28}, {64, 32, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 128, 28, 28}, {128, 64, 3, 3}, {{2, 2}, {1, 1, 0, 0}});
}

void add_products(std::vector<Case>* cases)
{
    cases->push_back(layer("Gemm", {{1, 2048}, {1000, 2048}, {1000}}));
    cases->back().ints = {{"transB", 1}};
    cases->push_back(layer("MatMul", {{1, 128, 768}, {768, 768}}));
    cases->push_back(layer("MatMul", {{1, 64, 3072}, {3072, 256}}));
    cases->push_back(layer("MatMul", {{1, 12, 128, 64}, {1, 12, 64, 128}}));
}

void add_elementwise(std::vector<Case>* cases)
{
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish"})
        cases->push_back(layer(op, {{1, 64, 112, 112}}));
    for (const char* op : {"Abs", "Ceil", "Elu", "Exp", "Floor", "Gelu", "Log", "Mish", "Neg",
                           "Reciprocal", "Selu", "Softplus", "Sqrt", "Swish"})
        cases->push_back(layer(op, {{1, 128, 768}}));
    for (const char* op : {"Max", "Min", "Sum"})
        cases->push_back(layer(op, {{1, 128, 768}, {1}}));
    cases->push_back(layer("Pow", {{1, 128, 768}}));
    cases->back().inputs.push_back(number(0.5));
    cases->push_back(layer("PRelu", {{1, 64, 56, 56}, {64, 1, 1}}));
    cases->push_back(layer("Add", {{1, 256, 56, 56}, {1, 256, 56, 56}}));
    cases->push_back(layer("Mul", {{1, 256, 56, 56}, {1, 256, 1, 1}}));
}

// Layers of decoders, for one token and for a prompt.
void add_decoder(std::vector<Case>* cases)
{
    for (const int rows : {1, 128}) {
        const std::vector<int> row = {2048}, shape = {1, rows, 2048}, half = {1, rows, 32};
        cases->push_back(layer("RMSNormalization", {shape, row}));
        cases->push_back(layer("com.microsoft.SkipLayerNormalization", {shape, shape, row, row}));
        cases->push_back(
            layer("com.microsoft.SkipSimplifiedLayerNormalization", {shape, shape, row}));
        for (const int interleaved : {0, 1}) {
            cases->push_back(layer("RotaryEmbedding", {shape, half, half}));
            cases->back().ints = {
                {"interleaved", interleaved}, {"num_heads", 32}, {"rotary_embedding_dim", 64}};
        }
    }
}

// A layer of one sequence of 64 steps, without biases.
Case recurrent_layer(const char* op, int gates, int hidden)
{
    return layer(op, {{64, 1, hidden}, {1, gates * hidden, hidden}, {1, gates * hidden, hidden}});
}

Case reduction(const char* op, const std::vector<int>& shape, const std::vector<double>& axes)
{
    Case made = layer(op, {shape});
    made.inputs.push_back(int64_list(axes));
    return made;
}

// The convolutions of resnet50 and vgg16 that are not among those above.
void add_more_convolutions(std::vector<Case>* cases)
{
    const auto add = [&](int side, int inputs, int outputs, int kernel, int stride) {
        const int pad = kernel / 2;
        cases->push_back(conv_case("Conv", {1, inputs, side, side},
                                   {outputs, inputs, kernel, kernel},
                                   {{stride, stride}, {pad, pad, pad, pad}}));
    };
    for (const int side : {56, 28, 14}) {
        const int channels = 256 * 56 / side;
        add(side, channels, channels / 4, 1, 1);
        add(side, channels, channels / 2, 1, 1);
        add(side, channels, channels * 2, 1, 2);
        add(side, channels / 2, channels / 2, 3, 2);
    }
    add(56, 64, 64, 1, 1);
    add(224, 3, 64, 3, 1);
    add(224, 64, 64, 3, 1);
    for (const int inputs : {64, 128}) {
        add(112 * 64 / inputs, inputs, inputs * 2, 3, 1);
        add(112 * 64 / inputs, inputs * 2, inputs * 2, 3, 1);
    }
    add(28, 256, 512, 3, 1);
    add(28, 512, 512, 3, 1);
    add(14, 512, 512, 3, 1);
}

}  // namespace

std::vector<Case> list_network_cases()
{
    std::vector<Case> cases;
    add_convolutions(&cases);
    add_transposed(&cases);
    add_products(&cases);
    add_elementwise(&cases);
    add_decoder(&cases);
    return cases;
}

std::vector<Case> list_measured_cases()
{
    std::vector<Case> cases;
    add_more_convolutions(&cases);
    // The size of a network that spots keywords, and a larger one.
    for (const int hidden : {64, 512}) {
        cases.push_back(recurrent_layer("LSTM", 4, hidden));
        cases.push_back(recurrent_layer("GRU", 3, hidden));
        cases.push_back(recurrent_layer("RNN", 1, hidden));
    }
    for (const char* op :
         {"ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"}) {
        cases.push_back(reduction(op, {1, 128, 768}, {2}));
        cases.push_back(reduction(op, {1, 1280, 7, 7}, {2, 3}));
        cases.push_back(reduction(op, {1, 128, 768}, {1}));
    }
    return cases;
}

}  // namespace tengine::tools
