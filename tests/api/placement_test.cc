// SPDX-License-Identifier: Apache-2.0
// inspect.h, the execution graph: times, reasons, and the changes by a run. The rest of inspect.h:
// inspect_test.cc.
#include <cstring>

#include "fixture.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using PlacementTest = ApiTest;

TEST_F(PlacementTest, AnAbsentInputHasNoName)
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {2, 3});
    const float highest = 1.0f;
    const tensor_t most = add_constant(graph, "most", {}, &highest);
    add_node(graph, "y", "ai.onnx.Clip", {x});
    set_node_input_tensor(get_graph_node(graph, "y"), 2, most);
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    tengine_execution_tensor tensor;
    ASSERT_EQ(tengine_graph_get_execution_input(graph, 0, 1, &tensor), 0);
    EXPECT_STREQ(tensor.name, "");
    EXPECT_EQ(tensor.dim_number, -1);
    EXPECT_EQ(tensor.producer, -1);
    destroy_graph(graph);
}

TEST_F(PlacementTest, TimesAreKnownAfterARun)
{
    const context_t context = create_context("profiled", 1);
    for (const bool profiled : {false, true}) {
        ASSERT_EQ(tengine_context_set_option(context, "run.profile", profiled ? "1" : "0"), 0);
        const graph_t graph = create_relu_graph(context);
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        tengine_execution_node node;
        tengine_subgraph part;
        ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0);
        ASSERT_EQ(tengine_graph_get_subgraph(graph, 0, &part), 0);
        EXPECT_EQ(node.measured_ms, -1);
        EXPECT_EQ(part.measured_ms, -1);
        EXPECT_GE(node.predicted_ms, 0);
        EXPECT_EQ(part.predicted_ms, node.predicted_ms) << "it is its only node";
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0);
        ASSERT_EQ(tengine_graph_get_subgraph(graph, 0, &part), 0);
        EXPECT_GE(part.measured_ms, 0);
        EXPECT_EQ(node.measured_ms >= 0, profiled) << node.measured_ms;
        EXPECT_LE(node.measured_ms, part.measured_ms);
        destroy_graph(graph);
    }
    destroy_context(context);
}

TEST_F(PlacementTest, AGraphIsPlacedWithoutCompilingIt)
{
    test::TestDevice device("PLACED", {"Relu"});
    const context_t context = create_context("placed", 1);
    ASSERT_EQ(add_context_device(context, "PLACED"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(device.pre_runs, 1);
    ASSERT_EQ(tengine_graph_place(graph, {1, TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32, 0}), 0)
        << get_tengine_error();
    EXPECT_EQ(device.pre_runs, 1);
    EXPECT_EQ(get_graph_exec_status(graph), GRAPH_STAT_DONE) << "what was prepared is dropped";

    tengine_execution_node node;
    tengine_subgraph part;
    tengine_node_kernel kernel;
    tengine_counter counter;
    tengine_graph_memory memory;
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0);
    EXPECT_STREQ(node.device, "PLACED");
    EXPECT_EQ(node.measured_ms, -1);
    ASSERT_EQ(tengine_graph_get_subgraph(graph, 0, &part), 0);
    EXPECT_EQ(part.measured_ms, -1);
    ASSERT_EQ(tengine_graph_get_execution_kernel(graph, 0, &kernel, sizeof kernel), 0);
    EXPECT_STREQ(kernel.name, "");
    EXPECT_EQ(tengine_graph_get_counters(graph, 0, &counter, 1), 0);
    EXPECT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_scheduler(graph), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(wait_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));

    EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(device.runs, 1);
    ASSERT_EQ(tengine_graph_place(graph, {1, TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32, 0}), 0);
    ASSERT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(tengine_graph_get_execution_node_number(graph), -1);
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(PlacementTest, AGraphThatCannotBePlacedIsLeftUnprepared)
{
    const graph_t graph = create_relu_graph(nullptr);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_NE(create_graph_node(graph, "alone", "ai.onnx.Add"), nullptr);
    const char* outputs[] = {"alone"};
    ASSERT_EQ(set_graph_output_node(graph, outputs, 1), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_place(graph, {1, TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32, 0}), -1);
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    EXPECT_EQ(tengine_graph_get_execution_node_number(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    destroy_graph(graph);
}

// Otherwise another device would get the node, as if it had been refused.
TEST_F(PlacementTest, AShortageOfMemoryIsNoRefusal)
{
    test::TestDevice device("A", {"Relu"});
    device.on_inspect = [](const node&) {
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while judging a node");
    };
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    const graph_t graph = create_relu_graph(context);
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "memory"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_ENOMEM));
    device.on_inspect = nullptr;
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_STREQ(get_node_device(get_graph_node(graph, "y")), "A");
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(PlacementTest, APartMayHaveAGroup)
{
    test::TestDevice device("A", {"Relu"});
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    const graph_t graph = create_relu_graph(context);
    int group = -1;
    EXPECT_EQ(tengine_graph_get_subgraph_group(graph, 0, &group), -1) << "not prepared";
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(tengine_graph_get_subgraph_group(graph, 0, &group), 0) << get_tengine_error();
    EXPECT_EQ(group, 0);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "y", "A#3"), 0) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(tengine_graph_get_subgraph_group(graph, 0, &group), 0) << get_tengine_error();
    EXPECT_EQ(group, 3);
    EXPECT_EQ(tengine_graph_get_subgraph_group(graph, 1, &group), -1) << "there is one part";
    EXPECT_EQ(tengine_graph_get_subgraph_group(graph, 0, nullptr), -1);
    destroy_graph(graph);
    destroy_context(context);
}

