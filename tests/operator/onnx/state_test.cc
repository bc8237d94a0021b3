// SPDX-License-Identifier: Apache-2.0
// TensorScatter, CausalConvWithState and LinearAttention: refusals, and cases the suite leaves out.
#include <cmath>

#include "node_case.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;
using Floats = std::vector<float>;

NodeCase make_scatter(const std::vector<int64_t>& first)
{
    NodeCase made("TensorScatter");
    made.values<int8_t>({2, 3, 1}, {1, 2, 3, 4, 5, 6}).values<int8_t>({2, 2, 1}, {7, 8, 9, 10});
    if (!first.empty()) made.values({static_cast<int>(first.size())}, first);
    return made;
}

TEST(TensorScatter, WritesWhereTheIndicesSay)
{
    EXPECT_EQ(values_of<int8_t>(make_scatter({1, 0}).evaluate()),
              (std::vector<int8_t>{1, 7, 8, 9, 10, 6}));
    EXPECT_EQ(values_of<int8_t>(make_scatter({}).evaluate()),
              (std::vector<int8_t>{7, 8, 3, 9, 10, 6}));
    EXPECT_EQ(values_of<int8_t>(make_scatter({2, 4}).text("mode", "circular").evaluate()),
              (std::vector<int8_t>{8, 2, 7, 4, 9, 10}));
}

TEST(TensorScatter, RefusesWhatDoesNotFit)
{
    make_scatter({2, 0}).expect_failure(TENGINE_ERANGE,
                                        "write_indices of batch 0 is 2, but there are 2 rows to "
                                        "write into 3 (mode linear)");
    make_scatter({0, -1})
        .text("mode", "circular")
        .expect_failure(TENGINE_ERANGE, "write_indices of batch 1 is -1");
    make_scatter({0}).expect_failure(TENGINE_EINVAL,
                                     "input 2 'i2' has rank 1 and 1 values, expected an index for "
                                     "each batch");
    make_scatter({}).number("axis", 0).expect_failure(TENGINE_EINVAL,
                                                      "axis is 0 of rank 3, the axis of batches");
    make_scatter({}).number("axis", 2).expect_failure(TENGINE_EINVAL,
                                                      "input 1 'i1' has rank 3 and 4 values");
}

NodeCase make_conv(const char* op, const Dims& weight)
{
    NodeCase made(op);
    made.pattern({1, 2, 3}, 1).pattern(weight, 2);
    return made;
}

// A state that is longer than the tokens, and one without elements.
TEST(CausalConvWithState, KeepsTheLastTokens)
{
    for (const char* op : {"CausalConvWithState", "com.microsoft.CausalConvWithState"}) {
        NodeCase made(op);
        made.values<float>({1, 1, 1}, {5}).values<float>({1, 1, 4}, {1, 2, 3, 4}).absent();
        made.values<float>({1, 1, 3}, {1, 10, 100}).outputs({"y", "state"});
        made.expect({1 + 20 + 300 + 20}, 0);
        EXPECT_EQ(numbers_of(made.evaluate("state")), (Floats{10, 100, 5}));
    }
    NodeCase single("CausalConvWithState");
    single.values<Half>({1, 1, 2}, {1, 2}).values<Half>({1, 1, 1}, {2}).outputs({"y", "state"});
    single.expect({2, 4}, 0);
    EXPECT_EQ(dims_of(single.evaluate("state")), (Dims{1, 1, 0}));
}

TEST(CausalConvWithState, RefusesWhatDoesNotFit)
{
    const char* op = "CausalConvWithState";
    NodeCase flat(op);
    flat.pattern({2, 3}, 1).pattern({2, 1, 2}, 1);
    flat.expect_failure(TENGINE_EINVAL, "input 0 'i0' has rank 2 and 6 values, expected batch x");
    make_conv(op, {2, 2, 3}).expect_failure(TENGINE_EINVAL, "expected channels x 1 x taps");
    make_conv(op, {2, 1, 3})
        .pattern({3}, 1)
        .expect_failure(TENGINE_EINVAL, "expected a value for each channel");
    make_conv(op, {2, 1, 3})
        .absent()
        .pattern({1, 2, 3}, 1)
        .expect_failure(TENGINE_EINVAL, "expected batch x channels x (taps - 1)");
}

// One head of one element each: the state can be computed by hand.
NodeCase make_linear(const char* rule)
{
    NodeCase made("LinearAttention");
    made.values<float>({1, 2, 1}, {1, 1}).values<float>({1, 2, 1}, {2, 3});
    made.values<float>({1, 2, 1}, {5, 7}).values<float>({1, 1, 1, 1}, {1});
    made.number("q_num_heads", 1).number("kv_num_heads", 1).text("update_rule", rule);
    made.outputs({"y", "state"});
    return made;
}

TEST(LinearAttention, FollowsItsRule)
{
    const float half = std::log(0.5f);
    make_linear("linear").expect({11, 32}, 0);
    // 0.5 + 2 * 5, then half of that + 3 * 7.
    make_linear("gated").values<float>({1, 2, 1}, {half, half}).expect({10.5f, 26.25f}, 1e-5f);
    // 1 + 2 * (5 - 1 * 2), then 7 + 3 * (7 - 7 * 3) / 2.
    make_linear("delta").absent().values<float>({1, 2, 1}, {1, 0.5f}).expect({7, 7 - 21}, 0);
    NodeCase both = make_linear("gated_delta");
    both.values<float>({1, 2, 1}, {half, 0}).values<float>({1, 2, 1}, {1, 0});
    both.real("scale", 2).expect({17, 17}, 1e-5f);
    EXPECT_EQ(dims_of(both.evaluate("state")), (Dims{1, 1, 1, 1}));
}

TEST(LinearAttention, RefusesWhatDoesNotFit)
{
    make_linear("gated").expect_failure(TENGINE_EINVAL,
                                        "input 4, decay, is missing, update_rule is gated");
    make_linear("linear")
        .absent()
        .pattern({1, 2, 1}, 1)
        .expect_failure(TENGINE_EINVAL, "input 5, beta, is there, update_rule is linear");
    make_linear("gated")
        .pattern({1, 2, 3}, 1)
        .expect_failure(TENGINE_EINVAL,
                        "input 4 'i4' has rank 3 and 6 values, expected batch and tokens");
    const auto expect = [](const Dims& query, const Dims& key, const Dims& value, const Dims& past,
                           const char* part) {
        NodeCase made("LinearAttention");
        made.pattern(query, 1).pattern(key, 2).pattern(value, 3).pattern(past, 4);
        made.number("q_num_heads", 4).number("kv_num_heads", 2).text("update_rule", "linear");
        made.expect_failure(TENGINE_EINVAL, part);
    };
    expect({2, 4}, {1, 1, 2}, {1, 1, 2}, {1}, "expected batch x tokens x elements");
    expect({1, 1, 6}, {1, 1, 2}, {1, 1, 2}, {1}, "6 elements of a token's query do not divide");
    expect({1, 1, 4}, {1, 1, 3}, {1, 1, 2}, {1}, "input 1 'i1' has rank 3 and 3 values");
    expect({1, 1, 4}, {1, 1, 2}, {1, 2, 2}, {1}, "input 2 'i2' has rank 3 and 4 values");
    expect({1, 1, 4}, {1, 1, 2}, {1, 1, 2}, {1}, "expected batch, kv_num_heads, elements of a key");
}

}  // namespace
}  // namespace tengine::test
