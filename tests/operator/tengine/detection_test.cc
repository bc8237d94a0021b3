// SPDX-License-Identifier: Apache-2.0
// DetectionOutput, Region and DetectionPostProcess (source/operator/tengine/detection_ops.c):
// examples computed by hand from the papers' formulas, and plain implementations of them.
#include "naive_detection.h"

namespace tengine::test {
namespace {

// ---- DetectionOutput ----

struct DetectionOutputCase : TengineCase
{
    DetectionOutputCase(const Array& deltas, const Array& scores, const Array& priors, int classes)
        : TengineCase("tengine.DetectionOutput")
    {
        input(deltas).input(scores).input(priors).attr("num_classes", classes);
    }
};

// Priors and their variances of 0.1, 0.1, 0.2, 0.2.
Array with_variances(const std::vector<Corners>& priors)
{
    Array made{{1, 2, static_cast<int>(priors.size() * 4), 1}, {}};
    for (const Corners& p : priors)
        made.values.insert(made.values.end(), {p.x0, p.y0, p.x1, p.y1});
    for (size_t i = 0; i < priors.size(); ++i)
        made.values.insert(made.values.end(), {0.1, 0.1, 0.2, 0.2});
    return made;
}

TEST(DetectionOutput, WorkedExample)
{
    // Prior of centre (0.4, 0.5), size 0.4 x 0.2. Centre moves by 0.1 * 2 * 0.4 and 0.1 * -1 * 0.2,
    // the width doubles, the height halves.
    const double log2 = std::log(2.0) / 0.2;
    const Array result =
        DetectionOutputCase({{1, 4}, {2, -1, log2, -log2}}, {{1, 3}, {0.05, 0.2, 0.75}},
                            with_variances({{0.2, 0.4, 0.6, 0.6}}), 3)
            .run_one();
    expect_close(result, {{1, 1, 6, 1}, {2, 0.75, 0.08, 0.43, 0.88, 0.53}});
}

TEST(DetectionOutput, NothingFoundHasNoRows)
{
    const Array result = DetectionOutputCase({{1, 4}, {0, 0, 0, 0}}, {{1, 2}, {0.9, 0.1}},
                                             with_variances({{0, 0, 1, 1}}), 2)
                             .run_one();
    EXPECT_EQ(result.dims, (std::vector<int>{1, 0, 6, 1}));
}

TEST(DetectionOutput, SuppressionIsPerClassAndTheBetterScoreWins)
{
    const std::vector<Corners> priors = {
        {0, 0, 0.4, 0.4}, {0.02, 0, 0.42, 0.4}, {0.5, 0, 0.9, 0.4}};
    DetectionOutputCase made({{1, 12}, std::vector<double>(12)},
                             {{1, 9}, {0, 0.5, 0.3, 0, 0.6, 0.9, 0, 0.55, 0.2}},
                             with_variances(priors), 3);
    made.attr("confidence_threshold", 0.25);
    // Class 1: the second box drops the first. Class 2: the second drops the first, the third is
    // below the threshold.
    expect_close(made.run_one(), {{1, 3, 6, 1},
                                  {2, 0.9, 0.02, 0, 0.42, 0.4, 1, 0.6, 0.02, 0, 0.42, 0.4,  //
                                   1, 0.55, 0.5, 0, 0.9, 0.4}});
}

TEST(DetectionOutput, EqualScoresStayInTheirOrder)
{
    const std::vector<Corners> priors = {{0, 0, 0.1, 0.1}, {0.2, 0, 0.3, 0.1}, {0.4, 0, 0.5, 0.1}};
    DetectionOutputCase made({{1, 12}, std::vector<double>(12)}, {{1, 6}, {0, 0.5, 0, 0.5, 0, 0.5}},
                             with_variances(priors), 2);
    const Array result = made.attr("keep_top_k", 2).run_one();
    expect_close(result, {{1, 2, 6, 1}, {1, 0.5, 0, 0, 0.1, 0.1, 1, 0.5, 0.2, 0, 0.3, 0.1}});
}

TEST(DetectionOutput, ManyBoxes)
{
    const int num = 150, classes = 4;
    std::vector<Corners> boxes;
    const Array places = random_array({num, 4}, 11);
    for (int i = 0; i < num; ++i) {
        const double* r = &places.values[static_cast<size_t>(i * 4)];
        boxes.push_back(
            {r[0] * 0.7, r[1] * 0.7, r[0] * 0.7 + 0.1 + r[2] * 0.2, r[1] * 0.7 + 0.1 + r[3] * 0.2});
    }
    const Array deltas = make_array({1, num * 4}, 3), priors = with_variances(boxes);
    const Array scores = random_array({1, num * classes}, 5);
    for (const Limits limits :
         {Limits{100, 100, 0.25, 0.45}, Limits{7, 20, 0.5, 0.1}, Limits{-1, 10, 0.1, 0.7},
          Limits{-1, -1, 0.1, 0.7}, Limits{0, 5, 0.1, 0.7}}) {
        DetectionOutputCase made(deltas, scores, priors, classes);
        made.attr("keep_top_k", limits.keep).attr("nms_top_k", limits.per_class);
        made.attr("confidence_threshold", limits.confidence).attr("nms_threshold", limits.overlap);
        const auto all = naive_detection_output(deltas, scores, priors, classes, limits);
        expect_close(made.run_one(), detection_rows(all));
    }
}

TEST(DetectionOutput, SurvivesNumbersThatAreNone)
{
    const int num = 40;
    Array deltas = make_array({1, num * 4}, 1, 1e30), scores = random_array({1, num * 2}, 2);
    for (size_t i = 0; i < deltas.values.size(); i += 3)
        deltas.values[i] = kNan;
    for (size_t i = 0; i < scores.values.size(); i += 2)
        scores.values[i + 1] = i % 3 == 0 ? kNan : scores.values[i + 1];
    const Array priors = with_variances(std::vector<Corners>(num, {0, 0, 1, 1}));
    DetectionOutputCase made(deltas, scores, priors, 2);
    const Array result = made.attr("confidence_threshold", 0.0).run_one();
    for (size_t i = 1; i < result.values.size(); i += 6)
        EXPECT_FALSE(std::isnan(result.values[i]));
    DetectionOutputCase unordered(deltas, scores, priors, 2);
    EXPECT_EQ(unordered.attr("confidence_threshold", kNan).run_one().dims[1], 0);
}

TEST(DetectionOutput, RefusesShapesThatDoNotFit)
{
    const Array priors = with_variances({{0, 0, 1, 1}, {0, 0, 1, 1}});
    const Array deltas = make_array({1, 8}), scores = make_array({1, 6});
    const auto fail = [](const Array& d, const Array& s, const Array& p, int classes, int code,
                         const std::string& part) {
        DetectionOutputCase(d, s, p, classes).expect_failure(code, part);
    };
    fail(make_array({1, 7}), scores, priors, 3, TENGINE_EINVAL, "7 elements, expected 8");
    fail(deltas, scores, priors, 4, TENGINE_EINVAL, "6 elements, expected 8");
    fail(deltas, scores, priors, 0, TENGINE_ERANGE, "num_classes is 0");
    fail(deltas, scores, priors, 2147483647, TENGINE_EINVAL, "expected 4294967294");
    fail(deltas, scores, make_array({1, 1, 16, 1}), 3, TENGINE_EINVAL, "prior boxes");
    fail(deltas, scores, make_array({1, 2, 6, 1}), 3, TENGINE_EINVAL, "prior boxes");
    fail(deltas, scores, make_array({16}), 3, TENGINE_ENOTSUP, "batch");
    fail(make_array({2, 8}), scores, priors, 3, TENGINE_ENOTSUP, "batch of 2");
}

// ---- Region ----

TEST(Region, LogisticAndSoftmaxWhereYoloHasThem)
{
    const int images = 2, boxes = 3, classes = 4, entries = 4 + 1 + classes, cells = 6;
    const Array input = make_array({images, boxes * entries, 2, 3}, 2, 3);
    Array expected = input;
    const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
    for (int box = 0; box < images * boxes; ++box)
        for (int cell = 0; cell < cells; ++cell) {
            const auto at = [&](int entry) -> double& {
                return expected.values[static_cast<size_t>((box * entries + entry) * cells + cell)];
            };
            for (const int entry : {0, 1, 4})
                at(entry) = logistic(at(entry));
            double sum = 0;
            for (int i = 5; i < entries; ++i)
                sum += std::exp(at(i));
            for (int i = 5; i < entries; ++i)
                at(i) = std::exp(at(i)) / sum;
        }
    TengineCase made("tengine.Region");
    made.input(input).attr("num_classes", classes).attr("num_box", boxes).attr("coords", 4);
    expect_close(made.run_one(), expected);
}

TEST(Region, RefusesChannelsThatDoNotFit)
{
    const auto fail = [](int boxes, int coords, int classes, int code, const std::string& part) {
        TengineCase made("tengine.Region");
        made.input(make_array({1, 14, 2, 2})).attr("num_classes", classes);
        made.attr("num_box", boxes).attr("coords", coords).expect_failure(code, part);
    };
    fail(0, 4, 2, TENGINE_ERANGE, "num_box is 0");
    fail(2, 4, 0, TENGINE_ERANGE, "num_classes is 0");
    fail(2, -1, 2, TENGINE_ERANGE, "coords is -1");
    fail(2, 4, 3, TENGINE_EINVAL, "14 channels");
    fail(3, 4, 2, TENGINE_EINVAL, "14 channels");
    fail(2147483647, 2147483647, 2147483647, TENGINE_EINVAL, "14 channels");
}

// ---- DetectionPostProcess ----

struct PostProcessCase : TengineCase
{
    PostProcessCase(const Array& boxes, const Array& scores, const Array& anchors, int classes)
        : TengineCase("tengine.DetectionPostProcess", 0, 4)
    {
        input(boxes).input(scores).constant(anchors).attr("num_classes", classes);
        attr("max_detections", 10).attr("max_classes_per_detection", 1);
        attr("nms_score_threshold", 0.3).attr("nms_iou_threshold", 0.6);
        attr("scales", std::vector<float>{10, 10, 5, 5});
    }
};

// Returns [1, numbers, boxes] of [1, boxes, numbers].
Array planar(const Array& rows)
{
    Array made{{1, rows.dims[2], rows.dims[1]}, rows.values};
    for (int b = 0; b < rows.dims[1]; ++b)
        for (int i = 0; i < rows.dims[2]; ++i)
            made.values[static_cast<size_t>(i * rows.dims[1] + b)] =
                rows.values[static_cast<size_t>(b * rows.dims[2] + i)];
    return made;
}

TEST(DetectionPostProcess, WorkedExample)
{
    // Anchor of centre y 0.5, x 0.4, height 0.2, width 0.4: the centre moves by half its height
    // down and a quarter of its width left, the height doubles.
    const Array boxes{{1, 1, 4}, {5, -2.5, 5 * std::log(2.0), 0}};
    const Array anchors{{1, 4}, {0.5, 0.4, 0.2, 0.4}};
    PostProcessCase made(planar(boxes), planar({{1, 1, 3}, {0.1, 0.2, 0.8}}), anchors, 2);
    const std::vector<Array> results = made.attr("max_detections", 2).run();
    ASSERT_EQ(results.size(), 4U);
    // x0, y0, x1, y1; missing detections are 0.
    expect_close(results[0], {{1, 4, 2}, {0.1, 0.4, 0.5, 0.8, 0, 0, 0, 0}});
    expect_close(results[1], {{1, 2}, {2, 0}});
    expect_close(results[2], {{1, 2}, {0.8, 0}});
    expect_close(results[3], {{1}, {1}});
}

struct PostProcess
{
    int maximum;
    double overlap, score;
};

// Suppresses per class, for at most twice as many boxes as there are results.
std::vector<Detection> naive_postprocess(const Array& deltas, const Array& scores,
                                         const Array& anchors, int classes,
                                         const PostProcess& limits)
{
    std::vector<Detection> all;
    for (int label = 1; label <= classes; ++label) {
        std::vector<Detection> found;
        for (int i = 0; i < deltas.dims[1]; ++i) {
            const double* d = &deltas.values[static_cast<size_t>(i * 4)];
            const double* a = &anchors.values[static_cast<size_t>(i * 4)];
            const double y = a[0] + d[0] / 10 * a[2], x = a[1] + d[1] / 10 * a[3];
            const double h = a[2] * std::exp(d[2] / 5), w = a[3] * std::exp(d[3] / 5);
            const double score = scores.values[static_cast<size_t>(i * (classes + 1) + label)];
            if (score >= limits.score)
                found.push_back({{x - w / 2, y - h / 2, x + w / 2, y + h / 2}, score, label});
        }
        keep_best(found, static_cast<size_t>(limits.maximum) * 2);
        const auto left = suppress(found, [&](double o) { return o > limits.overlap; });
        all.insert(all.end(), left.begin(), left.end());
    }
    keep_best(all, static_cast<size_t>(limits.maximum));
    return all;
}

void expect_detections(const std::vector<Array>& results, const std::vector<Detection>& all,
                       const std::vector<int>& corner_dims, int places)
{
    Array corners{corner_dims, {}}, labels{{1, places}, {}}, scores{{1, places}, {}};
    for (const Detection& d : all) {
        corners.values.insert(corners.values.end(), {d.box.x0, d.box.y0, d.box.x1, d.box.y1});
        labels.values.push_back(d.label);
        scores.values.push_back(d.score);
    }
    corners.values.resize(static_cast<size_t>(places) * 4);
    labels.values.resize(static_cast<size_t>(places));
    scores.values.resize(static_cast<size_t>(places));
    ASSERT_EQ(results.size(), 4U);
    expect_close(results[0], corners);
    expect_close(results[1], labels);
    expect_close(results[2], scores);
    expect_close(results[3], {{1}, {static_cast<double>(all.size())}});
}

TEST(DetectionPostProcess, ManyBoxesInBothOrders)
{
    const int num = 120, classes = 3;
    const Array deltas = make_array({1, num, 4}, 4, 2);
    const Array scores = random_array({1, num, classes + 1}, 6);
    Array anchors = random_array({num, 4}, 8);
    for (size_t i = 0; i < anchors.values.size(); ++i)
        if (i % 4 >= 2) anchors.values[i] = 0.1 + anchors.values[i] * 0.3;
    for (const PostProcess limits :
         {PostProcess{10, 0.6, 0.3}, PostProcess{400, 0.5, 0.45}, PostProcess{30, 0.05, 0.3}}) {
        const auto all = naive_postprocess(deltas, scores, anchors, classes, limits);
        const int places = limits.maximum * 2;
        const auto prepare = [&](TengineCase& made) {
            made.attr("max_detections", limits.maximum).attr("max_classes_per_detection", 2);
            made.attr("nms_score_threshold", limits.score);
            made.attr("nms_iou_threshold", limits.overlap);
        };
        PostProcessCase turned(planar(deltas), planar(scores), anchors, classes);
        prepare(turned);
        expect_detections(turned.run(), all, {1, 4, places}, places);
        PostProcessCase plain(deltas, scores, anchors, classes);
        prepare(plain);
        expect_detections(plain.run(), all, {1, places, 4}, places);
    }
}

// The best four boxes of a class may be two detections: the fifth is left out although the others
// overlap.
TEST(DetectionPostProcess, TwiceTheDetectionsAreLookedAt)
{
    for (const int overlapping : {3, 4}) {
        Array scores{{1, 5, 2}, {0, 0.9, 0, 0.8, 0, 0.75, 0, 0.7, 0, 0.6}}, anchors{{5, 4}, {}};
        for (int i = 0; i < 5; ++i)
            anchors.values.insert(anchors.values.end(),
                                  {i < overlapping ? 0.2 : 0.8, 0.5, 0.2, 0.2});
        PostProcessCase made({{1, 5, 4}, std::vector<double>(20)}, scores, anchors, 1);
        const std::vector<Array> results = made.attr("max_detections", 2).run();
        ASSERT_EQ(results.size(), 4U);
        const double second = overlapping == 3 ? 0.7 : 0;
        expect_close(results[2], {{1, 2}, {0.9, second}});
    }
}

TEST(DetectionPostProcess, SurvivesNumbersThatAreNone)
{
    const int num = 30;
    Array scores = random_array({1, num, 2}, 3), deltas = make_array({1, num, 4}, 1, 1e30);
    for (size_t i = 1; i < scores.values.size(); i += 6)
        scores.values[i] = deltas.values[i] = kNan;
    const std::vector<Array> results =
        PostProcessCase(planar(deltas), planar(scores), random_array({num, 4}, 2), 1).run();
    ASSERT_EQ(results.size(), 4U);
    EXPECT_LE(results[3].values[0], 10);
}

TEST(DetectionPostProcess, RefusesParametersThatDoNotFit)
{
    const Array boxes = make_array({1, 4, 6}), scores = make_array({1, 3, 6});
    const Array anchors = make_array({6, 4});
    const auto fail = [&](const char* name, int value, int code, const std::string& part) {
        PostProcessCase made(boxes, scores, anchors, 2);
        made.attr(name, value).expect_failure(code, part);
    };
    fail("max_detections", 0, TENGINE_ERANGE, "max_detections is 0");
    fail("max_detections", 2147483647, TENGINE_ERANGE, "");
    fail("max_classes_per_detection", -1, TENGINE_ERANGE, "max_classes_per_detection is -1");
    fail("num_classes", 3, TENGINE_EINVAL, "18 elements");
    fail("num_classes", 2147483647, TENGINE_EINVAL, "18 elements");
    PostProcessCase zero(boxes, scores, anchors, 2);
    zero.attr("scales", std::vector<float>{1, 1, 0, 1});
    zero.expect_failure(TENGINE_ERANGE, "scales[2] is 0");
    PostProcessCase few(boxes, scores, anchors, 2);
    few.attr("scales", std::vector<float>{1, 1});
    few.expect_failure(TENGINE_EINVAL, "2 scales");
    PostProcessCase(boxes, scores, make_array({5, 4}), 2)
        .expect_failure(TENGINE_EINVAL, "20 elements, expected 24");
    PostProcessCase(make_array({24}), scores, anchors, 2).expect_failure(TENGINE_EINVAL, "24");
}

}  // namespace
}  // namespace tengine::test
