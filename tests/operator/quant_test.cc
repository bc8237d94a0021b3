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
    scales.expect_failure(TENGINE_EINVAL, "3 values, 1 or 2 expected");

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
