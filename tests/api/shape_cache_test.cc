// SPDX-License-Identifier: Apache-2.0
// Programs that change the shapes of inputs repeatedly: results are those of a graph that was
// prepared for one shape only, and memory does not grow.
#include <random>

#include "fixture.h"
#include "support/allocation_count.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class ShapeCacheTest : public ApiTest
{
  protected:
    static void prepare(graph_t graph, int batch, int threads = 1)
    {
        const int shape[] = {batch, 3, 13, 17};
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), shape, 4), 0);
        ASSERT_EQ(prerun_graph_multithread(graph, {threads, TENGINE_CLUSTER_ALL, 0, 0}), 0)
            << get_tengine_error();
    }

    static std::vector<float> run(graph_t graph, int batch)
    {
        std::mt19937 random(static_cast<unsigned>(batch));
        std::vector<float> data(static_cast<size_t>(batch) * 3 * 13 * 17);
        for (float& value : data)
            value = static_cast<float>(random() % 1000) / 500 - 1;
        EXPECT_TRUE(write_floats(get_graph_tensor(graph, "x"), data));
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(get_graph_tensor(graph, "y"));
    }

    static std::vector<float> run_fresh(int batch, float* weight_of = nullptr, int threads = 1)
    {
        const graph_t graph = create_small_network();
        if (weight_of)
            static_cast<float*>(get_tensor_buffer(
                get_graph_tensor(graph, "a weight with a long name")))[5] = *weight_of;
        prepare(graph, batch, threads);
        const std::vector<float> results = run(graph, batch);
        EXPECT_EQ(destroy_graph(graph), 0);
        return results;
    }
};

TEST_F(ShapeCacheTest, RandomShapesGiveTheResultsOfFreshGraphs)
{
    std::mt19937 random(1);
    std::vector<std::vector<float>> expected;
    for (int batch = 1; batch <= 6; ++batch)
        expected.push_back(run_fresh(batch));
    const graph_t graph = create_small_network();
    for (int i = 0; i < 100; ++i) {
        const int batch = 1 + static_cast<int>(random() % 6);
        prepare(graph, batch);
        EXPECT_EQ(run(graph, batch), expected[static_cast<size_t>(batch - 1)]) << batch;
        if (random() % 16 == 0) {
            EXPECT_EQ(postrun_graph(graph), 0);
        }
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ShapeCacheTest, ThreadsMayChangeTheirNumber)
{
    const graph_t graph = create_small_network();
    for (int i = 0; i < 12; ++i) {
        const int batch = 1 + i % 3, threads = 1 + i / 6;
        prepare(graph, batch, threads);
        EXPECT_EQ(run(graph, batch), run_fresh(batch, nullptr, threads));
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

// A program may write to the buffer of a constant while nothing runs, without a call.
TEST_F(ShapeCacheTest, WeightsThatTheProgramWritesCount)
{
    const graph_t graph = create_small_network();
    auto* weight = static_cast<float*>(
        get_tensor_buffer(get_graph_tensor(graph, "a weight with a long name")));
    for (const float value : {0.1f, 0.7f, 0.7f, -2.0f}) {
        weight[5] = value;
        for (const int batch : {1, 2}) {
            float copy = value;
            prepare(graph, batch);
            EXPECT_EQ(run(graph, batch), run_fresh(batch, &copy)) << value;
        }
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ShapeCacheTest, AttributesThatAreSetCount)
{
    const graph_t graph = create_small_network();
    const int axes[] = {0, 1};
    std::vector<std::vector<float>> results;
    for (const int axis : axes) {
        ASSERT_EQ(set_node_attr_int(get_graph_node(graph, "y"), "axis", &axis), 0)
            << get_tengine_error();
        prepare(graph, 2);
        results.push_back(run(graph, 2));
    }
    EXPECT_NE(results[0], results[1]);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ShapeCacheTest, WhatIsKeptIsCounted)
{
    const graph_t graph = create_small_network();
    tengine_graph_memory one = {}, two = {}, none = {};
    prepare(graph, 4);
    ASSERT_EQ(get_graph_memory(graph, &one, sizeof one), 0);
    prepare(graph, 5);
    ASSERT_EQ(get_graph_memory(graph, &two, sizeof two), 0);
    // Each has steps; packed constants, if there are any, and the arena are shared.
    EXPECT_GT(two.device_bytes, one.device_bytes);
    EXPECT_GE(two.border_bytes, 2 * one.border_bytes);
    tengine_device_memory device = {};
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &device, sizeof device), 0);
    EXPECT_EQ(device.subgraph_number, 1);
    EXPECT_EQ(device.compiled_bytes + device.arena_bytes + device.tensor_bytes, two.device_bytes);
    ASSERT_EQ(postrun_graph(graph), 0);
    ASSERT_EQ(get_graph_memory(graph, &none, sizeof none), 0);
    EXPECT_EQ(none.device_bytes, 0);
    EXPECT_EQ(none.border_bytes, 0);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ShapeCacheTest, TenThousandChangesTakeNoMemory)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    const graph_t graph = create_relu_graph();
    const tensor_t x = get_graph_tensor(graph, "x");
    const auto change = [&](int i) {
        // Three recurring shapes and, sometimes, one that the cache has no room for.
        const int size = i % 8 == 7 ? 100 + i / 8 % 5 : 10 + i % 3;
        ASSERT_EQ(set_tensor_shape(x, &size, 1), 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_TRUE(write_floats(x, std::vector<float>(static_cast<size_t>(size), -1)));
        ASSERT_EQ(run_graph(graph, 1), 0);
    };
    for (int i = 0; i < 1000; ++i)
        change(i);
    const LiveMemory before = measure_live_memory();
    for (int i = 1000; i < 11000; ++i)
        change(i);
    const LiveMemory after = measure_live_memory();
    EXPECT_EQ(after.blocks, before.blocks);
    EXPECT_LE(after.bytes, before.bytes + 1024);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ShapeCacheTest, AKnownShapeAllocatesNothing)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    const graph_t graph = create_small_network();
    for (const int batch : {1, 2})
        prepare(graph, batch);
    const tensor_t x = get_graph_tensor(graph, "x");
    const int shape[] = {1, 3, 13, 17};
    const long before = count_allocations();
    const int failures = (set_tensor_shape(x, shape, 4) != 0) +
                         (prerun_graph_multithread(graph, {1, TENGINE_CLUSTER_ALL, 0, 0}) != 0);
    EXPECT_EQ(count_allocations(), before);
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
