// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with one input: types, special values and sizes the ONNX suite leaves out.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
std::vector<T> apply(const char* op, const std::vector<T>& values)
{
    ConstantGraph graph;
    graph.input("x", {static_cast<int>(values.size())}, values);
    graph.add(op, {"x"});
    return values_of<T>(graph.evaluate());
}

template <class T>
class FloatUnary : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatUnary, Floats);

TYPED_TEST(FloatUnary, ExactResults)
{
    const auto check = [](const char* op, std::vector<float> in, std::vector<float> out) {
        const auto result = apply<TypeParam>(op, {in.begin(), in.end()});
        ASSERT_EQ(result.size(), out.size());
        for (size_t i = 0; i < out.size(); ++i)
            EXPECT_EQ(static_cast<float>(result[i]), out[i]) << op << " of " << in[i];
    };
    check("Sqrt", {0, 1, 4, 9}, {0, 1, 2, 3});
    check("Exp", {0, -kInfinity, kInfinity}, {1, 0, kInfinity});
    check("Sigmoid", {0, -kInfinity, kInfinity}, {0.5f, 0, 1});
    check("Abs", {-2, 3}, {2, 3});
    check("Neg", {-2, 3}, {2, -3});
    check("Floor", {-1.5f, 1.5f}, {-2, 1});
    check("Ceil", {-1.5f, 1.5f}, {-1, 2});
    check("Round", {0.5f, 1.5f, 2.5f, -2.5f}, {0, 2, 2, -2});
    check("Sign", {-3, 0, 7}, {-1, 0, 1});
    check("Relu", {-3, 0, 7}, {0, 0, 7});
    check("Reciprocal", {2, -4}, {0.5f, -0.25f});
    check("HardSwish", {-4, 0, 4, -1.5f}, {0, 0, 4, -0.375f});
    check("Softsign", {-1, 0, 3}, {-0.5f, 0, 0.75f});
    check("Log", {1, 0}, {0, -kInfinity});
    check("Erf", {0, kInfinity}, {0, 1});
    check("Mish", {0, 80}, {0, 80});
}

TEST(Unary, SpecialValues)
{
    for (const char* op : {"Abs", "Relu", "Sign", "Exp", "Sigmoid", "Tanh", "Mish", "Softplus",
                           "HardSwish", "Sqrt", "Round"})
        EXPECT_TRUE(std::isnan(apply<float>(op, {kNan})[0])) << op;
    EXPECT_TRUE(std::signbit(apply<float>("Neg", {0.0f})[0]));
    // Neither overflows if the result is representable.
    EXPECT_EQ(apply<float>("Softplus", {100.0f, -1000.0f}), (std::vector<float>{100, 0}));
    EXPECT_EQ(apply<float>("Mish", {100.0f, 3e38f}), (std::vector<float>{100, 3e38f}));
}

TEST(Unary, IntegersWrap)
{
    constexpr int8_t kLeast8 = std::numeric_limits<int8_t>::min();
    constexpr int32_t kLeast32 = std::numeric_limits<int32_t>::min();
    constexpr int64_t kLeast64 = std::numeric_limits<int64_t>::min();
    EXPECT_EQ(apply<int8_t>("Neg", {kLeast8, 5}), (std::vector<int8_t>{kLeast8, -5}));
    EXPECT_EQ(apply<int32_t>("Abs", {kLeast32, -5}), (std::vector<int32_t>{kLeast32, 5}));
    EXPECT_EQ(apply<int64_t>("Neg", {kLeast64}), (std::vector<int64_t>{kLeast64}));
    EXPECT_EQ(apply<uint16_t>("Sign", {0, 9}), (std::vector<uint16_t>{0, 1}));
    EXPECT_EQ(apply<int16_t>("Relu", {-9, 9}), (std::vector<int16_t>{0, 9}));
    EXPECT_EQ(apply<uint8_t>("BitwiseNot", {0x0f}), (std::vector<uint8_t>{0xf0}));
    EXPECT_EQ(apply<int64_t>("BitwiseNot", {0}), (std::vector<int64_t>{-1}));
}

TEST(Unary, Predicates)
{
    ConstantGraph graph;
    graph.input<Half>("x", {4}, {kNan, kInfinity, -kInfinity, 1.0f});
    graph.add("IsNaN", {"x"}, {"nan"});
    EXPECT_EQ(numbers_of(graph.evaluate("nan")), (std::vector<float>{1, 0, 0, 0}));

    ConstantGraph negative;
    negative.input<double>("x", {3}, {kNan, kInfinity, -kInfinity});
    node* is_inf = negative.add("IsInf", {"x"});
    ASSERT_EQ(set_node_int(is_inf, "detect_positive", 0), 0);
    EXPECT_EQ(numbers_of(negative.evaluate()), (std::vector<float>{0, 0, 1}));
}

TEST(Unary, NotTakesAnyByteButZeroAsTrue)
{
    ConstantGraph graph;
    graph.bools("x", {3}, {0, 1, 2});
    graph.add("Not", {"x"});
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{1, 0, 0}));

    ConstantGraph wrong;
    wrong.input<float>("x", {1}, {1});
    wrong.add("Not", {"x"});
    wrong.expect_failure(TENGINE_EDTYPE, "bool");
}

TEST(Unary, EmptyAndScalar)
{
    ConstantGraph empty;
    empty.input<float>("x", {2, 0, 3}, {});
    empty.add("Tanh", {"x"});
    EXPECT_EQ(dims_of(empty.evaluate()), (std::vector<int>{2, 0, 3}));

    ConstantGraph scalar;
    scalar.input<float>("x", {}, {4});
    scalar.add("Sqrt", {"x"});
    const tensor* root = scalar.evaluate();
    EXPECT_EQ(dims_of(root), std::vector<int>{});
    EXPECT_EQ(numbers_of(root), std::vector<float>{2});
}

TEST(Unary, TypeWithoutKernelIsRefused)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {1}, {1});
    graph.add("Cos", {"x"});
    graph.expect_failure(TENGINE_EDTYPE, "Cos");
}

}  // namespace
}  // namespace tengine::test
