// SPDX-License-Identifier: Apache-2.0
// Custom kernels and tensors: shapes, memory, types, constants.
#include <cmath>

#include "kernel_recorder.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// ---- shapes ----

TEST_F(CustomKernelTest, ReshapesWhatIsPrepared)
{
    kernel.ops.reshape = reshape_kernel;
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    ASSERT_TRUE(prepare_and_run());
    const int dims[] = {2, 3};
    ASSERT_EQ(set_tensor_shape(x, dims, 2), 0);
    ASSERT_TRUE(write_floats(x, {0, 1, 2, 3, 4, 5}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(kernel.calls, (Calls{"bind", "prerun", "run", "bind", "reshape"}));
    EXPECT_EQ(kernel.outputs[0].element_num, 6);
    ASSERT_EQ(run_graph(graph, 1), 0);
    EXPECT_EQ(read_floats(y), (std::vector<float>{1, 3, 5, 7, 9, 11}));
    // A failing reshape leaves an unprepared kernel.
    kernel.results["reshape"] = -1;
    const int back[] = {4};
    ASSERT_EQ(set_tensor_shape(x, back, 1), 0);
    EXPECT_FALSE(prepare_and_run());
    EXPECT_NE(last_error().find("Relu 'y': reshape of"), std::string::npos);
    EXPECT_EQ(kernel.calls.back(), "postrun");
    EXPECT_EQ(kernel.count("postrun"), 1);
    // After postrun_graph no kernel is left to reshape.
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(kernel.count("prerun"), 2);
    ASSERT_EQ(postrun_graph(graph), 0);
    ASSERT_EQ(set_tensor_shape(x, dims, 2), 0);
    ASSERT_EQ(prerun_graph(graph), 0);
    EXPECT_EQ(kernel.count("prerun"), 3);
    EXPECT_EQ(kernel.count("reshape"), 2);
}

TEST_F(CustomKernelTest, TheOperatorTellsShapesWhenTheKernelDoesNot)
{
    const graph_t net = create_graph(nullptr, nullptr, nullptr);
    const std::vector<float> weight(2 * 1 * 3 * 3, 1.0f);
    const tensor_t image = add_input(net, "image", {1, 1, 5, 6});
    const tensor_t w = add_constant(net, "w", {2, 1, 3, 3}, weight.data());
    const tensor_t conv = add_node(net, "conv", "Conv", {image, w});
    // Tengine's own operators are described in ONNX's terms.
    const tensor_t act = add_node(net, "act", "ReLU6", {conv});
    Recorder conv_kernel, act_kernel;
    ASSERT_TRUE(set_borders(net, {"image"}, {"act"}));
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "conv"), "CPU", &conv_kernel.ops), 0);
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "act"), "CPU", &act_kernel.ops), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    int dims[MAX_SHAPE_DIM_NUM];
    ASSERT_EQ(get_tensor_shape(act, dims, MAX_SHAPE_DIM_NUM), 4);
    EXPECT_EQ(std::vector<int>(dims, dims + 4), (std::vector<int>{1, 2, 3, 4}));
    ASSERT_EQ(conv_kernel.inputs.size(), 2u);
    // Constants have their data before the run.
    EXPECT_EQ(conv_kernel.inputs[1].data, get_tensor_buffer(w));
    EXPECT_EQ(conv_kernel.inputs[0].data, nullptr);
    tengine_execution_node placed;
    ASSERT_EQ(tengine_graph_get_execution_node(net, 1, &placed), 0);
    EXPECT_STREQ(placed.op, "ReLU6");
    EXPECT_STREQ(placed.domain, "tengine");
    // A shape that the operator does not accept is still an error.
    const int wrong[] = {1, 3, 5, 6};
    ASSERT_EQ(set_tensor_shape(image, wrong, 4), 0);
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("conv"), std::string::npos);
    EXPECT_EQ(conv_kernel.count("postrun"), 1);
    EXPECT_EQ(act_kernel.count("postrun"), 1);
    destroy_graph(net);  // before its kernels
}

