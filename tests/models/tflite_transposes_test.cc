// SPDX-License-Identifier: Apache-2.0
// Pictures of .tflite files have the channels last, as the kernels of convolutions on the CPU: no
// Transpose of a mobilenet moves an element.
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "models/model_run.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"

namespace tengine::models {
namespace {

class TfliteTransposesTest : public testing::Test
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }

    // The Transposes of the prepared model that move elements, and those that do not.
    static void count(graph_t graph, int* out_moving, int* out_views)
    {
        *out_moving = *out_views = 0;
        tengine_execution_node node{};
        tengine_node_kernel kernel{};
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
            ASSERT_EQ(tengine_graph_get_execution_node(graph, i, &node), 0);
            ASSERT_EQ(tengine_graph_get_execution_kernel(graph, i, &kernel, sizeof kernel), 0);
            const bool is_view = std::string(kernel.name) == "layout.x.view";
            *out_views += is_view ? 1 : 0;
            *out_moving += std::string(node.op) == "Transpose" && !is_view ? 1 : 0;
        }
    }
};

TEST_F(TfliteTransposesTest, AMobilenetHasNone)
{
    for (const char* name :
         {"mobilenet_v1_025_96_int8", "mobilenet_v2_035_dynamic", "mobilenet_v1_025_128_uint8",
          "automl_labeler_uint8", "mlperf_tiny_vww_int8", "mlperf_tiny_resnet_float",
          "mlperf_tiny_kws_int8", "person_detect"})
        for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_BF16}) {
            SCOPED_TRACE(std::string(name) + " in mode " + std::to_string(precision));
            const std::string path = shared_data("tflite/models/" + std::string(name) + ".tflite");
            if (!exists(path)) GTEST_SKIP() << absent(path);
            graph_t graph = create_graph(nullptr, "tflite", path.c_str());
            ASSERT_NE(graph, nullptr);
            options_t options = {1, TENGINE_CLUSTER_ALL, precision, 0};
            ASSERT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
            int moving = 0, views = 0;
            count(graph, &moving, &views);
            EXPECT_EQ(moving, 0);
            EXPECT_GE(views, 1) << "of the input";
            destroy_graph(graph);
        }
}

}  // namespace
}  // namespace tengine::models
