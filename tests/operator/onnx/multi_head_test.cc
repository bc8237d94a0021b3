// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention, Attention and QAttention of ONNX Runtime: numbers are those of ONNX Runtime
// 1.30 for the same inputs (node_case.h), unless a test says otherwise. Scores of some products of
// magnitudes up to 4 differ by a few roundings of 2^-21, and results by as much of 2.
#include <cmath>

#include "node_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Floats = std::vector<float>;
constexpr float kTolerance = 8e-6f;

NodeCase make(const std::string& op, int heads)
{
    NodeCase made("com.microsoft." + op);
    made.number("num_heads", heads);
    return made;
}

TEST(MultiHeadAttention, HasACacheABiasAndMasks)
{
    NodeCase made = make("MultiHeadAttention", 2);
    made.pattern({1, 2, 4}, 1).pattern({1, 2, 4}, 2).pattern({1, 2, 4}, 3).pattern({12}, 4);
    made.values<int32_t>({1, 3}, {0, 1, 1}).pattern({1, 1, 2, 3}, 5);
    made.pattern({1, 2, 1, 2}, 6).pattern({1, 2, 1, 2}, 7).number("unidirectional", 1);
    made.outputs({"y", "keys", "values"});
    made.expect({-1, -0.375f, 0.25f, -2, -0.9613593f, -0.4252328f, 0.4360515f, -1.813948f},
                kTolerance);
    made.expect({-0.375f, 1.375f, -0.5f, 0.125f, -2.125f, 1.375f, 0.25f, -0.875f, -2.125f, 1.375f,
                 -0.875f, -0.25f},
                0, "keys");
    made.expect({0.75f, -0.375f, -1, -0.375f, 0.25f, -2, 1.375f, 0.25f, 0.25f, -2, 1.5f, -0.75f}, 0,
                "values");
}

TEST(MultiHeadAttention, TakesHeadsOfKeys)
{
    NodeCase made = make("MultiHeadAttention", 2);
    made.pattern({1, 1, 4}, 1).pattern({1, 2, 2, 2}, 2).pattern({1, 2, 2, 2}, 3).pattern({12}, 4);
    made.values<int32_t>({1}, {1}).expect({-0.875f, 0.875f, 0.375f, -0.75f}, kTolerance);
}

// What is masked is so by a number, of which the softmax of a row has nothing left.
TEST(MultiHeadAttention, AMaskedRowIsASoftmax)
{
    NodeCase made = make("MultiHeadAttention", 1);
    made.pattern({1, 1, 2}, 1).pattern({1, 2, 2}, 2).pattern({1, 2, 2}, 3).absent();
    // Scores around -10000 are rounded to 2^-10, results to half of that.
    made.values<int32_t>({1, 2}, {0, 0}).expect({-0.5951864f, -0.132329f}, 1e-3f);
}

// A query of 0 sees all values alike. ONNX Runtime has packed inputs for graphics processors alone.
TEST(MultiHeadAttention, TakesPackedInputs)
{
    NodeCase all = make("MultiHeadAttention", 2);
    all.values<float>({1, 2, 2, 3, 1}, {0, 5, 1, 0, 6, 2, 0, 7, 3, 0, 8, 4});
    all.expect({2, 3, 2, 3}, 0);
    NodeCase keys = make("MultiHeadAttention", 2);
    keys.values<float>({1, 1, 2}, {0, 0}).values<float>({1, 2, 2, 2, 1}, {5, 1, 6, 2, 7, 3, 8, 4});
    keys.expect({2, 3}, 0);
}

TEST(MultiHeadAttention, RefusesWhatIsMissing)
{
    NodeCase query = make("MultiHeadAttention", 1);
    query.pattern({1, 1, 2}, 1)
        .expect_failure(TENGINE_EINVAL, "ranks of query, key and value are 3, 0 and 0");
    NodeCase mask = make("MultiHeadAttention", 1);
    mask.pattern({1, 1, 2}, 1).pattern({1, 2, 2}, 2).pattern({1, 2, 2}, 3).absent();
    mask.values<int32_t>({5}, {0, 0, 0, 0, 0});
    mask.expect_failure(TENGINE_ENOTSUP, "mask 'i4' of rank 1 and 5 values is not supported");
    NodeCase length = make("MultiHeadAttention", 1);
    length.pattern({1, 1, 2}, 1).pattern({1, 2, 2}, 2).pattern({1, 2, 2}, 3);
    for (int i = 3; i < 8; ++i)
        length.absent();
    length.values<int32_t>({1}, {1});
    length.expect_failure(TENGINE_ENOTSUP, "input 8, past_sequence_length, is not supported");
    NodeCase scores = make("MultiHeadAttention", 1);
    scores.pattern({1, 1, 2}, 1).pattern({1, 2, 2}, 2).pattern({1, 2, 2}, 3);
    scores.outputs({"y", "", "", "qk"});
    scores.expect_failure(TENGINE_ENOTSUP, "output 3, qk, is not supported");
}