TEST_F(CustomKernelTest, ShapesKnownAtRunTimeOnly)
{
    const graph_t net = create_graph(nullptr, nullptr, nullptr);
    const tensor_t mask = add_input(net, "mask", {4});
    const tensor_t places = add_node(net, "places", "NonZero", {mask}, TENGINE_DT_INT64);
    const tensor_t floats = add_node(net, "floats", "ai.onnx.Cast", {places});
    const int fp32 = 1;
    ASSERT_EQ(set_node_attr_int(get_graph_node(net, "floats"), "to", &fp32), 0);
    const tensor_t out = add_node(net, "out", "Relu", {floats});
    ASSERT_TRUE(set_borders(net, {"mask"}, {"out"}));
    const node_t relu = get_graph_node(net, "out");
    ASSERT_EQ(set_custom_kernel(relu, "CPU", &kernel.ops), 0);
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("needs the function infer_shape"), std::string::npos);
    kernel.ops.infer_shape = infer_like_input;
    kernel.ops.reshape = reshape_kernel;
    ASSERT_TRUE(write_floats(mask, {1, 0, 1, 1}));
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(net, 1), 0) << get_tengine_error();
    EXPECT_EQ(kernel.dynamic, 1);
    EXPECT_EQ(read_floats(out), (std::vector<float>{1, 5, 7}));
    ASSERT_EQ(run_graph(net, 1), 0);
    EXPECT_EQ(kernel.count("prerun"), 1);
    ASSERT_TRUE(write_floats(mask, {0, 1, 0, 0}));
    ASSERT_EQ(run_graph(net, 1), 0);
    EXPECT_EQ(read_floats(out), (std::vector<float>{3}));
    EXPECT_EQ(kernel.count("prerun"), 1);
    EXPECT_EQ(kernel.count("reshape"), 1);
    ASSERT_EQ(postrun_graph(net), 0);
    EXPECT_EQ(kernel.count("postrun"), 1);
}

TEST_F(CustomKernelTest, OutputsTakeOverMemoryInPlace)
{
    for (const bool in_place : {false, true}) {
        const graph_t net = create_graph(nullptr, nullptr, nullptr);
        const tensor_t in = add_input(net, "in", {64});
        const tensor_t a = add_node(net, "a", "Exp", {in});
        const tensor_t b = add_node(net, "b", "Sigmoid", {a});
        const tensor_t c = add_node(net, "c", "Exp", {b});
        ASSERT_TRUE(set_borders(net, {"in"}, {"c"}));
        Recorder middle;
        middle.ops.inplace_info = tell_in_place;
        middle.in_place = in_place ? 0 : -1;
        ASSERT_EQ(set_custom_kernel(get_graph_node(net, "b"), "CPU", &middle.ops), 0);
        ASSERT_TRUE(write_floats(in, std::vector<float>(64, 0.0f)));
        ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(net, 1), 0);
        EXPECT_GT(middle.count("inplace_info"), 0);
        ASSERT_EQ(middle.input_data.size(), 1u);
        EXPECT_EQ(middle.input_data[0] == middle.output_data[0], in_place);
        EXPECT_FLOAT_EQ(read_floats(c)[63], std::exp(3.0f));
        destroy_graph(net);
    }
}

