// SPDX-License-Identifier: Apache-2.0
// Every function that takes a handle gets a NULL, a stale, a foreign and a wrong one.
#include <cstddef>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// Calls a function with a handle and good arguments otherwise; true if it says it has failed.
struct Call
{
    const char* name;
    bool (*fails)(void* handle);
};

#define CALL(expression, failure)                                      \
    Call                                                               \
    {                                                                  \
#expression, [](void* h) { return (expression) == (failure); } \
    }
// Functions without result are only to survive.
#define VOID_CALL(expression)                         \
    Call                                              \
    {                                                 \
#expression, [](void* h) { expression; return true; } \
    }

int numbers[8];
float reals[8];
const char* names[] = {"x"};
custom_kernel_ops kernel_ops;
tengine_graph_stats stats;
tengine_execution_node execution_node;
tengine_execution_tensor execution_tensor;
tengine_refusal refusal;
tengine_subgraph part;
tengine_graph_memory memory;
tengine_device_memory device_memory;

int ignore_event(graph_t, int, void*)
{
    return 0;
}

const Call kContextCalls[] = {
    CALL(get_context_device_number(h), -1),
    CALL(add_context_device(h, "CPU"), -1),
    CALL(set_context_device(h, "CPU", nullptr, 0), -1),
    CALL(remove_context_device(h, "CPU"), -1),
    CALL(tengine_context_set_option(h, "split.prune", "0"), -1),
    CALL(tengine_context_get_option(h, "split.prune"), nullptr),
    CALL(set_context_attr(h, "a", numbers, 4), -1),
    CALL(get_context_attr(h, "a", numbers, 4), -1),
};

const Call kGraphCalls[] = {
    CALL(destroy_graph(h), -1),
    CALL(set_graph_layout(h, TENGINE_LAYOUT_NCHW), -1),
    CALL(set_graph_input_node(h, names, 1), -1),
    CALL(set_graph_output_node(h, names, 1), -1),
    CALL(get_graph_input_node_number(h), -1),
    CALL(get_graph_output_node_number(h), -1),
    CALL(get_graph_input_node(h, 0), nullptr),
    CALL(get_graph_output_node(h, 0), nullptr),
    CALL(get_graph_input_tensor(h, 0, 0), nullptr),
    CALL(get_graph_output_tensor(h, 0, 0), nullptr),
    CALL(tengine_graph_get_input_number(h), -1),
    CALL(tengine_graph_get_output_number(h), -1),
    CALL(tengine_graph_get_input(h, 0), nullptr),
    CALL(tengine_graph_get_output(h, 0), nullptr),
    CALL(set_graph_attr(h, "a", numbers, 4), -1),
    CALL(get_graph_attr(h, "a", numbers, 4), -1),
    CALL(set_graph_device(h, "CPU"), -1),
    CALL(tengine_graph_set_affinity(h, "*", "CPU"), -1),
    VOID_CALL(dump_graph(h)),
    CALL(create_graph_node(h, "n", "Relu"), nullptr),
    CALL(get_graph_node(h, "x"), nullptr),
    CALL(get_graph_node_by_idx(h, 0), nullptr),
    CALL(get_graph_node_num(h), -1),
    CALL(create_graph_tensor(h, "t", TENGINE_DT_FP32), nullptr),
    CALL(get_graph_tensor(h, "x"), nullptr),
    CALL(prerun_graph(h), -1),
    CALL(prerun_graph_multithread(h, options()), -1),
    CALL(run_graph(h, 1), -1),
    CALL(wait_graph(h, 1), -1),
    CALL(postrun_graph(h), -1),
    CALL(get_graph_exec_status(h), -1),
    CALL(set_graph_event_hook(h, GRAPH_EXEC_START, ignore_event, nullptr), -1),
    CALL(set_graph_thread(h, TENGINE_CLUSTER_ALL, 1), -1),
    CALL(set_graph_thread_mask(h, 1), -1),
    CALL(tengine_graph_get_tensor_number(h), -1),
    CALL(tengine_graph_get_tensor(h, 0), nullptr),
    CALL(tengine_graph_get_stats(h, &stats), -1),
    CALL(tengine_graph_get_execution_node_number(h), -1),
    CALL(tengine_graph_get_execution_node(h, 0, &execution_node), -1),
    CALL(tengine_graph_get_refusal(h, 0, 0, &refusal), -1),
    CALL(tengine_graph_get_execution_input(h, 0, 0, &execution_tensor), -1),
    CALL(tengine_graph_get_execution_output(h, 0, &execution_tensor), -1),
    CALL(tengine_graph_get_subgraph(h, 0, &part), -1),
    CALL(tengine_graph_get_scheduler(h), nullptr),
    CALL(get_graph_memory(h, &memory, sizeof memory), -1),
    CALL(tengine_graph_get_device_memory(h, 0, &device_memory, sizeof device_memory), -1),
};