// One token of two heads of two elements, after two that are in the cache.
constexpr int kRoom = 4;

Floats pick(const Floats& values, size_t first, size_t number)
{
    return {values.begin() + static_cast<ptrdiff_t>(first),
            values.begin() + static_cast<ptrdiff_t>(first + number)};
}

// Of one head: `keys` and `values` of two elements each, what is added to the scores.
Floats attend(const Floats& query, const Floats& keys, const Floats& values, const Floats& added)
{
    std::vector<double> weights;
    double total = 0;
    for (size_t k = 0; k < added.size(); ++k) {
        const double score =
            (double{query[0]} * double{keys[2 * k]} + double{query[1]} * double{keys[2 * k + 1]}) /
                std::sqrt(2.0) +
            double{added[k]};
        weights.push_back(std::exp(score));
        total += weights.back();
    }
    Floats result = {0, 0};
    for (size_t k = 0; k < added.size(); ++k)
        for (size_t i = 0; i < 2; ++i)
            result[i] += static_cast<float>(weights[k] / total * double{values[2 * k + i]});
    return result;
}

// The cache has a row for each head and token; `room` of them, of which two are there.
void decode(bool is_shared, bool has_mask)
{
    SCOPED_TRACE(testing::Message() << is_shared << has_mask);
    const int room = is_shared ? kRoom : 2;
    const Floats query = make_pattern(4, 1), key = make_pattern(4, 2), value = make_pattern(4, 3);
    const Floats past_key = make_pattern(static_cast<size_t>(4 * room), 4);
    const Floats past_value = make_pattern(static_cast<size_t>(4 * room), 5);
    const Floats bias = make_pattern(6, 6);
    NodeCase made("com.microsoft.DecoderMaskedMultiHeadAttention");
    made.number("num_heads", 2).number("past_present_share_buffer", is_shared);
    made.values({1, 1, 4}, query).values({1, 1, 4}, key).values({1, 1, 4}, value);
    if (has_mask)
        made.values<int32_t>({1, 3}, {1, 0, 1}).values({1, 2, 1, 3}, bias);
    else
        made.absent().absent();
    made.values({1, 2, room, 2}, past_key).values({1, 2, room, 2}, past_value);
    if (is_shared) made.values<int32_t>({1}, {2}).values<int32_t>({1}, {1});
    made.outputs({"y", "keys", "values"});
    Floats results, keys, values;
    for (size_t head = 0; head < 2; ++head) {
        const size_t begin = head * static_cast<size_t>(room) * 2;
        Floats own_keys = pick(past_key, begin, 4), own_values = pick(past_value, begin, 4);
        for (size_t i = 2 * head; i < 2 * head + 2; ++i) {
            own_keys.push_back(key[i]);
            own_values.push_back(value[i]);
        }
        Floats added = {0, 0, 0};
        if (has_mask) added = {bias[3 * head], bias[3 * head + 1] - 10000, bias[3 * head + 2]};
        const Floats result = attend(pick(query, 2 * head, 2), own_keys, own_values, added);
        results.insert(results.end(), result.begin(), result.end());
        for (const auto& [all, own, past] :
             {std::tuple{&keys, &own_keys, &past_key}, {&values, &own_values, &past_value}}) {
            all->insert(all->end(), own->begin(), own->end());
            const Floats rest = is_shared ? pick(*past, begin + 6, 2) : Floats();
            all->insert(all->end(), rest.begin(), rest.end());
        }
    }
    made.expect(results, kTolerance);
    made.expect(keys, 0, "keys");
    made.expect(values, 0, "values");
}

TEST(DecoderMaskedMultiHeadAttention, GrowsOrFillsItsCache)
{
    for (const bool is_shared : {false, true})
        for (const bool has_mask : {false, true})
            decode(is_shared, has_mask);
}

TEST(DecoderMaskedMultiHeadAttention, SeesTheKeysOfAnEncoder)
{
    const Floats query = make_pattern(2, 1), keys = make_pattern(6, 2), values = make_pattern(6, 3);
    const Floats bias = make_pattern(6, 4);
    NodeCase made("com.microsoft.DecoderMaskedMultiHeadAttention");
    made.number("num_heads", 1);
    made.values({1, 1, 2}, query).values({1, 1, 3, 2}, keys).values({1, 1, 3, 2}, values);
    for (int i = 3; i < 10; ++i)
        made.absent();
    made.values({6}, bias);
    made.expect(attend({query[0] + bias[0], query[1] + bias[1]}, keys, values, {0, 0, 0}),
                kTolerance);
}

