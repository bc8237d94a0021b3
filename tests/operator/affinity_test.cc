// SPDX-License-Identifier: Apache-2.0
// Affinity: the nodes that a string matches, the devices that it allows, and the rule that applies.
#include "operator/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "graph/core.h"
#include "support/ir_builder.h"
#include "tengine/vector.h"

namespace {

using tengine::test::find_node;
using tengine::test::IrBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

// Nodes are named like their output: conv_1, conv_2, act?, op:Relu, größe.
class Affinity : public testing::Test
{
  protected:
    Affinity()
    {
        builder_.input("x", {1});
        builder_.add("Neg", {"x"}, {"conv_1"});
        builder_.add("Neg", {"conv_1"}, {"conv_2"});
        builder_.add("Relu", {"conv_2"}, {"act?"});
        builder_.add("Abs", {"act?"}, {"op:Relu"});
        builder_.add("Sin", {"op:Relu"}, {"gr\u00F6\u00DFe"});
        builder_.outputs({"gr\u00F6\u00DFe"});
    }

    int add(const char* nodes, const char* devices)
    {
        return add_ir_graph_affinity(builder_.get(), nodes, devices);
    }
    std::string of(const std::string& node)
    {
        const char* devices =
            find_ir_node_affinity(builder_.get(), find_node(builder_.get(), node), nullptr);
        return devices ? devices : "";
    }
    // Returns the names of the nodes that `nodes` matches.
    std::vector<std::string> fitted(const char* nodes)
    {
        release_vector(builder_.get()->core->affinity);
        builder_.get()->core->affinity = nullptr;
        std::vector<std::string> names;
        if (add(nodes, "A") != TENGINE_OK) return names;
        for (int i = 0; i < builder_.get()->node_num; ++i) {
            const std::string name = builder_.get()->node_list[i]->name;
            if (of(name) == "A") names.push_back(name);
        }
        return names;
    }

