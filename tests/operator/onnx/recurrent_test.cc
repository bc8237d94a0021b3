// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. The ONNX suite covers plain forward layers; the rest is checked here against
// those (directions, layouts, lengths) and against the equations computed for one cell.
#include <algorithm>
#include <cmath>
#include <random>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

struct Kind
{
    const char* op;
    int gates;
};
const Kind kKinds[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};

constexpr int kSequence = 4, kBatch = 2, kInput = 3, kHidden = 5;

std::vector<float> noise(int count, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> distribution(-1, 1);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values)
        value = distribution(random);
    return values;
}

// The weights of direction 1 follow those of direction 0 in a bidirectional layer.
std::vector<float> weights_of(int direction, int count, unsigned seed)
{
    return noise(count, seed + 100 * static_cast<unsigned>(direction));
}

std::vector<float> join(std::vector<float> first, const std::vector<float>& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

struct Result
{
    std::vector<float> all, last;
    std::vector<int> all_dims, last_dims;
};

struct Layer
{
    Kind kind;
    const char* direction = "forward";
    int weights = 0;  // of which direction, unless bidirectional
    std::vector<float> x;
    int sequence = kSequence;
    std::vector<int32_t> lengths = {};
    int layout = 0;
};

Result run(const Layer& layer)
{
    const bool both = std::string(layer.direction) == "bidirectional";
    const int rows = layer.kind.gates * kHidden;
    ConstantGraph graph;
    const auto add = [&](const char* name, std::vector<int> dims, int count, unsigned seed) {
        dims.insert(dims.begin(), both ? 2 : 1);
        const auto first = weights_of(layer.weights, count, seed);
        graph.input(name, dims, both ? join(first, weights_of(1, count, seed)) : first);
    };
    graph.input("x",
                layer.layout ? std::vector{kBatch, layer.sequence, kInput}
                             : std::vector{layer.sequence, kBatch, kInput},
                layer.x);
    add("w", {rows, kInput}, rows * kInput, 1);
    add("r", {rows, kHidden}, rows * kHidden, 2);
    add("b", {2 * rows}, 2 * rows, 3);
    if (!layer.lengths.empty()) graph.input("lengths", {kBatch}, layer.lengths);
    node* node = graph.add(
        layer.kind.op, {"x", "w", "r", "b", layer.lengths.empty() ? "" : "lengths"}, {"y", "last"});
    EXPECT_EQ(set_node_text(node, "direction", layer.direction, strlen(layer.direction)), 0);
    EXPECT_EQ(set_node_int(node, "layout", layer.layout), 0);
    Result result;
    const tensor* all = graph.evaluate("y");
    result.all = numbers_of(all);
    result.all_dims = dims_of(all);
    const tensor* last = graph.evaluate("last");
    result.last = numbers_of(last);
    result.last_dims = dims_of(last);
    return result;
}

// Exchanges blocks of `size` elements: a x b x size becomes b x a x size.
std::vector<float> exchange(const std::vector<float>& values, int a, int b, int size)
{
    std::vector<float> result(values.size());
    for (int i = 0; i < a; ++i)
        for (int j = 0; j < b; ++j)
            std::copy_n(values.begin() + (i * b + j) * size, size,
                        result.begin() + (j * a + i) * size);
    return result;
}

std::vector<float> reverse_steps(const std::vector<float>& values, int size)
{
    std::vector<float> result;
    for (auto step = values.end(); step != values.begin(); step -= size)
        result.insert(result.end(), step - size, step);
    return result;
}

class Recurrent : public testing::TestWithParam<Kind>
{
  protected:
    const std::vector<float> x_ = noise(kSequence * kBatch * kInput, 7);
};
INSTANTIATE_TEST_SUITE_P(Kinds, Recurrent, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.op); });

// Expects equal values, except for another order of sums: kernels see other shapes. Values are
// below 1, and each step adds the roundings of a gate's sum.
void expect_alike(const std::vector<float>& actual, const std::vector<float>& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], kSequence * (kInput + kHidden + 4) * 0x1p-23) << i;
}

TEST_P(Recurrent, ReverseIsForwardOnTheReversedSequence)
{
    const Result forward = run({GetParam(), "forward", 0, reverse_steps(x_, kBatch * kInput)});
    const Result reverse = run({GetParam(), "reverse", 0, x_});
    EXPECT_EQ(reverse.all, reverse_steps(forward.all, kBatch * kHidden));
    EXPECT_EQ(reverse.last, forward.last);
}

