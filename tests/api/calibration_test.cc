// SPDX-License-Identifier: Apache-2.0
// Calibration through the C API: results against values computed by hand and against
// tengine_graph_quantize. Ranges are tested in tests/calibration, the methods with `tengine
// quantize`.
#include <cmath>

#include "calibration_fixture.h"

namespace tengine {
namespace {

TEST_F(CalibrationTest, RangesAndScalesAreThoseOfTheSamples)
{
    run();
    EXPECT_EQ(camera_.reads, 3);
    EXPECT_EQ(summary().sample_number, 2);
    EXPECT_EQ(summary().node_number, 2);
    EXPECT_EQ(summary().quantized_node_number, 2);
    ASSERT_EQ(summary().layer_number, 1);
    tengine_calibrated_layer layer = {};
    ASSERT_EQ(tengine_calibration_get_layer(calibration_, 0, &layer, sizeof layer), 0);
    EXPECT_STREQ(layer.name, "c");
    EXPECT_STREQ(layer.op, "Conv+Relu");
    EXPECT_STREQ(layer.tensor, "y");
    EXPECT_EQ(layer.node_number, 2);
    const tengine_calibrated_tensor x = tensor("x"), y = tensor("y");
    EXPECT_EQ(x.low, -1);
    EXPECT_EQ(x.high, 2);
    EXPECT_EQ(x.least, -1);
    EXPECT_EQ(x.greatest, 2);
    EXPECT_STREQ(x.method, "minmax");
    EXPECT_FLOAT_EQ(x.scale, 3.0f / 255);
    EXPECT_EQ(x.zero_point, -43);  // -128 + 85
    EXPECT_EQ(y.low, 0);
    EXPECT_EQ(y.high, 5);
    EXPECT_FLOAT_EQ(y.scale, 5.0f / 255);
    EXPECT_EQ(y.zero_point, -128);
    EXPECT_TRUE(std::isnan(y.snr_db));
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)), expected_bytes());
}

TEST_F(CalibrationTest, OptionsReachTheGraph)
{
    tengine_calibration_options options = camera_.options();
    options.per_channel = TENGINE_PER_TENSOR;
    options.unsigned_activations = 1;
    create(options);
    ASSERT_EQ(tengine_calibration_run(calibration_), 0);
    EXPECT_EQ(summary().per_channel, TENGINE_PER_TENSOR);
    EXPECT_EQ(summary().unsigned_activations, 1);
    EXPECT_EQ(tensor("x").zero_point, 85);
    tengine_quantization like = {};
    like.per_channel = TENGINE_PER_TENSOR;
    like.unsigned_activations = 1;
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)), expected_bytes(like));
}

// Each run starts afresh.
TEST_F(CalibrationTest, ASecondRunForgetsTheFirst)
{
    run();
    camera_.samples = {{8, 0, 0, 0}};
    ASSERT_EQ(tengine_calibration_run(calibration_), 0);
    EXPECT_EQ(tensor("x").low, 0);
    EXPECT_EQ(tensor("y").high, 17);
    EXPECT_EQ(summary().sample_number, 1);
}

TEST_F(CalibrationTest, AnInputHasItsNameTypeAndShape)
{
    camera_.change = [](int64_t, tengine_sample_input* input, int number) {
        EXPECT_EQ(number, 1);
        EXPECT_STREQ(input->name, "x");
        EXPECT_EQ(input->data_type, TENGINE_DT_FP32);
        EXPECT_EQ(input->dim_number, 4);
        EXPECT_EQ(input->dims[3], 4);
        EXPECT_EQ(input->size, 16u);
        return 1;
    };
    run();
}

TEST_F(CalibrationTest, SamplesMayHaveAnotherShapeEach)
{
    camera_.samples.push_back({3, -2, 0, 0, 0, 0});
    camera_.change = [](int64_t, tengine_sample_input* input, int) {
        input->dims[3] = static_cast<int>(input->size / sizeof(float));
        return 1;
    };
    run();
    EXPECT_EQ(tensor("x").low, -2);
    EXPECT_EQ(tensor("y").high, 7);
    ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0) << get_tengine_error();
    EXPECT_EQ(summary().decision_number, 3);
}

TEST_F(CalibrationTest, TheComparisonHasTheErrorOfRounding)
{
    run();
    ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0) << get_tengine_error();
    ASSERT_EQ(summary().output_number, 1);
    tengine_calibrated_output output = {};
    ASSERT_EQ(tengine_calibration_get_output(calibration_, 0, &output, sizeof output), 0);
    EXPECT_STREQ(output.name, "y");
    // Signal 9 + 2.25 + 16 + 25 + 3; an error is at most a step of x times the weight, and half a
    // step of y.
    const double most = 2 * (0.5 * 3 / 255) + 0.5 * 5 / 255;
    EXPECT_GT(output.snr_db, 10 * std::log10(55.25 / (8 * most * most)));
    EXPECT_EQ(output.snr_db, tensor("y").snr_db);
    EXPECT_EQ(summary().decision_number, 2);
    EXPECT_EQ(summary().same_decision_number, 2);
    EXPECT_EQ(summary().thread_number, 1);
    EXPECT_EQ(summary().label_number, 0);
}