TEST_F(CustomKernelTest, QuantisedTensorsComeAsTheyAre)
{
    const graph_t net = create_graph(nullptr, nullptr, nullptr);
    const tensor_t in = add_input(net, "in", {4}, TENGINE_DT_INT8);
    const tensor_t out = add_node(net, "out", "ReLU", {in}, TENGINE_DT_UINT8);
    const float scales[] = {0.5f, 0.25f};
    const int zero_points[] = {3, 7};
    ASSERT_EQ(set_tensor_quant_param(in, &scales[0], &zero_points[0], 1), 0);
    ASSERT_EQ(set_tensor_quant_param(out, &scales[1], &zero_points[1], 1), 0);
    ASSERT_TRUE(set_borders(net, {"in"}, {"out"}));
    kernel.ops.run = [](custom_kernel_ops* ops, custom_kernel_tensor* inputs[], int,
                        custom_kernel_tensor* outputs[], int) {
        self(ops).note("run", inputs, 1, outputs, 1);
        EXPECT_EQ(*inputs[0]->quant_number, 1);
        EXPECT_EQ(inputs[0]->scale[0], 0.5f);
        EXPECT_EQ(inputs[0]->zero_point[0], 3);
        EXPECT_EQ(outputs[0]->scale[0], 0.25f);
        EXPECT_EQ(outputs[0]->zero_point[0], 7);
        for (int i = 0; i < inputs[0]->element_num; ++i)
            static_cast<uint8_t*>(outputs[0]->data)[i] =
                static_cast<uint8_t>(static_cast<const int8_t*>(inputs[0]->data)[i] + 100);
        return 0;
    };
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "out"), "CPU", &kernel.ops), 0);
    const int8_t data[] = {-100, 0, 1, 27};
    ASSERT_EQ(set_tensor_data(in, data, sizeof data), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_execution_node_number(net), 1);
    ASSERT_EQ(run_graph(net, 1), 0);
    EXPECT_EQ(kernel.inputs[0].data_type, TENGINE_DT_INT8);
    EXPECT_EQ(kernel.inputs[0].element_size, 1);
    EXPECT_EQ(kernel.inputs[0].quant_type, 1);
    EXPECT_EQ(kernel.outputs[0].data_type, TENGINE_DT_UINT8);
    uint8_t result[4] = {};
    ASSERT_EQ(get_tensor_data(out, result, sizeof result), 0);
    EXPECT_EQ(result[0], 0);
    EXPECT_EQ(result[3], 127);
    // The built-in operator computes on the real values of the integers.
    ASSERT_EQ(remove_custom_kernel(get_graph_node(net, "out"), nullptr), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(net, 1), 0);
    ASSERT_EQ(get_tensor_data(out, result, sizeof result), 0);
    EXPECT_EQ(result[0], 7);
    EXPECT_EQ(result[3], 7 + 48);
    kernel.results["bind"] = 1;
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "out"), "CPU", &kernel.ops), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(net, 1), 0);
    ASSERT_EQ(get_tensor_data(out, result, sizeof result), 0);
    EXPECT_EQ(result[3], 7 + 48);
}

// Other precisions do not change the node.
TEST_F(CustomKernelTest, PrecisionDoesNotTouchIt)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    for (const int mode : {TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_INT8}) {
        options options = {1, TENGINE_CLUSTER_BIG, mode, 0};
        ASSERT_TRUE(write_floats(x, {-1, 0, 1, 2}));
        ASSERT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph, 1), 0);
        EXPECT_EQ(kernel.inputs[0].data_type, TENGINE_DT_FP32);
        EXPECT_EQ(read_floats(y), kDoubled);
    }
}

TEST_F(CustomKernelTest, TheProgramsConstantsAreNotFolded)
{
    const graph_t net = create_graph(nullptr, nullptr, nullptr);
    const float one = 1;
    const tensor_t in = add_input(net, "in", {1});
    const tensor_t c = add_constant(net, "c", {1}, &one);
    const tensor_t changed = add_node(net, "changed", "Neg", {c});
    const tensor_t sum = add_node(net, "sum", "Add", {in, changed});
    ASSERT_TRUE(set_borders(net, {"in"}, {"sum"}));
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "changed"), "CPU", &kernel.ops), 0);
    ASSERT_TRUE(write_floats(in, {10}));
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    EXPECT_EQ(kernel.count("run"), 0);
    ASSERT_EQ(run_graph(net, 1), 0);
    EXPECT_EQ(read_floats(sum), (std::vector<float>{13}));
}

TEST_F(CustomKernelTest, WorksUnderTheOtherScheduler)
{
    const context_t context = create_context("piped", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    const graph_t net = create_relu_graph(context);
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "y"), "CPU", &kernel.ops), 0);
    ASSERT_TRUE(write_floats(get_graph_tensor(net, "x"), {0, 1, 2, 3}));
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    for (int round = 0; round < 4; ++round)
        ASSERT_EQ(run_graph(net, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_tensor(net, "y")), (std::vector<float>{1, 3, 5, 7}));
    destroy_context(context);
    destroy_graph(net);
    EXPECT_EQ(kernel.count("postrun"), 1);
    EXPECT_EQ(kernel.releases, 1);
}

}  // namespace
}  // namespace tengine
