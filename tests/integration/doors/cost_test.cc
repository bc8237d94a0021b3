// SPDX-License-Identifier: Apache-2.0
// The processor time of a device before it computes anything, which does not include other load on
// the machine. The least of several counts.
#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>

#include "door.h"
#include "tengine/c_api.h"
#include "tengine/device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowness = 20;
#else
constexpr double kSlowness = 1;
#endif

double read_milliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class Work>
double find_least_milliseconds(int rounds, const Work& work)
{
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < rounds; ++i) {
        const double begin = read_milliseconds();
        work();
        least = std::min(least, read_milliseconds() - begin);
    }
    return least;
}

class DoorTest : public testing::TestWithParam<Door>
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(init_tengine(), 0);
        for (const std::string& plugin : GetParam().plugins)
            ASSERT_EQ(tengine_plugin_load(plugin.c_str()), 1) << get_tengine_error();
        device_ = find_device_via_name(GetParam().device.c_str());
        ASSERT_TRUE(device_);
    }
    void TearDown() override { release_tengine(); }

    device* device_ = nullptr;
};

TEST_P(DoorTest, DescribesItselfInAMillisecond)
{
    const double least = find_least_milliseconds(7, [&] {
        vector* lists[3];
        for (vector*& list : lists)
            list = create_vector(sizeof(int), nullptr);
        EXPECT_EQ(device_->allocator->describe(device_, lists[0], lists[1], lists[2]), 0);
        EXPECT_GT(get_vector_num(lists[0]), 0);
        for (vector* list : lists)
            release_vector(list);
    });
    EXPECT_LT(least, 1 * kSlowness);
}

// The whole list, element by element, as programs read it.
TEST_P(DoorTest, ListsItsOperatorsSoon)
{
    const char* name = GetParam().device.c_str();
    const double least = find_least_milliseconds(3, [&] {
        const int number = tengine_device_get_operator_number(name);
        for (int i = 0; i < number; ++i)
            EXPECT_TRUE(tengine_device_get_operator(name, i));
    });
    EXPECT_LT(least, 200 * kSlowness);
}

TEST_P(DoorTest, PreparesTenNodesInTwoMilliseconds)
{
    const std::string model = make_ten_nodes();
    const context_t context = create_context("door", 1);
    ASSERT_EQ(add_context_device(context, GetParam().device.c_str()), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "run.shape_cache", "0"), 0);
    const graph_t graph =
        create_graph(context, "onnx:m", model.data(), static_cast<int>(model.size()));
    ASSERT_TRUE(graph) << get_tengine_error();
    const options_t options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    const double least = find_least_milliseconds(7, [&] {
        EXPECT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
        EXPECT_EQ(postrun_graph(graph), 0);
    });
    EXPECT_LT(least, 2 * kSlowness);
    destroy_graph(graph);
    destroy_context(context);
}

INSTANTIATE_TEST_SUITE_P(Doors, DoorTest, testing::ValuesIn(list_doors()),
                         [](const auto& tested) { return tested.param.device; });

// The look-up by number takes constant time: all numbers take no longer than as many times the
// first.
TEST(OperatorNumbers, AreLookedUpInConstantTime)
{
    ASSERT_EQ(init_tengine(), 0);
    const int number = tengine_operator_get_number();
    const auto ask = [&](bool for_all) {
        return find_least_milliseconds(5, [&] {
            for (int round = 0; round < 20; ++round)
                for (int i = 0; i < number; ++i)
                    EXPECT_TRUE(tengine_operator_get_name(for_all ? i : 0));
        });
    };
    EXPECT_LT(ask(true), 10 * ask(false));
    release_tengine();
}

}  // namespace
}  // namespace tengine
