// SPDX-License-Identifier: Apache-2.0
// The survey of the whole graph before the first inspect (allocator.survey), and the result that a
// device keeps.
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "graph/context.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

// x -> Relu r -> Exp e -> Relu y
class Survey : public testing::Test
{
  protected:
    Survey()
    {
        a_.use_survey();
        EXPECT_EQ(add_ir_context_device(context_.get(), a_.get(), nullptr, 0), TENGINE_OK);
        source_ = std::make_unique<IrBuilder>(context_.get());
        source_->input("x", {2});
        source_->add("Relu", {"x"}, {"r"});
        source_->add("Exp", {"r"}, {"e"});
        source_->add("Relu", {"e"}, {"y"});
        source_->outputs({"y"});
    }

    // Prepares again, after any earlier preparation.
    int prepare()
    {
        EXPECT_EQ(postrun_ir_graph(source_->get()), TENGINE_OK) << tengine_error_message();
        ir_run_options_t options = {};
        options.num_thread = 1;
        return prerun_ir_graph(source_->get(), &options);
    }

    TestDevice a_{"A", {"Relu"}};
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("survey"),
                                                                    destroy_ir_context};
    std::unique_ptr<IrBuilder> source_;
};

TEST_F(Survey, ComesOnceBeforeTheFirstInspectAndSeesTheWholeGraph)
{
    a_.on_survey = [&](const graph& graph) {
        EXPECT_EQ(a_.inspects, 0);
        EXPECT_EQ(graph.node_num, 3);
        EXPECT_TRUE(is_ir_tensor_shape_known(find_tensor(&graph, "y")));
        return int{TENGINE_OK};
    };
    a_.script.cannot_compile = "Relu";  // repairs make no survey
    ASSERT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
    EXPECT_GT(a_.inspects, 0);
    EXPECT_GT(a_.pre_runs, 1);
    EXPECT_EQ(a_.surveys, 1);
    a_.on_survey = nullptr;
    ASSERT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(a_.surveys, 2);
}

TEST_F(Survey, AFailureFailsThePreparation)
{
    a_.on_survey = [](const graph&) { return tengine_error_set(TENGINE_EIO, "there is no table"); };
    EXPECT_EQ(prepare(), TENGINE_EIO);
    EXPECT_STREQ(tengine_error_message(), "device 'A', survey: there is no table");
    a_.on_survey = [](const graph&) { return -12345; };
    EXPECT_EQ(prepare(), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(), "device 'A', survey: it returned -12345");
    EXPECT_EQ(a_.inspects, 0);
    a_.on_survey = nullptr;
    EXPECT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
}

TEST_F(Survey, WhatIsFoundStaysWithTheGraphUntilItIsDropped)
{
    static int released;
    released = 0;
    static int found = 7;
    const auto release = [](void* value) { released += *static_cast<int*>(value); };
    a_.on_survey = [&](const graph& graph) {
        EXPECT_EQ(get_ir_device_survey(&graph, a_.get()), nullptr);
        return set_ir_device_survey(&graph, a_.get(), &found, release);
    };
    int seen = 0;
    a_.on_inspect = [&](const node& node) {
        EXPECT_EQ(get_ir_device_survey(node.graph, a_.get()), &found);
        EXPECT_EQ(get_ir_device_survey(node.graph, find_default_device()), nullptr);
        return int{TENGINE_OK};
    };
    a_.on_pre_run = [&](subgraph* part) {
        EXPECT_EQ(get_ir_device_survey(part->graph, a_.get()), &found);
        ++seen;
    };
    ASSERT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(seen, 2);
    EXPECT_EQ(released, 0);
    ASSERT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(released, 7) << "that of the first preparation";
    source_.reset();
    EXPECT_EQ(released, 14);
}

TEST_F(Survey, WhatIsFoundLastReplacesTheRest)
{
    static int released;
    released = 0;
    static int found[2];
    a_.on_survey = [&](const graph& graph) {
        const auto release = [](void*) { ++released; };
        EXPECT_EQ(set_ir_device_survey(&graph, a_.get(), &found[0], release), TENGINE_OK);
        EXPECT_EQ(set_ir_device_survey(&graph, a_.get(), &found[1], nullptr), TENGINE_OK);
        EXPECT_EQ(released, 1);
        EXPECT_EQ(get_ir_device_survey(&graph, a_.get()), &found[1]);
        return int{TENGINE_OK};
    };
    ASSERT_EQ(prepare(), TENGINE_OK) << tengine_error_message();
    source_.reset();
    EXPECT_EQ(released, 1);
}

}  // namespace
