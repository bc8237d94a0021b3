// SPDX-License-Identifier: Apache-2.0
// Requests in buckets: which preparations are made and kept for them.
#include "scheduler/bucket.h"

#include <gtest/gtest.h>

#include "graph/bucket.h"
#include "graph/graph.h"
#include "scheduler/sizes_fixture.h"

namespace {

using namespace tengine::test;

class BucketTest : public SizesTest
{
  protected:
    void add_buckets(std::initializer_list<const char*> texts)
    {
        for (const char* text : texts)
            ASSERT_EQ(add_ir_bucket(session_.source(), text), TENGINE_OK)
                << tengine_error_message();
        ++session_.source()->core->revision;
    }

    void prepare(int size)
    {
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.at("x")->dims[0], size);
        EXPECT_EQ(session_.at("y")->dims[0], size);
    }
};

TEST_F(BucketTest, ABucketIsCompiledOnce)
{
    add_buckets({"x=10", "x=20"});
    for (const int size : {3, 5, 10, 7, 1, 10}) {
        prepare(size);
        expect_right_results(size);
    }
    EXPECT_EQ(count_compilations(), 1);
    EXPECT_EQ(count_kept(), 1);
    for (const int size : {11, 20, 3, 19, 8}) {
        prepare(size);
        expect_right_results(size);
    }
    EXPECT_EQ(count_compilations(), 1);
    prepare(21);
    expect_right_results(21);
    EXPECT_EQ(count_compilations(), 1);
    EXPECT_EQ(count_kept(), 3);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(device_.post_runs, device_.pre_runs);
}

// Buckets stay prepared, also where no other shape does.
TEST_F(BucketTest, AllBucketsStayPrepared)
{
    session_.set("run.shape_cache", "0");
    add_buckets({"x=10", "x=20"});
    for (const int size : {3, 13, 4, 14, 5, 15})
        prepare(size);
    EXPECT_EQ(count_compilations(), 2);
    expect_right_results(15);
}

TEST_F(BucketTest, ALimitOnMemoryIsForThePresentShapesAlone)
{
    session_.set("memory.limit_mb", "10");
    add_buckets({"x=10", "x=20"});
    for (const int size : {3, 4, 13, 5})
        prepare(size);
    EXPECT_EQ(count_kept(), 1);
    expect_right_results(5);
}

// The answer about a shape is found again, also after many others.
TEST_F(BucketTest, ManyRequests)
{
    add_buckets({"x=200"});
    for (int size = 1; size <= 150; ++size)
        prepare(size);
    prepare(1);
    expect_right_results(1);
    EXPECT_EQ(count_compilations(), 1);
}

TEST_F(BucketTest, ADeviceThatFailsLeavesTheProgramsShapes)
{
    add_buckets({"x=10"});
    const int size = 3;
    ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
    session_.set("split.fail_on_fallback", "1");
    device_.fail_pre_run = 1000;
    EXPECT_LT(session_.prerun(), 0);
    EXPECT_EQ(session_.at("x")->dims[0], 3);
    device_.fail_pre_run = 0;
    session_.set("split.fail_on_fallback", "0");
    prepare(3);
    expect_right_results(3);
}

}  // namespace
