// SPDX-License-Identifier: Apache-2.0
// The option CPU.kernels: `reference` makes the plain kernel of its operator compute every node.
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

struct Result
{
    std::vector<std::string> kernels;  // by node
    std::vector<float> values;
};

class ReferenceKernelsTest : public ApiTest
{
  protected:
    // Runs a convolution, and the activation that fast kernels fuse with it.
    static Result run(const char* kernels)
    {
        Result result;
        const context_t context = create_context("kernels", 0);
        EXPECT_EQ(tengine_context_set_option(context, "CPU.kernels", kernels), 0);
        const graph_t graph = create_graph(context, nullptr, nullptr);
        std::vector<float> weights(4 * 3 * 3 * 3), input(3 * 9 * 9);
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = std::sin(static_cast<float>(i));
        for (size_t i = 0; i < input.size(); ++i)
            input[i] = std::cos(static_cast<float>(i));
        const tensor_t x = add_input(graph, "x", {1, 3, 9, 9});
        const tensor_t w = add_constant(graph, "w", {4, 3, 3, 3}, weights.data());
        const tensor_t y =
            add_node(graph, "relu", "Relu", {add_node(graph, "conv", "Conv", {x, w})});
        EXPECT_TRUE(set_borders(graph, {"x"}, {"relu"}));
        EXPECT_TRUE(write_floats(x, input));
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        result.values = read_floats(y);
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
            tengine_node_kernel kernel = {};
            EXPECT_EQ(tengine_graph_get_execution_kernel(graph, i, &kernel, sizeof kernel), 0);
            result.kernels.push_back(kernel.name);
        }
        destroy_graph(graph);
        destroy_context(context);
        return result;
    }
};

TEST_F(ReferenceKernelsTest, ComputeEveryNodeByItself)
{
    const Result plain = run("reference"), fast = run("fast");
    EXPECT_EQ(plain.kernels, (std::vector<std::string>{"reference", "reference"}));
    EXPECT_NE(fast.kernels, plain.kernels);
    ASSERT_EQ(plain.values.size(), fast.values.size());
    // Sums of 27 products of numbers up to 1, in another order and another type.
    const double bound = 27 * 27 * std::ldexp(1, -24);
    for (size_t i = 0; i < plain.values.size(); ++i)
        EXPECT_NEAR(plain.values[i], fast.values[i], bound) << i;
}

TEST_F(ReferenceKernelsTest, HaveTwoNames)
{
    const context_t context = create_context("kernels", 0);
    EXPECT_EQ(tengine_context_set_option(context, "CPU.kernels", "slow"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
