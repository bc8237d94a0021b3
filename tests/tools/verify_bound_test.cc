// SPDX-License-Identifier: Apache-2.0
// Bounds of the errors of results (tools/verify/bound.h): sums in the order and the type that a
// device has are within it, and results that are too large by a thousandth are beyond it.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "../../tools/verify/bound.h"

namespace tengine::tools {
namespace {

Agreement compare_moved(const Tensor& got, const Tensor& wanted)
{
    Expected expected;
    expected.outputs = {wanted};
    return compare({"Identity", {}}, got.data_type, 1, expected, {got});
}

TEST(MovedBound, StringsAndComplexNumbersStayTheSame)
{
    Tensor texts = make_tensor(TENGINE_DT_STRING, {2});
    texts.texts = {"a", "b"};
    EXPECT_TRUE(compare_moved(texts, texts).agrees);
    Tensor others = texts;
    others.texts[1] = "c";
    EXPECT_EQ(compare_moved(texts, others).detail, "output 0 at [1] is 'b', expected 'c'");
    for (const int type : {TENGINE_DT_COMPLEX64, TENGINE_DT_COMPLEX128}) {
        Tensor numbers = make_tensor(type, {2, 2});
        set_element(&numbers, 3, 1.5);
        EXPECT_TRUE(compare_moved(numbers, numbers).agrees);
        const Agreement differing = compare_moved(numbers, make_tensor(type, {2, 2}));
        EXPECT_FALSE(differing.agrees);
        EXPECT_EQ(differing.detail, "output 0 at [1,1] is 1.5+0i, expected 0+0i");
    }
}

// Sums of products: those of a device, and exact ones.
struct Sums
{
    Tensor got;
    Expected expected;
};

// Each of `number` results is a sum of `terms` products of random numbers of the type, added one
// after the other in `sum_type`, and scaled before it is rounded.
Sums make_sums(int type, int sum_type, int number, int terms, double scale = 1)
{
    std::mt19937_64 engine(5);
    std::uniform_real_distribution<double> values(-1, 1);
    Tensor sum = make_tensor(sum_type, {}), factors = make_tensor(type, {2});
    Sums made;
    made.got = make_tensor(type, {number});
    made.expected.outputs = {make_tensor(TENGINE_DT_FP64, {number})};
    made.expected.magnitudes = made.expected.outputs;
    for (size_t i = 0; i < static_cast<size_t>(number); ++i) {
        double exact = 0, size = 0;
        set_element(&sum, 0, 0);
        for (int k = 0; k < terms; ++k) {
            set_element(&factors, 0, values(engine));
            set_element(&factors, 1, values(engine));
            const double product = get_element(factors, 0) * get_element(factors, 1);
            exact += product;
            size += std::fabs(product);
            set_element(&sum, 0, get_element(sum, 0) + product);
        }
        set_element(&made.got, i, get_element(sum, 0) * scale);
        set_element(&made.expected.outputs[0], i, exact);
        set_element(&made.expected.magnitudes[0], i, size);
    }
    return made;
}

Agreement judge(const Sums& sums, int type, int terms)
{
    return compare({"MatMul", {}}, type, terms, sums.expected, {sums.got});
}

struct Arithmetic
{
    int type, sum_type;
};

class SumBound : public testing::TestWithParam<Arithmetic>
{
};

TEST_P(SumBound, AllowsSumsInAnyLength)
{
    const auto [type, sum_type] = GetParam();
    for (const int terms : {1, 2, 27, 300, 4000}) {
        const Agreement agreement = judge(make_sums(type, sum_type, 200, terms), type, terms);
        EXPECT_TRUE(agreement.agrees) << terms << ": " << agreement.detail;
        EXPECT_GT(agreement.error, 0) << terms;
    }
}

// A thousandth is less than half a unit in the last place of bf16: only all results together show
// it.
TEST_P(SumBound, RefusesAThousandthMore)
{
    const auto [type, sum_type] = GetParam();
    const Agreement agreement = judge(make_sums(type, sum_type, 4000, 27, 1.001), type, 27);
    EXPECT_FALSE(agreement.agrees);
    EXPECT_GT(agreement.error, 1);
    EXPECT_FALSE(agreement.detail.empty());
}

INSTANTIATE_TEST_SUITE_P(Types, SumBound,
                         testing::Values(Arithmetic{TENGINE_DT_FP32, TENGINE_DT_FP32},
                                         Arithmetic{TENGINE_DT_FP16, TENGINE_DT_FP32},
                                         Arithmetic{TENGINE_DT_FP16, TENGINE_DT_FP16},
                                         Arithmetic{TENGINE_DT_BF16, TENGINE_DT_FP32}));

// The background of a page: its results are rounded the same way.
TEST(FactorBound, TakesEqualResultsForOne)
{
    for (const int type : {TENGINE_DT_FP16, TENGINE_DT_BF16}) {
        const double value = 1 + 1.4 * unit_of(type);  // to 1 + 2 units
        Sums sums = make_sums(type, TENGINE_DT_FP32, 4000, 27);
        for (size_t i = 0; i < 3600; ++i) {
            set_element(&sums.expected.outputs[0], i, value);
            set_element(&sums.expected.magnitudes[0], i, value);
            set_element(&sums.got, i, value);
        }
        EXPECT_TRUE(judge(sums, type, 27).agrees) << judge(sums, type, 27).detail;
    }
}

// Probabilities of 6625 characters: their number of roundings may change the sum by 10^-5 of it.
TEST(NormBound, CountsTheElementsOfARow)
{
    constexpr int kLength = 6625;
    Expected expected;
    expected.outputs = {make_tensor(TENGINE_DT_FP64, {1, kLength})};
    Tensor got = make_tensor(TENGINE_DT_FP32, {1, kLength});
    for (size_t i = 0; i < kLength; ++i) {
        const double exact = i == 0 ? 0.95 : 0.05 / (kLength - 1);
        set_element(&expected.outputs[0], i, exact);
        set_element(&got, i, exact / (1 + 1e-5));
    }
    const int64_t terms = count_terms("Softmax", got, kLength, 0);
    EXPECT_EQ(terms, kLength);
    EXPECT_EQ(count_terms("Relu", got, kLength, 0), 1);
    const auto judge_row = [&](int64_t number) {
        return compare({"Softmax", {}}, TENGINE_DT_FP32, number, expected, {got});
    };
    EXPECT_TRUE(judge_row(terms).agrees) << judge_row(terms).detail;
    EXPECT_FALSE(judge_row(1).agrees);
}

// Bytes that are rounded from these real numbers.
Tensor round_to_bytes(double scale)
{
    Tensor bytes = make_tensor(TENGINE_DT_UINT8, {2000});
    for (size_t i = 0; i < bytes.element_number(); ++i) {
        const double real = 120 * std::sin(static_cast<double>(i));
        set_element(&bytes, i, 128 + std::nearbyint(real * scale));
    }
    return bytes;
}

Agreement judge_bytes(const Tensor& got)
{
    Expected expected;
    expected.outputs = {round_to_bytes(1)};
    return compare({"QLinearConv", {}}, TENGINE_DT_UINT8, 27, expected, {got});
}

TEST(StepBound, AllowsAFewStepsAndRefusesAThousandthMore)
{
    Tensor bytes = round_to_bytes(1);
    EXPECT_TRUE(judge_bytes(bytes).agrees);
    for (const size_t index : {3, 700, 1999})
        set_element(&bytes, index, get_element(bytes, index) + 1);
    EXPECT_TRUE(judge_bytes(bytes).agrees) << judge_bytes(bytes).detail;
    set_element(&bytes, 5, get_element(bytes, 5) + 2);
    EXPECT_FALSE(judge_bytes(bytes).agrees);
    EXPECT_FALSE(judge_bytes(round_to_bytes(1.001)).agrees);
}

TEST(ExactBound, RefusesOneElement)
{
    Expected expected;
    expected.outputs = {make_tensor(TENGINE_DT_FP64, {2, 3})};
    Tensor got = make_tensor(TENGINE_DT_FP32, {2, 3});
    EXPECT_TRUE(compare({"Transpose", {}}, TENGINE_DT_FP32, 1, expected, {got}).agrees);
    set_element(&got, 4, std::numeric_limits<float>::min());
    const Agreement agreement = compare({"Transpose", {}}, TENGINE_DT_FP32, 1, expected, {got});
    EXPECT_FALSE(agreement.agrees);
    EXPECT_NE(agreement.detail.find("at [1,1]"), std::string::npos) << agreement.detail;
    set_element(&got, 4, std::nan(""));
    EXPECT_FALSE(compare({"Add", {}}, TENGINE_DT_FP32, 1, expected, {got}).agrees);
}

TEST(AnyBound, RefusesAnotherShapeOrType)
{
    Expected expected;
    expected.outputs = {make_tensor(TENGINE_DT_INT64, {2, 3})};
    EXPECT_EQ(
        compare({"ArgMax", {}}, TENGINE_DT_FP32, 1, expected, {make_tensor(TENGINE_DT_INT64, {6})})
            .detail,
        "output 0 is 6, expected 2x3");
    EXPECT_EQ(compare({"ArgMax", {}}, TENGINE_DT_FP32, 1, expected,
                      {make_tensor(TENGINE_DT_INT32, {2, 3})})
                  .detail,
              "output 0 is int32, expected int64");
}

}  // namespace
}  // namespace tengine::tools
