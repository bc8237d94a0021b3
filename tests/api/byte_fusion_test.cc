// SPDX-License-Identifier: Apache-2.0
// A residual block in int8 and uint8: the convolution computes the following QLinearAdd and Lookup,
// unless the tensors between them have other readers; the results are those of the references.
#include <random>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Bytes = std::vector<uint8_t>;

class ByteFusionTest : public ApiTest
{
  protected:
    struct Result
    {
        Bytes values;
        std::vector<std::string> kernels;  // by node
    };

    // x -> first; x -> second; second + first -> sum; sum -> y. The outputs are y and `others`.
    static Result run(const char* kernels, std::vector<const char*> outputs = {})
    {
        const context_t context = create_context("kernels", 0);
        EXPECT_EQ(tengine_context_set_option(context, "CPU.kernels", kernels), 0);
        const graph_t graph = create_graph(context, nullptr, nullptr);
        std::mt19937 random(5);
        const auto bytes = [&](const char* name, const std::vector<int>& dims, size_t number) {
            Bytes values(number);
            for (uint8_t& value : values)
                value = static_cast<uint8_t>(random());
            return add_constant(graph, name, dims, values.data(), TENGINE_DT_UINT8);
        };
        const float one = 1, small = 0.002f, half = 0.5f;
        const uint8_t middle = 128;
        const tensor_t x = add_input(graph, "x", {1, 16, 7, 7}, TENGINE_DT_UINT8);
        const tensor_t s = add_constant(graph, "one", {}, &one);
        const tensor_t conv_s = add_constant(graph, "small", {}, &small);
        const tensor_t half_s = add_constant(graph, "half", {}, &half);
        const tensor_t z = add_constant(graph, "zero", {}, &middle, TENGINE_DT_UINT8);
        const auto conv = [&](const char* name, const char* weights) {
            const tensor_t w = bytes(weights, {24, 16, 1, 1}, 24 * 16);
            return add_node(graph, name, "QLinearConv", {x, conv_s, z, w, s, z, s, z},
                            TENGINE_DT_UINT8);
        };
        const tensor_t first = conv("first", "first_weights");
        const tensor_t second = conv("second", "second_weights");
        const tensor_t sum = add_node(graph, "sum", "com.microsoft.QLinearAdd",
                                      {second, half_s, z, first, s, z, s, z}, TENGINE_DT_UINT8);
        const tensor_t y = add_node(graph, "y", "tengine.Lookup", {sum, bytes("table", {256}, 256)},
                                    TENGINE_DT_UINT8);
        outputs.push_back("y");
        EXPECT_TRUE(set_borders(graph, {"x"}, outputs));
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        Bytes data(16 * 7 * 7);
        for (uint8_t& value : data)
            value = static_cast<uint8_t>(random());
        EXPECT_EQ(set_tensor_data(x, data.data(), static_cast<int>(data.size())), 0);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        Result result;
        result.values.resize(24 * 7 * 7);
        EXPECT_EQ(get_tensor_data(y, result.values.data(), static_cast<int>(result.values.size())),
                  0);
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

TEST_F(ByteFusionTest, ConvolutionsDoWhatReadsThem)
{
    const Result plain = run("reference"), fused = run("fast");
    EXPECT_EQ(fused.values, plain.values);
    ASSERT_EQ(fused.kernels.size(), 4u);
    if (fused.kernels[0] == "reference") GTEST_SKIP() << "the reference is all this build has";
    EXPECT_EQ(fused.kernels[1], "conv.s8.nhwc");
    EXPECT_EQ(fused.kernels[2], "");
    EXPECT_EQ(fused.kernels[3], "");
}

TEST_F(ByteFusionTest, NotWhereSomethingElseReadsWhatLiesBetween)
{
    const Result plain = run("reference");
    const Result without_sum = run("fast", {"second"}), without_table = run("fast", {"sum"});
    EXPECT_EQ(without_sum.values, plain.values);
    EXPECT_EQ(without_table.values, plain.values);
    ASSERT_EQ(without_sum.kernels.size(), 4u);
    EXPECT_NE(without_sum.kernels[2], "");
    EXPECT_NE(without_table.kernels[3], "");
}

}  // namespace
}  // namespace tengine
