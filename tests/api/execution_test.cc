// SPDX-License-Identifier: Apache-2.0
// Prepare, run, wait, release: results, memory of outputs, events, threads.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "support/test_device.h"

namespace tengine {
namespace {

class ExecutionTest : public ReluTest
{
};

using Floats = std::vector<float>;

TEST_F(ExecutionTest, RunsAnyNumberOfTimes)
{
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    for (float factor : {1.f, -1.f, 2.f}) {
        ASSERT_TRUE(write_floats(x_, {-1 * factor, 2 * factor, -3 * factor, 4 * factor}));
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        const Floats expected =
            factor > 0 ? Floats{0, 2 * factor, 0, 4 * factor} : Floats{1, 0, 3, 0};
        EXPECT_EQ(read_floats(y_), expected);
    }
}

TEST_F(ExecutionTest, InputBufferBeforeOrAfterPrerunAndBetweenRuns)
{
    float first[4] = {1, -1, 1, -1};
    float second[4] = {-2, 2, -2, 2};
    ASSERT_EQ(set_tensor_buffer(x_, first, sizeof first), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(y_), (Floats{1, 0, 1, 0}));
    ASSERT_EQ(set_tensor_buffer(x_, second, sizeof second), 0);
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 2}));
    second[0] = 5;
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(y_), (Floats{5, 2, 0, 2}));
}

TEST_F(ExecutionTest, OutputsGoIntoTheUsersBuffer)
{
    float result[4] = {};
    ASSERT_TRUE(write_floats(x_, {1, -1, 2, -2}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_buffer(y_, result, sizeof result), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(Floats(result, result + 4), (Floats{1, 0, 2, 0}));
    EXPECT_EQ(get_tensor_buffer(y_), result);
    // Without the program's buffer, its memory has to be planned.
    ASSERT_EQ(set_tensor_buffer(y_, nullptr, 0), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    result[0] = 42;
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(result[0], 42);
    EXPECT_EQ(read_floats(y_), (Floats{1, 0, 2, 0}));
}

TEST_F(ExecutionTest, RunNeedsInputData)
{
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "'x'"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4}));
    EXPECT_EQ(run_graph(graph_, 1), 0) << "a failed run can be repeated";
}

TEST_F(ExecutionTest, OutputsAreShapedAndPlacedByPrerun)
{
    int dims[8] = {};
    EXPECT_EQ(get_tensor_buffer(y_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(get_tensor_shape(y_, dims, 8), 1);
    EXPECT_EQ(dims[0], 4);
    EXPECT_EQ(get_tensor_buffer_size(y_), 16);
    EXPECT_NE(get_tensor_buffer(y_), nullptr);
    ASSERT_EQ(postrun_graph(graph_), 0);
    EXPECT_EQ(get_tensor_buffer(y_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(ExecutionTest, ATensorThatIsNoOutputAnyMoreHasNoMemory)
{
    const tensor_t z = add_node(graph_, "z", "Neg", {y_});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"z"}));
    EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 4})) << "until the next prerun";
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(get_tensor_buffer(y_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(z), (Floats{0, -2, 0, -4}));
}

// y = Relu(x) is a result and feeds z = Neg(y), which feeds w = Relu(z).
TEST_F(ExecutionTest, OutputsThatFeedOtherNodesKeepTheirMemory)
{
    const tensor_t z = add_node(graph_, "z", "Neg", {y_});
    const tensor_t w = add_node(graph_, "w", "Abs", {z});
    const tensor_t v = add_node(graph_, "v", "Add", {w, y_});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y", "z", "v"}));
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 4}));
        EXPECT_EQ(read_floats(z), (Floats{0, -2, 0, -4}));
        EXPECT_EQ(read_floats(v), (Floats{0, 4, 0, 8}));
    }
    EXPECT_EQ(get_tensor_buffer(w), nullptr) << "an intermediate tensor";
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(ExecutionTest, ReshapeTakesEffectAtPrerun)
{
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const int dims[] = {2, 3};
    ASSERT_EQ(set_tensor_shape(x_, dims, 2), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(x_, {-1, 1, -2, 2, -3, 3}));
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(y_), (Floats{0, 1, 0, 2, 0, 3}));
    int read[8] = {};
    EXPECT_EQ(get_tensor_shape(y_, read, 8), 2);
    EXPECT_EQ(read[1], 3);
}

TEST_F(ExecutionTest, ConstantsAreTakenAtPrerun)
{
    const float ten = 10;
    const tensor_t c = add_constant(graph_, "c", {1}, &ten);
    const tensor_t sum = add_node(graph_, "sum", "Add", {y_, c});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"sum"}));
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(sum), (Floats{11, 12, 13, 14}));
    ASSERT_TRUE(write_floats(c, {20}));
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(sum), (Floats{21, 22, 23, 24}));
}