TEST_P(Recurrent, BidirectionalIsBoth)
{
    const Result forward = run({GetParam(), "forward", 0, x_});
    const Result reverse = run({GetParam(), "reverse", 1, x_});
    const Result both = run({GetParam(), "bidirectional", 0, x_});
    EXPECT_EQ(both.all_dims, (std::vector<int>{kSequence, 2, kBatch, kHidden}));
    EXPECT_EQ(both.last_dims, (std::vector<int>{2, kBatch, kHidden}));
    EXPECT_EQ(both.last, join(forward.last, reverse.last));
    EXPECT_EQ(exchange(both.all, kSequence, 2, kBatch * kHidden), join(forward.all, reverse.all));
}

TEST_P(Recurrent, BatchFirstIsATransposition)
{
    const Result plain = run({GetParam(), "bidirectional", 0, x_});
    Layer layer = {GetParam(), "bidirectional", 0, exchange(x_, kSequence, kBatch, kInput)};
    layer.layout = 1;
    const Result batch_first = run(layer);
    EXPECT_EQ(batch_first.all_dims, (std::vector<int>{kBatch, kSequence, 2, kHidden}));
    EXPECT_EQ(batch_first.last_dims, (std::vector<int>{kBatch, 2, kHidden}));
    expect_alike(batch_first.last, exchange(plain.last, 2, kBatch, kHidden));
    expect_alike(batch_first.all, exchange(plain.all, kSequence * 2, kBatch, kHidden));
}

TEST_P(Recurrent, LengthsCutSequences)
{
    for (const char* direction : {"forward", "reverse"}) {
        SCOPED_TRACE(direction);
        const int step = kBatch * kInput;
        Layer layer = {GetParam(), direction, 0, x_};
        layer.lengths = {kSequence - 1, kSequence};
        const Result cut = run(layer);
        Layer shorter = {GetParam(), direction, 0, {x_.begin(), x_.end() - step}};
        shorter.sequence = kSequence - 1;
        const Result whole = run({GetParam(), direction, 0, x_}), part = run(shorter);
        const auto first = [](const std::vector<float>& values, int begin) {
            return std::vector<float>(values.begin() + begin, values.begin() + begin + kHidden);
        };
        expect_alike(first(cut.last, 0), first(part.last, 0));
        expect_alike(first(cut.last, kHidden), first(whole.last, kHidden));
        expect_alike(first(cut.all, 0), first(part.all, 0));
        EXPECT_EQ(first(cut.all, (kSequence - 1) * kBatch * kHidden),
                  std::vector<float>(kHidden, 0.0f));
    }
}

TEST_P(Recurrent, RefusesLengthsBeyondTheSequence)
{
    const int rows = GetParam().gates;
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 1}, {1});
    graph.input("w", {1, rows, 1}, noise(rows, 1));
    graph.input("r", {1, rows, 1}, noise(rows, 1));
    graph.input<int32_t>("lengths", {1}, {2});
    graph.add(GetParam().op, {"x", "w", "r", "", "lengths"});
    graph.expect_failure(TENGINE_ERANGE, "sequence_lens[0] is 2, expected 0 to 1");
}

// One cell, one step, from state h = 0.5 (and c = 0.25): the weights of inputs and recurrence are 1
// per gate.
struct Cell
{
    ConstantGraph graph;
    node* layer = nullptr;

    Cell(const char* op, std::vector<float> w, std::vector<float> r, std::vector<float> b,
         std::vector<float> peepholes = {})
    {
        const int gates = static_cast<int>(w.size());
        graph.input<float>("x", {1, 1, 1}, {1});
        graph.input("w", {1, gates, 1}, w);
        graph.input("r", {1, gates, 1}, r);
        graph.input("b", {1, 2 * gates}, b);
        graph.input<float>("h", {1, 1, 1}, {0.5f});
        std::vector<std::string> inputs = {"x", "w", "r", "b", "", "h"};
        if (gates == 4) {
            graph.input<float>("c", {1, 1, 1}, {0.25f});
            inputs.push_back("c");
        }
        if (!peepholes.empty()) {
            graph.input("p", {1, 3}, peepholes);
            inputs.push_back("p");
        }
        layer = graph.add(op, inputs);
    }
    void activations(std::vector<const char*> names)
    {
        ASSERT_EQ(
            set_node_texts(layer, "activations", names.data(), static_cast<int>(names.size())), 0);
    }
    float value()
    {
        const std::vector<float> values = numbers_of(graph.evaluate());
        return values.size() == 1 ? values[0] : std::nanf("");
    }
};

