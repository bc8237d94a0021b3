// SPDX-License-Identifier: Apache-2.0
// Nothing is allocated after prerun_graph: neither by runs nor by reading results.
#include <cstdlib>
#include <vector>

#include "fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

class AllocationTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
        ApiTest::SetUp();
    }
};

TEST_F(AllocationTest, AllocationsAreCounted)
{
    // Volatile, because compilers remove an allocation that is only freed.
    void* volatile kept = nullptr;
    const long before = count_allocations();
    kept = std::malloc(100);
    EXPECT_EQ(count_allocations(), before + 1);
    std::free(kept);
    kept = new int(1);
    EXPECT_EQ(count_allocations(), before + 2);
    delete static_cast<int*>(kept);
}

TEST_F(AllocationTest, RunAllocatesNothing)
{
    for (int threads : {1, 2}) {
        const graph_t graph = create_small_network();
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        const tensor_t x = get_graph_tensor(graph, "x");
        const tensor_t y = get_graph_tensor(graph, "y");
        std::vector<float> data(3 * 13 * 17, 0.5f);
        ASSERT_EQ(prerun_graph_multithread(graph, {threads, TENGINE_CLUSTER_ALL, 0, 0}), 0)
            << get_tengine_error();
        ASSERT_EQ(set_tensor_buffer(x, data.data(), get_tensor_buffer_size(x)), 0);
        float result[5] = {};
        const long before = count_allocations();
        int failures = 0;
        for (int i = 0; i < 10; ++i) {
            failures += run_graph(graph, 1) != 0;
            failures += get_graph_output_tensor(graph, 0, 0) != y;
            failures += get_tensor_data(y, result, sizeof result) != 0;
        }
        EXPECT_EQ(count_allocations(), before) << threads << " threads";
        EXPECT_EQ(failures, 0) << get_tengine_error();
        EXPECT_NEAR(result[0], 0.2f, 1e-5f);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

TEST_F(AllocationTest, RunsUnderWayAllocateNothing)
{
    const context_t context = create_context("pipeline", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    const graph_t graph = create_relu_graph(context);
    const tensor_t x = get_graph_tensor(graph, "x");
    const tensor_t y = get_graph_tensor(graph, "y");
    float data[4] = {-1, 1, -2, 2}, result[4] = {};
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_buffer(x, data, sizeof data), 0);
    const long before = count_allocations();
    int failures = 0;
    for (int i = 0; i < 10; ++i) {
        failures += run_graph(graph, 0) != 0;
        failures += run_graph(graph, 0) != 0;
        failures += wait_graph(graph, 0) != 1;
        failures += wait_graph(graph, 0) != 1;
        failures += get_tensor_data(y, result, sizeof result) != 0;
    }
    EXPECT_EQ(count_allocations(), before);
    EXPECT_EQ(failures, 0) << get_tengine_error();
    EXPECT_EQ(result[3], 2.f);
    EXPECT_EQ(destroy_graph(graph), 0);
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