TEST_F(CalibrationTest, NodesInFloatHaveAReason)
{
    const char* patterns[] = {"c"};
    tengine_calibration_options options = camera_.options();
    graph_t other = create_graph(nullptr, nullptr, nullptr);
    const float weight = 2;
    const tensor_t x = add_input(other, "x", {1, 1, 1, 4});
    const tensor_t w = add_constant(other, "w", {1, 1, 1, 1}, &weight);
    const tensor_t c = add_node(other, "c", "Conv", {x, w});
    const tensor_t d = add_node(other, "d", "Conv", {x, w});
    const tensor_t l = add_node(other, "l", "Log", {x});
    const tensor_t m = add_node(other, "m", "Add", {d, l});
    const tensor_t s = add_node(other, "s", "Softmax", {d});
    add_node(other, "y", "Sum", {c, m, s});
    ASSERT_TRUE(set_borders(other, {"x"}, {"y"}));
    std::swap(graph_, other);
    options.keep_float = patterns;
    options.keep_float_number = 1;
    create(options);
    patterns[0] = "none";  // it was copied
    ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    const int reasons[] = {TENGINE_FLOAT_REQUESTED, TENGINE_FLOAT_NOT, TENGINE_FLOAT_NOT_FINITE,
                           TENGINE_FLOAT_NOT_FINITE, TENGINE_FLOAT_NO_FORM};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(node(i).reason, reasons[i]) << node(i).name << ": " << node(i).text;
        EXPECT_EQ(node(i).text[0] == '\0', reasons[i] == TENGINE_FLOAT_NOT);
        EXPECT_EQ(node(i).rank, -1);
        EXPECT_TRUE(std::isnan(node(i).alone_snr_db));
    }
    EXPECT_EQ(tensor("l").is_finite, 0);
    EXPECT_EQ(tensor("l").is_quantized, 0);
    EXPECT_EQ(tensor("x").is_finite, 1);
}

// The quantised graph needs neither the calibration nor its graph.
TEST_F(CalibrationTest, TheQuantisedGraphLivesAlone)
{
    run();
    graph_t quantized = tengine_calibration_quantize(calibration_);
    ASSERT_NE(quantized, nullptr);
    const std::string expected = expected_bytes();
    EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
    calibration_ = nullptr;
    EXPECT_EQ(destroy_graph(graph_), 0);
    EXPECT_EQ(bytes_of(quantized), expected);
}

TEST_F(CalibrationTest, DynamicNeedsNoSamples)
{
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const float weight[] = {1, -2, 3, 4};
    const tensor_t x = add_input(graph_, "x", {3, 2});
    const tensor_t w = add_constant(graph_, "w", {2, 2}, weight);
    const tensor_t m = add_node(graph_, "m", "MatMul", {x, w});
    add_node(graph_, "y", "Relu", {m});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    tengine_calibration_options options = {};
    options.dynamic = 1;
    create(options);
    ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    EXPECT_EQ(summary().layer_number, 1);
    EXPECT_EQ(summary().tensor_number, 0);
    EXPECT_EQ(node(0).reason, TENGINE_FLOAT_NOT);
    EXPECT_EQ(node(1).reason, TENGINE_FLOAT_NO_FORM);
    EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), -1);
    expect_failure(TENGINE_ESTATE, "dynamic");
    tengine_quantization how = {};
    how.dynamic = 1;
    EXPECT_EQ(bytes_of(tengine_calibration_quantize(calibration_)),
              bytes_of(tengine_graph_quantize(graph_, &how)));
}

TEST_F(CalibrationTest, ChoosesTheFirstScalesIfNoDeviceTakesWork)
{
    run();
    const tengine_calibration_scales scales[] = {{TENGINE_PER_TENSOR, 1}, {0, 0}};
    tengine_quantization_choice choice = {};
    EXPECT_EQ(tengine_calibration_choose(calibration_, graph_, scales, 0, &choice, sizeof choice),
              -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_calibration_choose(calibration_, nullptr, scales, 2, &choice, sizeof choice),
              -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(summary().per_channel, 0);
    ASSERT_EQ(tengine_calibration_choose(calibration_, graph_, scales, 2, &choice, sizeof choice),
              0);
    EXPECT_EQ(choice.index, 0);
    EXPECT_EQ(summary().per_channel, TENGINE_PER_TENSOR);
    EXPECT_EQ(tensor("x").zero_point, 85);
}

TEST_F(CalibrationTest, ABoundThatOneNodeExceedsIsAnError)
{
    camera_.samples = {{0, 1, 1, 9}, {0, 1, 1, 9}};
    tengine_calibration_options options = camera_.options();
    options.method = "percentile";
    options.percentile = 50;
    create(options);
    ASSERT_EQ(tengine_calibration_run(calibration_), 0);
    EXPECT_STREQ(tensor("x").method, "percentile");
    EXPECT_LT(tensor("x").high, 8);
    EXPECT_EQ(tengine_calibration_search(calibration_, 99), -1);
    expect_failure(TENGINE_ERANGE,
                   "max_drop 99 cannot be reached: with 'c' as the only node in "
                   "int8, 100 % of the decisions differ from float");
    EXPECT_EQ(summary().layer_number, 1);
}

}  // namespace
}  // namespace tengine
