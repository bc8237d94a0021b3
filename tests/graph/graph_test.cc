// SPDX-License-Identifier: Apache-2.0
// Connections, removal, renumbering and order.
#include "graph/graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace {

class GraphTest : public testing::Test
{
  protected:
    GraphTest() : graph_(create_ir_graph(nullptr)) {}
    ~GraphTest() override { destroy_ir_graph(graph_); }

    struct tensor* tensor(const std::string& name)
    {
        return create_ir_tensor(graph_, name.c_str(), TENGINE_DT_FP32);
    }
    struct node* node(const std::string& name, std::vector<struct tensor*> inputs,
                      std::vector<struct tensor*> outputs)
    {
        struct node* made = append_ir_node(graph_, name.c_str());
        for (size_t i = 0; i < inputs.size(); ++i)
            EXPECT_EQ(set_ir_node_input_tensor(made, static_cast<int>(i), inputs[i]), TENGINE_OK);
        for (size_t i = 0; i < outputs.size(); ++i)
            EXPECT_EQ(set_ir_node_output_tensor(made, static_cast<int>(i), outputs[i]), TENGINE_OK);
        return made;
    }

    struct graph* graph_;
};

TEST_F(GraphTest, ConnectsBothWays)
{
    struct tensor *a = tensor("a"), *b = tensor("b");
    struct node* first = node("first", {a, a}, {b});
    EXPECT_EQ(a->consumer_num, 2);
    EXPECT_EQ(b->producer, first->index);
    EXPECT_EQ(get_ir_node_input(first, 1), a);
    EXPECT_EQ(get_ir_node_input(first, 2), nullptr);
    EXPECT_EQ(get_ir_node_output(first, -1), nullptr);
}

TEST_F(GraphTest, GapsAreAbsentInputs)
{
    struct tensor* a = tensor("a");
    struct node* first = node("first", {}, {});
    ASSERT_EQ(set_ir_node_input_tensor(first, 2, a), TENGINE_OK);
    EXPECT_EQ(first->input_num, 3);
    EXPECT_EQ(get_ir_node_input(first, 0), nullptr);
    EXPECT_EQ(set_ir_node_input_tensor(first, -1, a), TENGINE_ERANGE);
    EXPECT_EQ(set_ir_node_input_tensor(first, 1 << 24, a), TENGINE_ERANGE);
}

TEST_F(GraphTest, ReplacingAnInputMovesTheConsumer)
{
    struct tensor *a = tensor("a"), *b = tensor("b");
    struct node* first = node("first", {a}, {});
    ASSERT_EQ(set_ir_node_input_tensor(first, 0, b), TENGINE_OK);
    EXPECT_EQ(a->consumer_num, 0);
    EXPECT_EQ(b->consumer_num, 1);
    ASSERT_EQ(set_ir_node_input_tensor(first, 0, nullptr), TENGINE_OK);
    EXPECT_EQ(b->consumer_num, 0);
}

TEST_F(GraphTest, InputsThatANodeLosesAreReadNoMore)
{
    struct tensor *a = tensor("a"), *b = tensor("b");
    struct node* first = node("first", {a, b, a}, {});
    keep_ir_node_inputs(first, 4);
    EXPECT_EQ(first->input_num, 3);
    keep_ir_node_inputs(first, 1);
    EXPECT_EQ(first->input_num, 1);
    EXPECT_EQ(a->consumer_num, 1);
    EXPECT_EQ(b->consumer_num, 0);
    destroy_ir_node(graph_, first);
    EXPECT_EQ(a->consumer_num, 0);
}

TEST_F(GraphTest, ATensorHasOneProducer)
{
    struct tensor* a = tensor("a");
    node("first", {}, {a});
    struct node* second = node("second", {}, {});
    EXPECT_EQ(set_ir_node_output_tensor(second, 0, a), TENGINE_EGRAPH);
    EXPECT_STREQ(tengine_error_message(),
                 "tensor 'a' is already written by node 'first', so node 'second' cannot write it");
}

TEST_F(GraphTest, CompactingRenumbersEverything)
{
    struct tensor *a = tensor("a"), *b = tensor("b"), *c = tensor("c"), *d = tensor("d");
    struct node* dead = node("dead", {a}, {b});
    node("kept", {a}, {c});
    node("last", {c}, {d});
    const int32_t output = d->index;
    ASSERT_EQ(set_ir_graph_output_tensor(graph_, &output, 1), TENGINE_OK);
    destroy_ir_node(graph_, dead);
    destroy_ir_tensor(graph_, b);
    ASSERT_EQ(compact_ir_graph(graph_), TENGINE_OK);
    EXPECT_EQ(graph_->node_num, 2);
    EXPECT_EQ(graph_->tensor_num, 3);
    EXPECT_EQ(a->consumer_num, 1);
    EXPECT_EQ(a->consumer[0], 0);
    EXPECT_EQ(c->producer, 0);
    EXPECT_EQ(get_ir_node_input(graph_->node_list[1], 0), c);
    EXPECT_TRUE(is_ir_graph_output(graph_, d->index));
}

TEST_F(GraphTest, ReplacingUsesReachesConsumersAndOutputs)
{
    struct tensor *a = tensor("a"), *b = tensor("b"), *c = tensor("c");
    struct node* reader = node("reader", {b, a, b}, {c});
    const int32_t output = b->index;
    ASSERT_EQ(set_ir_graph_output_tensor(graph_, &output, 1), TENGINE_OK);
    ASSERT_EQ(replace_ir_tensor_uses(graph_, b, a), TENGINE_OK);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(get_ir_node_input(reader, i), a);
    EXPECT_EQ(b->consumer_num, 0);
    EXPECT_TRUE(is_ir_graph_output(graph_, a->index));
}

