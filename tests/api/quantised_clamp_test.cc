// SPDX-License-Identifier: Apache-2.0
// A quantised tensor before a clamp, whose value may be float in a run: it stays quantised in the
// model, for later runs and for files.
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "fixture.h"

namespace tengine {
namespace {

constexpr float kScale = 0x1p-6f;

class QuantisedClampTest : public ApiTest
{
  protected:
    static tensor_t quantise(tensor_t tensor, float scale)
    {
        const int zero_point = 0;
        EXPECT_EQ(set_tensor_quant_param(tensor, &scale, &zero_point, 1), 0);
        return tensor;
    }

    // z = ReLU(ReLU(y)), y = x * 1, in uint8 with one scale.
    static graph_t create()
    {
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        const int8_t weight = 64;
        const int one = 1;
        const tensor_t x =
            quantise(add_input(graph, "x", {1, 1, 1, 256}, TENGINE_DT_UINT8), kScale);
        const tensor_t w =
            quantise(add_constant(graph, "w", {1, 1, 1, 1}, &weight, TENGINE_DT_INT8), 0x1p-6f);
        const tensor_t y =
            quantise(add_node(graph, "y", "Convolution", {x, w}, TENGINE_DT_UINT8), kScale);
        for (const char* name : {"kernel_h", "kernel_w", "output_channel"})
            EXPECT_EQ(set_node_attr_int(get_graph_node(graph, "y"), name, &one), 0);
        const tensor_t clamped =
            quantise(add_node(graph, "clamped", "ReLU", {y}, TENGINE_DT_UINT8), kScale);
        quantise(add_node(graph, "z", "ReLU", {clamped}, TENGINE_DT_UINT8), kScale);
        return set_borders(graph, {"x"}, {"z"}) ? graph : nullptr;
    }

    static std::vector<uint8_t> run(graph_t graph, int precision)
    {
        std::vector<uint8_t> data(256), results(256);
        std::iota(data.begin(), data.end(), uint8_t{0});
        EXPECT_EQ(prerun_graph_multithread(graph, {1, TENGINE_CLUSTER_ALL, precision, 0}), 0)
            << get_tengine_error();
        EXPECT_EQ(set_tensor_data(get_graph_tensor(graph, "x"), data.data(), 256), 0);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(get_tensor_data(get_graph_tensor(graph, "z"), results.data(), 256), 0);
        for (const char* name : {"y", "clamped", "z"})
            EXPECT_EQ(get_tensor_data_type(get_graph_tensor(graph, name)), TENGINE_DT_UINT8)
                << name;
        EXPECT_EQ(postrun_graph(graph), 0);
        return results;
    }

    static std::vector<uint8_t> expected()
    {
        std::vector<uint8_t> values(256);
        std::iota(values.begin(), values.end(), uint8_t{0});
        return values;
    }
};

constexpr int kPrecisions[] = {TENGINE_MODE_UINT8, TENGINE_MODE_FP32, TENGINE_MODE_INT8,
                               TENGINE_MODE_UINT8, TENGINE_MODE_BF16};

TEST_F(QuantisedClampTest, EveryRunIsOfTheSameModel)
{
    const graph_t graph = create();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    for (const int precision : kPrecisions)
        EXPECT_EQ(run(graph, precision), expected()) << precision;
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(QuantisedClampTest, AFileOfAPreparedGraphIsOfTheSameModel)
{
    const std::string path =
        testing::TempDir() + "quantised_clamp_" + std::to_string(getpid()) + ".tmfile";
    const graph_t graph = create();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(save_graph(graph, "tengine", path.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    for (const int precision : kPrecisions) {
        const graph_t loaded = create_graph(nullptr, "tengine", path.c_str());
        ASSERT_NE(loaded, nullptr) << get_tengine_error();
        EXPECT_EQ(run(loaded, precision), expected()) << precision;
        EXPECT_EQ(destroy_graph(loaded), 0);
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace tengine
