// SPDX-License-Identifier: Apache-2.0
// MatMulNBits, DynamicQuantizeMatMul and MatMulIntegerToFloat against results of ONNX Runtime 1.30
// (npm's onnxruntime-node, on x86 with VNNI) for the same inputs, which a generator reproduces.
#include <cstdint>

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
            values.push_back(static_cast<float>(next() % 1000 + 1) / 50000);
        return values;
    }
    template <class T>
    std::vector<T> bytes(int number, uint32_t mask)
    {
        std::vector<T> values;
        for (int i = 0; i < number; ++i)
            values.push_back(static_cast<T>(next() & mask));
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

// Values that are sums of a few dozen products of numbers up to 4 and 0.3: both sides round each.
void expect_close(const tensor* y, const std::vector<float>& expected)
{
    const std::vector<float> values = values_of<float>(y);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 2e-5 * (1 + std::abs(expected[i]))) << i;
}

enum class Zeros
{
    kAbsent,
    kPacked,
    kFloat
};

struct NbitsCase
{
    int m, k, n, bits, block_size;
    Zeros zeros;
    bool has_indices, has_bias;
    std::vector<float> expected;
};

const std::vector<NbitsCase> kNbitsCases = {
    {2,
     40,
     3,
     4,
     16,
     Zeros::kPacked,
     false,
     true,
     {-0.0399506092f, -0.985047698f, 3.95692825f, -1.8500309f, -1.80285263f, 1.89963984f}},
    {1,
     64,
     4,
     4,
     32,
     Zeros::kAbsent,
     false,
     false,
     {0.449733585f, -1.30534077f, -1.10219455f, -0.163775802f}},
    {3,
     33,
     2,
     8,
     32,
     Zeros::kPacked,
     false,
     true,
     {-1.73612809f, 24.7738514f, 11.0232534f, -18.4221802f, 18.2208405f, 6.97561455f}},
    {2,
     70,
     3,
     4,
     32,
     Zeros::kFloat,
     false,
     false,
     {2.31265712f, 4.2875948f, -4.11348391f, -0.321498394f, 4.01671505f, -0.747384965f}},
    {2,
     48,
     3,
     4,
     16,
     Zeros::kAbsent,
     true,
     true,
     {1.18413579f, -2.36292791f, 1.49491334f, 1.83278263f, -2.71638632f, 4.00265121f}},
    {9,
     130,
     2,
     8,
     64,
     Zeros::kAbsent,
     false,
     false,
     {-28.6253319f, -32.4925842f, 14.6541023f, -4.59195042f, -23.1757793f, -11.9814501f,
      34.4674797f, 24.5073223f, 49.8622551f, 30.2518044f, -13.7123156f, -28.6139832f, -38.2253876f,
      -30.5119419f, -33.1472092f, 37.7571983f, 23.5553131f, -0.602089345f}},
};

TEST(MatMulNBits, IsWhatOnnxRuntimeComputes)
{
    for (const NbitsCase& c : kNbitsCases) {
        SCOPED_TRACE(testing::Message() << c.m << " x " << c.k << " x " << c.n);
        Generator generator;
        const int blocks = (c.k + c.block_size - 1) / c.block_size;
        const int block_bytes = c.block_size * c.bits / 8, zero_bytes = (blocks * c.bits + 7) / 8;
        ConstantGraph graph;
        graph.input<float>("a", {c.m, c.k}, generator.reals(c.m * c.k, 250));
        graph.input<uint8_t>("b", {c.n, blocks, block_bytes},
                             generator.bytes<uint8_t>(c.n * blocks * block_bytes, 255));
        graph.input<float>("scales", {c.n * blocks}, generator.reals(c.n * blocks, 50000));
        std::vector<std::string> inputs = {"a", "b", "scales", "", "", ""};
        if (c.zeros == Zeros::kPacked)
            graph.input<uint8_t>(inputs[3] = "zeros", {c.n * zero_bytes},
                                 generator.bytes<uint8_t>(c.n * zero_bytes, 255));
        if (c.zeros == Zeros::kFloat)
            graph.input<float>(inputs[3] = "zeros", {c.n, blocks},
                               generator.reals(c.n * blocks, 100));
        std::vector<int32_t> indices;
        for (int k = 0; k < c.k; ++k)
            indices.push_back(k * 7 % blocks);
        if (c.has_indices) graph.input<int32_t>(inputs[4] = "indices", {c.k}, indices);
        if (c.has_bias) graph.input<float>(inputs[5] = "bias", {c.n}, generator.reals(c.n, 250));
        node* made = graph.add("com.microsoft.MatMulNBits", inputs);
        set_node_int(made, "K", c.k);
        set_node_int(made, "N", c.n);
        set_node_int(made, "bits", c.bits);
        set_node_int(made, "block_size", c.block_size);
        expect_close(graph.evaluate(), c.expected);
    }
}

