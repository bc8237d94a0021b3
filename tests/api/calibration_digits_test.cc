// SPDX-License-Identifier: Apache-2.0
// Calibration of the network in examples/data.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>

#include "calibration_fixture.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class CalibrationDigits : public CalibrationTest
{
  protected:
    void SetUp() override
    {
        CalibrationTest::SetUp();
        graph_ = create_graph(nullptr, "onnx", TENGINE_EXAMPLES_DATA_DIR "/digits.onnx");
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        const int shape[] = {1, 1, 8, 8};
        ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), shape, 4), 0);
        // The elements are the end of the files.
        const std::string bytes = read_file(TENGINE_EXAMPLES_DATA_DIR "/heldout_images.npy");
        const std::string labels = read_file(TENGINE_EXAMPLES_DATA_DIR "/heldout_labels.npy");
        ASSERT_GT(bytes.size(), kImages * 64 * sizeof(float));
        camera_.samples.assign(kImages, std::vector<float>(64));
        for (size_t i = 0; i < kImages; ++i)
            std::memcpy(camera_.samples[i].data(),
                        bytes.data() + bytes.size() - (kImages - i) * 64 * sizeof(float),
                        64 * sizeof(float));
        for (size_t i = 0; i < kImages; ++i)
            labels_.push_back(static_cast<uint8_t>(labels[labels.size() - kImages + i]));
    }

    static constexpr size_t kImages = 382;
    std::vector<int64_t> labels_;
};

// docs/digits.md states the accuracies.
TEST_F(CalibrationDigits, TheAccuracyIsThatOfThePage)
{
    run();
    ASSERT_EQ(tengine_calibration_compare(calibration_, labels_.data(), kImages), 0)
        << get_tengine_error();
    EXPECT_EQ(summary().label_number, 382);
    EXPECT_EQ(summary().right_in_float_number, 376);
    EXPECT_EQ(summary().right_quantized_number, 376);
    EXPECT_EQ(summary().decision_number, 382);
    EXPECT_GE(summary().same_decision_number, 381);
    EXPECT_EQ(tengine_calibration_compare(calibration_, labels_.data(), 7), -1);
    expect_failure(TENGINE_EINVAL, "labels has 7 labels for 382 rows");
}

// Ranges that cut off half of the values change many decisions.
TEST_F(CalibrationDigits, TheSearchReturnsWhatDoesHarm)
{
    camera_.samples.resize(60);
    tengine_calibration_options options = camera_.options();
    options.method = "percentile";
    options.percentile = 50;
    create(options);
    ASSERT_EQ(tengine_calibration_run(calibration_), 0);
    ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0);
    const tengine_calibration_summary all = summary();
    EXPECT_LT(all.same_decision_number, 54);
    ASSERT_EQ(tengine_calibration_search(calibration_, 10), 0) << get_tengine_error();
    ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0);
    EXPECT_GE(summary().same_decision_number, 54);
    EXPECT_LT(summary().layer_number, all.layer_number);
    double last = -std::numeric_limits<double>::infinity();
    int returned = 0;
    for (int rank = 0; rank < all.layer_number; ++rank)
        for (int i = 0; i < summary().node_number; ++i) {
            const tengine_calibrated_node found = node(i);
            if (found.rank != rank) continue;
            EXPECT_GE(found.alone_snr_db, last) << found.name;
            last = found.alone_snr_db;
            if (found.reason == TENGINE_FLOAT_DROP) ++returned;
            EXPECT_EQ(found.reason == TENGINE_FLOAT_DROP, std::strlen(found.text) > 0);
        }
    EXPECT_GT(returned, 0);
}

