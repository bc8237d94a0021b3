// SPDX-License-Identifier: Apache-2.0
// The lifetime of a device's survey of a graph.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "tengine/device.h"

namespace {

class SurveyTest : public testing::Test
{
  protected:
    SurveyTest() { init_ir_device(&device_, "A"); }

    // Counts how often it is released.
    int keep(graph* graph, int* found)
    {
        return set_ir_device_survey(graph, &device_, found,
                                    [](void* kept) { ++*static_cast<int*>(kept); });
    }

    device device_{};
    graph* whole_ = create_ir_graph(nullptr);
    int first_ = 0, second_ = 0;
};

TEST_F(SurveyTest, AnotherOneReplacesIt)
{
    EXPECT_EQ(get_ir_device_survey(whole_, &device_), nullptr);
    ASSERT_EQ(keep(whole_, &first_), 0);
    ASSERT_EQ(keep(whole_, &second_), 0);
    EXPECT_EQ(first_, 1);
    EXPECT_EQ(get_ir_device_survey(whole_, &device_), &second_);
    destroy_ir_graph(whole_);
    EXPECT_EQ(second_, 1);
}

TEST_F(SurveyTest, APartThatOutlivesTheGraphKeepsIt)
{
    graph* part = create_ir_graph(nullptr);
    ASSERT_EQ(share_ir_survey(part, whole_, &device_), 0);  // the device has none yet
    EXPECT_EQ(get_ir_device_survey(part, &device_), nullptr);
    ASSERT_EQ(keep(whole_, &first_), 0);
    ASSERT_EQ(share_ir_survey(part, whole_, &device_), 0);
    ASSERT_EQ(keep(whole_, &second_), 0);
    destroy_ir_graph(whole_);
    EXPECT_EQ(second_, 1);
    EXPECT_EQ(first_, 0);
    EXPECT_EQ(get_ir_device_survey(part, &device_), &first_);
    destroy_ir_graph(part);
    EXPECT_EQ(first_, 1);
}

}  // namespace
