// SPDX-License-Identifier: Apache-2.0
// NON_MAX_SUPPRESSION_V4 and V5 at the limits of overlaps, and with scores that fall. The boxes and
// the choice are those of TensorFlow Lite's test (non_max_suppression_test.cc); the
// scores follow from the definition, score * exp(-overlap^2 / (2 sigma)) for each better box.
#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

constexpr int kSuppression4 = 120, kSuppression5 = 121;

struct Limits
{
    int32_t most;
    float overlap;
    float score;
    float sigma;
    bool is_fed = false;  // the limits are inputs
};

TfliteModel make_suppression(int code, int32_t boxes, const Limits& limits)
{
    const auto scalar = [&](const char* name, float value) {
        return TfliteTensor{
            name, {}, kTfliteFloat, limits.is_fed ? "" : bytes_of(std::vector<float>{value})};
    };
    TfliteModel model;
    model.tensors = {{"b", {boxes, 4}},
                     {"s", {boxes}},
                     {"most", {}, kTfliteInt32, bytes_of(std::vector<int32_t>{limits.most})},
                     scalar("overlap", limits.overlap),
                     scalar("score", limits.score),
                     scalar("sigma", limits.sigma),
                     {"i", {limits.most}, kTfliteInt32},
                     {"n", {limits.most}},
                     {"c", {}, kTfliteInt32}};
    const bool has_scores = code == kSuppression5;
    TfliteOperator op = {code, {0, 1, 2, 3, 4}, {6}};
    if (has_scores) op.inputs.push_back(5);
    if (has_scores) op.outputs.push_back(7);
    op.outputs.push_back(8);
    model.operators = {op};
    model.inputs = {0, 1};
    if (limits.is_fed) model.inputs = {0, 1, 3, 4, 5};
    model.outputs = op.outputs;
    return model;
}

const std::vector<float> kBoxes = {1, 1,  0, 0,  0, 0.1f,  1, 1.1f,  0, 0.9f, 1, -0.1f,
                                   0, 10, 1, 11, 1, 10.1f, 0, 11.1f, 1, 101,  0, 100};
const std::vector<float> kScores = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};

class TfliteSuppressionTest : public TfliteModelTest
{
  protected:
    void expect(const Limits& limits, const std::vector<int32_t>& boxes,
                const std::vector<float>& scores, int32_t number)
    {
        std::vector<std::string> inputs = {bytes_of(kBoxes), bytes_of(kScores)};
        if (limits.is_fed)
            for (const float value : {limits.overlap, limits.score, limits.sigma})
                inputs.push_back(bytes_of(std::vector<float>{value}));
        const auto results = run(make_suppression(kSuppression5, 6, limits), inputs);
        ASSERT_EQ(results.size(), 3U);
        EXPECT_EQ(values_of<int32_t>(results[0]), boxes);
        EXPECT_THAT(values_of<float>(results[1]),
                    testing::Pointwise(testing::FloatNear(1e-6f), scores));
        EXPECT_EQ(values_of<int32_t>(results[2])[0], number);
    }
};

TEST_F(TfliteSuppressionTest, ScoresFall)
{
    const std::vector<float> falling = {0.95f, 0.9f, 0.3840042f, 0.3f, 0.2560028f, 0.1969715f};
    expect({6, 1, 0, 0.5f}, {3, 0, 1, 5, 4, 2}, falling, 6);
    expect({6, 1, 0, 0.5f, true}, {3, 0, 1, 5, 4, 2}, falling, 6);
    expect({6, 1, 0.29f, 0.5f}, {3, 0, 1, 5, 0, 0}, {0.95f, 0.9f, 0.3840042f, 0.3f, 0, 0}, 4);
    expect({6, 0.5f, 0, 0.5f}, {3, 0, 5, 0, 0, 0}, {0.95f, 0.9f, 0.3f, 0, 0, 0}, 3);
    expect({2, 1, 0, 0.5f}, {3, 0}, {0.95f, 0.9f}, 2);
}

TEST_F(TfliteSuppressionTest, FedLimitsWithoutSigma)
{
    expect({3, 0.5f, 0, 0, true}, {3, 0, 5}, {0.95f, 0.9f, 0.3f}, 3);
}

// A box is dropped with an overlap that is the limit: equal boxes overlap by 1.
TEST_F(TfliteSuppressionTest, TheLimitItselfDrops)
{
    const std::string boxes = bytes_of(std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 2});
    const std::string scores = bytes_of(std::vector<float>{0.5f, 0.9f, 0.4f});
    const auto choose = [&](float overlap) {
        const Limits limits = {3, overlap, 0, 0};
        return values_of<int32_t>(
            run(make_suppression(kSuppression4, 3, limits), {boxes, scores})[0]);
    };
    EXPECT_EQ(choose(1), (std::vector<int32_t>{1, 2, 0}));
    EXPECT_EQ(choose(0.5f), (std::vector<int32_t>{1, 0, 0}));
    EXPECT_EQ(choose(0.51f), (std::vector<int32_t>{1, 2, 0}));
}

TEST_F(TfliteSuppressionTest, WrongOperands)
{
    TfliteModel model = make_suppression(kSuppression5, 6, {2, 1, 0, 0.5f});
    model.tensors[1].shape = {5};
    expect_refusal(model, TENGINE_EINVAL, "expected [boxes, 4] and [boxes]");
    model = make_suppression(kSuppression5, 6, {2, 1, 0, 0.5f});
    model.tensors[2].values = bytes_of(std::vector<int32_t>{-1});
    expect_refusal(model, TENGINE_ERANGE, "the number of its results is -1");
    model = make_suppression(kSuppression5, 6, {2, 1, 0, 0.5f});
    model.tensors[4] = {"score", {2}, kTfliteFloat, bytes_of(std::vector<float>{1, 1})};
    expect_refusal(model, TENGINE_EINVAL, "input 4 has 2 elements");
}

}  // namespace
}  // namespace tengine::test
