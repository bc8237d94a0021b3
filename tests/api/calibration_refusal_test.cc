// SPDX-License-Identifier: Apache-2.0
// Calibration: bad samples, options and handles, and programs that end it.
#include <cmath>
#include <limits>

#include "calibration_fixture.h"

namespace tengine {
namespace {

TEST_F(CalibrationTest, BadSamplesAreRefused)
{
    const float huge[4] = {1, std::numeric_limits<float>::quiet_NaN(), 0, 0};
    struct Case
    {
        const char* part;
        int code;
        std::function<int(tengine_sample_input* input)> change;
    };
    const Case cases[] = {
        {"sample 1: input 'x' is int8: expected fp32", TENGINE_EINVAL,
         [](tengine_sample_input* input) { return input->data_type = TENGINE_DT_INT8, 1; }},
        {"has 9 dimensions: expected 0 to 8", TENGINE_ERANGE,
         [](tengine_sample_input* input) { return input->dim_number = MAX_SHAPE_DIM_NUM + 1, 1; }},
        {"has -1 dimensions", TENGINE_ERANGE,
         [](tengine_sample_input* input) { return input->dim_number = -1, 1; }},
        {"shape 1x1x1x?: read_sample must set all", TENGINE_EINVAL,
         [](tengine_sample_input* input) { return input->dims[3] = -4, 1; }},
        {"has 16 bytes: expected 20 for shape 1x1x1x5", TENGINE_EINVAL,
         [](tengine_sample_input* input) { return input->dims[3] = 5, 1; }},
        {"has 12 bytes: expected 16", TENGINE_EINVAL,
         [](tengine_sample_input* input) { return input->size = 12, 1; }},
        {"expected at most", TENGINE_ERANGE,
         [](tengine_sample_input* input) {
             return input->dims[1] = input->dims[2] = input->dims[3] = 1 << 30, 1;
         }},
        {"data is NULL: expected 16 bytes", TENGINE_EINVAL,
         [](tengine_sample_input* input) { return input->data = nullptr, 1; }},
        {"", TENGINE_EINVAL,  // the Conv needs four
         [](tengine_sample_input* input) { return input->dim_number = 2, input->dims[1] = 4, 1; }},
        {"sample 1: read_sample returned -7", TENGINE_ECANCELED,
         [](tengine_sample_input*) { return -7; }},
        {"tensor 'x' has values that are not finite", TENGINE_ENOTSUP,
         [&](tengine_sample_input* input) { return input->data = huge, 1; }},
    };
    create();
    for (const Case& bad : cases) {
        camera_.change = [&](int64_t index, tengine_sample_input* input, int) {
            return index == 1 ? bad.change(input) : 1;
        };
        EXPECT_EQ(tengine_calibration_run(calibration_), -1) << bad.part;
        expect_failure(bad.code, bad.part);
    }
    camera_.change = nullptr;
    const Samples samples = std::move(camera_.samples);
    camera_.samples.clear();
    EXPECT_EQ(tengine_calibration_run(calibration_), -1);
    expect_failure(TENGINE_EINVAL, "no samples");
    EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), -1);
    expect_failure(TENGINE_ESTATE, "tengine_calibration_run has not succeeded yet");
    camera_.samples = samples;
    ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)), expected_bytes());
}

// A failure in a later pass leaves the results of the one before.
TEST_F(CalibrationTest, LaterPassesNeedTheSameSamples)
{
    run();
    ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0);
    camera_.samples.resize(1);
    EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), -1);
    expect_failure(TENGINE_ESTATE, "sample 1: read_sample has none, but had in the first pass");
    EXPECT_EQ(tengine_calibration_search(calibration_, 0), -1);
    expect_failure(TENGINE_ESTATE, "sample 1: read_sample has none");
    EXPECT_EQ(summary().decision_number, 2);
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)), expected_bytes());
}

