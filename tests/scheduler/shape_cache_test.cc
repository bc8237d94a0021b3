// SPDX-License-Identifier: Apache-2.0
// Preparations that are kept for recurring shapes (option run.shape_cache).
#include "scheduler/shape_cache.h"

#include <gtest/gtest.h>
#include <random>

#include "graph/graph.h"
#include "scheduler/sizes_fixture.h"

namespace {

using namespace tengine::test;

class ShapeCacheTest : public SizesTest
{
  protected:
    ShapeCacheTest() { session_.set("run.shape_cache", "2"); }

    void reshape(int size)
    {
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
    }

    // Prepares for `size` elements; device A has two parts.
    void prepare(int size)
    {
        reshape(size);
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    }
};

TEST_F(ShapeCacheTest, AShapeThatComesAgainIsNotCompiled)
{
    for (const int size : {3, 5, 3, 3, 7, 5, 3, 7}) {
        prepare(size);
        expect_right_results(size);
    }
    EXPECT_EQ(count_compilations(), 3);
    EXPECT_EQ(count_kept(), 3);
    EXPECT_EQ(device_.post_runs, 0);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(count_kept(), 0);
    EXPECT_EQ(device_.post_runs, device_.pre_runs);
    EXPECT_EQ(device_.releases, device_.pre_runs);
    prepare(3);
    EXPECT_EQ(count_compilations(), 1) << "postrun keeps nothing";
}

TEST_F(ShapeCacheTest, WhatWasUsedLongestAgoGoesFirst)
{
    for (const int size : {3, 5, 7, 3})
        prepare(size);
    EXPECT_EQ(count_compilations(), 3);
    prepare(9);  // drops 5
    EXPECT_EQ(count_compilations(), 1);
    EXPECT_EQ(count_kept(), 3);
    for (const int size : {7, 3, 9})
        prepare(size);
    EXPECT_EQ(count_compilations(), 0);
    prepare(5);
    EXPECT_EQ(count_compilations(), 1);
    expect_right_results(5);
}

TEST_F(ShapeCacheTest, NothingIsKeptWhenItIsOff)
{
    session_.set("run.shape_cache", "0");
    for (const int size : {3, 5, 3, 3}) {
        prepare(size);
        EXPECT_EQ(count_compilations(), 1);
        EXPECT_EQ(count_kept(), 1);
        expect_right_results(size);
    }
}

TEST_F(ShapeCacheTest, ALimitOnMemoryIsForThePresentShapesAlone)
{
    session_.set("memory.limit_mb", "10");
    for (const int size : {3, 5, 3})
        prepare(size);
    EXPECT_EQ(count_compilations(), 3);
    EXPECT_EQ(count_kept(), 1);
}

TEST_F(ShapeCacheTest, OtherTermsBeginAnew)
{
    prepare(3);
    prepare(5);
    EXPECT_EQ(count_compilations(), 2);
    session_.set("split.report", "none");
    prepare(3);
    EXPECT_EQ(count_compilations(), 1) << "an option";
    EXPECT_EQ(count_kept(), 1);

    prepare(5);
    ir_run_options_t options = kOneThread;
    options.num_thread = 2;
    EXPECT_EQ(count_compilations(), 1);
    ASSERT_EQ(prerun_ir_graph(session_.source(), &options), TENGINE_OK);
    EXPECT_EQ(count_compilations(), 1) << "run options";
    EXPECT_EQ(count_kept(), 1);
    expect_right_results(5);

    ++session_.source()->core->revision;
    ASSERT_EQ(prerun_ir_graph(session_.source(), &options), TENGINE_OK);
    EXPECT_EQ(count_compilations(), 1) << "the graph";

    session_.set("scheduler", "pipeline");
    ASSERT_EQ(prerun_ir_graph(session_.source(), &options), TENGINE_OK);
    EXPECT_EQ(count_compilations(), 1) << "the scheduler";
    expect_right_results(5);
}

TEST_F(ShapeCacheTest, AKnownShapeHasNotRunYet)
{
    session_.set("run.profile", "1");
    prepare(3);
    expect_right_results(3);
    EXPECT_GE(session_.part(0)->core->measured_ns, 0);
    EXPECT_GE(session_.execution()->node_list[0]->core->measured_ns, 0);
    prepare(5);
    EXPECT_EQ(session_.at("y")->elem_num, 5);
    prepare(3);
    EXPECT_EQ(session_.at("y")->elem_num, 3);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_READY);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(session_.part(i)->core->measured_ns, -1);
    EXPECT_EQ(session_.execution()->node_list[0]->core->measured_ns, -1);
    expect_right_results(3);
}

