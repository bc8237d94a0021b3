// SPDX-License-Identifier: Apache-2.0
// Calibration: equalised weights and corrected biases, against values computed by hand.
#include <cmath>

#include "calibration_fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class CalibrationEdit : public CalibrationTest
{
  protected:
    // The values that a constant input of a quantised node stands for.
    std::vector<double> dequantized_input(graph_t graph, const char* node, int index)
    {
        const node_t producer =
            tengine_tensor_get_producer(get_node_input_tensor(get_graph_node(graph, node), index));
        if (!producer) return {};
        const tensor_t stored = get_node_input_tensor(producer, 0);
        const double scale = read_floats(get_node_input_tensor(producer, 1)).at(0);
        const int number = get_tensor_buffer_size(stored);
        std::vector<double> values;
        const void* bytes = get_tensor_buffer(stored);
        if (get_tensor_data_type(stored) == TENGINE_DT_INT32)
            for (int i = 0; i < number / 4; ++i)
                values.push_back(scale * static_cast<const int32_t*>(bytes)[i]);
        else
            for (int i = 0; i < number; ++i)
                values.push_back(scale * static_cast<const int8_t*>(bytes)[i]);
        return values;
    }

    tengine_calibration_options options(bool equalizes, bool corrects)
    {
        tengine_calibration_options options = camera_.options();
        options.per_channel = TENGINE_PER_TENSOR;
        options.equalize = equalizes ? 1 : 0;
        options.correct_bias = corrects ? 1 : 0;
        return options;
    }

    graph_t calibrate(const tengine_calibration_options& options)
    {
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        create(options);
        EXPECT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
        return tengine_calibration_quantize(calibration_);
    }

    double output_decibels()
    {
        EXPECT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0) << get_tengine_error();
        tengine_calibrated_output output = {};
        EXPECT_EQ(tengine_calibration_get_output(calibration_, 0, &output, sizeof output), 0);
        return output.snr_db;
    }
};

// x, of one channel, to two channels and back: weights 8, 0.5 and 0.25, 4.
TEST_F(CalibrationEdit, EqualizedWeightsHaveEqualRanges)
{
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const float first[] = {8, 0.5f}, bias[] = {4, -0.25f}, second[] = {0.25f, 4};
    const tensor_t x = add_input(graph_, "x", {1, 1, 1, 4});
    const tensor_t w = add_constant(graph_, "w", {2, 1, 1, 1}, first);
    const tensor_t b = add_constant(graph_, "b", {2}, bias);
    const tensor_t v = add_constant(graph_, "v", {1, 2, 1, 1}, second);
    const tensor_t c = add_node(graph_, "c", "Conv", {x, w, b});
    const tensor_t r = add_node(graph_, "r", "Relu", {c});
    add_node(graph_, "y", "Conv", {r, v});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    const std::string before = bytes_of(calibrate(options(false, false)));
    const double plain = output_decibels();
    const graph_t quantized = calibrate(options(true, false));
    // Each is the root of the product of the two ranges of its channel.
    for (const auto& [node, index] : {std::pair{"c", 1}, {"y", 1}})
        for (const double value : dequantized_input(quantized, node, index))
            EXPECT_NEAR(value, std::sqrt(2.0), 1e-6) << node;
    const std::vector<double> biases = dequantized_input(quantized, "c", 2);
    ASSERT_EQ(biases.size(), 2u);
    EXPECT_NEAR(biases[0], 4 / std::sqrt(32.0), 1e-3);
    EXPECT_NEAR(biases[1], -0.25 * std::sqrt(8.0), 1e-3);
    EXPECT_GT(output_decibels(), plain + 3);
    EXPECT_EQ(read_floats(w), std::vector<float>({8, 0.5f})) << "the graph is not changed";
    EXPECT_EQ(bytes_of(calibrate(options(false, false))), before);
}

// The weight 0.003 of the second channel is 0 in steps of 1/127: its mean is lost.
TEST_F(CalibrationEdit, CorrectedBiasesHaveTheMeanThatIsLost)
{
    camera_.samples = {{9, 10, 11, 10}, {12, 8, 10, 10}};
    for (const bool has_bias : {false, true}) {
        graph_ = create_graph(nullptr, nullptr, nullptr);
        const float weight[] = {1, 0.003f}, bias[] = {0.5f, -0.5f};
        const tensor_t x = add_input(graph_, "x", {1, 1, 1, 4});
        const tensor_t w = add_constant(graph_, "w", {2, 1, 1, 1}, weight);
        if (has_bias)
            add_node(graph_, "c", "Conv", {x, w, add_constant(graph_, "b", {2}, bias)});
        else
            add_node(graph_, "c", "Conv", {x, w});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"c"}));
        const graph_t plain = calibrate(options(false, false));
        if (has_bias) {
            EXPECT_NEAR(dequantized_input(plain, "c", 2).at(1), -0.5, 1e-3);
        }
        const graph_t quantized = calibrate(options(false, true));
        const std::vector<double> biases = dequantized_input(quantized, "c", 2);
        ASSERT_EQ(biases.size(), 2u) << has_bias;
        EXPECT_NEAR(biases[0], has_bias ? 0.5 : 0, 1e-3);
        EXPECT_NEAR(biases[1], (has_bias ? -0.5 : 0) + 0.03, 1e-3);
        EXPECT_EQ(destroy_graph(graph_), 0);
        EXPECT_EQ(destroy_graph(quantized), 0);
        EXPECT_EQ(destroy_graph(plain), 0);
    }
    graph_ = create_conv_graph();
}

}  // namespace
}  // namespace tengine
