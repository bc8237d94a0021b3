// SPDX-License-Identifier: Apache-2.0
// The initial boxes of detectors (source/operator/tengine/detection_ops.c): those of PriorBox, the
// anchors and proposals of Rpn.
#include "naive_detection.h"
#include "operator/tengine/detection_param.h"

namespace tengine::test {
namespace {

// ---- PriorBox ----

struct PriorBoxCase : TengineCase
{
    PriorBoxCase(const std::vector<int>& feature, const std::vector<int>& image)
        : TengineCase("tengine.PriorBox")
    {
        input(make_array(feature)).input(make_array(image));
    }
    PriorBoxCase& sizes(const std::vector<float>& min, const std::vector<float>& max = {},
                        const std::vector<float>& ratios = {})
    {
        attr("min_size", min).attr("max_size", max).attr("aspect_ratio", ratios);
        attr("variance", std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f});
        return *this;
    }
};

TEST(PriorBox, WorkedExample)
{
    // One cell of a 100 x 50 image: its centre is (50, 25).
    PriorBoxCase made({1, 8, 1, 1}, {1, 3, 50, 100});
    made.sizes({20}, {45}, {4}).attr("flip", 1);
    const Array result = made.run_one();
    // 20 x 20; 30 x 30 = sqrt(20 * 45); 40 x 10 and 10 x 40 of ratio 4.
    expect_close(result, {{1, 2, 16, 1}, {0.4, 0.3,  0.6, 0.7,  0.35, 0.2, 0.65, 0.8, 0.3, 0.4, 0.7,
                                          0.6, 0.45, 0.1, 0.55, 0.9,  0.1, 0.1,  0.2, 0.2, 0.1, 0.1,
                                          0.2, 0.2,  0.1, 0.1,  0.2,  0.2, 0.1,  0.1, 0.2, 0.2}});
}

TEST(PriorBox, EveryCellHasTheBoxesOfEverySize)
{
    PriorBoxCase made({1, 4, 3, 5}, {1, 3, 300, 300});
    made.sizes({60, 21.9f}, {}, {2, 3}).attr("flip", 1).attr("step_w", 16.0).attr("step_h", 16.0);
    made.attr("offset", 0.25);
    std::vector<double> widths, heights;
    for (const double size : {60, 21})  // whole pixels
        for (const double ratio : {1.0, 2.0, 1 / 2.0, 3.0, 1 / 3.0}) {
            widths.push_back(size * std::sqrt(ratio));
            heights.push_back(size / std::sqrt(ratio));
        }
    expect_close(made.run_one(), naive_prior_box(3, 5, 16, 0.25, 300, widths, heights, false));
}

TEST(PriorBox, StepsAndImageSizeAreComputedWhenAbsent)
{
    PriorBoxCase made({1, 4, 4, 4}, {1, 3, 7, 7});
    made.sizes({100}).attr("image_h", 200).attr("image_w", 200).attr("clip", 1);
    // Cached values in files are not read.
    made.attr("num_priors", -5).attr("out_dim", 12345).attr("image_size", 77777);
    expect_close(made.run_one(), naive_prior_box(4, 4, 50, 0.5, 200, {100}, {100}, true));
}

TEST(PriorBox, IsComputedBeforeTheRun)
{
    PriorBoxCase made({1, 4, 4, 4}, {1, 3, 8, 8});
    made.sizes({4}).run();
    EXPECT_EQ(made.ops().find("PriorBox"), std::string::npos) << made.ops();
}

TEST(PriorBox, OneVarianceStandsForAllAndNoneForCaffesDefault)
{
    for (const float given : {0.1f, 0.3f}) {
        PriorBoxCase made({1, 1, 1, 1}, {1, 1, 8, 8});
        made.attr("min_size", std::vector<float>{4});
        if (given != 0.1f) made.attr("variance", std::vector<float>{given});
        const Array result = made.run_one();
        for (size_t i = 4; i < 8; ++i)
            EXPECT_FLOAT_EQ(static_cast<float>(result.values[i]), given);
    }
}

TEST(PriorBox, RefusesListsThatMakeNoBoxes)
{
    const auto fail = [](const std::vector<float>& min, const std::vector<float>& max,
                         const std::vector<float>& ratios, int code, const std::string& part) {
        PriorBoxCase made({1, 1, 2, 2}, {1, 1, 8, 8});
        made.sizes(min, max, ratios).expect_failure(code, part);
    };
    const float nan = static_cast<float>(kNan);
    fail({}, {}, {}, TENGINE_ERANGE, "0 min_size");
    fail({1, 2}, {3}, {}, TENGINE_EINVAL, "1 max_size values for 2");
    fail({-1}, {}, {}, TENGINE_ERANGE, "min_size[0] is -1");
    fail({nan}, {}, {}, TENGINE_ERANGE, "min_size[0] is nan");
    fail({1e30f}, {}, {}, TENGINE_ERANGE, "min_size[0] is 1e+30");
    fail({1, 1}, {2, 0}, {}, TENGINE_ERANGE, "max_size[1] is 0");
    fail({1}, {}, {2, -2}, TENGINE_ERANGE, "aspect_ratio[1] is -2");
    fail(std::vector<float>(70000, 1.f), {}, {}, TENGINE_ERANGE, "70000 min_size");
    fail(std::vector<float>(60000, 1.f), {}, std::vector<float>(60000, 1.f), TENGINE_ERANGE,
         "too many");
    PriorBoxCase flat({2, 2}, {1, 1, 8, 8});
    flat.sizes({1}).expect_failure(TENGINE_EINVAL, "rank 2");
    PriorBoxCase varied({1, 1, 2, 2}, {1, 1, 8, 8});
    varied.sizes({1}).attr("variance", std::vector<float>{1, 2, 3});
    varied.expect_failure(TENGINE_EINVAL, "3 variance");
}

// ---- Rpn ----

// The table that py-faster-rcnn prints for base 16, ratios 0.5 1 2, scales 8 16 32.
TEST(Rpn, TheNineAnchorsOfFasterRcnn)
{
    const float published[9][4] = {
        {-84, -40, 99, 55}, {-176, -88, 191, 103},  {-360, -184, 375, 199},
        {-56, -56, 71, 71}, {-120, -120, 135, 135}, {-248, -248, 263, 263},
        {-36, -80, 51, 95}, {-80, -168, 95, 183},   {-168, -344, 183, 359}};
    float ratios[] = {0.5f, 1, 2}, scales[] = {8, 16, 32};
    tm_rpn_param param = {};
    param.ratios = {3, ratios};
    param.anchor_scales = {3, scales};
    param.basesize = 16;
    ASSERT_EQ(count_anchors(&param), 9);
    for (int i = 0; i < 9; ++i) {
        float corners[4];
        make_anchor(&param, i, corners);
        for (int j = 0; j < 4; ++j)
            EXPECT_EQ(corners[j], published[i][j]) << "anchor " << i << " corner " << j;
    }
}

struct RpnCase : TengineCase
{
    RpnCase(const Array& scores, const Array& deltas, const std::vector<double>& info)
        : TengineCase("tengine.Rpn")
    {
        input(scores).input(deltas).input({{1, static_cast<int>(info.size())}, info});
        attr("ratios", std::vector<float>{0.5f, 1, 2}).attr("anchor_scales", std::vector<float>{2});
        attr("basesize", 16).attr("feat_stride", 16).attr("min_size", 16);
        attr("per_nms_topn", 60).attr("post_nms_topn", 12).attr("nms_thresh", 0.5);
    }
};

TEST(Rpn, ProposesTheBestBoxes)
{
    const Array scores = random_array({1, 6, 5, 7}, 3), deltas = make_array({1, 12, 5, 7}, 9, 0.4);
    const auto candidates = naive_candidates(scores, deltas, 80, 112, 16 * 1.25);
    const auto proposals = naive_proposals(candidates, 60, 12);
    ASSERT_EQ(proposals.size(), 12U);
    ASSERT_LT(candidates.size(), 105U);  // some are too small
    expect_close(RpnCase(scores, deltas, {80, 112, 1.25}).run_one(), box_rows(proposals, 12));
}

TEST(Rpn, RowsWithoutABoxRepeatTheLast)
{
    const Array scores = random_array({1, 6, 1, 2}, 3), deltas = make_array({1, 12, 1, 2}, 2, 0.1);
    const auto proposals = naive_proposals(naive_candidates(scores, deltas, 40, 40, 16), 60, 12);
    ASSERT_LT(proposals.size(), 6U);
    // Six anchors give at most six boxes.
    expect_close(RpnCase(scores, deltas, {40, 40, 1}).run_one(), box_rows(proposals, 6));
    RpnCase none(scores, deltas, {40, 40, 1});
    expect_close(none.attr("min_size", 10000).run_one(), {{1, 6, 4, 1}, std::vector<double>(24)});
}

TEST(Rpn, AnchorsOfTheFileAreUsedWithoutRatios)
{
    const Array scores = random_array({1, 2, 1, 1}, 3), deltas{{1, 4, 1, 1}, {0, 0, 0, 0}};
    TengineCase made("tengine.Rpn");
    made.input(scores).input(deltas).input({{3}, {100, 100, 1}});
    made.attr("anchors_", std::vector<float>{10, 20, 29, 59}).attr("nms_thresh", 0.7);
    expect_close(made.run_one(), {{1, 1, 4, 1}, {10, 20, 30, 60}});
}

// 10..12 and 12..14 share a column of pixels: 3 of 15.
TEST(Rpn, CornersAreWholePixelsAndAnOverlapOfTheThresholdIsTooMuch)
{
    const Array scores{{1, 4, 1, 1}, {0, 0, 0.8, 0.9}},
        deltas{{1, 8, 1, 1}, std::vector<double>(8)};
    for (const bool dropped : {true, false}) {
        TengineCase made("tengine.Rpn");
        made.input(scores).input(deltas).input({{3}, {100, 100, 1}});
        made.attr("anchors_", std::vector<float>{10, 10, 11, 11, 12, 10, 13, 11});
        made.attr("nms_thresh", dropped ? 0.2 : 0.21);
        const double next = dropped ? 12 : 10;
        expect_close(made.run_one(), {{1, 2, 4, 1}, {12, 10, 14, 12, next, 10, next + 2, 12}});
    }
}

TEST(Rpn, SurvivesNumbersThatAreNone)
{
    Array scores = random_array({1, 6, 3, 3}, 3), deltas = make_array({1, 12, 3, 3}, 9, 1e30);
    for (size_t i = 0; i < scores.values.size(); i += 2)
        scores.values[i] = kNan;
    for (size_t i = 0; i < deltas.values.size(); i += 5)
        deltas.values[i] = kNan;
    EXPECT_EQ(RpnCase(scores, deltas, {40, 40, 1}).run_one().dims[1], 12);
    EXPECT_EQ(RpnCase(scores, deltas, {kNan, kNan, kNan}).run_one().dims[1], 12);
}

TEST(Rpn, RefusesWhatMakesNoAnchors)
{
    const Array scores = make_array({1, 6, 3, 3}), deltas = make_array({1, 12, 3, 3});
    const std::vector<double> info = {40, 40, 1};
    RpnCase none(scores, deltas, info);
    none.attr("ratios", std::vector<float>{}).expect_failure(TENGINE_EINVAL, "no anchors");
    RpnCase negative(scores, deltas, info);
    negative.attr("ratios", std::vector<float>{1, 0, 2});
    negative.expect_failure(TENGINE_ERANGE, "ratios[1] is 0");
    RpnCase more(scores, deltas, info);
    more.attr("anchor_scales", std::vector<float>{1, 2});
    more.expect_failure(TENGINE_EINVAL, "6 anchors need 12 and 24");
    RpnCase(scores, make_array({1, 12, 3, 2}), info).expect_failure(TENGINE_EINVAL, "12x3x2");
    RpnCase(scores, deltas, {40, 40}).expect_failure(TENGINE_EINVAL, "2 numbers");
    RpnCase(make_array({2, 6, 3, 3}), deltas, info).expect_failure(TENGINE_ENOTSUP, "batch of 2");
}

}  // namespace
}  // namespace tengine::test
