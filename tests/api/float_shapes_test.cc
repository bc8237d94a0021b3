// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3x3 in float, in changing shapes: weights are packed once for all shapes, with
// any kernel, results are those of fresh graphs, and memory does not grow.
#include <random>

#include "fixture.h"
#include "support/allocation_count.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

constexpr int kChannels = 32;

class FloatShapesTest : public ApiTest
{
  protected:
    // x [1, 32, h, w] -> two convolutions -> y [1, 32, 1, 1], with seeded weights.
    static graph_t create()
    {
        std::mt19937 random(3);
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        std::vector<float> weights(kChannels * kChannels * 9);
        tensor_t value = add_input(graph, "x", {1, kChannels, 7, 7});
        for (const char* name : {"first", "second"}) {
            for (float& weight : weights)
                weight = static_cast<float>(random() % 1000) / 5000 - 0.1f;
            const tensor_t w = add_constant(graph, (std::string("w of ") + name).c_str(),
                                            {kChannels, kChannels, 3, 3}, weights.data());
            value = add_node(graph, name, "Conv", {value, w});
            value = add_node(graph, (std::string("relu of ") + name).c_str(), "Relu", {value});
        }
        add_node(graph, "y", "GlobalAveragePool", {value});
        return set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
    }

    static void prepare(graph_t graph, int height, int width)
    {
        const int shape[] = {1, kChannels, height, width};
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), shape, 4), 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    }

    static std::vector<float> run(graph_t graph, int height, int width)
    {
        prepare(graph, height, width);
        std::vector<float> data(static_cast<size_t>(kChannels * height * width));
        for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
        EXPECT_TRUE(write_floats(get_graph_tensor(graph, "x"), data));
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(get_graph_tensor(graph, "y"));
    }
};

TEST_F(FloatShapesTest, ResultsAreThoseOfFreshGraphs)
{
    std::mt19937 random(2);
    const graph_t graph = create();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    for (int i = 0; i < 30; ++i) {
        const int height = 5 + static_cast<int>(random() % 30);
        const int width = 5 + static_cast<int>(random() % 30);
        const graph_t fresh = create();
        EXPECT_EQ(run(graph, height, width), run(fresh, height, width)) << height << "x" << width;
        EXPECT_EQ(destroy_graph(fresh), 0);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Winograd's filtering, the kernel for large shapes, packs 36 numbers for nine.
TEST_F(FloatShapesTest, TransformedWeightsAreShared)
{
    constexpr int64_t kTransformed = 36 * kChannels * kChannels * int64_t{sizeof(float)};
    const graph_t graph = create();
    tengine_device_memory one = {}, three = {};
    prepare(graph, 56, 56);
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &one, sizeof one), 0);
    if (one.compiled_bytes < 2 * kTransformed) GTEST_SKIP() << "no kernel transforms the weights";
    prepare(graph, 64, 48);
    prepare(graph, 40, 80);
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &three, sizeof three), 0);
    EXPECT_GT(three.compiled_bytes, one.compiled_bytes) << "three shapes are kept";
    EXPECT_LT(three.compiled_bytes, one.compiled_bytes + kTransformed / 2);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(FloatShapesTest, TenThousandRandomShapesTakeNoMemory)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    std::mt19937 random(4);
    const graph_t graph = create();
    // The same shapes are last in each thousand, so that the same preparations are kept.
    const auto change = [&] {
        for (int i = 0; i < 996; ++i)
            prepare(graph, 5 + static_cast<int>(random() % 30),
                    5 + static_cast<int>(random() % 30));
        for (const int size : {9, 17, 24, 33})
            run(graph, size, size);
    };
    change();
    const LiveMemory before = measure_live_memory();
    for (int i = 0; i < 10; ++i)
        change();
    const LiveMemory after = measure_live_memory();
    EXPECT_EQ(after.blocks, before.blocks);
    EXPECT_LE(after.bytes, before.bytes + 1024);
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
