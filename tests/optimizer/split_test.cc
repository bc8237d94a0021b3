// SPDX-License-Identifier: Apache-2.0
// The default split: the device of each node, the number of parts, and reasons.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "graph/context.h"
#include "graph/graph.h"
#include "module/module.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

using GraphOwner = std::unique_ptr<graph, void (*)(graph*)>;

struct Context
{
    Context() : value(create_ir_context("test")) {}
    ~Context() { destroy_ir_context(value); }
    void add(TestDevice& device)
    {
        EXPECT_EQ(add_ir_context_device(value, device.get(), nullptr, 0), TENGINE_OK);
    }
    ir_context_t* value;
};

GraphOwner split(IrBuilder& source)
{
    GraphOwner made(make_execution_graph(source.get()), destroy_ir_graph);
    EXPECT_NE(made, nullptr) << tengine_error_message();
    return made;
}

int parts(const GraphOwner& graph)
{
    return get_vector_num(graph->subgraph_list);
}

const char* device_of(const GraphOwner& graph, const char* name)
{
    const node* found = find_node(graph.get(), name);
    return get_ir_graph_subgraph(graph.get(), found->subgraph_idx)->device->name;
}

TEST(Split, WithoutOtherDevicesThereIsOnePart)
{
    IrBuilder source;
    source.input("x", {2, 3});
    source.add("Relu", {"x"}, {"a"});
    source.add("Exp", {"a"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph = split(source);
    ASSERT_EQ(parts(graph), 1);
    const subgraph* part = get_ir_graph_subgraph(graph.get(), 0);
    EXPECT_EQ(part->device, find_default_device());
    EXPECT_EQ(part->node_num, 2);
    ASSERT_EQ(part->input_num, 1);
    ASSERT_EQ(part->output_num, 1);
    EXPECT_STREQ(graph->tensor_list[part->input_tensor_list[0]]->name, "x");
    EXPECT_STREQ(graph->tensor_list[part->output_tensor_list[0]]->name, "y");
    EXPECT_EQ(part->input_wait_count, 0);
    EXPECT_EQ(graph->node_list[0]->core->refusal_num, 0);
}

TEST(Split, AGraphWithoutNodesHasNoParts)
{
    IrBuilder source;
    source.input("x", {2});
    source.outputs({"x"});
    const GraphOwner graph = split(source);
    EXPECT_EQ(parts(graph), 0);
}

TEST(Split, NodesGoToTheFirstDeviceThatTakesThem)
{
    TestDevice a("A", {"Relu"}), b("B", {"Relu", "Exp"});
    Context context;
    context.add(a);
    context.add(b);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"r"});
    source.add("Exp", {"r"}, {"e"});
    source.add("Neg", {"e"}, {"n"});
    source.outputs({"n"});
    const GraphOwner graph = split(source);
    EXPECT_STREQ(device_of(graph, "r"), "A");
    EXPECT_STREQ(device_of(graph, "e"), "B");
    EXPECT_EQ(parts(graph), 3);
    const node* neg = find_node(graph.get(), "n");
    ASSERT_EQ(neg->core->refusal_num, 2);
    EXPECT_EQ(neg->core->refusal_list[0].device, a.get());
    EXPECT_EQ(neg->core->refusal_list[0].verdict.code, IR_REASON_OPERATOR);
    EXPECT_STREQ(neg->core->refusal_list[1].verdict.message, "the device has no Neg");
}

// x -> Relu -> Exp -> Relu and x -> Relu, joined: nodes that are ready at the same time run in one
// part.
TEST(Split, BranchesOfOneDeviceShareAPart)
{
    TestDevice a("A", {"Relu", "Add"});
    Context context;
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"a1"});
    source.add("Exp", {"a1"}, {"h"});
    source.add("Relu", {"h"}, {"a2"});
    source.add("Relu", {"a1"}, {"a3"});
    source.add("Add", {"a2", "a3"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph = split(source);
    // Parts: A {a1, a3}, host {h}, A {a2, y}.
    ASSERT_EQ(parts(graph), 3);
    EXPECT_EQ(get_ir_graph_subgraph(graph.get(), 0)->node_num, 2);
    EXPECT_EQ(get_ir_graph_subgraph(graph.get(), 2)->node_num, 2);
    EXPECT_EQ(get_ir_graph_subgraph(graph.get(), 2)->input_wait_count, 2);
    for (int i = 0; i < graph->node_num; ++i)
        for (int k = 0; k < graph->node_list[i]->input_num; ++k) {
            const tensor* input = get_ir_node_input(graph->node_list[i], k);
            if (input->producer >= 0) {
                EXPECT_LE(graph->node_list[input->producer]->subgraph_idx,
                          graph->node_list[i]->subgraph_idx);
            }
        }
}

TEST(Split, ARefusalSendsTheNodeOn)
{
    TestDevice a("A", {"Relu"});
    a.refusal = [](const node& node) {
        return std::string(node.name) == "second" ? "not that one" : "";
    };
    Context context;
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"first"});
    source.add("Relu", {"first"}, {"second"});
    source.outputs({"second"});
    const GraphOwner graph = split(source);
    EXPECT_STREQ(device_of(graph, "first"), "A");
    EXPECT_EQ(find_node(graph.get(), "second")->subgraph_idx, 1);
    const ir_verdict_t& verdict = find_node(graph.get(), "second")->core->refusal_list[0].verdict;
    EXPECT_STREQ(verdict.message, "not that one");
    EXPECT_EQ(verdict.code, IR_REASON_ATTRIBUTE);
}

