// SPDX-License-Identifier: Apache-2.0
// Tengine's FullyConnected, Gemm and Matmul against loops over their definition.
#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;

// Rows of x times rows of weight, plus the bias.
std::vector<double> connect(const Array& x, const Array& weight, const Array* bias, int outputs)
{
    const int rows = x.dims[0];
    const size_t length = x.values.size() / static_cast<size_t>(rows);
    std::vector<double> y;
    for (size_t m = 0; m < static_cast<size_t>(rows); ++m)
        for (size_t n = 0; n < static_cast<size_t>(outputs); ++n) {
            double sum = bias ? bias->values[n] : 0;
            for (size_t k = 0; k < length; ++k)
                sum += x.values[m * length + k] * weight.values[n * length + k];
            y.push_back(sum);
        }
    return y;
}

struct FcCase
{
    Dims input, output;
    int length;
    std::string ops;
};

class FullyConnected : public testing::TestWithParam<FcCase>
{
};

TEST_P(FullyConnected, FlattensEachImage)
{
    const FcCase& param = GetParam();
    const int outputs = param.output[1];
    const Array x = make_array(param.input, 1);
    const Array weight = make_array({outputs, param.length}, 2);
    const Array bias = make_array({1, outputs}, 3);
    for (const bool biased : {false, true}) {
        TengineCase test("tengine.FullyConnected");
        test.input(x).constant(weight).attr("num_output", outputs);
        if (biased) test.constant(bias);
        expect_close(test.run_one(),
                     {param.output, connect(x, weight, biased ? &bias : nullptr, outputs)});
        EXPECT_EQ(test.ops(), param.ops);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, FullyConnected,
    testing::Values(FcCase{{1, 1}, {1, 1}, 1, "Gemm"}, FcCase{{7, 13}, {7, 5}, 13, "Gemm"},
                    FcCase{{2, 3, 7}, {2, 4, 1}, 21, "Reshape Gemm Reshape"},
                    FcCase{{3, 2, 1, 7}, {3, 13, 1, 1}, 14, "Reshape Gemm Reshape"}));

TEST(FullyConnectedWeight, MayHaveMoreDimensions)
{
    const Array x = make_array({2, 3, 2, 2}, 1);
    const Array weight = make_array({5, 3, 2, 2}, 2);
    TengineCase test("tengine.FullyConnected");
    test.input(x).constant(weight).attr("num_output", 5);
    expect_close(test.run_one(), {{2, 5, 1, 1}, connect(x, weight, nullptr, 5)});
}

TEST(FullyConnectedErrors, NameWhatIsWrong)
{
    const auto build = [](int num_output, Dims weight, Dims input, int bias) {
        auto test = std::make_unique<TengineCase>("tengine.FullyConnected");
        test->input(make_array(std::move(input))).constant(make_array(std::move(weight)));
        if (bias > 0) test->constant(make_array({bias}));
        test->attr("num_output", num_output);
        return test;
    };
    build(4, {3, 7}, {2, 7}, 0)
        ->expect_failure(TENGINE_EINVAL, "weight 'c1' has 21 elements, expected 4 x 7");
    build(3, {3, 7}, {2, 8}, 0)->expect_failure(TENGINE_EINVAL, "21 elements, expected 3 x 8");
    build(3, {3, 7}, {2, 7}, 4)
        ->expect_failure(TENGINE_EINVAL, "bias 'c2' has 4 elements, expected 3");
    build(0, {3, 7}, {2, 7}, 0)
        ->expect_failure(TENGINE_EINVAL, "num_output is 0, expected at least 1");
    build(-3, {3, 7}, {2, 7}, 0)->expect_failure(TENGINE_EINVAL, "num_output is -3");
    build(3, {3, 7}, {7}, 0)->expect_failure(TENGINE_EINVAL, "rank 1, expected 2 to 4");
    build(3, {3, 7}, {1, 1, 1, 1, 7}, 0)->expect_failure(TENGINE_EINVAL, "rank 5, expected 2 to 4");
}

TEST(FullyConnectedRaised, TransposesAConstantWeight)
{
    for (const int transposed : {0, 1}) {
        TengineCase test("Gemm");
        test.input(make_array({2, 7}, 1));
        test.constant(make_array(transposed ? Dims{5, 7} : Dims{7, 5}, 2));
        test.constant(make_array({1, 5}, 3)).attr("transB", transposed);
        test.expect_raised("tengine.FullyConnected");
        EXPECT_EQ(test.raised_attr("num_output"), 5);
    }
    TengineCase bare("Gemm");
    bare.input(make_array({1, 3}, 1)).constant(make_array({3, 1}, 2)).attr("beta", 0.5);
    bare.expect_raised("tengine.FullyConnected");
}

// ---- Gemm ----

TEST(Gemm, HasFactorsAndTransposes)
{
    const Array a = make_array({3, 2}, 1);  // transposed: 2 x 3
    const Array b = make_array({7, 3}, 2);  // transposed: 3 x 7
    const Array c = make_array({7}, 3);
    Array expected{{2, 7}, {}};
    for (size_t m = 0; m < 2; ++m)
        for (size_t n = 0; n < 7; ++n) {
            double sum = 0;
            for (size_t k = 0; k < 3; ++k)
                sum += a.values[k * 2 + m] * b.values[n * 3 + k];
            expected.values.push_back(0.5 * sum - 2 * c.values[n]);
        }
    TengineCase test("tengine.Gemm");
    test.input(a).constant(b).constant(c).attr("alpha", 0.5).attr("beta", -2.0);
    test.attr("transA", 1).attr("transB", 1);
    expect_close(test.run_one(), expected);
    EXPECT_EQ(test.ops(), "Gemm");
}

TEST(Gemm, WithoutFieldsIsAProduct)
{
    const Array a = make_array({2, 3}, 1);
    TengineCase test("tengine.Gemm");
    test.input(a).constant({{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}).constant({{1}, {1}});
    Array expected = a;
    for (double& value : expected.values)
        value += 1;
    expect_close(test.run_one(), expected);
}

TEST(GemmErrors, NameWhatIsWrong)
{
    TengineCase sizes("tengine.Gemm");
    sizes.input(make_array({2, 3})).constant(make_array({4, 5}));
    sizes.expect_failure(TENGINE_EINVAL, "A has 3 columns, B has 4 rows");
    TengineCase rank("tengine.Gemm");
    rank.input(make_array({2, 3, 4})).constant(make_array({4, 5}));
    rank.expect_failure(TENGINE_EINVAL, "A has rank 3");
}

TEST(GemmRaised, IsWhatFullyConnectedIsNot)
{
    const auto raise = [](double alpha, double beta, int trans_a, Dims c, bool constant) {
        TengineCase test("Gemm");
        test.input(make_array(trans_a ? Dims{3, 2} : Dims{2, 3}, 1));
        if (constant)
            test.constant(make_array({3, 7}, 2));
        else
            test.input(make_array({3, 7}, 2));
        test.constant(make_array(std::move(c), 3)).attr("transA", trans_a);
        test.attr("alpha", alpha).attr("beta", beta);
        test.expect_raised("tengine.Gemm");
        EXPECT_EQ(test.raised_attr("alpha"), alpha);
        EXPECT_EQ(test.raised_attr("beta"), beta);
        EXPECT_EQ(test.raised_attr("transA"), trans_a);
    };
    raise(2, 1, 0, {7}, true);
    raise(1, 2, 0, {7}, true);
    raise(1, 1, 1, {7}, true);
    raise(1, 1, 0, {2, 7}, true);
    raise(1, 1, 0, {2, 1}, true);
    raise(1, 1, 0, {7}, false);
}

// ---- Matmul ----

class Matmul : public testing::TestWithParam<Dims>
{
};

TEST_P(Matmul, MultipliesStacks)
{
    const Dims& stack = GetParam();
    Dims a_dims = stack, b_dims = stack, y_dims = stack;
    a_dims.insert(a_dims.end(), {3, 7});
    b_dims.insert(b_dims.end(), {7, 13});
    y_dims.insert(y_dims.end(), {3, 13});
    const Array a = make_array(a_dims, 1), b = make_array(b_dims, 2);
    Array expected{y_dims, {}};
    for (size_t s = 0; s < static_cast<size_t>(count_elements(stack)); ++s)
        for (size_t m = 0; m < 3; ++m)
            for (size_t n = 0; n < 13; ++n) {
                double sum = 0;
                for (size_t k = 0; k < 7; ++k)
                    sum += a.values[(s * 3 + m) * 7 + k] * b.values[(s * 7 + k) * 13 + n];
                expected.values.push_back(sum);
            }
    TengineCase test("tengine.Matmul");
    test.input(a).input(b);
    expect_close(test.run_one(), expected);
    EXPECT_EQ(test.ops(), "MatMul");
    TengineCase onnx("MatMul");
    onnx.input(a).input(b);
    expect_close(onnx.expect_raised("tengine.Matmul"), expected);
}

INSTANTIATE_TEST_SUITE_P(Stacks, Matmul, testing::Values(Dims{}, Dims{5}, Dims{2, 3}));

TEST(MatmulErrors, NameWhatIsWrong)
{
    TengineCase test("tengine.Matmul");
    test.input(make_array({2, 3})).input(make_array({4, 5}));
    test.expect_failure(TENGINE_EINVAL, "has 3 columns, 'x1' has 4 rows");
}

TEST(MatmulRaised, IsFullyConnectedWhenWeightsAreShared)
{
    for (const Dims& dims : {Dims{2, 3, 4}, Dims{2, 1, 3, 5, 4}}) {
        TengineCase test("MatMul");
        test.input(make_array(dims, 1)).constant(make_array({4, 7}, 2));
        test.expect_raised("tengine.Reshape tengine.FullyConnected tengine.Reshape");
    }
}

TEST(MatmulRaised, IsRefusedWhereItBroadcasts)
{
    TengineCase ranks("MatMul");
    ranks.input(make_array({2, 3, 4})).input(make_array({4, 5}));
    ranks.expect_refusal("operands of equal rank, 2 to 4, these have 3 and 2");
    TengineCase stacks("MatMul");
    stacks.input(make_array({2, 3, 4})).input(make_array({1, 4, 5}));
    stacks.expect_refusal("does not broadcast, axis 0 has 2 and 1");
    TengineCase vectors("MatMul");
    vectors.input(make_array({4})).input(make_array({4}));
    vectors.expect_refusal("these have 1 and 1");
}

}  // namespace
}  // namespace tengine::test
