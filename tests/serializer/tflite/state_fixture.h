// SPDX-License-Identifier: Apache-2.0
// Fixture of tests that run a model several times.
#pragma once

#include "serializer/tflite/model_test.h"

namespace tengine::test {

// Runs of one model, one after the other.
class TfliteStateTest : public TfliteModelTest
{
  protected:
    std::vector<float> step(const std::vector<float>& input)
    {
        tensor_t fed = tengine_graph_get_input(graph_, 0);
        EXPECT_EQ(set_tensor_buffer(fed, const_cast<float*>(input.data()),
                                    static_cast<int>(input.size() * sizeof(float))),
                  0)
            << get_tengine_error();
        if (!is_prepared_) {
            EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        }
        is_prepared_ = true;
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        return values_of_output(0);
    }

    std::vector<float> values_of_output(int place)
    {
        tensor_t output = tengine_graph_get_output(graph_, place);
        std::vector<float> result(static_cast<size_t>(get_tensor_buffer_size(output)) /
                                  sizeof(float));
        EXPECT_EQ(get_tensor_data(output, result.data(), get_tensor_buffer_size(output)), 0);
        return result;
    }

    bool begin(const TfliteModel& model)
    {
        is_prepared_ = false;
        return load(model);
    }

    bool is_prepared_ = false;
};

}  // namespace tengine::test
