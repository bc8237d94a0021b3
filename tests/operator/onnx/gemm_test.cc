// SPDX-License-Identifier: Apache-2.0
// Matrix products and Det: types, ranks, broadcasting and empty matrices the ONNX suite leaves out.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

template <class T>
std::vector<T> count_up(int count)
{
    std::vector<T> values;
    for (int i = 0; i < count; ++i)
        values.push_back(static_cast<T>(i));
    return values;
}

int count_of(const std::vector<int>& dims)
{
    int count = 1;
    for (const int dim : dims)
        count *= dim;
    return count;
}

template <class T>
class Product : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Product, Numbers);

template <class T>
class FloatProduct : public testing::Test
{
};
using FloatNumbers = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatProduct, FloatNumbers);

template <class T>
std::vector<T> multiply(std::vector<int> a, std::vector<int> b, std::vector<int> expected_dims)
{
    int a_count = 1, b_count = 1;
    for (const int dim : a)
        a_count *= dim;
    for (const int dim : b)
        b_count *= dim;
    ConstantGraph graph;
    graph.input("a", a, count_up<T>(count_of(a)));
    graph.input("b", b, count_up<T>(count_of(b)));
    graph.add("MatMul", {"a", "b"});
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), expected_dims);
    return values_of<T>(y);
}

template <class T>
void expect_values(const std::vector<T>& actual, const std::vector<int>& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(static_cast<double>(actual[i]), expected[i]) << i;
}

TYPED_TEST(Product, RanksOfMatMul)
{
    expect_values(multiply<TypeParam>({3}, {3}, {}), {5});
    expect_values(multiply<TypeParam>({2, 3}, {3}, {2}), {5, 14});
    expect_values(multiply<TypeParam>({2}, {2, 3}, {3}), {3, 4, 5});
    // Stacks of 2 x 1 and 3 matrices.
    expect_values(multiply<TypeParam>({2, 1, 1, 2}, {3, 2, 1}, {2, 3, 1, 1}), {1, 3, 5, 3, 13, 23});
    expect_values(multiply<TypeParam>({2, 0}, {0, 2}, {2, 2}), {0, 0, 0, 0});
    expect_values(multiply<TypeParam>({0, 2}, {2, 1}, {0, 1}), {});
}

TYPED_TEST(Product, GemmTransposesAndAdds)
{
    for (int transposed = 0; transposed < 4; ++transposed) {
        SCOPED_TRACE(transposed);
        const bool a_transposed = transposed & 1, b_transposed = transposed & 2;
        ConstantGraph graph;
        graph.input<TypeParam>(
            "a", a_transposed ? std::vector{3, 2} : std::vector{2, 3},
            a_transposed ? std::vector<TypeParam>{0, 3, 1, 4, 2, 5} : count_up<TypeParam>(6));
        graph.input<TypeParam>(
            "b", b_transposed ? std::vector{2, 3} : std::vector{3, 2},
            b_transposed ? std::vector<TypeParam>{0, 2, 4, 1, 3, 5} : count_up<TypeParam>(6));
        graph.input<TypeParam>("c", {2, 1}, {10, 5});
        node* node = graph.add("Gemm", {"a", "b", "c"});
        set_node_int(node, "transA", a_transposed);
        set_node_int(node, "transB", b_transposed);
        set_node_float(node, "alpha", 0.5f);
        set_node_float(node, "beta", 2);
        const bool is_integer = !cpu::is_float<TypeParam>;
        const tensor* y = graph.evaluate();
        const auto values = values_of<TypeParam>(y);
        ASSERT_EQ(values.size(), 4u);
        EXPECT_EQ(static_cast<double>(values[0]), 25);
        EXPECT_EQ(static_cast<double>(values[1]), is_integer ? 26 : 26.5);
        EXPECT_EQ(static_cast<double>(values[2]), 24);
        EXPECT_EQ(static_cast<double>(values[3]), 30);
    }
}

// Returns a type's NaN, or if it has none, a number whose product with 0 in double loses bits.
template <class T>
T make_unread()
{
    if constexpr (cpu::is_float<T>)
        return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    else
        return std::numeric_limits<T>::max();
}

