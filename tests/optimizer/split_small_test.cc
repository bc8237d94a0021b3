// SPDX-License-Identifier: Apache-2.0
// Parts that are smaller than the options split.min_nodes and split.min_macs allow.
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

// x -> Neg a0 -> Exp -> Neg b0 -> Neg b1 -> Exp -> MatMul c0 (64 MACs) -> Exp -> Neg d0 -> Neg d1
// -> Neg d2. A takes all but Exp.
class SplitSmall : public testing::Test
{
  protected:
    SplitSmall()
    {
        EXPECT_EQ(add_ir_context_device(context_.get(), a_.get(), nullptr, 0), TENGINE_OK);
        source_ = std::make_unique<IrBuilder>(context_.get());
        source_->input("x", {4, 4});
        source_->floats("w", {4, 4}, std::vector<float>(16, 1.0f));
        source_->add("Neg", {"x"}, {"a0"});
        source_->add("Exp", {"a0"}, {"a"});
        source_->add("Neg", {"a"}, {"b0"});
        source_->add("Neg", {"b0"}, {"b1"});
        source_->add("Exp", {"b1"}, {"b"});
        source_->add("MatMul", {"b", "w"}, {"c0"});
        source_->add("Exp", {"c0"}, {"c"});
        source_->add("Neg", {"c"}, {"d0"});
        source_->add("Neg", {"d0"}, {"d1"});
        source_->add("Neg", {"d1"}, {"d2"});
        source_->outputs({"d2"});
    }

    void set(const char* key, const char* value)
    {
        ASSERT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
            << tengine_error_message();
    }
    // "a0 b0 b1": the nodes of the device.
    std::string nodes_of(TestDevice& device)
    {
        made_.reset(make_execution_graph(source_->get()));
        EXPECT_NE(made_, nullptr) << tengine_error_message();
        std::string names;
        for (int i = 0; made_ && i < made_->node_num; ++i)
            if (made_->node_list[i]->device == device.get())
                names += (names.empty() ? "" : " ") + std::string(made_->node_list[i]->name);
        return names;
    }
    ir_verdict_t first_refusal(const char* name)
    {
        const ir_node_core_t* core = find_node(made_.get(), name)->core;
        return core->refusal_num == 0 ? ir_verdict_t{} : core->refusal_list[0].verdict;
    }

    TestDevice a_{"A", {"Neg", "MatMul"}};
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("small"),
                                                                    destroy_ir_context};
    std::unique_ptr<IrBuilder> source_;
    std::unique_ptr<graph, void (*)(graph*)> made_{nullptr, destroy_ir_graph};
};

TEST_F(SplitSmall, NothingIsTooSmallByDefault)
{
    EXPECT_EQ(nodes_of(a_), "a0 b0 b1 c0 d0 d1 d2");
}

TEST_F(SplitSmall, PartsWithFewNodesGoToTheNextDevice)
{
    set("split.min_nodes", "2");
    EXPECT_EQ(nodes_of(a_), "b0 b1 d0 d1 d2");
    const ir_verdict_t verdict = first_refusal("a0");
    EXPECT_EQ(verdict.verdict, IR_VERDICT_NOT_WORTH);
    EXPECT_EQ(verdict.code, IR_REASON_COST);
    EXPECT_STREQ(verdict.attribute, "nodes");
    EXPECT_STREQ(verdict.value, "1");
    EXPECT_STREQ(verdict.message, "its part has 1 node, expected 2 or more (split.min_nodes)");
    set("split.min_nodes", "3");
    EXPECT_EQ(nodes_of(a_), "d0 d1 d2");
    EXPECT_STREQ(first_refusal("b1").message,
                 "its part has 2 nodes, expected 3 or more (split.min_nodes)");
    set("split.min_nodes", "4");
    EXPECT_EQ(nodes_of(a_), "");
    EXPECT_EQ(get_vector_num(made_->subgraph_list), 1);
}

TEST_F(SplitSmall, SoDoThoseWithFewMacs)
{
    set("split.min_macs", "64");
    EXPECT_EQ(nodes_of(a_), "c0");
    const ir_verdict_t verdict = first_refusal("d1");
    EXPECT_EQ(verdict.code, IR_REASON_COST);
    EXPECT_STREQ(verdict.attribute, "MACs");
    EXPECT_STREQ(verdict.value, "0");
    EXPECT_STREQ(verdict.message,
                 "its part (3 nodes) has 0 MACs, expected 64 or more (split.min_macs)");
    set("split.min_macs", "65");
    EXPECT_EQ(nodes_of(a_), "");
    EXPECT_STREQ(first_refusal("c0").value, "64");
}

TEST_F(SplitSmall, WhatIsLeftIsGroupedAnew)
{
    TestDevice b("B", {"Neg", "Exp"});
    ASSERT_EQ(add_ir_context_device(context_.get(), b.get(), nullptr, 0), TENGINE_OK);
    a_.refusal = [](const node& node) { return std::string(node.name) == "b0" ? "no" : ""; };
    set("split.min_nodes", "2");
    // Single nodes of A (a0, b1, c0) and B (b, c), but a and b0 are a part of B, which a0 and b1
    // join.
    EXPECT_EQ(nodes_of(a_), "d0 d1 d2");
    EXPECT_EQ(nodes_of(b), "a0 a b0 b1");
    made_.reset();
    source_.reset();
    context_.reset();
}

TEST_F(SplitSmall, TheCostRuleNeedNotBeOn)
{
    set("split.prune", "0");
    set("split.min_nodes", "2");
    EXPECT_EQ(nodes_of(a_), "b0 b1 d0 d1 d2");
}

TEST_F(SplitSmall, WhatTheUserAskedForStays)
{
    set("split.min_nodes", "100");
    ASSERT_EQ(add_ir_graph_affinity(source_->get(), "b1", "A"), TENGINE_OK);
    EXPECT_EQ(nodes_of(a_), "b0 b1") << "the part with a node that names the device";
}

TEST_F(SplitSmall, ValuesAreChecked)
{
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.min_nodes", "1.5"), TENGINE_EINVAL);
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.min_nodes", "-1"), TENGINE_ERANGE);
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.min_macs", "many"), TENGINE_EINVAL);
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.min_macs", "1e15"), TENGINE_ERANGE);
}

}  // namespace
