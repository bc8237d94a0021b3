// SPDX-License-Identifier: Apache-2.0
// Attention: windows, short masks, fully masked rows, types, refusals. The suite compares numbers.
#include <cmath>
#include <limits>

#include "node_case.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;
using Floats = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Queries are 0, so that a query's result is the mean of the values that it sees: 1, 2, 4, 8.
NodeCase make_mean(int tokens)
{
    NodeCase made("Attention");
    made.values({1, 1, tokens, 1}, Floats(static_cast<size_t>(tokens), 0));
    made.values({1, 1, 4, 1}, Floats(4, 1)).values<float>({1, 1, 4, 1}, {1, 2, 4, 8});
    return made;
}

TEST(Attention, SeesAWindow)
{
    make_mean(4).number("left_window_size", 1).expect({3.75f, 3.75f, 14 / 3.f, 6}, 1e-6f);
    make_mean(4)
        .number("left_window_size", 0)
        .number("right_window_size", 1)
        .expect({1.5f, 3, 6, 8}, 0);
    make_mean(4).number("right_window_size", 0).expect({1, 1.5f, 7 / 3.f, 3.75f}, 1e-6f);
    make_mean(4).number("is_causal", 1).number("left_window_size", 0).expect({1, 2, 4, 8}, 0);
}

// The last token is at the last key without padding; a token before the first key sees none.
TEST(Attention, LengthsMoveTheTokens)
{
    make_mean(2).absent().absent().absent().values<int64_t>({1}, {3}).expect({7 / 3.f, 7 / 3.f},
                                                                             1e-6f);
    make_mean(2)
        .absent()
        .absent()
        .absent()
        .values<int64_t>({1}, {3})
        .number("is_causal", 1)
        .expect({1.5f, 7 / 3.f}, 1e-6f);
    make_mean(2)
        .absent()
        .absent()
        .absent()
        .values<int64_t>({1}, {1})
        .number("is_causal", 1)
        .expect({0, 1}, 0);
    make_mean(2).absent().absent().absent().values<int64_t>({1}, {5}).expect_failure(
        TENGINE_ERANGE, "nonpad_kv_seqlen of batch 0 is 5, expected 0 to 4");
    make_mean(2).absent().absent().absent().values<int64_t>({1}, {-1}).expect_failure(
        TENGINE_ERANGE, "nonpad_kv_seqlen of batch 0 is -1, expected 0 to 4");
}

TEST(Attention, AMaskMayEndBeforeTheKeys)
{
    make_mean(1).bools({2}, {0, 1}).expect({2}, 0);
    make_mean(1).values<float>({3}, {-kInfinity, 0, 0}).expect({3}, 0);
    make_mean(1).values<int64_t>({1, 1}, {5}).expect({1}, 0);
    make_mean(1).bools({4}, {0, 0, 0, 0}).expect({0}, 0);
}

// Keys and values of the padding are ignored.
TEST(Attention, PaddingMayBeAnything)
{
    NodeCase made("Attention");
    made.values<float>({1, 1, 1, 1}, {1}).values<float>({1, 1, 2, 1}, {1, kInfinity});
    made.values<float>({1, 1, 2, 1}, {3, NAN}).absent().absent().absent();
    made.values<int64_t>({1}, {1}).expect({3}, 0);
}

// The exponential of an infinite score is undefined.
TEST(Attention, AnInfiniteScoreIsNotANumber)
{
    NodeCase made("Attention");
    made.values<float>({1, 1, 1, 1}, {1}).values<float>({1, 1, 2, 1}, {1, kInfinity});
    made.values<float>({1, 1, 2, 1}, {3, 4});
    EXPECT_TRUE(std::isnan(numbers_of(made.evaluate())[0]));
}

template <class T>
class AttentionTypes : public testing::Test
{
};
using FloatTypes = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(AttentionTypes, FloatTypes);

// Two tokens of two heads, which share one head of keys, whose past has one token.
TYPED_TEST(AttentionTypes, ValuesMayHaveAnother)
{
    NodeCase made("Attention");
    made.values({1, 2, 4}, std::vector<TypeParam>(8, TypeParam(0)));
    made.values({1, 1, 2}, std::vector<TypeParam>(2, TypeParam(1)));
    made.values<Half>({1, 1, 1}, {4}).absent();
    made.values({1, 1, 1, 2}, std::vector<TypeParam>{TypeParam(2), TypeParam(3)});
    made.values<Half>({1, 1, 1, 1}, {2});
    made.number("q_num_heads", 2).number("kv_num_heads", 1).number("is_causal", 1);
    made.outputs({"y", "keys", "values"});
    const tensor* y = made.evaluate();
    EXPECT_EQ(dims_of(y), (Dims{1, 2, 2}));
    EXPECT_EQ(values_of<TypeParam>(y).size(), 4u);
    EXPECT_EQ(numbers_of(y), (Floats{3, 3, 3, 3}));
    const tensor* keys = made.evaluate("keys");
    EXPECT_EQ(dims_of(keys), (Dims{1, 1, 2, 2}));
    EXPECT_EQ(numbers_of(keys), (Floats{2, 3, 1, 1}));
    EXPECT_EQ(values_of<Half>(made.evaluate("values")).size(), 2u);
}