// With Affine (alpha 1, beta 0) for all functions the equations are polynomials.
TEST(Lstm, PeepholesAndCoupledGates)
{
    const std::vector<float> w = {1, 2, 3, 4}, r = {2, 2, 2, 2}, b(8, 0);
    // Before activation: i 2, o 3, f 4, c 5.
    Cell plain("LSTM", w, r, b, {4, 8, 12});
    plain.activations({"Affine", "Affine", "Affine"});
    // i = 2 + 4/4, f = 4 + 12/4, C = 7/4 + 3*5, o = 3 + 8 C, H = o C.
    EXPECT_FLOAT_EQ(plain.value(), (3 + 8 * 16.75f) * 16.75f);

    Cell coupled("LSTM", w, r, b, {4, 8, 12});
    coupled.activations({"Affine", "Affine", "Affine"});
    set_node_int(coupled.layer, "input_forget", 1);
    // f = 1 - i = -2: C = -0.5 + 15.
    EXPECT_FLOAT_EQ(coupled.value(), (3 + 8 * 14.5f) * 14.5f);
}

TEST(Gru, ResetBeforeOrAfterTheProduct)
{
    // z = 1 + 0.5, r = 2 + 0.5, in h 3 from the input, biases 10 (input) and 100 (recurrence).
    const std::vector<float> w = {1, 2, 3}, r = {1, 1, 4}, b = {0, 0, 10, 0, 0, 100};
    Cell before("GRU", w, r, b);
    before.activations({"Affine", "Affine"});
    EXPECT_FLOAT_EQ(before.value(), (1 - 1.5f) * (13 + 4 * 2.5f * 0.5f + 100) + 1.5f * 0.5f);
    Cell after("GRU", w, r, b);
    after.activations({"Affine", "Affine"});
    set_node_int(after.layer, "linear_before_reset", 1);
    EXPECT_FLOAT_EQ(after.value(), (1 - 1.5f) * (13 + 2.5f * (4 * 0.5f + 100)) + 1.5f * 0.5f);
}

TEST(Rnn, Activations)
{
    const auto activate = [](const char* name, float x, std::vector<float> alpha = {},
                             std::vector<float> beta = {}, float clip = 0) {
        Cell cell("RNN", {x}, {0}, {0, 0});
        cell.activations({name});
        if (!alpha.empty()) set_node_floats(cell.layer, "activation_alpha", alpha.data(), 1);
        if (!beta.empty()) set_node_floats(cell.layer, "activation_beta", beta.data(), 1);
        if (clip > 0) set_node_float(cell.layer, "clip", clip);
        return cell.value();
    };
    EXPECT_EQ(activate("relu", -1), 0);
    EXPECT_FLOAT_EQ(activate("Tanh", 1), std::tanh(1.0f));
    EXPECT_FLOAT_EQ(activate("Sigmoid", 1), 1 / (1 + std::exp(-1.0f)));
    EXPECT_EQ(activate("Affine", 3, {2}, {1}), 7);
    EXPECT_FLOAT_EQ(activate("LeakyRelu", -2), -0.02f);
    EXPECT_EQ(activate("ThresholdedRelu", 1.5f, {2}), 0);
    EXPECT_FLOAT_EQ(activate("ScaledTanh", 1, {2}, {3}), 2 * std::tanh(3.0f));
    EXPECT_FLOAT_EQ(activate("HardSigmoid", 1), 0.7f);
    EXPECT_FLOAT_EQ(activate("Elu", -1, {2}), 2 * std::expm1(-1.0f));
    EXPECT_FLOAT_EQ(activate("Softsign", -3), -0.75f);
    EXPECT_FLOAT_EQ(activate("Softplus", 2), std::log1p(std::exp(2.0f)));
    EXPECT_EQ(activate("Affine", 3, {}, {}, 2), 2);
}

template <class T>
class FloatRecurrent : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatRecurrent, Floats);

