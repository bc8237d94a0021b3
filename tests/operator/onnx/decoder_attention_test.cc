// SPDX-License-Identifier: Apache-2.0
// DecoderMaskedMultiHeadAttention of ONNX Runtime: against its definition, written here, and for
// beams and scores against results of ONNX Runtime 1.30 for the same inputs (node_case.h).
#include <cmath>

#include "node_case.h"

namespace tengine::test {
namespace {

using Floats = std::vector<float>;
constexpr float kTolerance = 8e-6f;

// One token of two heads of two elements, after two that are in the cache.
constexpr int kRoom = 4;

Floats pick(const Floats& values, size_t first, size_t number)
{
    return {values.begin() + static_cast<ptrdiff_t>(first),
            values.begin() + static_cast<ptrdiff_t>(first + number)};
}

// One head: `keys` and `values` of two elements each; `added` is added to the scores.
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

// The cache has a row for each head and token: room for `room` tokens, two of which are used.
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

// Two sequences of two beams, one head: cache_indirection names the beam that has the keys of a
// token of the past. Its entries for later tokens are not read.
NodeCase make_beams()
{
    NodeCase made("com.microsoft.DecoderMaskedMultiHeadAttention");
    made.number("num_heads", 1).number("past_present_share_buffer", 1);
    made.pattern({4, 1, 2}, 1).pattern({4, 1, 2}, 2).pattern({4, 1, 2}, 3);
    return made;
}

void add_beams(NodeCase& made)
{
    made.pattern({4, 1, 4, 2}, 4).pattern({4, 1, 4, 2}, 5);
    made.values<int32_t>({1}, {2}).values<int32_t>({1}, {2});
    made.values<int32_t>({2, 2, 4}, {0, 1, 9, 9, 1, 0, 9, 9, 1, 1, 9, 9, 0, 1, 9, 9});
}

TEST(DecoderMaskedMultiHeadAttention, FindsThePastOfABeam)
{
    NodeCase made = make_beams();
    made.absent().absent();
    add_beams(made);
    made.outputs({"y", "keys", "values"});
    made.expect({0.004652292f, 0.4700036f, 0.1222019f, 0.0624274f, 0.58212f, -0.5428799f, 0.74304f,
                 -0.3819601f},
                kTolerance);
    made.expect({0.25f,   -0.875f, 0.875f, -0.25f,  0.875f,  -0.25f, -0.75f,  1,
                 -0.125f, -1.25f,  0.5f,   -0.625f, -1.375f, 0.375f, -1.125f, 0.625f,
                 -0.5f,   1.25f,   0.125f, -1,      -0.75f,  1,      1.375f,  0.25f,
                 -0.875f, 0.875f,  -0.25f, -1.375f, -0.125f, -1.25f, 1,       -0.125f},
                0, "keys");
    made.expect({1.375f, 0.25f,   -0.875f, 0.875f, -0.875f, 0.875f,  0.375f,  -0.75f,
                 1,      -0.125f, -1.25f,  0.5f,   -0.25f,  -1.375f, 0,       -1.125f,
                 0.625f, -0.5f,   1.25f,   0.125f, 0.375f,  -0.75f,  -0.375f, 1.375f,
                 0.25f,  -0.875f, 0.875f,  -0.25f, 1,       -0.125f, -0.75f,  1},
                0, "values");
}

// A mask has a row for each beam, a bias one for each sequence: its first two.
TEST(DecoderMaskedMultiHeadAttention, MasksAndShowsTheScoresOfBeams)
{
    NodeCase made = make_beams();
    made.number("output_qk", 1);
    made.values<int32_t>({4, 3}, {1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1}).pattern({4, 1, 1, 3}, 6);
    add_beams(made);
    made.outputs({"y", "", "", "qk"});
    made.expect({-0.7737226f, 0.514713f, 0.5479469f, -0.577053f, 0.7577738f, -0.3672262f,
                 0.9041284f, -0.2208715f},
                kTolerance);
    made.expect({0.4315436f, 1.894282f, 0.3383884f, 0.2547669f, -9998.261f, -0.3134757f, -1.571058f,
                 0.8197573f, -0.8687184f, -9999.991f, 0.609835f, -0.5814563f},
                1e-3f, "qk");
}

TEST(DecoderMaskedMultiHeadAttention, SharesABiasAmongBeams)
{
    NodeCase made = make_beams();
    made.absent().pattern({1, 1, 1, 3}, 6);
    add_beams(made);
    made.expect({-0.7737226f, 0.514713f, -0.5022922f, 0.4946685f, 0.7577738f, -0.3672262f,
                 0.821497f, -0.3035029f},
                kTolerance);
}

TEST(DecoderMaskedMultiHeadAttention, GivesTheScoresOfTheKeysThatAreThere)
{
    NodeCase made("com.microsoft.DecoderMaskedMultiHeadAttention");
    made.number("num_heads", 2).number("past_present_share_buffer", 1).number("output_qk", 1);
    made.pattern({1, 1, 4}, 1).pattern({1, 1, 4}, 2).pattern({1, 1, 4}, 3);
    made.values<int32_t>({1, 3}, {1, 0, 1}).pattern({1, 2, 1, 3}, 6);
    made.pattern({1, 2, 4, 2}, 4).pattern({1, 2, 4, 2}, 5).values<int32_t>({1}, {2});
    made.outputs({"y", "", "", "qk"});
    made.expect({0.302362f, 0.547955f, 0.5479469f, -0.577053f}, kTolerance);
    made.expect({0.4315436f, -9998.536f, 0.3383884f, -0.2452331f, -9998.661f, -0.8134757f}, 1e-3f,
                "qk");
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
    const auto with_beams = [&](int width, const std::vector<int>& dims) {
        NodeCase made = start();
        made.values<int32_t>({1}, {1}).values<int32_t>({1}, {width});
        if (!dims.empty())
            made.values<int32_t>(dims, std::vector<int32_t>(static_cast<size_t>(dims[2]), 0));
        return made;
    };
    with_beams(2, {}).expect_failure(TENGINE_EINVAL, "beam_width 2 needs cache_indirection");
    with_beams(1, {1, 1, 3})
        .expect_failure(TENGINE_EINVAL,
                        "cache_indirection 'i9' has rank 3 and 3 values, expected "
                        "sequences x beam_width x 4 for a batch of 1");
    with_beams(2, {1, 1, 4}).expect_failure(TENGINE_EINVAL, "expected sequences x beam_width x 4");
    NodeCase scores = start();
    scores.values<int32_t>({1}, {1}).outputs({"y", "", "", "qk"});
    scores.expect_failure(TENGINE_EINVAL, "output 3 exists only with output_qk 1");
    NodeCase own("com.microsoft.DecoderMaskedMultiHeadAttention");
    own.number("num_heads", 1).pattern({1, 1, 2}, 1).pattern({1, 1, 2}, 2).pattern({1, 1, 2}, 3);
    own.absent().absent().pattern({1, 1, 4, 2}, 4).pattern({1, 1, 4, 2}, 5).absent().absent();
    own.values<int32_t>({1, 1, 4}, {0, 0, 0, 0});
    own.expect_failure(TENGINE_EINVAL, "cache_indirection needs past_present_share_buffer");
    NodeCase several("com.microsoft.DecoderMaskedMultiHeadAttention");
    several.number("num_heads", 1)
        .pattern({1, 2, 2}, 1)
        .pattern({1, 2, 2}, 2)
        .pattern({1, 2, 2}, 3);
    several.expect_failure(TENGINE_EINVAL, "expected one token of rank 3");
}

}  // namespace
}  // namespace tengine::test
