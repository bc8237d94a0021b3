// SPDX-License-Identifier: Apache-2.0
// Custom kernels: when the functions of struct custom_kernel_ops are called, their arguments, and
// the effects of their failures. Shapes and memory are in custom_kernel_tensor_test.cc.
#include <cstring>

#include "kernel_recorder.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

TEST_F(CustomKernelTest, RunsInTheOperatorsPlace)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0) << get_tengine_error();
    ASSERT_TRUE(prepare_and_run()) << get_tengine_error();
    EXPECT_EQ(read_floats(y), kDoubled);
    EXPECT_EQ(kernel.calls, (Calls{"bind", "prerun", "run"}));
    EXPECT_EQ(kernel.dynamic, 0);
    EXPECT_EQ(run_graph(graph, 1), 0);
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(kernel.calls, (Calls{"bind", "prerun", "run", "run", "postrun"}));
    EXPECT_EQ(kernel.releases, 0);
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(kernel.releases, 1);
    EXPECT_EQ(kernel.calls.size(), 5u);
}

TEST_F(CustomKernelTest, TensorsTellTheTruth)
{
    ASSERT_EQ(set_tensor_layout(x, TENGINE_LAYOUT_NHWC), 0);
    ASSERT_EQ(set_custom_kernel(node, nullptr, &kernel.ops), 0);
    ASSERT_TRUE(prepare_and_run());
    ASSERT_EQ(kernel.inputs.size(), 1u);
    ASSERT_EQ(kernel.outputs.size(), 1u);
    const custom_kernel_tensor& input = kernel.inputs[0];
    EXPECT_EQ(input.dim_num, 1);
    EXPECT_EQ(input.dim[0], 4);
    EXPECT_EQ(input.dim[1], 0);
    EXPECT_EQ(input.element_num, 4);
    EXPECT_EQ(input.element_size, 4);
    EXPECT_EQ(input.data_type, TENGINE_DT_FP32);
    EXPECT_EQ(input.layout_type, TENGINE_LAYOUT_NHWC);
    EXPECT_EQ(input.quant_type, 0);
    EXPECT_EQ(input.scale, nullptr);
    EXPECT_EQ(kernel.input_data[0], get_tensor_buffer(x));
    EXPECT_EQ(kernel.output_data[0], get_tensor_buffer(y));
    EXPECT_EQ(kernel.outputs[0].layout_type, TENGINE_LAYOUT_NCHW);
}

// Two 4-bit elements share a byte, where the kernel would expect one.
TEST_F(CustomKernelTest, GetsNoElementsThatShareBytes)
{
    for (const bool tells_shapes : {false, true}) {
        kernel.ops.infer_shape = tells_shapes ? infer_like_input : nullptr;
        ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
        ASSERT_EQ(set_tensor_data_type(x, TENGINE_DT_INT4), 0);
        ASSERT_EQ(set_tensor_data_type(y, TENGINE_DT_FP32), 0);
        EXPECT_EQ(prerun_graph(graph), -1);
        EXPECT_NE(std::string(get_tengine_error()).find("is int4, which it does not take"),
                  std::string::npos)
            << get_tengine_error();
        EXPECT_EQ(get_tengine_errno(), TENGINE_EDTYPE);
        ASSERT_EQ(remove_custom_kernel(node, nullptr), 0);
    }
}

TEST_F(CustomKernelTest, ReportsNameIt)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    ASSERT_TRUE(prepare_and_run());
    tengine_execution_node placed;
    ASSERT_EQ(tengine_graph_get_execution_node_number(graph), 1);
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &placed), 0);
    EXPECT_STREQ(placed.name, "y");
    EXPECT_STREQ(placed.op, "Relu");
    EXPECT_STREQ(placed.domain, "");
    EXPECT_STREQ(placed.kernel, "double");
    EXPECT_EQ(placed.source, node);
    EXPECT_STREQ(get_node_device(node), "CPU");
    EXPECT_STREQ(get_node_op(node), "Relu");
    ASSERT_EQ(remove_custom_kernel(node, "CPU"), 0);
    ASSERT_TRUE(prepare_and_run());
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &placed), 0);
    EXPECT_STREQ(placed.kernel, "");
}