TEST_F(GraphTest, SortsAndKeepsTheOrderThatIsFree)
{
    struct tensor *a = tensor("a"), *b = tensor("b"), *c = tensor("c"), *d = tensor("d");
    node("third", {b, c}, {d});
    node("first", {}, {a});
    node("free", {}, {c});
    node("second", {a}, {b});
    ASSERT_EQ(sort_ir_graph(graph_), TENGINE_OK);
    std::vector<std::string> names;
    for (int i = 0; i < graph_->node_num; ++i)
        names.push_back(graph_->node_list[i]->name);
    EXPECT_EQ(names, (std::vector<std::string>{"first", "free", "second", "third"}));
    EXPECT_EQ(d->producer, 3);
    EXPECT_EQ(a->consumer[0], 2);
}

TEST_F(GraphTest, ACycleIsAnErrorWithNames)
{
    struct tensor *a = tensor("a"), *b = tensor("b");
    node("one", {b}, {a});
    node("two", {a}, {b});
    EXPECT_EQ(sort_ir_graph(graph_), TENGINE_EGRAPH);
    EXPECT_STREQ(tengine_error_message(),
                 "the graph has a cycle; nodes on or after it: 'one', 'two'");
}

TEST_F(GraphTest, SortsRandomGraphs)
{
    std::mt19937 random(7);
    const int number = 300;
    std::vector<struct tensor*> tensors;
    for (int i = 0; i < number; ++i)
        tensors.push_back(tensor("t" + std::to_string(i)));
    std::vector<int> rank(number);
    for (int i = 0; i < number; ++i)
        rank[i] = i;
    std::shuffle(rank.begin(), rank.end(), random);
    for (int i = 0; i < number; ++i) {
        std::vector<struct tensor*> inputs;
        for (int k = 0; k < number; ++k)
            if (rank[k] < rank[i] && random() % 50 == 0) inputs.push_back(tensors[k]);
        node("n" + std::to_string(i), inputs, {tensors[i]});
    }
    ASSERT_EQ(sort_ir_graph(graph_), TENGINE_OK);
    for (int i = 0; i < number; ++i)
        for (int k = 0; k < graph_->node_list[i]->input_num; ++k)
            EXPECT_LT(get_ir_node_input(graph_->node_list[i], k)->producer, i);
}

TEST_F(GraphTest, BorderNodesGiveBorderTensors)
{
    struct tensor *a = tensor("a"), *b = tensor("b"), *c = tensor("c");
    node("in", {}, {a});
    node("out", {a}, {b, c});
    const int32_t in = 0, out = 1, wrong = 2;
    ASSERT_EQ(set_ir_graph_input_node(graph_, &in, 1), TENGINE_OK);
    ASSERT_EQ(set_ir_graph_output_node(graph_, &out, 1), TENGINE_OK);
    EXPECT_EQ(graph_->node_list[0]->node_type, TE_NODE_TYPE_INPUT);
    EXPECT_EQ(graph_->output_tensor_num, 2);
    EXPECT_EQ(set_ir_graph_input_node(graph_, &wrong, 1), TENGINE_ERANGE);
    EXPECT_EQ(set_ir_graph_input_node(graph_, nullptr, 0), TENGINE_EINVAL);
    EXPECT_EQ(graph_->input_tensor_num, 1);  // as before
    EXPECT_EQ(graph_->node_list[0]->node_type, TE_NODE_TYPE_INPUT);
}

TEST_F(GraphTest, NodesThatAreNoBordersAnyMoreAreIntermediate)
{
    struct tensor *a = tensor("a"), *b = tensor("b"), *c = tensor("c");
    node("first", {}, {a});
    node("second", {a}, {b});
    node("third", {b}, {c});
    const int32_t ends[] = {0, 2}, middle = 1;
    const auto types = [this] {
        return std::vector<int>{graph_->node_list[0]->node_type, graph_->node_list[1]->node_type,
                                graph_->node_list[2]->node_type};
    };
    constexpr int kIn = TE_NODE_TYPE_INPUT, kOut = TE_NODE_TYPE_OUTPUT;
    constexpr int kInside = TE_NODE_TYPE_INTERMEDIATE;
    ASSERT_EQ(set_ir_graph_output_node(graph_, ends, 2), TENGINE_OK);
    EXPECT_EQ(types(), (std::vector<int>{kOut, kInside, kOut}));
    ASSERT_EQ(set_ir_graph_output_node(graph_, &middle, 1), TENGINE_OK);
    EXPECT_EQ(types(), (std::vector<int>{kInside, kOut, kInside}));
    ASSERT_EQ(set_ir_graph_input_node(graph_, &middle, 1), TENGINE_OK);
    EXPECT_EQ(types(), (std::vector<int>{kInside, kIn, kInside}));
    ASSERT_EQ(set_ir_graph_output_node(graph_, ends, 2), TENGINE_OK);
    EXPECT_EQ(types(), (std::vector<int>{kOut, kIn, kOut}));
    ASSERT_EQ(set_ir_graph_input_node(graph_, ends, 1), TENGINE_OK);
    EXPECT_EQ(types(), (std::vector<int>{kIn, kInside, kOut}));
}

}  // namespace