TYPED_TEST(Product, GemmWithBetaZeroDoesNotReadC)
{
    for (const float alpha : {1.0f, 2.0f}) {
        ConstantGraph graph;
        graph.input("a", {2, 3}, count_up<TypeParam>(6));
        graph.input("b", {3, 2}, count_up<TypeParam>(6));
        graph.input("c", {2}, std::vector<TypeParam>(2, make_unread<TypeParam>()));
        node* node = graph.add("Gemm", {"a", "b", "c"});
        set_node_float(node, "alpha", alpha);
        set_node_float(node, "beta", 0);
        const int twice = static_cast<int>(alpha);
        expect_values(values_of<TypeParam>(graph.evaluate()),
                      {10 * twice, 13 * twice, 28 * twice, 40 * twice});
    }
}

// Without factors, integers keep their bits.
TEST(Gemm, IntegersKeepAllBitsWithBetaZero)
{
    ConstantGraph graph;
    graph.input<int64_t>("a", {1, 2}, {INT64_C(9007199254740993), -1});
    graph.input<int64_t>("b", {2, 1}, {1, 2});
    graph.input<int64_t>("c", {1}, {5});
    set_node_float(graph.add("Gemm", {"a", "b", "c"}), "beta", 0);
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()),
              (std::vector<int64_t>{INT64_C(9007199254740991)}));
}

// As in numpy and ONNX Runtime, the product is computed.
TYPED_TEST(FloatProduct, GemmWithAlphaZeroReadsAAndB)
{
    for (const int n : {1, 40}) {
        ConstantGraph graph;
        const std::vector<TypeParam> one(static_cast<size_t>(n) * n, TypeParam{1});
        std::vector<TypeParam> a = one;
        a[0] = make_unread<TypeParam>();
        graph.input("a", {n, n}, a);
        graph.input("b", {n, n}, one);
        set_node_float(graph.add("Gemm", {"a", "b"}), "alpha", 0);
        const auto y = values_of<TypeParam>(graph.evaluate());
        EXPECT_TRUE(std::isnan(static_cast<float>(y[0])));
        const float last = static_cast<float>(y.back());
        EXPECT_TRUE(n == 1 || last == 0) << last;
    }
}

TEST(MatMul, IntegersKeepAllBits)
{
    ConstantGraph graph;
    graph.input<int64_t>("a", {1, 2}, {INT64_C(9007199254740993), -1});
    graph.input<int64_t>("b", {2, 1}, {1, 2});
    graph.add("MatMul", {"a", "b"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()),
              (std::vector<int64_t>{INT64_C(9007199254740991)}));
}

TEST(MatMul, LargerThanABlock)
{
    const int n = 300, k = 5;
    ConstantGraph graph;
    graph.input("a", {2, k}, count_up<float>(2 * k));
    graph.input("b", {k, n}, count_up<float>(k * n));
    graph.add("MatMul", {"a", "b"});
    const std::vector<float> y = numbers_of(graph.evaluate());
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int t = 0; t < k; ++t)
                sum += static_cast<float>((i * k + t) * (t * n + j));
            ASSERT_EQ(y[size_t(i * n + j)], sum);
        }
}

TEST(MatMul, RefusesWhatDoesNotFit)
{
    const auto refuse = [](std::vector<int> a, std::vector<int> b, const char* part) {
        ConstantGraph graph;
        graph.input("a", a, count_up<float>(count_of(a)));
        graph.input("b", b, count_up<float>(count_of(b)));
        graph.add("MatMul", {"a", "b"});
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse({6, 8}, {6, 8}, "'a' has 8 columns, 'b' has 6 rows");
    refuse({2, 4, 6}, {3, 6, 2}, "does not broadcast");
    refuse({}, {6, 8}, "a scalar");
}

TEST(Gemm, RefusesWhatDoesNotFit)
{
    ConstantGraph graph;
    graph.input("a", {2, 3}, count_up<float>(6));
    graph.input("b", {3, 4}, count_up<float>(12));
    graph.input("c", {3, 1}, count_up<float>(3));
    graph.add("Gemm", {"a", "b", "c"});
    graph.expect_failure(TENGINE_EINVAL, "3 x 1 values does not broadcast to 2 x 4");
}

TEST(Gemm, MultiplyAccumulates)
{
    ConstantGraph graph;
    graph.input("a", {3, 2}, count_up<float>(6));
    graph.input("b", {3, 4}, count_up<float>(12));
    node* node = graph.add("Gemm", {"a", "b"});
    set_node_int(node, "transA", 1);
    ASSERT_EQ(node->op.infer_shape(node), 0);
    EXPECT_EQ(get_ir_node_macs(node), 2 * 4 * 3);
}

TYPED_TEST(FloatProduct, InverseTimesTheMatrixIsOne)
{
    // A pivot of 0 is first; then one matrix of a stack of two.
    const std::vector<float> values = {0, 2, 1, 1, 0, 0.5f, 3, 1, -1, 2, 0, 0, 0, 4, 0, 0, 0, 8};
    std::vector<TypeParam> matrices;
    for (const float value : values)
        matrices.push_back(static_cast<TypeParam>(value));
    ConstantGraph graph;
    graph.input("x", {2, 3, 3}, matrices);
    graph.add("com.microsoft.Inverse", {"x"});
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{2, 3, 3}));
    const auto inverses = values_of<TypeParam>(y);
    for (size_t m = 0; m < 18; m += 9)
        for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 3; ++j) {
                double sum = 0;
                for (size_t k = 0; k < 3; ++k)
                    sum += double{values[m + 3 * i + k]} *
                           static_cast<double>(inverses[m + 3 * k + j]);
                EXPECT_NEAR(sum, i == j, sizeof(TypeParam) == 2 ? 0.05 : 1e-5) << m << i << j;
            }
}

