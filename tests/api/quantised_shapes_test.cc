// SPDX-License-Identifier: Apache-2.0
// A quantised network in changing shapes: weights are packed once for all shapes, and results are
// those of a graph that was prepared for one shape only.
#include <random>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class QuantisedShapesTest : public ApiTest
{
  protected:
    // x uint8 [1, 8, h, h] -> QLinearConv -> y, with seeded weights.
    static graph_t create()
    {
        std::mt19937 random(5);
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        std::vector<int8_t> weights(16 * 8 * 3 * 3);
        for (int8_t& weight : weights)
            weight = static_cast<int8_t>(random() % 255 - 127);
        const float scale = 0.02f, weight_scale = 0.01f, result_scale = 0.3f;
        const uint8_t zero = 128;
        const int8_t weight_zero = 0;
        const tensor_t x = add_input(graph, "x", {1, 8, 7, 7}, TENGINE_DT_UINT8);
        const tensor_t y =
            add_node(graph, "y", "QLinearConv",
                     {x, add_constant(graph, "x_scale", {}, &scale),
                      add_constant(graph, "x_zero", {}, &zero, TENGINE_DT_UINT8),
                      add_constant(graph, "w", {16, 8, 3, 3}, weights.data(), TENGINE_DT_INT8),
                      add_constant(graph, "w_scale", {}, &weight_scale),
                      add_constant(graph, "w_zero", {}, &weight_zero, TENGINE_DT_INT8),
                      add_constant(graph, "y_scale", {}, &result_scale),
                      add_constant(graph, "y_zero", {}, &zero, TENGINE_DT_UINT8)},
                     TENGINE_DT_UINT8);
        return y && set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
    }

    static std::vector<uint8_t> run(graph_t graph, int size)
    {
        const int shape[] = {1, 8, size, size};
        const tensor_t x = get_graph_tensor(graph, "x"), y = get_graph_tensor(graph, "y");
        EXPECT_EQ(set_tensor_shape(x, shape, 4), 0);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        std::vector<uint8_t> data(static_cast<size_t>(8 * size * size));
        for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<uint8_t>(i * 37);
        EXPECT_EQ(set_tensor_data(x, data.data(), static_cast<int>(data.size())), 0);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        std::vector<uint8_t> results(static_cast<size_t>(get_tensor_buffer_size(y)));
        EXPECT_EQ(get_tensor_data(y, results.data(), static_cast<int>(results.size())), 0);
        return results;
    }
};

TEST_F(QuantisedShapesTest, ResultsAreThoseOfFreshGraphs)
{
    std::mt19937 random(2);
    const graph_t graph = create();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    for (int i = 0; i < 60; ++i) {
        const int size = 3 + static_cast<int>(random() % 7);
        const graph_t fresh = create();
        EXPECT_EQ(run(graph, size), run(fresh, size)) << size;
        EXPECT_EQ(destroy_graph(fresh), 0);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(QuantisedShapesTest, WeightsThatTheProgramWritesArePackedAnew)
{
    const graph_t graph = create();
    auto* weights = static_cast<int8_t*>(get_tensor_buffer(get_graph_tensor(graph, "w")));
    for (const int8_t value : {5, 90, -90}) {
        weights[7] = value;
        for (const int size : {5, 6}) {
            const graph_t fresh = create();
            static_cast<int8_t*>(get_tensor_buffer(get_graph_tensor(fresh, "w")))[7] = value;
            EXPECT_EQ(run(graph, size), run(fresh, size)) << int{value};
            EXPECT_EQ(destroy_graph(fresh), 0);
        }
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(QuantisedShapesTest, APackIsCountedOnce)
{
    const graph_t graph = create();
    tengine_device_memory one = {}, two = {};
    run(graph, 5);
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &one, sizeof one), 0);
    run(graph, 6);
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &two, sizeof two), 0);
    EXPECT_GT(two.compiled_bytes, one.compiled_bytes);
    if (one.compiled_bytes > 1152) {  // only of a kernel that packs
        EXPECT_LT(two.compiled_bytes, 2 * one.compiled_bytes - 1000);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
