// SPDX-License-Identifier: Apache-2.0
// Clamps in Tengine's dialect: those that become the field `activation` of a Convolution, and equal
// results before, in the saved form, and after lowering.
#include <cmath>
#include <memory>

#include "graph/graph.h"
#include "gtest/gtest.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/integer_borders.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

struct DestroyGraph
{
    void operator()(graph* graph) const { destroy_ir_graph(graph); }
};
using Graph = std::unique_ptr<graph, DestroyGraph>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns "Convolution(6) ReLU": the operators with inputs, with the field of those that have it
// set.
std::string list_ops(const graph& graph)
{
    std::string list;
    for (int i = 0; i < graph.node_num; ++i) {
        const node* node = graph.node_list[i];
        if (node->input_num == 0) continue;
        const int64_t activation = get_ir_node_int(node, "activation", -1);
        list += (list.empty() ? "" : " ") + std::string(get_ir_node_op(node));
        if (activation != -1) list += '(' + std::to_string(activation) + ')';
    }
    return list;
}

Graph save(graph* source, const char* dialect)
{
    graph* made = nullptr;
    EXPECT_EQ(create_saved_graph(source, dialect, &made), TENGINE_OK) << tengine_error_message();
    return Graph(made);
}

// Results from -8 to 8, over all clamps.
void add_conv(IrBuilder& builder, const char* op = "Conv")
{
    builder.input("x", {1, 1, 1, 9});
    builder.floats("w", {1, 1, 1, 1}, {2});
    builder.add(op, {"x", "w"}, {"c"});
}

void add_clip(IrBuilder& builder, const std::string& input, float low, float high)
{
    builder.floats("low", {}, {low});
    builder.floats("high", {}, {high});
    builder.add("Clip", {input, "low", "high"}, {"a"});
}

std::vector<float> run(graph* graph)
{
    tensor* x = graph->tensor_list[graph->input_tensors[0]];
    const int dims[] = {1, 1, 1, 9};
    EXPECT_EQ(set_ir_tensor_shape(x, dims, 4), TENGINE_OK);
    EXPECT_EQ(allocate_ir_tensor(x), TENGINE_OK);
    for (int i = 0; i < 9; ++i)
        x->f32[i] = static_cast<float>(i - 4);
    ir_run_options_t options = {};
    options.num_thread = 1;
    if (prerun_ir_graph(graph, &options) < 0 || run_ir_graph(graph, 1) < 0) {
        ADD_FAILURE() << tengine_error_message();
        return {};
    }
    const tensor* y = graph->tensor_list[graph->output_tensors[0]];
    std::vector<float> values(y->f32, y->f32 + y->elem_num);
    EXPECT_EQ(postrun_ir_graph(graph), TENGINE_OK);
    return values;
}

struct Clamp
{
    float low, high;
    const char* saved;
};

TEST(Activations, ClampsThatTheFieldHasAreFolded)
{
    for (const Clamp& clamp :
         {Clamp{0, kInfinity, "Convolution(0) Unary"}, Clamp{0, 6, "Convolution(6) Unary"},
          // Tengine Lite's kernels interpret 1 in the field differently.
          Clamp{-1, 1, "Convolution ReLU1 Unary"}, Clamp{0, 1, "Convolution Clip Unary"},
          Clamp{0, 5, "Convolution Clip Unary"}, Clamp{-6, 6, "Convolution Clip Unary"}}) {
        SCOPED_TRACE(clamp.saved);
        IrBuilder builder;
        add_conv(builder);
        add_clip(builder, "c", clamp.low, clamp.high);
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y"});
        const Graph saved = save(builder.get(), "tengine");
        EXPECT_EQ(list_ops(*saved), clamp.saved);
        std::vector<float> expected;
        for (int i = 0; i < 9; ++i)
            expected.push_back(
                -std::fmin(std::fmax(2.f * static_cast<float>(i - 4), clamp.low), clamp.high));
        EXPECT_EQ(run(builder.get()), expected);
        EXPECT_EQ(run(saved.get()), expected);
        const Graph again = save(saved.get(), "");
        EXPECT_EQ(run(again.get()), expected);
    }
}

// The result keeps its name for its readers; lowering makes the original nodes.
TEST(Activations, AConvolutionWithReluIsTwoNodesAgainInOnnx)
{
    IrBuilder builder;
    add_conv(builder);
    builder.add("Relu", {"c"}, {"a"});
    builder.add("Neg", {"a"}, {"y"});
    builder.outputs({"y"});
    const Graph saved = save(builder.get(), "tengine");
    EXPECT_EQ(list_ops(*saved), "Convolution(0) Unary");
    const node* conv = find_node(saved.get(), "c");
    ASSERT_NE(conv, nullptr);
    EXPECT_STREQ(get_ir_node_output(conv, 0)->name, "a");
    EXPECT_EQ(find_tensor(saved.get(), "c"), nullptr);
    const Graph again = save(saved.get(), "");
    EXPECT_EQ(list_ops(*again), "Conv Relu Neg");
    EXPECT_NE(find_tensor(again.get(), "a"), nullptr);
    EXPECT_EQ(list_ops(*save(again.get(), "tengine")), "Convolution(0) Unary");
}