TEST(Inverse, OfASingularMatrixIsNotFinite)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {1, 2, 2, 4});
    graph.add("com.microsoft.Inverse", {"x"});
    for (const float value : values_of<float>(graph.evaluate()))
        EXPECT_FALSE(std::isfinite(value));
    ConstantGraph oblong;
    oblong.input<float>("x", {2, 3}, count_up<float>(6));
    oblong.add("com.microsoft.Inverse", {"x"});
    oblong.expect_failure(TENGINE_EINVAL, "expected square matrices");
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumn)
{
    ConstantGraph graph;
    graph.input<uint8_t>("a", {2, 2}, {1, 2, 255, 128});
    graph.input<int8_t>("b", {2, 2}, {-128, 1, 127, 2});
    graph.input<uint8_t>("a_zero", {2}, {1, 128});
    graph.input<int8_t>("b_zero", {2}, {-1, 1});
    graph.add("MatMulInteger", {"a", "b", "a_zero", "b_zero"});
    EXPECT_EQ(values_of<int32_t>(graph.evaluate()), (std::vector<int32_t>{128, 1, 127 * -127, 0}));
}

TEST(QLinearMatMul, ScalesPerRowAndColumn)
{
    ConstantGraph graph;
    graph.input<int8_t>("a", {2, 1}, {10, -10});
    graph.input<float>("a_scale", {2}, {1, 0.5f});
    graph.input<int8_t>("a_zero", {2}, {0, 0});
    graph.input<uint8_t>("b", {1, 3}, {1, 2, 200});
    graph.input<float>("b_scale", {3}, {1, 0.25f, 1});
    graph.input<uint8_t>("b_zero", {3}, {0, 1, 0});
    graph.input<float>("y_scale", {2}, {1, 1});
    graph.input<int8_t>("y_zero", {2}, {1, 0});
    graph.add("QLinearMatMul",
              {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
    // 10, 2.5 and 2000 plus 1; -5, -1.25 and -1000. Halves go to the even neighbour.
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{11, 3, 127, -5, -1, -128}));
}

TEST(Det, PivotsAndSingularMatrices)
{
    ConstantGraph graph;
    graph.input<double>("x", {3, 2, 2}, {0, 2, 3, 0, 1, 2, 2, 4, 1, 2, 3, 4});
    graph.add("Det", {"x"});
    const auto y = values_of<double>(graph.evaluate());
    ASSERT_EQ(y.size(), 3u);
    EXPECT_DOUBLE_EQ(y[0], -6);
    EXPECT_DOUBLE_EQ(y[1], 0);
    EXPECT_DOUBLE_EQ(y[2], -2);
}

TEST(Det, EmptyAndHalf)
{
    ConstantGraph graph;
    graph.input<Half>("x", {1, 0, 0}, {});
    graph.add("Det", {"x"});
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{1}));
}

TEST(Det, RefusesOtherShapes)
{
    ConstantGraph graph;
    graph.input("x", {2, 3}, count_up<float>(6));
    graph.add("Det", {"x"});
    graph.expect_failure(TENGINE_EINVAL, "square matrices");
}

}  // namespace
}  // namespace tengine::test
