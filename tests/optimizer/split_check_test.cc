// SPDX-License-Identifier: Apache-2.0
// The split of a device is corrected if possible; else it is an error that names the device.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/subgraph.h"
#include "operator/affinity.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

struct OwnPart
{
    device* owner;
    std::vector<std::string> nodes;
};

// The parts that the device's split makes; the entry has no state of its own.
std::vector<OwnPart> own_parts;

int split_as_told(graph* graph)
{
    for (const OwnPart& own : own_parts) {
        subgraph* part = create_ir_subgraph(graph, own.owner);
        std::vector<int32_t> nodes;
        for (const std::string& name : own.nodes)
            nodes.push_back(get_ir_node_index_from_name(graph, name.c_str()));
        const int number = static_cast<int>(nodes.size());
        TENGINE_RETURN_IF_ERROR(set_ir_subgraph_nodes(part, nodes.data(), number));
    }
    return TENGINE_OK;
}

// Writes an invalid entry into the list.
int split_in_disorder(graph* graph)
{
    TENGINE_RETURN_IF_ERROR(split_as_told(graph));
    subgraph* first = own_parts.empty() ? nullptr : get_ir_graph_subgraph(graph, 0);
    return push_vector_data(graph->subgraph_list, &first);
}

// The chain n1 -> n2 -> n3 -> n4 and the separate n5, which A splits.
class SplitCheck : public testing::Test
{
  protected:
    using GraphOwner = std::unique_ptr<graph, void (*)(graph*)>;

    SplitCheck() : context_(create_ir_context("test"), destroy_ir_context), source_(context_.get())
    {
        a_.split = split_as_told;
        a_.use_optimizer();
        EXPECT_EQ(add_ir_context_device(context_.get(), a_.get(), nullptr, 0), TENGINE_OK);
        source_.input("x", {2});
        source_.add("Relu", {"x"}, {"n1"});
        source_.add("Neg", {"n1"}, {"n2"});
        source_.add("Relu", {"n2"}, {"n3"});
        source_.add("Neg", {"n3"}, {"n4"});
        source_.add("Exp", {"x"}, {"n5"});
        source_.outputs({"n4", "n5"});
    }

    GraphOwner split(std::vector<OwnPart> parts)
    {
        own_parts = std::move(parts);
        return GraphOwner(make_execution_graph(source_.get()), destroy_ir_graph);
    }

    // Returns the message after the author, or "" if there was no error.
    std::string fail(std::vector<OwnPart> parts)
    {
        const std::string author = "device 'A', split_graph: ";
        if (split(std::move(parts))) return "";
        EXPECT_EQ(tengine_error_code(), TENGINE_EGRAPH);
        const std::string sentence = tengine_error_message();
        EXPECT_EQ(sentence.substr(0, author.size()), author);
        return sentence.substr(std::min(author.size(), sentence.size()));
    }

    TestDevice a_ = TestDevice("A", {"Relu"});
    device* host_ = find_default_device();
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    IrBuilder source_;
};

std::vector<std::string> names_of(const graph& graph, int index)
{
    const subgraph* part = get_ir_graph_subgraph(&graph, index);
    std::vector<std::string> names;
    for (int i = 0; i < part->node_num; ++i)
        names.emplace_back(graph.node_list[part->node_list[i]]->name);
    return names;
}