TEST_F(CalibrationTest, ProgressEndsAStep)
{
    run();
    std::vector<std::pair<int64_t, int64_t>> shown;
    camera_.progress = [&](int64_t done, int64_t total) {
        shown.emplace_back(done, total);
        return done == 2 ? 5 : 0;
    };
    EXPECT_EQ(tengine_calibration_run(calibration_), -1);
    expect_failure(TENGINE_ECANCELED, "show_progress returned 5 after 2 of 0");
    EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), -1);
    expect_failure(TENGINE_ECANCELED, "show_progress returned 5 after 2 of 2");
    camera_.progress = [](int64_t, int64_t) { return -1; };
    EXPECT_EQ(tengine_calibration_search(calibration_, 0), -1);
    expect_failure(TENGINE_ECANCELED, "show_progress returned -1 after 1 of 1");
    const std::vector<std::pair<int64_t, int64_t>> expected = {{1, 0}, {2, 0}, {1, 2}, {2, 2}};
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)), expected_bytes());
}

TEST_F(CalibrationTest, CallbacksCannotUseTheCalibration)
{
    create();
    camera_.change = [this](int64_t, tengine_sample_input*, int) {
        EXPECT_EQ(tengine_calibration_run(calibration_), -1);
        expect_failure(TENGINE_ESTATE, "in a function that calls the program");
        EXPECT_EQ(tengine_calibration_destroy(calibration_), -1);
        expect_failure(TENGINE_ESTATE, "in a function that calls the program");
        EXPECT_EQ(tengine_calibration_quantize(calibration_), nullptr);
        expect_failure(TENGINE_ESTATE, "in a function that calls the program");
        return 1;
    };
    EXPECT_EQ(tengine_calibration_run(calibration_), 0);
}