TEST_F(ShapeCacheTest, ADeviceThatFailedIsAskedAgain)
{
    prepare(3);
    device_.fail_run = 1;
    expect_right_results(3);
    EXPECT_EQ(session_.part(0)->device, find_default_device());
    device_.fail_run = 0;
    count_compilations();
    prepare(5);
    prepare(3);
    EXPECT_EQ(count_compilations(), 2);
    EXPECT_EQ(session_.part(0)->device, device_.get());

    device_.fail_pre_run = 1;
    prepare(7);
    expect_right_results(7);
    device_.fail_pre_run = 0;
    prepare(5);
    count_compilations();
    prepare(7);
    EXPECT_EQ(count_compilations(), 1);
    EXPECT_EQ(session_.part(0)->device, device_.get());
    expect_right_results(7);
}

TEST_F(ShapeCacheTest, AFailedPreparationLeavesNothing)
{
    prepare(3);
    prepare(5);
    session_.set("scheduler", "none such");
    EXPECT_EQ(session_.prerun(), TENGINE_ENOENT);
    EXPECT_EQ(count_kept(), 0);
    EXPECT_EQ(device_.releases, device_.pre_runs);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_DONE);
}

TEST_F(ShapeCacheTest, AWatchedDeviceThatHangsIsAskedAgain)
{
    session_.set("run.watchdog_ms", "200");
    prepare(3);
    prepare(5);
    device_.script.hang_run = 1;
    device_.script.hang_ms = -1;
    expect_right_results(5);
    EXPECT_EQ(session_.part(0)->device, find_default_device());
    count_compilations();
    prepare(3);
    expect_right_results(3);
    prepare(5);
    EXPECT_EQ(count_compilations(), 1);
    EXPECT_EQ(session_.part(0)->device, device_.get());
    expect_right_results(5);
}

// The pipeline continues with its frames and threads.
TEST_F(ShapeCacheTest, RunsAreUnderWayInBetween)
{
    session_.set("scheduler", "pipeline");
    session_.set("pipeline.frames", "3");
    for (int round = 0; round < 12; ++round) {
        const int size = 3 + round % 3;
        prepare(size);
        for (int i = 0; i <= round % 4; ++i)
            expect_right_results(size);
        session_.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        for (int i = 0; i < 3; ++i)
            ASSERT_EQ(session_.run(0), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.prerun(), TENGINE_ESTATE);
        for (int i = 0; i < 3; ++i)
            ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
        EXPECT_FLOAT_EQ(session_.read("y")[0], three_steps_of(0.5f));
    }
    EXPECT_EQ(count_compilations(), 3);
}

// Results are right, regardless of failures and of kept preparations.
TEST_F(ShapeCacheTest, RandomShapesAndFailures)
{
    std::mt19937 random(7);
    for (const char* scheduler : {"sync", "pipeline"}) {
        session_.set("scheduler", scheduler);
        for (const char* kept : {"0", "1", "3"}) {
            session_.set("run.shape_cache", kept);
            for (int i = 0; i < 60; ++i) {
                device_.fail_pre_run = random() % 6 == 0;
                prepare(1 + static_cast<int>(random() % 5));
                device_.fail_run = random() % 6 == 0;
                expect_right_results(session_.at("x")->dims[0]);
                device_.fail_run = 0;
            }
        }
    }
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

TEST(ShapeCache, ShapesThatOnlyTheRunCanTellAreForgotten)
{
    Session session({});
    session.builder().input("x", {4});
    session.builder().add("NonZero", {"x"}, {"y"});
    session.builder().outputs({"y"});
    const auto prepare = [&](int size) {
        ASSERT_EQ(set_ir_tensor_shape(session.at("x"), &size, 1), TENGINE_OK);
        ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        EXPECT_FALSE(is_ir_tensor_shape_known(session.at("y")));
        EXPECT_EQ(session.at("y")->data, nullptr);
    };
    for (const int size : {4, 2, 4, 2}) {
        prepare(size);
        session.feed("x", Floats(static_cast<size_t>(size), 1));
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session.at("y")->elem_num, size);
    }
}

}  // namespace