TEST(DecoderMaskedMultiHeadAttention, RefusesWhatItDoesNotHave)
{
    const auto start = [] {
        NodeCase made("com.microsoft.DecoderMaskedMultiHeadAttention");
        made.number("num_heads", 1).number("past_present_share_buffer", 1);
        made.pattern({1, 1, 2}, 1).pattern({1, 1, 2}, 2).pattern({1, 1, 2}, 3);
        made.absent().absent().pattern({1, 1, 4, 2}, 4).pattern({1, 1, 4, 2}, 5);
        return made;
    };
    start().expect_failure(TENGINE_EINVAL, "past_present_share_buffer needs past_key");
    start()
        .values<int32_t>({1}, {1})
        .values<int32_t>({1}, {2})
        .values<int32_t>({1, 1, 1}, {0})
        .expect_failure(TENGINE_ENOTSUP, "input 9, cache_indirection, is not supported");
    NodeCase several("com.microsoft.DecoderMaskedMultiHeadAttention");
    several.number("num_heads", 1)
        .pattern({1, 2, 2}, 1)
        .pattern({1, 2, 2}, 2)
        .pattern({1, 2, 2}, 3);
    several.expect_failure(TENGINE_EINVAL, "expected one token of rank 3");
}

TEST(MicrosoftAttention, HasOneCache)
{
    NodeCase made = make("Attention", 1);
    made.pattern({2, 2, 2}, 1)
        .pattern({2, 6}, 2)
        .pattern({6}, 3)
        .values<int32_t>({4}, {3, 2, 1, 0});
    made.pattern({2, 2, 1, 1, 2}, 4).outputs({"y", "present"});
    made.expect({-0.8634967f, -0.6776578f, -0.8680472f, -0.6897927f, -0.6559128f, 0.698921f,
                 -0.5230973f, 0.2739116f},
                kTolerance);
    const tensor* present = made.evaluate("present");
    EXPECT_EQ(dims_of(present), (Dims{2, 2, 1, 3, 2}));
    made.expect(
        {0.25f,    -0.875f,    -0.59375f, -0.609375f, -1.140625f, -0.765625f, 0.875f,     -0.25f,
         -1.6875f, -0.921875f, 1.71875f,  -2.15625f,  -1.375f,    0.375f,     -0.984375f, -1,
         -0.75f,   -0.375f,    -0.75f,    1,          -0.515625f, 0.25f,      1.875f,     -2},
        kTolerance, "present");
}

TEST(MicrosoftAttention, ValuesMayHaveAnotherSize)
{
    NodeCase made = make("Attention", 1);
    made.pattern({1, 2, 2}, 1).pattern({2, 5}, 2).pattern({5}, 3);
    made.values<int32_t>({1, 2, 2}, {1, 0, 1, 1}).list("qkv_hidden_sizes", {2, 2, 1});
    made.number("unidirectional", 1).expect({1.421875f, 0.6799878f}, kTolerance);
}

TEST(MicrosoftAttention, RefusesWhatDoesNotFit)
{
    const auto expect = [](int code, const char* name, const std::vector<int64_t>& list, int number,
                           const char* part) {
        NodeCase made = make("Attention", 1);
        made.pattern({1, 2, 2}, 1).pattern({2, 6}, 2);
        list.empty() ? made.number(name, number) : made.list(name, list);
        made.expect_failure(code, part);
    };
    expect(TENGINE_ENOTSUP, "do_rotary", {}, 1, "do_rotary 1, rotary_embedding_dim 0");
    expect(TENGINE_EINVAL, "qkv_hidden_sizes", {3, 3}, 0, "qkv_hidden_sizes has 2 values");
    NodeCase flat = make("Attention", 1);
    flat.pattern({2, 2}, 1).pattern({2, 6}, 2).expect_failure(TENGINE_EINVAL,
                                                              "input 'i0' has rank 2, expected 3");
    NodeCase past = make("Attention", 1);
    past.pattern({1, 2, 2}, 1).pattern({2, 6}, 2).absent().absent().pattern({1, 1, 1, 2}, 3);
    past.expect_failure(TENGINE_EINVAL, "past 'i4' has rank 4 and 2 values, expected 2 x batch");
}

TEST(QAttention, MultipliesIntegers)
{
    NodeCase made = make("QAttention", 1);
    std::vector<int8_t> weights;
    for (int i = 0; i < 12; ++i)
        weights.push_back(static_cast<int8_t>(i * 9 - 50));
    made.values<uint8_t>({1, 2, 2}, {10, 200, 90, 30}).values({2, 6}, weights).pattern({6}, 3);
    made.values<float>({}, {0.02f}).values<float>({}, {0.01f}).values<int32_t>({1}, {2});
    made.values<uint8_t>({}, {100}).values<int8_t>({}, {0});
    made.expect({1.2343f, 0.1075926f, 0.650396f, -0.5360294f}, kTolerance);
}

}  // namespace
}  // namespace tengine::test
