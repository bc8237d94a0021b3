// SPDX-License-Identifier: Apache-2.0
// Groups: nodes of one device that do not share a part. split_oracle_test.cc has the number of
// parts.
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/option.h"
#include "graph/subgraph.h"
#include "operator/affinity.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

constexpr int kNodes = 12;

// n0 -> n1 -> … -> n11, all of which A takes; their groups are in `groups_`, else 0.
class SplitGroup : public testing::Test
{
  protected:
    SplitGroup()
    {
        for (TestDevice* device : {&a_, &b_})
            EXPECT_EQ(add_ir_context_device(context_.get(), device->get(), nullptr, 0), TENGINE_OK);
        a_.group = [this](const node& node) { return groups_[node.name]; };
        source_ = std::make_unique<IrBuilder>(context_.get());
        source_->input("x", {2});
        for (int i = 0; i < kNodes; ++i)
            source_->add("Neg", {i == 0 ? "x" : name(i - 1)}, {name(i)});
        const std::string last = name(kNodes - 1);
        source_->outputs({last.c_str()});
    }

    static std::string name(int index) { return "n" + std::to_string(index); }

    // Prepares again, after any earlier preparation.
    int prepare()
    {
        EXPECT_EQ(postrun_ir_graph(source_->get()), TENGINE_OK) << tengine_error_message();
        ir_run_options_t options = {};
        options.num_thread = 1;
        return prerun_ir_graph(source_->get(), &options);
    }
    // Returns "A#1:3": the device, the group and the number of nodes of each part.
    std::vector<std::string> parts()
    {
        EXPECT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
        const graph* execution = source_->get()->core->execution;
        std::vector<std::string> texts;
        for (int p = 0; execution && p < get_vector_num(execution->subgraph_list); ++p) {
            const subgraph* part = get_ir_graph_subgraph(execution, p);
            texts.push_back(part->device->name + std::string("#") +
                            std::to_string(get_ir_subgraph_group(part)) + ":" +
                            std::to_string(part->node_num));
        }
        return texts;
    }
    void allow(const char* nodes, const char* devices)
    {
        ASSERT_EQ(add_ir_graph_affinity(source_->get(), nodes, devices), TENGINE_OK);
    }

    using Parts = std::vector<std::string>;

    std::map<std::string, int> groups_;
    TestDevice a_{"A", {"Neg"}}, b_{"B", {"Neg"}};
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("groups"),
                                                                    destroy_ir_context};
    std::unique_ptr<IrBuilder> source_;
};

TEST_F(SplitGroup, NodesOfDifferentGroupsShareNoPart)
{
    groups_ = {{"n3", 1}, {"n4", 2}};
    EXPECT_EQ(parts(), (Parts{"A#1:4", "A#2:8"}));
    groups_ = {{"n3", 5}, {"n4", 5}};
    EXPECT_EQ(parts(), Parts{"A#5:12"});
    groups_ = {{"n1", 1}, {"n5", -2}, {"n9", 1}};
    EXPECT_EQ(parts(), (Parts{"A#1:5", "A#-2:4", "A#1:3"}));
}

TEST_F(SplitGroup, NodesWithoutAGroupAreWhereTheyAreReadyFirst)
{
    groups_ = {{"n11", 3}};
    EXPECT_EQ(parts(), Parts{"A#3:12"});
    EXPECT_EQ(find_node(source_->get()->core->execution, "n0")->core->group, 0);
}

TEST_F(SplitGroup, ARefusalHasNoGroup)
{
    groups_ = {{"n3", 1}, {"n4", 2}};
    a_.refusal = [](const node& node) { return std::string(node.name) == "n4" ? "no" : ""; };
    EXPECT_EQ(parts(), (Parts{"A#1:4", "B#0:1", "A#0:7"}));
}

TEST_F(SplitGroup, GroupsAreThoseOfTheDeviceThatGetsTheNode)
{
    groups_ = {{"n3", 1}, {"n4", 2}};
    b_.group = [](const node&) { return 7; };
    a_.script.hand_back = "Neg";
    EXPECT_EQ(parts(), Parts{"B#7:12"});
}

TEST_F(SplitGroup, HalvesKeepTheirGroupsAndWhatFallsBackHasNone)
{
    groups_ = {{"n3", 1}, {"n4", 2}};
    a_.script.max_nodes = 4;
    EXPECT_EQ(parts(), (Parts{"A#1:4", "A#2:4", "A#0:4"}));
    a_.fail_pre_run = 1;
    EXPECT_EQ(parts(), Parts{"CPU#0:12"});
}

TEST_F(SplitGroup, TheUserNamesGroups)
{
    groups_ = {{"n3", 1}, {"n4", 2}};
    allow("*", "A#9");
    EXPECT_EQ(parts(), Parts{"A#9:12"}) << "the user's group stands";
    allow("n5", "A#2");
    allow("n6", "B#2");
    EXPECT_EQ(parts(), (Parts{"A#9:5", "A#2:1", "B#2:1", "A#9:5"}));
    allow("n4", "A");
    EXPECT_EQ(parts(), (Parts{"A#9:4", "A#2:2", "B#2:1", "A#9:5"})) << "where he names none";
}

TEST_F(SplitGroup, PartsOfTheDefaultDeviceHaveGroupsToo)
{
    allow("*", "CPU");
    allow("n2", "CPU#1");
    allow("n3", "CPU#2");
    EXPECT_EQ(parts(), (Parts{"CPU#1:3", "CPU#2:9"}));
    allow("n7", "A");
    a_.fail_pre_run = 1;
    EXPECT_EQ(parts(), (Parts{"CPU#1:3", "CPU#2:9"})) << "joined when A has failed";
}

int split_in_one(graph* graph)
{
    subgraph* part = create_ir_subgraph(graph, find_device_via_name("A"));
    std::vector<int32_t> nodes;
    for (int i = 0; i < graph->node_num; ++i)
        nodes.push_back(i);
    return set_ir_subgraph_nodes(part, nodes.data(), graph->node_num);
}

TEST_F(SplitGroup, ADevicesOwnSplitKeepsItsGroupsApart)
{
    a_.split = split_in_one;
    a_.use_optimizer();
    EXPECT_EQ(parts(), Parts{"A#0:12"});
    groups_ = {{"n3", 1}, {"n7", 1}};
    EXPECT_EQ(parts(), Parts{"A#1:12"});
    groups_ = {{"n3", 1}, {"n7", 2}};
    EXPECT_EQ(prepare(), TENGINE_EGRAPH);
    EXPECT_STREQ(tengine_error_message(),
                 "device 'A', split_graph: part 0 (A) has nodes of two groups: 'n3' is in group 1, "
                 "'n7' in group 2");
}

TEST_F(SplitGroup, TheUsersGroupsGoBeforeADevicesOwnSplit)
{
    a_.split = split_in_one;
    a_.use_optimizer();
    allow("n3", "A#1");
    EXPECT_EQ(parts(), Parts{"A#1:12"});
    allow("n7", "A#2");
    EXPECT_EQ(parts(), (Parts{"A#1:7", "A#2:5"}));
}

}  // namespace