    IrBuilder builder_;
};

TEST_F(Affinity, NodesAreFittedByName)
{
    EXPECT_THAT(fitted("conv_1"), ElementsAre("conv_1"));
    EXPECT_THAT(fitted("conv_?"), ElementsAre("conv_1", "conv_2"));
    EXPECT_THAT(fitted("conv*"), ElementsAre("conv_1", "conv_2"));
    EXPECT_THAT(fitted("*_*"), ElementsAre("conv_1", "conv_2"));
    EXPECT_THAT(fitted("*2"), ElementsAre("conv_2"));
    EXPECT_THAT(fitted("c*n*_*1*"), ElementsAre("conv_1"));
    EXPECT_THAT(fitted("act?"), ElementsAre("act?"));
    EXPECT_EQ(fitted("*").size(), 6u);
    EXPECT_EQ(fitted("?*").size(), 6u);
    EXPECT_THAT(fitted("?"), ElementsAre("x"));
    for (const char* none : {"conv", "onv_1", "conv_1?", "conv_??", "CONV_1", "conv_1 ", "*x?"})
        EXPECT_EQ(add(none, "A"), TENGINE_ENOENT) << none;
}

TEST_F(Affinity, NodesAreFittedByOperator)
{
    EXPECT_THAT(fitted("op:Neg"), ElementsAre("conv_1", "conv_2"));
    EXPECT_THAT(fitted("op:Re*"), ElementsAre("act?"));
    EXPECT_THAT(fitted("op:Relu"), ElementsAre("act?", "op:Relu")) << "a name may look like this";
    EXPECT_THAT(fitted("op?Relu"), ElementsAre("op:Relu"));
    EXPECT_EQ(add("op:", "A"), TENGINE_ENOENT);
    EXPECT_EQ(add("op:neg", "A"), TENGINE_ENOENT);
}

TEST_F(Affinity, ACharacterMayHaveSeveralBytes)
{
    EXPECT_EQ(fitted("gr??e").size(), 1u);
    EXPECT_EQ(fitted("gr*\u00DF?").size(), 1u);
    EXPECT_EQ(add("gr????e", "A"), TENGINE_ENOENT);
}

TEST_F(Affinity, HostilePatternsTakeNoTime)
{
    std::string pattern;
    for (int i = 0; i < 2000; ++i)
        pattern += "*v";
    builder_.add("Neg", {"x"}, {std::string(2000, 'v') + "w"});
    EXPECT_EQ(add(pattern.c_str(), "A"), TENGINE_ENOENT);
    EXPECT_EQ(add((pattern + "*w").c_str(), "A"), TENGINE_OK);
}

TEST_F(Affinity, TheLastRuleThatFitsCounts)
{
    ASSERT_EQ(add("*", "!A"), TENGINE_OK);
    ASSERT_EQ(add("conv*", "A"), TENGINE_OK);
    ASSERT_EQ(add("op:Relu", "B"), TENGINE_OK);
    EXPECT_EQ(of("conv_1"), "A");
    EXPECT_EQ(of("act?"), "B");
    EXPECT_EQ(of("x"), "!A");
    ASSERT_EQ(add("*", "C"), TENGINE_OK);
    EXPECT_EQ(of("conv_1"), "C");
    EXPECT_EQ(get_vector_num(builder_.get()->core->affinity), 3) << "the same nodes: one rule";
}

TEST_F(Affinity, TheSameNodesAgainMayBeGivenByTheRulesOwnText)
{
    ASSERT_EQ(add("conv*", "A"), TENGINE_OK);
    const auto* rule =
        static_cast<const ir_affinity_t*>(get_vector_data(builder_.get()->core->affinity, 0));
    ASSERT_EQ(add_ir_graph_affinity(builder_.get(), rule->nodes, rule->devices), TENGINE_OK);
    EXPECT_EQ(of("conv_1"), "A");
}

TEST_F(Affinity, ANodeIsKnownByItsSourceAsWell)
{
    ASSERT_EQ(add("op:Neg", "A"), TENGINE_OK);
    const node* relu = find_node(builder_.get(), "act?");
    const node* neg = find_node(builder_.get(), "conv_1");
    EXPECT_EQ(find_ir_node_affinity(builder_.get(), relu, nullptr), nullptr);
    EXPECT_STREQ(find_ir_node_affinity(builder_.get(), relu, neg), "A");
    ASSERT_EQ(add("act*", "B"), TENGINE_OK);
    EXPECT_STREQ(find_ir_node_affinity(builder_.get(), relu, neg), "B");
}

TEST_F(Affinity, WrongTextsAreRefusedAndLeaveTheRules)
{
    ASSERT_EQ(add("conv*", "A"), TENGINE_OK);
    EXPECT_EQ(add(nullptr, "A"), TENGINE_EINVAL);
    EXPECT_EQ(add("", "A"), TENGINE_EINVAL);
    EXPECT_EQ(add("conv*", nullptr), TENGINE_EINVAL);
    for (const char* devices : {"", " ", ",", "A,", ",A", "A,,B", "!", "!A,!", "! "}) {
        EXPECT_EQ(add("conv*", devices), TENGINE_EINVAL) << "'" << devices << "'";
        EXPECT_THAT(tengine_error_message(), HasSubstr("empty device name"));
    }
    for (const char* devices : {"A,!B", "A, !B", "A,B,!C"}) {
        EXPECT_EQ(add("conv*", devices), TENGINE_EINVAL) << devices;
        EXPECT_THAT(tengine_error_message(), HasSubstr("mixes"));
    }
    for (const char* group :
         {"", "x", "0", "-1", "1x", " 1", "2147483648", "99999999999999999999"}) {
        const std::string devices = std::string("B,A#") + group;
        EXPECT_EQ(add("conv*", devices.c_str()), TENGINE_EINVAL) << devices;
        EXPECT_EQ(tengine_error_message(),
                  "affinity: invalid group '" + std::string(group) + "' in '" + devices +
                      "': expected a whole number from 1 to 2147483647, as in A#2");
    }
    EXPECT_EQ(add("conv*", "!A#1"), TENGINE_EINVAL);
    EXPECT_THAT(tengine_error_message(), HasSubstr("'!A#1' excludes a group"));
    for (const char* devices : {"A#1,A#2", "A,B,A#2", "A#1,A"}) {
        EXPECT_EQ(add("conv*", devices), TENGINE_EINVAL) << devices;
        EXPECT_THAT(tengine_error_message(), HasSubstr("twice in different groups"));
    }
    EXPECT_EQ(add("conv*", "#1"), TENGINE_EINVAL);
    EXPECT_EQ(add("none*", "B"), TENGINE_ENOENT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("none of the 5 nodes"));
    EXPECT_THAT(tengine_error_message(), HasSubstr("'none*'"));
    EXPECT_EQ(of("conv_1"), "A");
    EXPECT_EQ(get_vector_num(builder_.get()->core->affinity), 1);
}

TEST(AffinityDevices, AListAllowsThoseItHas)
{
    for (const char* list : {"A,B", "B,A", " A , B ", "A,B,CPU"}) {
        EXPECT_TRUE(allows_ir_affinity(list, "A")) << list;
        EXPECT_TRUE(names_ir_affinity(list, "B")) << list;
        EXPECT_FALSE(allows_ir_affinity(list, "C")) << list;
        EXPECT_FALSE(names_ir_affinity(list, "AB")) << list;
        EXPECT_FALSE(allows_ir_affinity(list, "")) << list;
    }
}

TEST(AffinityDevices, AListWithAMarkAllowsAllOthers)
{
    for (const char* list : {"!A,B", "!B,!A", " !A , !B"}) {
        EXPECT_FALSE(allows_ir_affinity(list, "A")) << list;
        EXPECT_FALSE(allows_ir_affinity(list, "B")) << list;
        EXPECT_TRUE(allows_ir_affinity(list, "C")) << list;
        for (const char* device : {"A", "B", "C"})
            EXPECT_FALSE(names_ir_affinity(list, device)) << list;
    }
}

TEST(AffinityDevices, MayHaveAGroup)
{
    const char* list = "A#2, B ,C#2147483647";
    EXPECT_TRUE(allows_ir_affinity(list, "A"));
    EXPECT_TRUE(names_ir_affinity(list, "C"));
    EXPECT_FALSE(allows_ir_affinity(list, "A#2"));
    EXPECT_EQ(get_ir_affinity_group(list, "A"), 2);
    EXPECT_EQ(get_ir_affinity_group(list, "B"), 0);
    EXPECT_EQ(get_ir_affinity_group(list, "C"), 2147483647);
    EXPECT_EQ(get_ir_affinity_group(list, "D"), 0);
    EXPECT_EQ(get_ir_affinity_group("!A", "A"), 0);
}

TEST(AffinityDevices, AreReadOneByOne)
{
    std::vector<std::string> names;
    const char* cursor = "!A, B,C d#7";
    const char* name = nullptr;
    size_t length = 0;
    while (next_ir_affinity_device(&cursor, &name, &length))
        names.emplace_back(name, length);
    EXPECT_THAT(names, ElementsAre("A", "B", "C d"));
}

}  // namespace