TYPED_TEST(FloatRecurrent, Types)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {2, 1, 1}, {1, 2});
    graph.input<TypeParam>("w", {1, 1, 1}, {3});
    graph.input<TypeParam>("r", {1, 1, 1}, {2});
    node* layer = graph.add("RNN", {"x", "w", "r"});
    const char* const relu[] = {"Relu"};
    ASSERT_EQ(set_node_texts(layer, "activations", relu, 1), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{3, 12}));
}

// One step of one sequence, whose input has the quantised values 0 and 255, so that it is exact.
TEST(RowQuantizeLstm, IsAnLstmOfWhatBytesStandFor)
{
    constexpr int kUnits = 2, kRows = 4 * kUnits;
    constexpr float kStep = 1.0f / 256;
    std::vector<int8_t> w, r;
    std::vector<float> scales, w_floats, r_floats;
    for (int row = 0; row < kRows; ++row) {
        scales.push_back(kStep * static_cast<float>(1 + row % 3));
        for (int i = 0; i < 3; ++i)
            w.push_back(static_cast<int8_t>(row * 31 % 255 - 127 + i));
        for (int i = 0; i < kUnits; ++i)
            r.push_back(static_cast<int8_t>(100 - row * 23 % 200 - i));
        for (int i = 0; i < 3; ++i)
            w_floats.push_back(scales.back() *
                               w[3 * static_cast<size_t>(row) + static_cast<size_t>(i)]);
        for (int i = 0; i < kUnits; ++i)
            r_floats.push_back(scales.back() *
                               r[kUnits * static_cast<size_t>(row) + static_cast<size_t>(i)]);
    }
    const auto run = [&](bool has_bytes) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 1, 3}, {0, 255 * kStep, 77 * kStep});
        graph.input<float>("h", {1, 1, kUnits}, {-200 * kStep, 55 * kStep});
        if (has_bytes) {
            graph.input<int8_t>("w", {1, kRows, 3}, w);
            graph.input<int8_t>("r", {1, kRows, kUnits}, r);
            graph.input<float>("s", {1, kRows}, scales);
            graph.add("tengine.RowQuantizeLSTM", {"x", "w", "r", "", "", "h", "", "", "s", "s"});
        } else {
            graph.input<float>("w", {1, kRows, 3}, w_floats);
            graph.input<float>("r", {1, kRows, kUnits}, r_floats);
            graph.add("LSTM", {"x", "w", "r", "", "", "h"});
        }
        return numbers_of(graph.evaluate());
    };
    const std::vector<float> made = run(true), expected = run(false);
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_FLOAT_EQ(made[i], expected[i]) << i;
}

TEST(RowQuantizeLstm, RefusesWhatDoesNotFit)
{
    const auto refuse = [](std::vector<int> scales, const char* recurrence_scale, int code,
                           const char* part) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 1, 2}, {1, 1});
        graph.input<int8_t>("w", {1, 4, 2}, std::vector<int8_t>(8));
        graph.input<int8_t>("r", {1, 4, 1}, std::vector<int8_t>(4));
        graph.input<float>("s", scales, noise(scales[1], 1));
        graph.add("tengine.RowQuantizeLSTM",
                  {"x", "w", "r", "", "", "", "", "", "s", recurrence_scale});
        graph.expect_failure(code, part);
    };
    refuse({1, 4}, "", TENGINE_EINVAL, "W_scale and R_scale are required");
    refuse({1, 3}, "s", TENGINE_EINVAL, "dimension 1 of W_scale is 3, expected 4");
    refuse({1, 4}, "w", TENGINE_EDTYPE, "expected one of: fp32");
}

TEST(Rnn, RefusesWhatDoesNotFit)
{
    const auto refuse = [](std::vector<int> w, int hidden, std::vector<const char*> names,
                           const char* part) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 1, 2}, {1, 1});
        graph.input("w", w, noise(w[1] * w[2], 1));
        graph.input("r", {1, 3, 3}, noise(9, 1));
        node* layer = graph.add("RNN", {"x", "w", "r"});
        set_node_int(layer, "hidden_size", hidden);
        if (!names.empty()) set_node_texts(layer, "activations", names.data(), 1);
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse({1, 3, 2}, 4, {}, "hidden_size is 4, R has 3 columns");
    refuse({1, 3, 1}, 3, {}, "dimension 2 of W is 1, expected 2");
    refuse({1, 3, 2}, 3, {"Cosine"}, "unknown activation 'Cosine'");
}

}  // namespace
}  // namespace tengine::test
