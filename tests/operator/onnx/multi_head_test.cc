// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention, Attention and QAttention of ONNX Runtime: numbers are those of ONNX Runtime
// 1.30 for the same inputs (node_case.h), unless a test says otherwise. Scores of some products of
// magnitudes up to 4 differ by a few roundings of 2^-21, and results by as much of 2.
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

// A mask adds a number to the scores, which cancels in the softmax of a fully masked row.
TEST(MultiHeadAttention, AMaskedRowIsASoftmax)
{
    NodeCase made = make("MultiHeadAttention", 1);
    made.pattern({1, 1, 2}, 1).pattern({1, 2, 2}, 2).pattern({1, 2, 2}, 3).absent();
    // Scores around -10000 are rounded to 2^-10, results to half of that.
    made.values<int32_t>({1, 2}, {0, 0}).expect({-0.5951864f, -0.132329f}, 1e-3f);
}

// The scores are those before the softmax, including the bias and the mask.
TEST(MultiHeadAttention, GivesItsScores)
{
    NodeCase made = make("MultiHeadAttention", 2);
    made.pattern({1, 2, 4}, 1).pattern({1, 2, 4}, 2).pattern({1, 2, 4}, 3).absent();
    made.values<int32_t>({1, 3}, {0, 1, 1}).pattern({1, 2, 2, 3}, 5);
    made.pattern({1, 2, 1, 2}, 6).pattern({1, 2, 1, 2}, 7).outputs({"y", "", "", "qk"});
    made.expect({-0.7328228f, 0.6901696f, 0.937429f, -0.1875711f, -0.7695504f, 0.7379155f, 0.39706f,
                 -0.72794f},
                kTolerance);
    made.expect({-9999.896f, 0.3383884f, -1.714689f, -9999.512f, 0.3908155f, -1.993718f, -9999.095f,
                 -1.313476f, 1.629767f, -10000.655f, 0.09792233f, 0.1685437f},
                2e-3f, "qk");
}

// A query of 0 weighs all values equally. ONNX Runtime supports packed inputs on GPUs only.
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
    scores.number("unidirectional", 1).outputs({"y", "", "", "qk"});
    scores.expect_failure(TENGINE_ENOTSUP, "output 3, qk, with unidirectional 1");
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
