// SPDX-License-Identifier: Apache-2.0
// Quantisation: rounding, saturation and types the ONNX suite leaves out.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

template <class X, class Y>
std::vector<Y> quantize(const std::vector<X>& x, X scale, Y zero_point)
{
    ConstantGraph graph;
    graph.input("x", {static_cast<int>(x.size())}, x);
    graph.input<X>("scale", {}, {scale});
    graph.input<Y>("zero", {}, {zero_point});
    graph.add("QuantizeLinear", {"x", "scale", "zero"});
    return values_of<Y>(graph.evaluate());
}

template <class T>
class Quantized : public testing::Test
{
};
using Integers = testing::Types<int8_t, uint8_t, int16_t, uint16_t>;
TYPED_TEST_SUITE(Quantized, Integers);

TYPED_TEST(Quantized, RoundsToEvenAndSaturates)
{
    using Limits = std::numeric_limits<TypeParam>;
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ((quantize<float, TypeParam>({1, 3, 5, -1, infinity, -infinity, 1e30f, std::nanf("")},
                                          2, 10)),
              (std::vector<TypeParam>{10, 12, 12, 10, Limits::max(), Limits::min(), Limits::max(),
                                      Limits::min()}));
}

TYPED_TEST(Quantized, ComesBack)
{
    using Limits = std::numeric_limits<TypeParam>;
    ConstantGraph graph;
    graph.input<TypeParam>("x", {3}, {Limits::min(), 7, Limits::max()});
    graph.input<float>("scale", {}, {0.5f});
    graph.input<TypeParam>("zero", {}, {3});
    graph.add("DequantizeLinear", {"x", "scale", "zero"});
    EXPECT_EQ(values_of<float>(graph.evaluate()),
              (std::vector<float>{(Limits::min() - 3) * 0.5f, 2, (Limits::max() - 3) * 0.5f}));
}

TEST(QuantizeLinear, InputTypes)
{
    EXPECT_EQ((quantize<Half, int8_t>({1, -3}, 2, 0)), (std::vector<int8_t>{0, -2}));
    EXPECT_EQ((quantize<BFloat16, int8_t>({1, -3}, 2, 0)), (std::vector<int8_t>{0, -2}));
    ConstantGraph graph;
    graph.input<int32_t>("x", {2}, {5, -1000});
    graph.input<float>("scale", {}, {2});
    graph.add("QuantizeLinear", {"x", "scale"});
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{2, 0}));
}

TEST(QuantizeLinear, PerSliceOfAnAxis)
{
    const auto quantize_axis = [](int axis) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2}, {8, 8, 8, 8});
        graph.input<float>("scale", {2}, {1, 4});
        graph.input<int8_t>("zero", {2}, {0, 1});
        set_node_int(graph.add("QuantizeLinear", {"x", "scale", "zero"}), "axis", axis);
        return values_of<int8_t>(graph.evaluate());
    };
    EXPECT_EQ(quantize_axis(0), (std::vector<int8_t>{8, 8, 3, 3}));
    EXPECT_EQ(quantize_axis(-1), (std::vector<int8_t>{8, 3, 8, 3}));
}

TEST(QuantizeLinear, MoreThanOneChunk)
{
    const std::vector<float> x(5000, 3);
    const auto y = quantize<float, int8_t>(x, 1, 1);
    EXPECT_EQ(y, std::vector<int8_t>(5000, 4));
}

TEST(QuantizeLinear, RefusesWhatDoesNotFit)
{
    ConstantGraph scales;
    scales.input<float>("x", {2, 2}, {1, 2, 3, 4});
    scales.input<float>("scale", {3}, {1, 2, 3});
    scales.add("QuantizeLinear", {"x", "scale"});
    scales.expect_failure(TENGINE_EINVAL, "3 values, expected 1 or 2");

    ConstantGraph zeroes;
    zeroes.input<float>("x", {2}, {1, 2});
    zeroes.input<float>("scale", {}, {1});
    zeroes.input<int8_t>("zero", {2}, {1, 2});
    zeroes.add("QuantizeLinear", {"x", "scale", "zero"});
    zeroes.expect_failure(TENGINE_EINVAL, "2 zero points for 1 scales");
}

TEST(DequantizeLinear, WideIntegersAndHalves)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {2}, {-3, 100000});
    graph.input<Half>("scale", {}, {0.5f});
    graph.add("DequantizeLinear", {"x", "scale"});
    EXPECT_EQ(values_of<Half>(graph.evaluate())[0], -1.5f);
}

// Three rows of five in blocks of two along one axis; the last block is shorter.
struct BlockCase
{
    ConstantGraph graph;
    node* linear = nullptr;
    BlockCase(const char* op, int axis, std::vector<int> dims, const std::vector<float>& scales)
    {
        if (std::string(op) == "QuantizeLinear")
            graph.input<float>("x", {3, 5}, std::vector<float>(15, 12));
        else
            graph.input<int8_t>("x", {3, 5}, std::vector<int8_t>(15, 12));
        graph.input<float>("scale", std::move(dims), scales);
        linear = graph.add(op, {"x", "scale"});
        EXPECT_EQ(set_node_int(linear, "axis", axis), 0);
        EXPECT_EQ(set_node_int(linear, "block_size", 2), 0);
    }
};