// The float graph runs in parts on two devices, with runs in flight, and from either format; the
// quantised one runs in int8 on the devices.
TEST_F(CalibrationDigits, DevicesSchedulersAndFormatsGiveTheSameRanges)
{
    camera_.samples.resize(20);
    run();
    const auto last_tensor = [this] {
        tengine_calibrated_layer layer = {};
        const int last = summary().layer_number - 1;
        EXPECT_EQ(tengine_calibration_get_layer(calibration_, last, &layer, sizeof layer), 0);
        return tensor(layer.tensor);
    };
    const tengine_calibrated_tensor expected = last_tensor();
    const std::string path =
        testing::TempDir() + "calibration_digits_" + std::to_string(getpid()) + ".tmfile";
    ASSERT_EQ(save_graph(graph_, "tengine", path.c_str()), 0) << get_tengine_error();
    test::TestDevice device("HELPER", {"Conv", "MaxPool"});
    for (const bool is_tmfile : {false, true}) {
        const context_t context = create_context("devices", 1);
        ASSERT_EQ(add_context_device(context, "HELPER"), 0);
        ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
        ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
        const std::string file = is_tmfile ? path : TENGINE_EXAMPLES_DATA_DIR "/digits.onnx";
        graph_ = create_graph(context, is_tmfile ? "tengine" : "onnx", file.c_str());
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        const int shape[] = {1, 1, 8, 8};
        ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), shape, 4), 0);
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        const int before = device.runs;
        run();
        EXPECT_GT(device.runs, before) << "the device takes part";
        const tengine_calibrated_tensor found = last_tensor();
        EXPECT_GT(found.high, 1);
        EXPECT_NEAR(found.high, expected.high, 1e-4);
        EXPECT_NEAR(found.scale, expected.scale, 1e-6);
        ASSERT_EQ(tengine_calibration_compare(calibration_, nullptr, 0), 0) << get_tengine_error();
        EXPECT_EQ(summary().same_decision_number, 20);
        graph_t quantized = tengine_calibration_quantize(calibration_);
        ASSERT_NE(quantized, nullptr);
        const options_t options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0};
        const tensor_t input = tengine_graph_get_input(quantized, 0);
        ASSERT_EQ(set_tensor_shape(input, shape, 4), 0);
        ASSERT_EQ(set_tensor_buffer(input, camera_.samples[7].data(), 256), 0);
        ASSERT_EQ(prerun_graph_multithread(quantized, options), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(quantized, 1), 0) << get_tengine_error();
        const std::vector<float> scores = read_floats(tengine_graph_get_output(quantized, 0));
        EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), labels_[7]);
        EXPECT_EQ(destroy_graph(quantized), 0);
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        calibration_ = nullptr;
        EXPECT_EQ(destroy_graph(graph_), 0);
        destroy_context(context);
    }
    std::remove(path.c_str());
}

TEST_F(CalibrationDigits, TwoThreadsCalibrateAtTheSameTime)
{
    camera_.samples.resize(20);
    std::string made[2];
    std::vector<std::thread> threads;
    for (std::string& bytes : made)
        threads.emplace_back([this, &bytes, &made] {
            Camera camera;
            camera.samples = camera_.samples;
            graph_t graph = create_graph(nullptr, "onnx", TENGINE_EXAMPLES_DATA_DIR "/digits.onnx");
            const int shape[] = {1, 1, 8, 8};
            set_tensor_shape(tengine_graph_get_input(graph, 0), shape, 4);
            const tengine_calibration_options options = camera.options();
            const tengine_calibration_t calibration =
                tengine_calibration_create(graph, &options, sizeof options);
            EXPECT_EQ(tengine_calibration_run(calibration), 0) << get_tengine_error();
            EXPECT_EQ(tengine_calibration_compare(calibration, nullptr, 0), 0);
            graph_t quantized = tengine_calibration_quantize(calibration);
            EXPECT_EQ(tengine_calibration_destroy(calibration), 0);
            tengine_calibration_summary summary;
            EXPECT_EQ(tengine_calibration_get_summary(calibration, &summary, sizeof summary), -1);
            const std::string path = testing::TempDir() + "calibration_thread_" +
                                     std::to_string(getpid()) + "_" +
                                     std::to_string(&bytes - made) + ".onnx";
            EXPECT_EQ(save_graph(quantized, "onnx", path.c_str()), 0);
            bytes = read_file(path);
            std::remove(path.c_str());
            EXPECT_EQ(destroy_graph(quantized), 0);
            EXPECT_EQ(destroy_graph(graph), 0);
        });
    for (std::thread& thread : threads)
        thread.join();
    run();
    EXPECT_EQ(made[0], bytes_of(tengine_calibration_quantize(calibration_)));
    EXPECT_EQ(made[0], made[1]);
}

}  // namespace
}  // namespace tengine