int count_two(device*, subgraph*, vector* out_counters)
{
    const ir_counter_t counters[] = {{"weight stall", "cycles", 1234}, {"utilisation", "%", 12.5}};
    for (const ir_counter_t& counter : counters)
        if (push_vector_data(out_counters, &counter) < 0) return TENGINE_ENOMEM;
    return 0;
}

TEST_F(PlacementTest, CountersOfTheLastRun)
{
    test::TestDevice device("A", {"Relu"});
    device.get()->interface->count = count_two;
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    tengine_counter counters[2];
    EXPECT_LT(tengine_graph_get_counters(graph, 0, counters, 2), 0) << "not prepared";
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_counters(graph, 0, counters, 2), 0) << "not run";
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_counters(graph, 0, nullptr, 0), 2);
    EXPECT_EQ(tengine_graph_get_counters(graph, 0, counters, 1), 2)
        << "fills what there is room for";
    ASSERT_EQ(tengine_graph_get_counters(graph, 0, counters, 2), 2);
    EXPECT_STREQ(counters[0].name, "weight stall");
    EXPECT_STREQ(counters[0].unit, "cycles");
    EXPECT_EQ(counters[0].value, 1234);
    EXPECT_STREQ(counters[1].name, "utilisation");
    EXPECT_EQ(counters[1].value, 12.5);
    EXPECT_LT(tengine_graph_get_counters(graph, 1, counters, 2), 0) << "there is one part";
    EXPECT_LT(tengine_graph_get_counters(graph, 0, nullptr, 2), 0);
    device.get()->interface->count = [](::device*, subgraph*, vector*) -> int {
        return TENGINE_EDEVICE;
    };
    EXPECT_LT(tengine_graph_get_counters(graph, 0, counters, 2), 0);
    EXPECT_NE(std::strstr(get_tengine_error(), "count"), nullptr) << get_tengine_error();
    destroy_graph(graph);
    destroy_context(context);
}

// The placement of parts may change while a run is in flight.
TEST_F(PlacementTest, NotWhileItRuns)
{
    test::TestDevice device("A", {"Relu"});
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "split.report", "none"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    int asked = 0;
    device.on_run = [&](subgraph*) {
        tengine_execution_node node;
        tengine_refusal refusal;
        tengine_subgraph part;
        tengine_execution_tensor tensor;
        const auto fails = [&](int result) {
            EXPECT_EQ(result, -1);
            EXPECT_TRUE(failed_with(TENGINE_ESTATE));
            ++asked;
        };
        fails(tengine_graph_get_execution_node_number(graph));
        fails(tengine_graph_get_execution_node(graph, 0, &node));
        fails(tengine_graph_get_refusal(graph, 0, 0, &refusal));
        fails(tengine_graph_get_execution_input(graph, 0, 0, &tensor));
        fails(tengine_graph_get_execution_output(graph, 0, &tensor));
        fails(tengine_graph_get_subgraph(graph, 0, &part));
        fails(!tengine_graph_get_scheduler(graph) ? -1 : 0);
        return 0;
    };
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(asked, 7);
    EXPECT_EQ(tengine_graph_get_execution_node_number(graph), 1);
    destroy_graph(graph);
    destroy_context(context);
}

// Code, attribute, value and message of a refusal, and the trace of a failed run.
TEST_F(PlacementTest, ReasonsOfADevice)
{
    test::TestDevice device("A", {"Relu"});
    device.refusal = [](const node&) { return "not today"; };
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "split.report", "none"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "run.shape_cache", "0"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    tengine_execution_node node;
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0);
    EXPECT_STREQ(node.device, get_default_device());
    ASSERT_EQ(node.refusal_number, 1);
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0);
    EXPECT_STREQ(refusal.device, "A");
    EXPECT_NE(strstr(refusal.message, "not today"), nullptr) << refusal.message;

    device.refusal = nullptr;
    device.fail_run = 1;
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    set_log_level(LOG_ERR);
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    set_log_level(LOG_NOTICE);
    tengine_subgraph part;
    ASSERT_EQ(tengine_graph_get_subgraph(graph, 0, &part), 0);
    EXPECT_STREQ(part.device, get_default_device());
    EXPECT_EQ(part.redo_number, 1);
    ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0);
    EXPECT_STREQ(refusal.device, "A");
    EXPECT_STREQ(refusal.reason, "run");
    destroy_graph(graph);
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