TEST_F(ExecutionTest, ChangesNeedPrerun)
{
    const node_t leaky = create_graph_node(graph_, "leaky", "LeakyRelu");
    const tensor_t out = create_graph_tensor(graph_, "leaky", TENGINE_DT_FP32);
    ASSERT_EQ(set_node_input_tensor(leaky, 0, x_), 0);
    ASSERT_EQ(set_node_output_tensor(leaky, 0, out, TENSOR_TYPE_VAR), 0);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"leaky"}));
    ASSERT_TRUE(write_floats(x_, {-1, 1, -2, 2}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    const float half = 0.5f;
    ASSERT_EQ(set_node_attr_float(leaky, "alpha", &half), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(out), (Floats{-0.5f, 1, -1, 2}));
    // A refused change has no effect.
    EXPECT_EQ(set_node_attr_float(leaky, "beta", &half), -1);
    EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
}

TEST_F(ExecutionTest, PrerunNamesWhatIsWrong)
{
    const node_t add = create_graph_node(graph_, "sum", "Add");
    const tensor_t out = create_graph_tensor(graph_, "sum", TENGINE_DT_FP32);
    ASSERT_EQ(set_node_input_tensor(add, 0, y_), 0);
    ASSERT_EQ(set_node_output_tensor(add, 0, out, TENSOR_TYPE_VAR), 0);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"sum"}));
    EXPECT_EQ(prerun_graph(graph_), -1) << "an input is missing";
    EXPECT_NE(std::strstr(get_tengine_error(), "sum"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    // An input that is never written.
    const tensor_t nowhere = create_graph_tensor(graph_, "nowhere", TENGINE_DT_FP32);
    ASSERT_EQ(set_node_input_tensor(add, 1, nowhere), 0);
    EXPECT_EQ(prerun_graph(graph_), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "nowhere"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    // A cycle.
    ASSERT_EQ(set_node_input_tensor(add, 1, out), 0);
    EXPECT_EQ(prerun_graph(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    // With the corrected input, it works.
    ASSERT_EQ(set_node_input_tensor(add, 1, x_), 0);
    EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
}

TEST_F(ExecutionTest, InputsMustBeListed)
{
    const tensor_t other = add_input(graph_, "other", {4});
    add_node(graph_, "sum", "Add", {y_, other});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"sum"}));
    EXPECT_EQ(prerun_graph(graph_), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "other"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    ASSERT_TRUE(set_borders(graph_, {"x", "other"}, {"sum"}));
    EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
}

TEST_F(ExecutionTest, InputNodesMakeInputs)
{
    const node_t node = create_graph_node(graph_, "in", "InputOp");
    const tensor_t in = create_graph_tensor(graph_, "in", TENGINE_DT_FP32);
    const int dims[] = {2};
    ASSERT_EQ(set_node_output_tensor(node, 0, in, TENSOR_TYPE_VAR), 0);
    ASSERT_EQ(set_tensor_shape(in, dims, 1), 0);
    const tensor_t out = add_node(graph_, "out", "Neg", {in});
    ASSERT_TRUE(set_borders(graph_, {"in"}, {"out"}));
    ASSERT_TRUE(write_floats(in, {1, -2})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(out), (Floats{-1, 2}));
}

TEST_F(ExecutionTest, ANodeWithoutInputsMayBeFedAndComputesAgain)
{
    const tensor_t c = add_node(graph_, "c", "Constant", {});
    const float values[] = {10, 20, 30, 40};
    ASSERT_EQ(set_node_attr_generic(get_graph_node(graph_, "c"), "value_floats", "float[]", values,
                                    sizeof values),
              0)
        << get_tengine_error();
    const tensor_t sum = add_node(graph_, "sum", "ai.onnx.Add", {x_, c});
    ASSERT_TRUE(set_borders(graph_, {"x", "c"}, {"sum"}));
    const int dims[] = {4};
    ASSERT_EQ(set_tensor_shape(c, dims, 1), 0);
    ASSERT_TRUE(write_floats(c, {1, 1, 1, 1}));
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(sum), (Floats{2, 3, 4, 5}));
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"sum"}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(sum), (Floats{11, 22, 33, 44}));
}

TEST_F(ExecutionTest, InputsAndConstantsMayBeOutputs)
{
    const float values[] = {5, 6};
    const tensor_t c = add_constant(graph_, "c", {2}, values);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"x", "c", "y"}));
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph_, 0)), (Floats{-1, 2, -3, 4}));
    EXPECT_EQ(read_floats(c), (Floats{5, 6}));
    EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 4}));
    // No node at all.
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"x"}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(x_), (Floats{-1, 2, -3, 4}));
}