TEST_F(SplitCheck, PartsAndNodesAreBroughtIntoAnOrderOfExecution)
{
    const GraphOwner graph =
        split({{host_, {"n4"}}, {a_.get(), {"n5", "n3"}}, {host_, {"n2", "n1"}}});
    ASSERT_NE(graph, nullptr) << tengine_error_message();
    ASSERT_EQ(get_vector_num(graph->subgraph_list), 3);
    EXPECT_EQ(names_of(*graph, 0), (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(names_of(*graph, 1).size(), 2U);
    EXPECT_EQ(names_of(*graph, 2), std::vector<std::string>{"n4"});
    for (int p = 0; p < 3; ++p) {
        const subgraph* part = get_ir_graph_subgraph(graph.get(), p);
        EXPECT_EQ(part->index, p);
        EXPECT_EQ(part->device, p == 1 ? a_.get() : host_);
        for (int i = 0; i < part->node_num; ++i) {
            const node* node = graph->node_list[part->node_list[i]];
            EXPECT_EQ(node->subgraph_idx, p);
            EXPECT_EQ(node->device, part->device);
        }
    }
    const subgraph* last = get_ir_graph_subgraph(graph.get(), 2);
    ASSERT_EQ(last->input_num, 1);
    EXPECT_STREQ(graph->tensor_list[last->input_tensor_list[0]]->name, "n3");
}

TEST_F(SplitCheck, AnOrderThatCanBeExecutedStays)
{
    const GraphOwner graph = split({{host_, {"n5"}}, {a_.get(), {"n1", "n2", "n3", "n4"}}});
    ASSERT_NE(graph, nullptr) << tengine_error_message();
    EXPECT_EQ(names_of(*graph, 0), std::vector<std::string>{"n5"});
}

TEST_F(SplitCheck, AffinitiesTakePrecedence)
{
    ASSERT_EQ(add_ir_graph_affinity(source_.get(), "n2", "CPU"), TENGINE_OK);
    const GraphOwner graph = split({{a_.get(), {"n1", "n2", "n3", "n4", "n5"}}});
    ASSERT_NE(graph, nullptr) << tengine_error_message();
    ASSERT_EQ(get_vector_num(graph->subgraph_list), 3);
    EXPECT_EQ(names_of(*graph, 1), std::vector<std::string>{"n2"});
    const node* moved = graph->node_list[get_ir_node_index_from_name(graph.get(), "n2")];
    EXPECT_EQ(moved->device, host_);
    ASSERT_EQ(moved->core->refusal_num, 1);
    EXPECT_EQ(moved->core->refusal_list[0].verdict.code, IR_REASON_AFFINITY);
}

TEST_F(SplitCheck, AnAffinityToADeviceThatTheGraphLacksIsAnError)
{
    ASSERT_EQ(add_ir_graph_affinity(source_.get(), "n2", "B"), TENGINE_OK);
    EXPECT_EQ(split({{a_.get(), {"n1", "n2", "n3", "n4", "n5"}}}), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_ENOENT);
}

TEST_F(SplitCheck, ACycleIsAnError)
{
    EXPECT_EQ(fail({{a_.get(), {"n1", "n3"}}, {host_, {"n2", "n4", "n5"}}}),
              std::string("part 0 (A) and part 1 (") + host_->name +
                  ") depend on each other: 'n1' -> 'n2' -> 'n3'");
}

// n1 -> n2 and n3 -> n4 hold the parts together, but n2 -> n3 is inside a part.
TEST_F(SplitCheck, ACycleMayGoThroughTheInsideOfAPart)
{
    EXPECT_EQ(fail({{host_, {"n5"}}, {host_, {"n1", "n4"}}, {a_.get(), {"n2", "n3"}}}),
              std::string("part 1 (") + host_->name +
                  ") and part 2 (A) depend on each other: 'n1' -> 'n2', 'n3' -> 'n4'");
}

TEST_F(SplitCheck, TheShortestCycleIsNamed)
{
    source_.add("Add", {"n1", "n4"}, {"n6"});
    source_.outputs({"n5", "n6"});
    EXPECT_EQ(
        fail(
            {{a_.get(), {"n1", "n6"}}, {host_, {"n2"}}, {a_.get(), {"n3"}}, {host_, {"n4", "n5"}}}),
        std::string("part 0 (A), part 1 (") + host_->name + "), part 2 (A) and part 3 (" +
            host_->name + ") depend on each other: 'n1' -> 'n2' -> 'n3' -> 'n4' -> 'n6'");
    EXPECT_EQ(fail({{a_.get(), {"n1", "n6"}}, {host_, {"n2", "n4"}}, {a_.get(), {"n3", "n5"}}}),
              std::string("part 0 (A) and part 1 (") + host_->name +
                  ") depend on each other: 'n1' -> 'n2', 'n4' -> 'n6'");
}

TEST_F(SplitCheck, EveryNodeMustBeInOnePart)
{
    const std::string host = host_->name;
    EXPECT_EQ(fail({}), "5 node(s) are in no part: 'n1', 'n2', 'n3', 'n4', 'n5'");
    EXPECT_EQ(fail({{host_, {"n1", "n2", "n4"}}}), "2 node(s) are in no part: 'n3', 'n5'");
    EXPECT_EQ(fail({{a_.get(), {"n1", "n2"}}, {host_, {"n2", "n3", "n4", "n5"}}}),
              "node 'n2' is in part 0 (A) and in part 1 (" + host + ")");
    EXPECT_EQ(fail({{a_.get(), {"n1", "n2", "n3", "n4", "n1", "n5"}}}),
              "node 'n1' is twice in part 0 (A)");
    EXPECT_EQ(fail({{a_.get(), {"n1", "missing"}}}),
              "part 0 (A) has node -1; the graph has nodes 0 to 4");
}

TEST_F(SplitCheck, EveryPartNeedsNodesAndADevice)
{
    device stranger;
    init_ir_device(&stranger, "stranger");
    const std::vector<std::string> all = {"n1", "n2", "n3", "n4", "n5"};
    EXPECT_EQ(fail({{nullptr, all}}), "part 0 has no device");
    EXPECT_EQ(fail({{&stranger, all}}), "part 0 has a device that is not registered");
    EXPECT_EQ(fail({{host_, all}, {a_.get(), {}}}), "part 1 (A) has no nodes");
}

TEST_F(SplitCheck, APartThatIsNullOrListedTwiceIsAnError)
{
    a_.split = split_in_disorder;
    a_.use_optimizer();
    EXPECT_EQ(fail({}), "part 0 is NULL");
    EXPECT_EQ(fail({{host_, {"n1", "n2", "n3", "n4", "n5"}}}), "part 0 is listed again as part 1");
}

}  // namespace