TEST_F(CustomKernelTest, IsRemovedAgain)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(remove_custom_kernel(node, nullptr), 0);
    EXPECT_EQ(kernel.releases, 1);
    EXPECT_EQ(kernel.calls.back(), "postrun");
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(read_floats(y), kRelu);
    EXPECT_EQ(remove_custom_kernel(node, "CPU"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    ASSERT_EQ(remove_custom_kernel(node, "CPU"), 0);
    EXPECT_EQ(kernel.releases, 2);
    EXPECT_EQ(kernel.count("postrun"), 1);
}

TEST_F(CustomKernelTest, CountsFromTheNextPrerun)
{
    ASSERT_TRUE(prepare_and_run());
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(read_floats(y), kDoubled);
}

TEST_F(CustomKernelTest, ArgumentsAreChecked)
{
    EXPECT_EQ(set_custom_kernel(node, "CPU", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_custom_kernel(node, "TIMVX", &kernel.ops), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("'TIMVX'"), std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(remove_custom_kernel(node, "TIMVX"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(set_custom_kernel(get_graph_node(graph, "x"), "CPU", &kernel.ops), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    custom_kernel_ops without_run = kernel.ops;
    without_run.run = nullptr;
    EXPECT_EQ(set_custom_kernel(node, "CPU", &without_run), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    kernel.ops.op = "Conv";
    EXPECT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    kernel.ops.op = "Relu";
    EXPECT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    EXPECT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(kernel.releases, 0);
}

TEST_F(CustomKernelTest, OnlyRunIsNeeded)
{
    custom_kernel_ops ops = {};
    ops.run = kernel.ops.run;
    kernel.ops = ops;
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(read_floats(y), kDoubled);
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(kernel.calls, Calls{"run"});
}

TEST_F(CustomKernelTest, LivesThroughManyPreparations)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(prepare_and_run()) << get_tengine_error();
        EXPECT_EQ(read_floats(y), kDoubled);
        if (round != 1) {
            EXPECT_EQ(postrun_graph(graph), 0);
        }
    }
    EXPECT_EQ(kernel.count("prerun"), 3);
    EXPECT_EQ(kernel.count("postrun"), 3);
}

// ---- refusal and failure ----

std::string logged;

TEST_F(CustomKernelTest, ARefusedNodeGoesToTheBuiltInOperator)
{
    kernel.results["bind"] = -1;
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    logged.clear();
    set_log_output([](const char* line) { logged += line; });
    EXPECT_TRUE(prepare_and_run()) << get_tengine_error();
    set_log_output(nullptr);
    EXPECT_EQ(read_floats(y), kRelu);
    EXPECT_EQ(kernel.calls, Calls{"bind"});
    EXPECT_NE(logged.find("Relu 'y': bind of custom kernel 'double' returned -1"),
              std::string::npos)
        << logged;
    kernel.results["bind"] = 0;  // the kernel is asked again
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(read_floats(y), kDoubled);
}

TEST_F(CustomKernelTest, AForcedKernelDoesNotGiveWay)
{
    kernel.results["bind"] = -1;
    kernel.ops.force = 1;
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    EXPECT_FALSE(prepare_and_run());
    const std::string sentence = last_error();
    EXPECT_NE(sentence.find("Relu 'y': bind of custom kernel 'double' returned -1"),
              std::string::npos)
        << sentence;
    kernel.results["bind"] = 0;
    EXPECT_TRUE(prepare_and_run());
}

TEST_F(CustomKernelTest, EveryFailureNamesItsFunction)
{
    kernel.ops.infer_shape = infer_like_input;
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    for (const char* function : {"infer_shape", "prerun", "run", "postrun"}) {
        kernel.results = {{function, -7}};
        const bool ran = prepare_and_run();
        const bool is_last = std::strcmp(function, "postrun") == 0;
        EXPECT_EQ(ran, is_last) << function;
        if (is_last) {
            EXPECT_EQ(postrun_graph(graph), -1);
        }
        EXPECT_EQ(get_tengine_errno(), -7);
        const std::string sentence = last_error();
        EXPECT_NE(sentence.find(std::string("Relu 'y': ") + function +
                                " of custom kernel 'double' returned -7"),
                  std::string::npos)
            << sentence;
        kernel.results.clear();
        ASSERT_TRUE(prepare_and_run()) << function << ": " << get_tengine_error();
        EXPECT_EQ(read_floats(y), kDoubled);
        ASSERT_EQ(postrun_graph(graph), 0);
        EXPECT_EQ(kernel.prepared, 0) << function;
    }
}

TEST_F(CustomKernelTest, AFailureWithASentenceKeepsBoth)
{
    kernel.ops.infer_shape = infer_like_input;
    kernel.ops.force = 1;
    kernel.sentence = "the coprocessor is at 91 degrees, 85 are allowed";
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    for (const char* function : {"infer_shape", "bind", "prerun", "run", "postrun"}) {
        kernel.results = {{function, TENGINE_ERANGE}};
        const bool ran = prepare_and_run();
        EXPECT_EQ(ran, std::strcmp(function, "postrun") == 0) << function;
        if (ran) {
            EXPECT_EQ(postrun_graph(graph), -1);
        }
        const std::string wanted =
            std::string("Relu 'y': ") + function + " of custom kernel 'double': " + kernel.sentence;
        EXPECT_NE(std::string(get_tengine_error()).find(wanted), std::string::npos)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(TENGINE_ERANGE)) << function;
        kernel.results.clear();
        EXPECT_EQ(postrun_graph(graph), 0) << get_tengine_error();
    }
}

TEST_F(CustomKernelTest, AFailureOfTengineLiteIsTheDevices)
{
    ASSERT_EQ(set_custom_kernel(node, "CPU", &kernel.ops), 0);
    for (const int returned : {-1, 5}) {
        kernel.results = {{"run", returned}};
        EXPECT_FALSE(prepare_and_run());
        EXPECT_TRUE(failed_with(TENGINE_EDEVICE)) << returned;
    }
}

TEST_F(CustomKernelTest, AFailingPrerunUndoesTheOthers)
{
    Recorder first, second;
    const tensor_t z = add_node(graph, "z", "Relu", {y});
    ASSERT_NE(z, nullptr);
    ASSERT_TRUE(set_borders(graph, {"x"}, {"z"}));
    ASSERT_EQ(set_custom_kernel(node, "CPU", &first.ops), 0);
    ASSERT_EQ(set_custom_kernel(get_graph_node(graph, "z"), "CPU", &second.ops), 0);
    second.results["prerun"] = -1;
    EXPECT_FALSE(prepare_and_run());
    EXPECT_NE(last_error().find("Relu 'z': prerun"), std::string::npos);
    EXPECT_EQ(first.calls, (Calls{"bind", "prerun", "postrun"}));
    EXPECT_EQ(second.count("postrun"), 0);
    second.results.clear();
    ASSERT_TRUE(prepare_and_run()) << get_tengine_error();
    EXPECT_EQ(read_floats(z), (std::vector<float>{-1, 3, 7, 11}));
    // A node that is cut away is no longer prepared.
    ASSERT_EQ(set_borders(graph, {"x"}, {"y"}), true);
    ASSERT_TRUE(prepare_and_run());
    EXPECT_EQ(second.calls.back(), "postrun");
    EXPECT_EQ(first.calls.back(), "run");
    destroy_graph(graph);
    EXPECT_EQ(first.releases + second.releases, 2);
}

}  // namespace
}  // namespace tengine