TEST(QuantizeLinear, Blocks)
{
    BlockCase columns("QuantizeLinear", 1, {3, 3}, {1, 2, 3, 4, 6, 12, 1, 2, 3});
    EXPECT_EQ(values_of<uint8_t>(columns.graph.evaluate()),
              (std::vector<uint8_t>{12, 12, 6, 6, 4, 3, 3, 2, 2, 1, 12, 12, 6, 6, 4}));
    BlockCase rows("QuantizeLinear", -2, {2, 5}, {1, 2, 3, 4, 6, 12, 6, 4, 3, 2});
    EXPECT_EQ(values_of<uint8_t>(rows.graph.evaluate()),
              (std::vector<uint8_t>{12, 6, 4, 3, 2, 12, 6, 4, 3, 2, 1, 2, 3, 4, 6}));
}

TEST(DequantizeLinear, Blocks)
{
    BlockCase columns("DequantizeLinear", -1, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    EXPECT_EQ(numbers_of(columns.graph.evaluate()),
              (std::vector<float>{12, 12, 24, 24, 36, 48, 48, 60, 60, 72, 84, 84, 96, 96, 108}));
    BlockCase many("DequantizeLinear", 1, {3, 4}, std::vector<float>(12, 1));
    many.graph.expect_failure(TENGINE_EINVAL, "blocks of 2 along axis 1");
    BlockCase list("DequantizeLinear", 1, {5}, std::vector<float>(5, 1));
    list.graph.expect_failure(TENGINE_EINVAL, "rank 1 and 5 values");
}

TEST(QuantizeLinear, NamedType)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {-3, 40000});
    graph.input<float>("scale", {}, {1});
    node* linear = graph.add("QuantizeLinear", {"x", "scale"});
    ASSERT_EQ(set_node_int(linear, "output_dtype", 5), 0);
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{-3, 32767}));
    ASSERT_EQ(set_node_int(linear, "output_dtype", 24), 0);
    graph.expect_failure(TENGINE_EDTYPE, "output_dtype is 24 (float8e8m0)");

    ConstantGraph both;
    both.input<float>("x", {1}, {1});
    both.input<float>("scale", {}, {1});
    both.input<int8_t>("zero", {}, {0});
    ASSERT_EQ(set_node_int(both.add("QuantizeLinear", {"x", "scale", "zero"}), "output_dtype", 2),
              0);
    both.expect_failure(TENGINE_EDTYPE, "output_dtype is uint8, the zero point is int8");
}

// 1001 / 400 is 2.5025; in fp16 2.502, in bf16 2.5, which is rounded to 2.
TEST(QuantizeLinear, DividesInTheNamedPrecision)
{
    const auto quantize_in = [](int precision) {
        ConstantGraph graph;
        graph.input<float>("x", {1}, {1001});
        graph.input<float>("scale", {}, {400});
        node* linear = graph.add("QuantizeLinear", {"x", "scale"});
        EXPECT_EQ(set_node_int(linear, "precision", precision), 0);
        return values_of<uint8_t>(graph.evaluate());
    };
    EXPECT_EQ(quantize_in(0), std::vector<uint8_t>{3});
    EXPECT_EQ(quantize_in(1), std::vector<uint8_t>{3});
    EXPECT_EQ(quantize_in(10), std::vector<uint8_t>{3});
    EXPECT_EQ(quantize_in(16), std::vector<uint8_t>{2});

    ConstantGraph wrong;
    wrong.input<float>("x", {1}, {1});
    wrong.input<float>("scale", {}, {1});
    ASSERT_EQ(set_node_int(wrong.add("QuantizeLinear", {"x", "scale"}), "precision", 11), 0);
    wrong.expect_failure(TENGINE_EDTYPE, "precision is 11 (float64)");
}

TEST(DequantizeLinear, NamedType)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {2}, {-3, 100});
    graph.input<float>("scale", {}, {0.5f});
    node* linear = graph.add("DequantizeLinear", {"x", "scale"});
    ASSERT_EQ(set_node_int(linear, "output_dtype", 10), 0);
    const auto y = values_of<Half>(graph.evaluate());
    ASSERT_EQ(y.size(), 2u);
    EXPECT_EQ(y[1], 50.0f);
    ASSERT_EQ(set_node_int(linear, "output_dtype", 7), 0);
    graph.expect_failure(TENGINE_EDTYPE, "output_dtype is 7 (int64)");
}

TEST(DynamicQuantizeLinear, NothingButZeroes)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {0, 0});
    graph.add("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{0, 0}));
    EXPECT_EQ(values_of<float>(graph.evaluate("scale")), (std::vector<float>{1}));
}

TEST(DynamicQuantizeLinear, EmptyInput)
{
    ConstantGraph graph;
    graph.input<float>("x", {0}, {});
    graph.add("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate("zero")), (std::vector<uint8_t>{0}));
}

}  // namespace
}  // namespace tengine::test
