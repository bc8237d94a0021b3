// SPDX-License-Identifier: Apache-2.0
// Every function that takes a handle gets a NULL, a stale, a foreign and a wrong one.
#include <vector>

#include "failing_calls.h"
#include "fixture.h"

namespace tengine {
namespace {

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

    void expect_all_fail(const std::vector<FailingCall>& calls,
                         const std::vector<void*>& wrong_kinds)
    {
        std::vector<void*> handles = {nullptr, this, &handles};
        handles.insert(handles.end(), stale_.begin(), stale_.end());
        handles.insert(handles.end(), wrong_kinds.begin(), wrong_kinds.end());
        for (const FailingCall& call : calls) {
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
    expect_all_fail(context_calls(), {graph_, node_, tensor_});
}

TEST_F(HandleTest, Graph)
{
    expect_all_fail(graph_calls(), {context_, node_, tensor_});
}

TEST_F(HandleTest, Node)
{
    expect_all_fail(node_calls(), {context_, graph_, tensor_});
}

TEST_F(HandleTest, Tensor)
{
    expect_all_fail(tensor_calls(), {context_, graph_, node_});
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
    for (void* handle : {graph_, node_, static_cast<void*>(this)}) {
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
    // This is last: a new graph may get the addresses of the stale handles.
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
        EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    }
}

}  // namespace
}  // namespace tengine