TEST(Activations, OthersStayNodes)
{
    {
        SCOPED_TRACE("two readers");
        IrBuilder builder;
        add_conv(builder);
        builder.add("Relu", {"c"}, {"a"});
        builder.add("Add", {"a", "c"}, {"y"});
        builder.outputs({"y"});
        EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Convolution ReLU Eltwise");
    }
    {
        SCOPED_TRACE("the convolution is an output");
        IrBuilder builder;
        add_conv(builder);
        builder.add("Relu", {"c"}, {"a"});
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y", "c"});
        EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Convolution ReLU Unary");
    }
    {
        SCOPED_TRACE("the clamp is an output");
        IrBuilder builder;
        add_conv(builder);
        builder.add("Relu", {"c"}, {"a"});
        builder.outputs({"a"});
        const Graph saved = save(builder.get(), "tengine");
        EXPECT_EQ(list_ops(*saved), "Convolution ReLU");
        EXPECT_EQ(saved->output_nodes[0], find_node(saved.get(), "a")->index);
    }
    {
        SCOPED_TRACE("a slope");
        IrBuilder builder;
        add_conv(builder);
        builder.add("LeakyRelu", {"c"}, {"a"});
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y"});
        EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Convolution ReLU Unary");
    }
    {
        SCOPED_TRACE("one clamp has the field");
        IrBuilder builder;
        add_conv(builder);
        builder.add("Relu", {"c"}, {"r"});
        add_clip(builder, "r", 0, 6);
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y"});
        EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Convolution(0) ReLU6 Unary");
    }
    {
        SCOPED_TRACE("a deconvolution");
        IrBuilder builder;
        add_conv(builder, "ConvTranspose");
        builder.add("Relu", {"c"}, {"a"});
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y"});
        EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Deconvolution ReLU Unary");
    }
}

// Nodes that came from a tmfile, or were made by hand, are saved unchanged.
TEST(Activations, TenginesOwnNodesStay)
{
    IrBuilder builder;
    add_conv(builder, "tengine.Convolution");
    builder.add("tengine.ReLU", {"c"}, {"a"});
    builder.add("tengine.Unary", {"a"}, {"y"});
    builder.outputs({"y"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &made), TENGINE_OK);
    EXPECT_EQ(made, nullptr);
}

// ---- quantised ----

void add_linear(IrBuilder& builder, const std::string& from, float scale)
{
    builder.floats(from + "_scale", {}, {scale});
    builder.constant<int8_t>(from + "_zero", {}, {-3}, TENGINE_DT_INT8);
    builder.add("QuantizeLinear", {from, from + "_scale", from + "_zero"}, {from + "_bytes"});
    builder.add("DequantizeLinear", {from + "_bytes", from + "_scale", from + "_zero"},
                {from + "_value"});
}

// x -> convolution, quantised if `between` is a scale -> Relu, quantised -> y.
void build_quantised(IrBuilder& builder, float between)
{
    builder.input("x", {1, 1, 1, 9});
    add_linear(builder, "x", 0.5f);
    builder.floats("w_scale", {}, {0.5f});
    builder.constant<int8_t>("w_bytes", {1, 1, 1, 1}, {4}, TENGINE_DT_INT8);
    builder.add("DequantizeLinear", {"w_bytes", "w_scale"}, {"w"});
    builder.add("Conv", {"x_value", "w"}, {"c"});
    if (between > 0) add_linear(builder, "c", between);
    builder.add("Relu", {between > 0 ? "c_value" : "c"}, {"a"});
    add_linear(builder, "a", 0.25f);
    builder.add("Neg", {"a_value"}, {"y"});
    add_linear(builder, "y", 0.25f);
    builder.outputs({"y_value"});
}

TEST(Activations, OfTheSameStepsAreFolded)
{
    for (const float between : {0.f, 0.25f}) {
        SCOPED_TRACE(between);
        const IntegerBorders borders;
        IrBuilder builder(borders.context());
        build_quantised(builder, between);
        const Graph saved = save(builder.get(), "tengine");
        EXPECT_EQ(list_ops(*saved), "Convolution(0) Unary");
        const tensor* result = get_ir_node_output(find_node(saved.get(), "c"), 0);
        EXPECT_EQ(result->data_type, TENGINE_DT_INT8);
        EXPECT_EQ(result->scale, 0.25f);
        EXPECT_EQ(result->zero_point, -3);
    }
}

TEST(Activations, OfOtherStepsStayNodes)
{
    const IntegerBorders borders;
    IrBuilder builder(borders.context());
    build_quantised(builder, 4.f);
    EXPECT_EQ(list_ops(*save(builder.get(), "tengine")), "Convolution ReLU Unary");
}

}  // namespace
}  // namespace tengine::test