TEST_F(CalibrationTest, BadOptionsAreRefused)
{
    struct Case
    {
        const char* part;
        std::function<void(tengine_calibration_options* options)> change;
    };
    static const char* const empty[] = {""};
    const Case cases[] = {
        {"read_sample is NULL", [](auto* options) { options->read_sample = nullptr; }},
        {"'max': expected one of minmax, percentile, kl, mse",
         [](auto* options) { options->method = "max"; }},
        {"percentile is 49", [](auto* options) { options->percentile = 49; }},
        {"percentile is 101", [](auto* options) { options->percentile = 101; }},
        {"percentile is nan", [](auto* options) { options->percentile = std::nan(""); }},
        {"per_channel is 2", [](auto* options) { options->per_channel = 2; }},
        {"keep_float_number is -1", [](auto* options) { options->keep_float_number = -1; }},
        {"keep_float is NULL or empty", [](auto* options) { options->keep_float_number = 1; }},
        {"keep_float is NULL or empty",
         [](auto* options) { options->keep_float = empty, options->keep_float_number = 1; }},
        {"so is read_sample", [](auto* options) { options->dynamic = 1; }},
        {"so is unsigned_activations",
         [](auto* options) {
             options->dynamic = options->unsigned_activations = 1, options->read_sample = nullptr;
         }},
    };
    for (const Case& bad : cases) {
        tengine_calibration_options options = camera_.options();
        bad.change(&options);
        EXPECT_EQ(tengine_calibration_create(graph_, &options, sizeof options), nullptr);
        expect_failure(TENGINE_EINVAL, bad.part);
    }
    const tengine_calibration_options options = camera_.options();
    EXPECT_EQ(tengine_calibration_create(graph_, nullptr, sizeof options), nullptr);
    expect_failure(TENGINE_EINVAL, "options is NULL");
    EXPECT_EQ(tengine_calibration_create(graph_, &options, 0), nullptr);
    expect_failure(TENGINE_EINVAL, "size is 0");
    EXPECT_EQ(tengine_calibration_create(nullptr, &options, sizeof options), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    const char* const nowhere[] = {"nowhere*"};
    tengine_calibration_options kept = options;
    kept.keep_float = nowhere;
    kept.keep_float_number = 1;
    create(kept);
    EXPECT_EQ(tengine_calibration_run(calibration_), -1);
    expect_failure(TENGINE_ENOENT, "keep_float: 'nowhere*' matches no node");
}

// A program of an earlier or a later version.
TEST_F(CalibrationTest, StructuresMayBeShorterAndLonger)
{
    struct
    {
        tengine_calibration_options known;
        int later;
    } options = {camera_.options(), 0};
    calibration_ = tengine_calibration_create(graph_, &options.known, sizeof options);
    ASSERT_NE(calibration_, nullptr) << get_tengine_error();
    EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
    options.later = 1;
    calibration_ = tengine_calibration_create(graph_, &options.known, sizeof options);
    EXPECT_EQ(calibration_, nullptr);
    expect_failure(TENGINE_EINVAL, "members that this version does not know");
    const size_t shorter = offsetof(tengine_calibration_options, method);
    calibration_ = tengine_calibration_create(graph_, &options.known, shorter);
    ASSERT_NE(calibration_, nullptr) << get_tengine_error();
    ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    struct
    {
        tengine_calibration_summary known;
        int later;
    } summary = {{}, 7};
    EXPECT_EQ(tengine_calibration_get_summary(calibration_, &summary.known, sizeof summary), 0);
    EXPECT_EQ(summary.known.sample_number, 2);
    EXPECT_EQ(summary.later, 0);
    summary.known.node_number = 99;
    EXPECT_EQ(tengine_calibration_get_summary(calibration_, &summary.known, sizeof(int64_t)), 0);
    EXPECT_EQ(summary.known.node_number, 99);
}

TEST_F(CalibrationTest, HandlesAndIndicesAreChecked)
{
    create();
    tengine_calibration_summary summary;
    tengine_calibrated_layer layer;
    tengine_calibrated_output output;
    EXPECT_EQ(tengine_calibration_get_summary(calibration_, &summary, sizeof summary), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_calibration_quantize(calibration_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(tengine_calibration_run(calibration_), 0);
    for (const int index : {-1, 1}) {
        EXPECT_EQ(tengine_calibration_get_layer(calibration_, index, &layer, sizeof layer), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_calibration_get_output(calibration_, 0, &output, sizeof output), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE)) << "before a comparison";
    EXPECT_EQ(tengine_calibration_get_layer(calibration_, 0, nullptr, sizeof layer), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_calibration_get_layer(calibration_, 0, &layer, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const double drop : {-1.0, 100.5, std::nan("")}) {
        EXPECT_EQ(tengine_calibration_search(calibration_, drop), -1);
        expect_failure(TENGINE_EINVAL, "expected 0 to 100");
    }
    const int64_t label = 0;
    EXPECT_EQ(tengine_calibration_compare(calibration_, &label, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_calibration_compare(calibration_, &label, 1), -1);
    expect_failure(TENGINE_EINVAL, "labels has 1 labels for 0 rows of scores");
    for (const tengine_calibration_t wrong : {tengine_calibration_t(), graph_, calibration_}) {
        if (wrong && wrong == calibration_) {
            EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        }
        EXPECT_EQ(tengine_calibration_run(wrong), -1);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
        EXPECT_EQ(tengine_calibration_get_summary(wrong, &summary, sizeof summary), -1);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
        if (!wrong) continue;
        EXPECT_EQ(tengine_calibration_destroy(wrong), -1);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    }
    create();
    EXPECT_EQ(destroy_graph(graph_), 0);
    EXPECT_EQ(tengine_calibration_run(calibration_), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

// A program that forgets to destroy it first: calls fail, and no graph is destroyed twice.
TEST_F(CalibrationTest, OneThatOutlivesTheLibraryOwnsNoGraph)
{
    tengine_calibration_options options = camera_.options();
    options.equalize = options.correct_bias = 1;
    create(options);
    ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    release_tengine();
    EXPECT_EQ(tengine_calibration_run(calibration_), -1);
    EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
    calibration_ = nullptr;
}

TEST_F(CalibrationTest, AQuantisedGraphIsRefused)
{
    run();
    graph_t quantized = tengine_calibration_quantize(calibration_);
    const tengine_calibration_options options = camera_.options();
    EXPECT_EQ(tengine_calibration_create(quantized, &options, sizeof options), nullptr);
    expect_failure(TENGINE_EINVAL, "the model is quantised already");
}

}  // namespace
}  // namespace tengine