// With zero points, scales for each column and a bias, or with none of these.
template <class B>
std::vector<std::string> add_bytes(ConstantGraph* graph, Generator* generator, int k, int n,
                                   bool is_whole)
{
    const int slices = is_whole ? n : 1;
    const std::vector<int> dims = is_whole ? std::vector<int>{n} : std::vector<int>{};
    const bool is_signed = std::is_signed_v<B>;
    graph->input<B>("b", {k, n}, generator->bytes<B>(k * n, is_signed ? 63 : 255));
    graph->input<float>("b_scale", dims, generator->scales(slices));
    if (!is_whole) return {"b", "b_scale", "", ""};
    graph->input<B>("b_zero", dims, generator->bytes<B>(slices, 63));
    graph->input<float>("bias", {n}, generator->reals(n, 250));
    return {"b", "b_scale", "b_zero", "bias"};
}

TEST(DynamicQuantizeMatMul, IsWhatOnnxRuntimeComputes)
{
    const auto check = [](int m, int k, int n, bool is_whole, const std::vector<float>& expected) {
        Generator generator;
        ConstantGraph graph;
        graph.input<float>("a", {m, k}, generator.reals(m * k, 250));
        const auto b = is_whole ? add_bytes<int8_t>(&graph, &generator, k, n, true)
                                : add_bytes<uint8_t>(&graph, &generator, k, n, false);
        graph.add("com.microsoft.DynamicQuantizeMatMul", {"a", b[0], b[1], b[2], b[3]});
        expect_close(graph.evaluate(), expected);
    };
    check(2, 19, 3, true,
          {2.45614481f, -5.84604359f, -2.13366222f, -3.98167133f, -5.51918411f, -7.99209976f});
    check(3, 8, 2, false,
          {-0.365379095f, -0.581156313f, 0.440594047f, 0.919347584f, 3.8824029f, 2.53129387f});
}

TEST(MatMulIntegerToFloat, IsWhatOnnxRuntimeComputes)
{
    const auto check = [](int m, int k, int n, bool is_whole, const std::vector<float>& expected) {
        Generator generator;
        ConstantGraph graph;
        graph.input<uint8_t>("a", {m, k}, generator.bytes<uint8_t>(m * k, 255));
        graph.input<float>("a_scale", {}, {0.03f});
        graph.input<uint8_t>("a_zero", {}, {117});
        const auto b = is_whole ? add_bytes<int8_t>(&graph, &generator, k, n, true)
                                : add_bytes<uint8_t>(&graph, &generator, k, n, false);
        graph.add("com.microsoft.MatMulIntegerToFloat",
                  {"a", b[0], "a_scale", b[1], is_whole ? "a_zero" : "", b[2], b[3]});
        expect_close(graph.evaluate(), expected);
    };
    check(2, 19, 3, true,
          {-6.24499941f, -0.0796052217f, 3.41727781f, -2.35867643f, -5.42538166f, 1.76964068f});
    check(3, 8, 2, false,
          {6.45030499f, 5.49981499f, 6.47494316f, 5.0453496f, 4.57339668f, 5.39857101f});
}

}  // namespace
}  // namespace tengine::test
