// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM against results of ONNX Runtime 1.30 (npm's onnxruntime-node) for the same
// inputs, which a generator reproduces. Every row of X contains 1 and -1, its largest magnitudes,
// and there is one sequence: then the range of each row is the range of all. Weights have 7 bits,
// whose products saturate on no processor.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

class Generator
{
  public:
    std::vector<float> reals(int number, float divisor)
    {
        std::vector<float> values;
        for (int i = 0; i < number; ++i)
            values.push_back(static_cast<float>(static_cast<int>(next() % 2001) - 1000) / divisor);
        return values;
    }
    std::vector<float> scales(int number)
    {
        std::vector<float> values;
        for (int i = 0; i < number; ++i)
            values.push_back(static_cast<float>(next() % 1000 + 1) / 200000);
        return values;
    }
    template <class T>
    std::vector<T> bytes(int number, int lowest)
    {
        std::vector<T> values;
        for (int i = 0; i < number; ++i)
            values.push_back(static_cast<T>(lowest + static_cast<int>(next() & 127)));
        return values;
    }

  private:
    uint32_t next()
    {
        state_ = state_ * 1664525 + 1013904223;
        return state_ >> 16;
    }

    uint32_t state_ = 7;
};

struct Case
{
    int directions, steps, batch, inputs, hidden;
    bool has_scale_for_each_row;
    std::vector<float> expected;  // Y
};

// The zero point of the weights, and their lowest value.
template <class T>
std::vector<float> run(const Case& tested, int zero, int lowest)
{
    const auto [d, s, b, i, h, has_many, expected] = tested;
    Generator made;
    ConstantGraph graph;
    const std::vector<T> w = made.bytes<T>(d * i * 4 * h, lowest);
    const std::vector<T> r = made.bytes<T>(d * h * 4 * h, lowest);
    const int scales = has_many ? d * 4 * h : d;
    const std::vector<int> shape = has_many ? std::vector<int>{d, 4 * h} : std::vector<int>{d};
    const std::vector<float> w_scale = made.scales(scales), r_scale = made.scales(scales);
    graph.input<float>("b", {d, 8 * h}, made.reals(d * 8 * h, 2000));
    std::vector<float> x = made.reals(s * b * i, 1500);
    for (int row = 0; row < s * b; ++row) {
        x[static_cast<size_t>(row * i)] = 1;
        x[static_cast<size_t>(row * i + 1)] = -1;
    }
    graph.input<float>("x", {s, b, i}, x);
    graph.input<T>("w", {d, i, 4 * h}, w);
    graph.input<T>("r", {d, h, 4 * h}, r);
    graph.input<float>("w_scale", shape, w_scale);
    graph.input<float>("r_scale", shape, r_scale);
    const std::vector<T> zeros(static_cast<size_t>(scales), static_cast<T>(zero));
    graph.input<T>("w_zero", shape, zeros);
    graph.input<T>("r_zero", shape, zeros);
    node* node =
        graph.add("com.microsoft.DynamicQuantizeLSTM",
                  {"x", "w", "r", "b", "", "", "", "", "w_scale", "w_zero", "r_scale", "r_zero"});
    set_node_int(node, "hidden_size", h);
    if (d == 2) set_node_text(node, "direction", "bidirectional", 13);
    return values_of<float>(graph.evaluate());
}

void expect_near(const std::vector<float>& values, const std::vector<float>& expected, double error)
{
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], error) << i;
}

// Each side rounds floats below 1 about ten times in a step.
TEST(DynamicQuantizeLSTM, OfOneScale)
{
    const Case tested = {
        1,
        3,
        1,
        6,
        4,
        false,
        {0.01189776f, -0.1760895f, 0.03919420f, -0.08878765f, -0.02205384f, -0.2053956f,
         0.05092664f, -0.1262323f, 0.006109178f, -0.2266913f, 0.06756169f, -0.1398385f}};
    expect_near(run<int8_t>(tested, 0, -64), tested.expected, 2e-6);
}

TEST(DynamicQuantizeLSTM, OfAScaleForEachRowInBothDirections)
{
    const Case tested = {
        2,
        2,
        1,
        5,
        3,
        true,
        {0.1529374f, 0.02615447f, 0.04530635f, 0.3388631f, -0.06492116f, 0.06650224f, 0.2341839f,
         0.04031620f, 0.03744422f, 0.2326661f, -0.03813848f, 0.03572041f}};
    expect_near(run<int8_t>(tested, 0, -64), tested.expected, 2e-6);
}

// The library computes in float. ONNX Runtime rounds X to steps of 2 / 255 and states below 0.3 to
// steps of 0.6 / 255: with weights below 0.15 and 0.32 the error of sums of six and four products
// is at most 0.005. A cell includes all of it, and half as much again from the step before.
TEST(DynamicQuantizeLSTM, OfWeightsWithAZeroPoint)
{
    const Case tested = {
        1,
        2,
        2,
        6,
        4,
        false,
        {0.01189776f, -0.1760895f, 0.03919420f, -0.08878765f, -0.02270662f, -0.1308100f,
         0.04171628f, -0.09675441f, 0.02940441f, -0.2057028f, 0.06616893f, -0.1281093f,
         -0.02237679f, -0.1786307f, 0.05727191f, -0.1212442f}};
    expect_near(run<uint8_t>(tested, 128, 64), tested.expected, 0.0075);
}

TEST(DynamicQuantizeLSTM, ScalesHaveOneOrTwoDimensions)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2}, {1, -1});
    graph.input<int8_t>("w", {1, 2, 4}, std::vector<int8_t>(8, 1));
    graph.input<int8_t>("r", {1, 1, 4}, std::vector<int8_t>(4, 1));
    graph.input<float>("scale", {}, {1});
    graph.add("com.microsoft.DynamicQuantizeLSTM",
              {"x", "w", "r", "", "", "", "", "", "scale", "", "scale"});
    graph.expect_failure(TENGINE_ENOTSUP, "input 1 of rank 3 has a scale of rank 0, expected 3");
}

}  // namespace
}  // namespace tengine::test