struct Shapes
{
    Dims query, key, value;
    std::vector<Dims> more = {};
    int heads = 0, key_heads = 0;
};

void expect_refusal(const Shapes& shapes, const char* part)
{
    NodeCase made("Attention");
    made.pattern(shapes.query, 1).pattern(shapes.key, 2).pattern(shapes.value, 3);
    for (const Dims& dims : shapes.more)
        dims.empty() ? made.absent() : made.pattern(dims, 4);
    made.number("q_num_heads", shapes.heads).number("kv_num_heads", shapes.key_heads);
    made.expect_failure(TENGINE_EINVAL, part);
}

TEST(Attention, RefusesShapesThatDoNotFit)
{
    const Dims x = {1, 2, 3, 4};
    expect_refusal({{2, 3}, x, x}, "query 'i0' has rank 2, expected 3 or 4");
    expect_refusal({x, {1, 2, 3}, x}, "input 1 'i1' has rank 3, the query has 4");
    expect_refusal({x, x, {2, 2, 3, 4}}, "input 2 'i2' has 2 batches, the query has 1");
    expect_refusal({{1, 2, 6}, {1, 2, 4}, {1, 2, 4}, {}, 4, 2},
                   "6 elements of a token of 'i0' do not divide into heads (q_num_heads 4)");
    expect_refusal({{1, 2, 6}, {1, 2, 4}, {1, 2, 4}, {}, 3, 0},
                   "4 elements of a token of 'i1' do not divide into heads (kv_num_heads 0)");
    expect_refusal({{1, 2, 6}, {1, 2, 4}, {1, 2, 4}, {}, 2, 2},
                   "heads of the query have 3 elements, those of the keys 2");
    expect_refusal({x, {1, 3, 3, 4}, {1, 3, 3, 4}},
                   "2 heads of the query do not divide into 3 of the keys");
    expect_refusal({x, x, {1, 1, 3, 4}}, "'i1' has 2 heads, 'i2' has 1");
    expect_refusal({x, x, {1, 2, 2, 4}}, "there are 3 keys and 2 values");
    expect_refusal({x, x, x, {{}, x}}, "past_key and past_value: one of them is missing");
    expect_refusal({x, x, x, {{}, x, {1, 2, 3, 5}}},
                   "input 5 'i5' has rank 4 and 30 values, expected 1 x 2 x 3 x 4");
    expect_refusal({x, x, x, {{4}}},
                   "mask 'i3' of rank 1 and 4 values does not broadcast to 1 x 2 x 3 x 3");
    expect_refusal({x, x, x, {{3, 1, 3}}}, "mask 'i3' of rank 3 and 9 values does not broadcast");
}

TEST(Attention, RefusesLengthsThatDoNotFit)
{
    make_mean(2)
        .absent()
        .absent()
        .absent()
        .values<int64_t>({2}, {1, 1})
        .expect_failure(TENGINE_EINVAL,
                        "nonpad_kv_seqlen 'i6' has rank 1 and 2 values, expected a list of 1");
    NodeCase past = make_mean(1);
    past.absent().pattern({1, 1, 1, 1}, 1).pattern({1, 1, 1, 1}, 1).values<int64_t>({1}, {1});
    past.expect_failure(TENGINE_EINVAL, "nonpad_kv_seqlen is not for a node with a past");
}

TEST(Attention, RefusesTypesThatDoNotFit)
{
    make_mean(1)
        .number("softmax_precision", 7)
        .expect_failure(TENGINE_EDTYPE, "softmax_precision is 7, expected a float type");
    make_mean(1).number("softmax_precision", 11).expect({3.75f}, 0);
    NodeCase mixed("Attention");
    mixed.pattern({1, 1, 1, 1}, 1).pattern<Half>({1, 1, 1, 1}, 1).pattern({1, 1, 1, 1}, 1);
    mixed.expect_failure(TENGINE_EDTYPE, "input 1 'i1' is fp16");
}

}  // namespace
}  // namespace tengine::test