TEST(Split, ListedTypesDecideWithAndWithoutInspect)
{
    for (const bool with_inspect : {false, true}) {
        TestDevice a("A", {"Neg", "Reshape"});  // its list of types has fp32 only
        if (!with_inspect) a.get()->allocator->inspect = nullptr;
        Context context;
        context.add(a);
        IrBuilder source(context.value);
        source.input("x", {2}, TENGINE_DT_FP32);
        source.input("i", {2}, TENGINE_DT_INT32);
        source.ints("target", {2, 1});
        source.add("Neg", {"x"}, {"nx"});
        source.add("Reshape", {"nx", "target"}, {"rx"});
        source.add("Neg", {"i"}, {"ni"});
        source.outputs({"rx", "ni"});
        const GraphOwner graph = split(source);
        EXPECT_STREQ(device_of(graph, "nx"), "A");
        EXPECT_STREQ(device_of(graph, "rx"), "A");  // its int64 target is a constant
        const node* integer = find_node(graph.get(), "ni");
        ASSERT_EQ(integer->core->refusal_num, 1);
        EXPECT_EQ(integer->core->refusal_list[0].verdict.code, IR_REASON_DATA_TYPE);
        EXPECT_STREQ(integer->core->refusal_list[0].verdict.value, "int32");
    }
}

TEST(Split, ShapesKnownAtRunTimeOnlyStayOnTheDefaultDevice)
{
    TestDevice a("A", {"NonZero", "Neg"});
    Context context;
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {4});
    source.add("NonZero", {"x"}, {"where"});
    source.outputs({"where"});
    const GraphOwner graph = split(source);
    const node* node = find_node(graph.get(), "where");
    EXPECT_TRUE(node->dynamic_shape);
    ASSERT_EQ(node->core->refusal_num, 1);
    EXPECT_EQ(node->core->refusal_list[0].verdict.code, IR_REASON_SHAPE);
}

TEST(Split, TheGraphsOwnDeviceComesFirst)
{
    TestDevice a("A", {"Relu"}), b("B", {"Relu"});
    Context context;
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"y"});
    source.outputs({"y"});
    ASSERT_EQ(set_ir_graph_device(source.get(), b.get()), TENGINE_OK);
    const GraphOwner graph = split(source);
    EXPECT_STREQ(device_of(graph, "y"), "B");
}

TEST(Split, ResultDoesNotDependOnNumbering)
{
    TestDevice a("A", {"Relu", "Add"});
    Context context;
    context.add(a);
    std::vector<int> sizes[2];
    for (int reversed = 0; reversed < 2; ++reversed) {
        IrBuilder source(context.value);
        source.input("x", {2});
        const std::vector<std::vector<std::string>> nodes = {{"Relu", "x", "", "a"},
                                                             {"Exp", "a", "", "b"},
                                                             {"Relu", "b", "", "c"},
                                                             {"Exp", "x", "", "d"},
                                                             {"Add", "c", "d", "e"}};
        for (size_t i = 0; i < nodes.size(); ++i) {
            const auto& row = nodes[reversed ? nodes.size() - 1 - i : i];
            if (row[2].empty())
                source.add(row[0], {row[1]}, {row[3]});
            else
                source.add(row[0], {row[1], row[2]}, {row[3]});
        }
        source.outputs({"e"});
        const GraphOwner graph = split(source);
        for (int i = 0; i < parts(graph); ++i)
            sizes[reversed].push_back(get_ir_graph_subgraph(graph.get(), i)->node_num);
    }
    EXPECT_EQ(sizes[0], sizes[1]);
}

TEST(Split, ADeviceOptimizesTheGraphOnce)
{
    TestDevice a("A", {"Relu"});
    a.use_optimizer();
    Context context;
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"a1"});
    source.add("Exp", {"a1"}, {"h"});
    source.add("Relu", {"h"}, {"a2"});
    source.outputs({"a2"});
    TestDevice::optimizations = 0;
    EXPECT_EQ(parts(split(source)), 3);
    EXPECT_EQ(TestDevice::optimizations, 1);
}

TEST(Split, ADevicesOwnSplitCountsWhereverTheDefaultDeviceStands)
{
    TestDevice a("A", {"Relu"});
    a.split = [](graph*) { return tengine_error_set(TENGINE_EDEVICE, "its own split"); };
    a.use_optimizer();
    Context context;
    ASSERT_EQ(add_ir_context_device(context.value, find_default_device(), nullptr, 0), TENGINE_OK);
    context.add(a);
    IrBuilder source(context.value);
    source.input("x", {2});
    source.add("Relu", {"x"}, {"y"});
    source.outputs({"y"});
    EXPECT_EQ(make_execution_graph(source.get()), nullptr);
    EXPECT_STREQ(tengine_error_message(), "device 'A', split_graph: its own split");
}

}  // namespace