const Call kNodeCalls[] = {
    CALL(get_node_name(h), nullptr),
    CALL(get_node_op(h), nullptr),
    CALL(get_node_device(h), nullptr),
    CALL(get_node_input_number(h), -1),
    CALL(get_node_output_number(h), -1),
    CALL(get_node_input_tensor(h, 0), nullptr),
    CALL(get_node_output_tensor(h, 0), nullptr),
    CALL(set_node_input_tensor(h, 0, h), -1),
    CALL(set_node_output_tensor(h, 0, h, TENSOR_TYPE_VAR), -1),
    CALL(add_node_attr(h, "a", "int", 4), -1),
    CALL(get_node_attr_int(h, "a", numbers), -1),
    CALL(get_node_attr_float(h, "a", reals), -1),
    CALL(get_node_attr_pointer(h, "a", numbers), -1),
    CALL(get_node_attr_generic(h, "a", "int", numbers, 4), -1),
    CALL(set_node_attr_int(h, "a", numbers), -1),
    CALL(set_node_attr_float(h, "a", reals), -1),
    CALL(set_node_attr_pointer(h, "a", numbers), -1),
    CALL(set_node_attr_generic(h, "a", "int", numbers, 4), -1),
    CALL(tengine_node_get_attr_number(h, "a"), -1),
    CALL(set_custom_kernel(h, "CPU", &kernel_ops), -1),
    CALL(remove_custom_kernel(h, "CPU"), -1),
    CALL(tengine_node_get_domain(h), nullptr),
    CALL(tengine_node_get_version(h), -1),
};

const Call kTensorCalls[] = {
    CALL(get_tensor_name(h), nullptr),
    CALL(get_tensor_shape(h, numbers, 8), -1),
    CALL(set_tensor_shape(h, numbers, 1), -1),
    CALL(get_tensor_buffer_size(h), -1),
    CALL(tengine_tensor_get_buffer_size(h), -1),
    CALL(get_tensor_buffer(h), nullptr),
    CALL(set_tensor_buffer(h, numbers, 4), -1),
    CALL(get_tensor_data(h, numbers, 4), -1),
    CALL(set_tensor_data(h, numbers, 4), -1),
    CALL(get_tensor_data_type(h), -1),
    CALL(set_tensor_data_type(h, TENGINE_DT_FP32), -1),
    CALL(get_tensor_layout(h), -1),
    CALL(set_tensor_layout(h, TENGINE_LAYOUT_NCHW), -1),
    CALL(set_tensor_quant_param(h, reals, numbers, 1), -1),
    CALL(get_tensor_quant_param(h, reals, numbers, 1), -1),
    CALL(tengine_tensor_get_type(h), -1),
    CALL(tengine_tensor_get_producer(h), nullptr),
    CALL(tengine_tensor_get_consumer_number(h), -1),
    CALL(tengine_tensor_get_consumer(h, 0), nullptr),
};

class HandleTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("c", 0);
        graph_ = create_relu_graph(context_);
        ASSERT_NE(graph_, nullptr);
        node_ = get_graph_node(graph_, "y");
        tensor_ = get_graph_tensor(graph_, "y");
        const graph_t other = create_relu_graph();
        stale_ = {other, get_graph_node(other, "y"), get_graph_tensor(other, "y")};
        destroy_graph(other);
        clr_tengine_errno();
    }

    template <size_t number>
    void expect_all_fail(const Call (&calls)[number], const std::vector<void*>& wrong_kinds)
    {
        std::vector<void*> handles = {nullptr, numbers, &handles};
        handles.insert(handles.end(), stale_.begin(), stale_.end());
        handles.insert(handles.end(), wrong_kinds.begin(), wrong_kinds.end());
        for (const Call& call : calls) {
            for (void* handle : handles) {
                EXPECT_TRUE(call.fails(handle)) << call.name;
                EXPECT_TRUE(failed_with(TENGINE_EHANDLE)) << call.name;
            }
        }
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    node_t node_ = nullptr;
    tensor_t tensor_ = nullptr;
    std::vector<void*> stale_;
};

TEST_F(HandleTest, Context)
{
    expect_all_fail(kContextCalls, {graph_, node_, tensor_});
}

TEST_F(HandleTest, Graph)
{
    expect_all_fail(kGraphCalls, {context_, node_, tensor_});
}

TEST_F(HandleTest, Node)
{
    expect_all_fail(kNodeCalls, {context_, graph_, tensor_});
}

TEST_F(HandleTest, Tensor)
{
    expect_all_fail(kTensorCalls, {context_, graph_, node_});
}

TEST_F(HandleTest, ReleasingHandlesDoesNothing)
{
    for (void* handle : {static_cast<void*>(nullptr), node_, tensor_, stale_[1]}) {
        release_graph_node(handle);
        release_graph_tensor(handle);
    }
    EXPECT_STREQ(get_node_name(node_), "y");
    EXPECT_STREQ(get_tensor_name(tensor_), "y");
}

TEST_F(HandleTest, CreateGraphTakesContextsOnly)
{
    for (void* handle : {graph_, node_, static_cast<void*>(numbers)}) {
        EXPECT_EQ(create_graph(handle, nullptr, nullptr), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
        destroy_context(handle);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    }
}

TEST_F(HandleTest, ConnectingNeedsTensorsOfTheSameGraph)
{
    for (void* handle : {static_cast<void*>(nullptr), graph_, node_, stale_[2]}) {
        EXPECT_EQ(set_node_input_tensor(node_, 0, handle), -1);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
        EXPECT_EQ(set_node_output_tensor(node_, 0, handle, TENSOR_TYPE_VAR), -1);
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    }
    // Only now: a new graph may get the addresses of the stale handles.
    const graph_t other = create_relu_graph(context_);
    const tensor_t foreign = get_graph_tensor(other, "x");
    EXPECT_EQ(set_node_input_tensor(node_, 0, foreign), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_output_tensor(node_, 0, foreign, TENSOR_TYPE_VAR), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(HandleTest, ManyGraphsComeAndGo)
{
    std::vector<graph_t> graphs;
    for (int i = 0; i < 300; ++i)
        graphs.push_back(create_relu_graph(i % 2 ? context_ : nullptr));
    for (size_t i = 0; i < graphs.size(); i += 2)
        EXPECT_EQ(destroy_graph(graphs[i]), 0);
    for (size_t i = 1; i < graphs.size(); i += 2) {
        EXPECT_STREQ(get_tensor_name(get_graph_tensor(graphs[i], "x")), "x");
        EXPECT_EQ(destroy_graph(graphs[i]), 0);
        EXPECT_EQ(destroy_graph(graphs[i]), -1);
    }
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

}  // namespace
}  // namespace tengine
