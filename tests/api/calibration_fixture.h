// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests of calibration.h: a program with samples.
#pragma once

#include <functional>

#include "fixture.h"
#include "tengine/calibration.h"

namespace tengine {

using Samples = std::vector<std::vector<float>>;

// A program with samples for one input, which misbehaves on demand.
struct Camera
{
    Samples samples;
    std::function<int(int64_t index, tengine_sample_input* input, int number)> change;
    std::function<int(int64_t done, int64_t total)> progress;
    int64_t reads = 0;
    const char* const* keep_float = nullptr;

    tengine_calibration_options options()
    {
        tengine_calibration_options options = {};
        options.user = this;
        options.read_sample = read;
        options.show_progress = show;
        options.thread_number = 1;
        return options;
    }

  private:
    static int read(void* user, int64_t index, tengine_sample_input inputs[], int number)
    {
        Camera& self = *static_cast<Camera*>(user);
        ++self.reads;
        if (static_cast<size_t>(index) >= self.samples.size()) return 0;
        const std::vector<float>& sample = self.samples[static_cast<size_t>(index)];
        inputs[0].data = sample.data();
        inputs[0].size = sample.size() * sizeof(float);
        return self.change ? self.change(index, inputs, number) : 1;
    }
    static int show(void* user, int64_t done, int64_t total)
    {
        Camera& self = *static_cast<Camera*>(user);
        return self.progress ? self.progress(done, total) : 0;
    }
};

std::string read_file(const std::string& path);

// The graph as a file, and the end of the graph.
std::string bytes_of(graph_t graph);

// y = Relu(Conv(x)): one channel, weight 2, bias 1, window 1.
graph_t create_conv_graph();

class CalibrationTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_conv_graph();
        // y: 3, 1.5, 0, 4 and 5, 1, 1, 1
        camera_.samples = {{1, 0.25f, -1, 1.5f}, {2, 0, 0, 0}};
    }
    void TearDown() override
    {
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        ApiTest::TearDown();
    }

    void create() { create(camera_.options()); }
    void create(const tengine_calibration_options& options)
    {
        calibration_ = tengine_calibration_create(graph_, &options, sizeof options);
        ASSERT_NE(calibration_, nullptr) << get_tengine_error();
    }
    void run()
    {
        create();
        ASSERT_EQ(tengine_calibration_run(calibration_), 0) << get_tengine_error();
    }

    tengine_calibration_summary summary()
    {
        tengine_calibration_summary summary = {};
        EXPECT_EQ(tengine_calibration_get_summary(calibration_, &summary, sizeof summary), 0);
        return summary;
    }
    tengine_calibrated_tensor tensor(const std::string& name)
    {
        tengine_calibrated_tensor tensor = {};
        for (int i = 0; i < summary().tensor_number; ++i) {
            EXPECT_EQ(tengine_calibration_get_tensor(calibration_, i, &tensor, sizeof tensor), 0);
            if (tensor.name == name) return tensor;
        }
        ADD_FAILURE() << "no tensor " << name;
        return {};
    }
    tengine_calibrated_node node(int index)
    {
        tengine_calibrated_node node = {};
        EXPECT_EQ(tengine_calibration_get_node(calibration_, index, &node, sizeof node), 0);
        return node;
    }

    // The graph with the ranges of x and y that the samples have.
    std::string expected_bytes(const tengine_quantization& like = {})
    {
        tengine_quantization how = like;
        how.get_range = [](void*, const char* name, double* low, double* high) {
            const std::string tensor = name;
            *low = tensor == "x" ? -1 : tensor == "c" ? -1 : 0;
            *high = tensor == "x" ? 2 : 5;
            return 1;
        };
        return bytes_of(tengine_graph_quantize(graph_, &how));
    }

    void expect_failure(int code, const std::string& part)
    {
        EXPECT_NE(std::string(get_tengine_error()).find(part), std::string::npos)
            << get_tengine_error() << "\nexpected " << part;
        EXPECT_TRUE(failed_with(code)) << part;
    }

    graph_t graph_ = nullptr;
    tengine_calibration_t calibration_ = nullptr;
    Camera camera_;
};

}  // namespace tengine
