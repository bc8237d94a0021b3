// SPDX-License-Identifier: Apache-2.0
// A graph of any size, two parts of which are on device A, for tests of preparations that are kept.
#pragma once

#include "graph/graph.h"
#include "scheduler/fixture.h"
#include "scheduler/shape_cache.h"

namespace tengine::test {

class SizesTest : public testing::Test
{
  protected:
    SizesTest() { add_three_steps(session_); }

    void expect_right_results(int size)
    {
        Floats inputs;
        for (int i = 0; i < size; ++i)
            inputs.push_back(static_cast<float>(i % 7) - 3);
        session_.feed("x", inputs);
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        const Floats results = session_.read("y");
        ASSERT_EQ(results.size(), inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
            EXPECT_FLOAT_EQ(results[i], three_steps_of(inputs[i]));
    }

    // Returns the preparations that device A had to compile since the last call.
    int count_compilations()
    {
        const int before = compiled_;
        compiled_ = device_.pre_runs;
        return (compiled_ - before) / 2;
    }

    int count_kept()
    {
        int number = 0;
        while (get_ir_execution(session_.source(), number))
            ++number;
        return number;
    }

    const LogCapture log_;
    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
    int compiled_ = 0;
};

}  // namespace tengine::test
