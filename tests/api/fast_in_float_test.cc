// SPDX-License-Identifier: Apache-2.0
// Runs in 16 bits compute nodes in fp32 if the CPU has fast kernels in fp32 only, unless the plain
// kernels are requested.
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using FastInFloatTest = ApiTest;

// Runs a ConvTranspose of numbers that neither bf16 nor fp16 represents.
std::vector<float> run(const char* kernels, int precision)
{
    const context_t context = create_context("kernels", 1);
    EXPECT_EQ(add_context_device(context, "CPU"), 0) << get_tengine_error();
    EXPECT_EQ(tengine_context_set_option(context, "CPU.kernels", kernels), 0);
    const graph_t graph = create_graph(context, nullptr, nullptr);
    std::vector<float> numbers;
    for (int i = 0; i < 16; ++i)
        numbers.push_back(1 + static_cast<float>(i) * 0x1p-15f);
    const tensor_t x = add_input(graph, "x", {1, 4, 2, 2});
    add_node(graph, "y", "ConvTranspose",
             {x, add_constant(graph, "w", {4, 4, 1, 1}, numbers.data())});
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    EXPECT_EQ(prerun_graph_multithread(graph, {1, TENGINE_CLUSTER_ALL, precision, 0}), 0)
        << get_tengine_error();
    EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), numbers));
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    std::vector<float> result = read_floats(tengine_graph_get_output(graph, 0));
    destroy_graph(graph);
    destroy_context(context);
    return result;
}

TEST_F(FastInFloatTest, HasTheBitsOfFp32)
{
    if (std::strcmp(tengine_device_get_features("CPU"), "plain C++") == 0)
        GTEST_SKIP() << "a build without fast kernels";
    for (const int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16}) {
        const std::vector<float> plain = run("reference", TENGINE_MODE_FP32);
        EXPECT_NE(run("reference", precision), plain);
        EXPECT_EQ(run("fast", precision), run("fast", TENGINE_MODE_FP32));
    }
}

}  // namespace
}  // namespace tengine