// A result that needs no run is still a result.
TEST_F(ExecutionTest, FoldedOutputsHaveData)
{
    const float values[] = {5, -6};
    const tensor_t c = add_constant(graph_, "c", {2}, values);
    const tensor_t folded = add_node(graph_, "folded", "Neg", {c});
    const tensor_t same = add_node(graph_, "same", "Identity", {y_});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"folded", "same", "y"}));
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(folded), (Floats{-5, 6}));
    EXPECT_EQ(read_floats(same), (Floats{0, 2, 0, 4}));
    EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 4}));
    // Each output has a buffer of the user's.
    float buffers[3][4] = {};
    ASSERT_EQ(set_tensor_buffer(folded, buffers[0], 8), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_buffer(same, buffers[1], 16), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_buffer(y_, buffers[2], 16), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(Floats(buffers[0], buffers[0] + 2), (Floats{-5, 6}));
    EXPECT_EQ(Floats(buffers[1], buffers[1] + 4), (Floats{0, 2, 0, 4}));
    EXPECT_EQ(Floats(buffers[2], buffers[2] + 4), (Floats{0, 2, 0, 4}));
}

TEST_F(ExecutionTest, StatusFollowsTheStates)
{
    EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_CREATED);
    EXPECT_EQ(postrun_graph(graph_), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(wait_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_READY);
    EXPECT_EQ(wait_graph(graph_, 1), -1) << "no run was started";
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4}));
    for (int block : {1, 0}) {
        ASSERT_EQ(run_graph(graph_, block), 0) << get_tengine_error();
        EXPECT_EQ(wait_graph(graph_, 0), 1);
        EXPECT_EQ(wait_graph(graph_, 1), 1);
    }
    EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_READY);
    EXPECT_EQ(postrun_graph(graph_), 0);
    EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_DONE);
    EXPECT_EQ(postrun_graph(graph_), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

// ---- events ----

struct Events
{
    tensor_t input;
    std::vector<int> seen;
    std::vector<int> refusals;
};

int note_event(graph_t graph, int event, void* argument)
{
    Events& events = *static_cast<Events*>(argument);
    events.seen.push_back(event);
    EXPECT_EQ(get_graph_exec_status(graph), GRAPH_STAT_RUNNING);
    const int dims[] = {8};
    events.refusals = {run_graph(graph, 1),
                       prerun_graph(graph),
                       postrun_graph(graph),
                       destroy_graph(graph),
                       wait_graph(graph, 0),
                       set_tensor_shape(events.input, dims, 1),
                       set_graph_thread_mask(graph, 1)};
    return -1;
}

TEST_F(ExecutionTest, EventsAreRaisedAroundARun)
{
    Events events = {x_, {}, {}};
    for (int event : {GRAPH_EXEC_START, GRAPH_EXEC_DONE, GRAPH_EXEC_ABORT, GRAPH_EXEC_SUSPEND})
        ASSERT_EQ(set_graph_event_hook(graph_, event, note_event, &events), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_TRUE(events.seen.empty());
    EXPECT_EQ(run_graph(graph_, 1), -1) << "no input data";
    EXPECT_EQ(events.seen, (std::vector<int>{GRAPH_EXEC_START, GRAPH_EXEC_ABORT}));
    const std::vector<std::string> logged = take_logged_failures();
    EXPECT_EQ(logged.size(), 2 * 6u + 1) << "the hooks' calls and the run";
    EXPECT_EQ(logged.back(), get_tengine_error());
    EXPECT_EQ(wait_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    events.seen.clear();
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4}));
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(events.seen, (std::vector<int>{GRAPH_EXEC_START, GRAPH_EXEC_DONE}));
    EXPECT_EQ(events.refusals, (std::vector<int>{-1, -1, -1, -1, 0, -1, -1}));
    events.seen.clear();
    ASSERT_EQ(set_graph_event_hook(graph_, GRAPH_EXEC_START, nullptr, nullptr), 0);
    ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
    EXPECT_EQ(events.seen, (std::vector<int>{GRAPH_EXEC_DONE}));
    take_logged_failures();
    for (int event : {-1, 5}) {
        EXPECT_EQ(set_graph_event_hook(graph_, event, note_event, &events), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
}

// ---- threads and options ----

TEST_F(ExecutionTest, AnyOptionsAreMadeToFit)
{
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    const options all[] = {
        {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0},
        {2, TENGINE_CLUSTER_BIG, 0, 255},
        {0, TENGINE_CLUSTER_MEDIUM, 0, ~0ull},
        {-5, -1, -1, 0},
        {1 << 20, 77, 99, 1ull << 63},
    };
    for (const options& option : all) {
        ASSERT_EQ(prerun_graph_multithread(graph_, option), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(y_), (Floats{0, 2, 0, 4}));
    }
}

TEST_F(ExecutionTest, ThreadsAreSetForTheNextPrerun)
{
    ASSERT_TRUE(write_floats(x_, {-1, 2, -3, 4}));
    EXPECT_EQ(set_graph_thread(graph_, TENGINE_CLUSTER_ALL, 2), 0);
    EXPECT_EQ(set_graph_thread_mask(graph_, get_cluster_affinity_mask(TENGINE_CLUSTER_ALL)), 0);
    EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(set_graph_thread(graph_, TENGINE_CLUSTER_LITTLE, 0), 0);
    EXPECT_EQ(run_graph(graph_, 1), 0) << "what is prepared stays: " << get_tengine_error();
    for (int cluster : {-1, 4}) {
        EXPECT_EQ(set_graph_thread(graph_, cluster, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
}

TEST_F(ExecutionTest, ClustersHaveCores)
{
    const size_t all = get_cluster_affinity_mask(TENGINE_CLUSTER_ALL);
    EXPECT_NE(all, 0u);
    for (int cluster :
         {TENGINE_CLUSTER_BIG, TENGINE_CLUSTER_MEDIUM, TENGINE_CLUSTER_LITTLE, -1, 9}) {
        const size_t mask = get_cluster_affinity_mask(cluster);
        EXPECT_NE(mask, 0u);
        EXPECT_EQ(mask & ~all, 0u);
    }
}

TEST_F(ExecutionTest, AnotherThreadMayCancelThePreparation)
{
    test::TestDevice device("A", {"Relu"});
    const context_t context = create_context("cancelled", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0);
    const graph_t graph = create_relu_graph(context);
    device.on_pre_run = [graph](subgraph*) {
        std::thread([graph] { EXPECT_EQ(tengine_graph_cancel(graph), 0); }).join();
    };
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
    EXPECT_EQ(tengine_graph_cancel(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    device.on_pre_run = nullptr;
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    destroy_context(context);
}

// A convolution of 3 channels to 8, which may be computed in NHWC, of an image with one nonzero
// pixel: channels 1, 4 and 7 are 1 there.
tensor_t add_dotted_channels(graph_t graph)
{
    Floats weights(8 * 3);
    for (size_t i = 0; i < 8; ++i)
        weights[3 * i + i % 3] = 1;
    const tensor_t x = add_input(graph, "x", {1, 3, 4, 5});
    return add_node(graph, "c", "Conv",
                    {x, add_constant(graph, "w", {8, 3, 1, 1}, weights.data())});
}

bool write_dot(graph_t graph)
{
    Floats pixels(3 * 4 * 5);
    pixels[(1 * 4 + 2) * 5 + 3] = 1;
    return write_floats(get_graph_tensor(graph, "x"), pixels);
}

// A node whose own shape depends on data sees the channels at axis 1.
TEST_F(ExecutionTest, ShapesThatDependOnDataOfAConvolution)
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t c = add_dotted_channels(graph);
    const tensor_t y = add_node(graph, "y", "NonZero", {c}, TENGINE_DT_INT64);
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_TRUE(write_dot(graph)) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    std::vector<int64_t> indices(12);
    ASSERT_EQ(get_tensor_data(y, indices.data(), 12 * 8), 0) << get_tengine_error();
    EXPECT_EQ(indices, (std::vector<int64_t>{0, 0, 0, 1, 4, 7, 2, 2, 2, 3, 3, 3}));
    destroy_graph(graph);
}

// A node whose shape depends on the data of another node does, too, in the first run and in later
// ones: all rows of 5 pixels times [5, n], where n is the number of nonzero values of the mask.
TEST_F(ExecutionTest, ShapesThatDependOnDataBesideAConvolution)
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t c = add_dotted_channels(graph);
    const float columns[] = {1, 2, 3, 4, 5};
    const tensor_t mask = add_input(graph, "mask", {3});
    const tensor_t where = add_node(graph, "where", "NonZero", {mask}, TENGINE_DT_INT64);
    const tensor_t count = add_node(graph, "count", "CastLike", {where, mask});
    const tensor_t table = add_constant(graph, "columns", {5, 1}, columns);
    const tensor_t wide = add_node(graph, "wide", "MatMul", {table, count});
    const tensor_t y = add_node(graph, "y", "MatMul", {c, wide});
    ASSERT_TRUE(set_borders(graph, {"x", "mask"}, {"y"})) << get_tengine_error();
    ASSERT_TRUE(write_dot(graph) && write_floats(mask, {0, 1, 1})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    for (int run = 0; run < 2; ++run) {
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        Floats expected(8 * 4 * 2);
        for (const size_t channel : {1, 4, 7}) {
            expected[(channel * 4 + 2) * 2] = 4;
            expected[(channel * 4 + 2) * 2 + 1] = 8;
        }
        EXPECT_EQ(read_floats(y), expected) << "run " << run;
    }
    destroy_graph(graph);
}

}  // namespace
}  // namespace tengine
