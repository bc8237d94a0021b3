// SPDX-License-Identifier: Apache-2.0
// States, memory and failures around a run, with several parts on several devices.
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

constexpr ir_run_options_t kOptions = {1, 0, 0, 0, 0, 0, 0};

// x -> Relu (device A) -> Exp (host) -> Neg (device A).
class ExecutionTest : public testing::Test
{
  protected:
    ExecutionTest()
        : device_("A", {"Relu", "Neg"}), context_(create_ir_context("c"), destroy_ir_context)
    {
        int option = 42;
        EXPECT_EQ(add_ir_context_device(context_.get(), device_.get(), &option, sizeof(option)),
                  TENGINE_OK);
        source_ = std::make_unique<IrBuilder>(context_.get());
        source_->input("x", {4});
        source_->add("Relu", {"x"}, {"r"});
        source_->add("Exp", {"r"}, {"e"});
        source_->add("Neg", {"e"}, {"y"});
        source_->outputs({"y", "r"});
    }

    graph* source() { return source_->get(); }
    tensor* at(const char* name) { return source_->find(name); }
    void set(const char* key, const char* value)
    {
        ASSERT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
            << tengine_error_message();
    }
    void feed(std::vector<float>& data) { set_ir_tensor_data(at("x"), data.data(), false); }

    TestDevice device_;
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    std::unique_ptr<IrBuilder> source_;
    std::vector<float> data_ = {-1, 0, 1, 2};
};

TEST_F(ExecutionTest, RunsPartsInOrder)
{
    feed(data_);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(source()->status, GRAPH_STAT_READY);
    EXPECT_EQ(*static_cast<const int*>(device_.last_options.load()), 42);
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_EQ(device_.pre_runs, 2);
    EXPECT_EQ(device_.runs, 6);
    EXPECT_EQ(at("r")->f32[3], 2.0f);
    EXPECT_FLOAT_EQ(at("y")->f32[0], -1.0f);
    EXPECT_FLOAT_EQ(at("y")->f32[2], -2.7182817f);
    EXPECT_EQ(wait_ir_graph(source(), 1), 1);
    ASSERT_EQ(postrun_ir_graph(source()), TENGINE_OK);
    EXPECT_EQ(device_.post_runs, 2);
    EXPECT_EQ(device_.releases, 2);
    EXPECT_EQ(at("y")->data, nullptr);
    EXPECT_EQ(source()->status, GRAPH_STAT_DONE);
}

TEST_F(ExecutionTest, EveryOrderOfCallsIsLegalOrAnError)
{
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_ESTATE);
    EXPECT_EQ(wait_ir_graph(source(), 0), TENGINE_ESTATE);
    EXPECT_EQ(postrun_ir_graph(source()), TENGINE_OK);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_EINVAL);
    EXPECT_NE(std::string(tengine_error_message()).find("input 'x' has no data"),
              std::string::npos);
    feed(data_);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    ASSERT_EQ(postrun_ir_graph(source()), TENGINE_OK);
    ASSERT_EQ(postrun_ir_graph(source()), TENGINE_OK);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_ESTATE);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
}

TEST_F(ExecutionTest, ANewShapeNeedsANewPrerun)
{
    feed(data_);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    const int dims[] = {2};
    ASSERT_EQ(set_ir_tensor_shape(at("x"), dims, 1), TENGINE_OK);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_ESTATE);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    ASSERT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_EQ(at("y")->elem_num, 2);
}

TEST_F(ExecutionTest, OutputsMayLieInTheUsersMemory)
{
    feed(data_);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    std::vector<float> mine(4, 9.0f);
    set_ir_tensor_data(at("y"), mine.data(), false);
    ASSERT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_FLOAT_EQ(mine[2], -2.7182817f);
    // A new shape makes the old buffer too small: the buffer is no longer used, and not overrun.
    std::vector<float> longer(100, 0.0f);
    const int dims[] = {100};
    ASSERT_EQ(set_ir_tensor_shape(at("x"), dims, 1), TENGINE_OK);
    feed(longer);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    EXPECT_NE(at("y")->data, mine.data());
    ASSERT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_FLOAT_EQ(at("y")->f32[99], -1.0f);
}

TEST_F(ExecutionTest, WhatADeviceCannotCompileRunsOnTheDefaultDevice)
{
    feed(data_);
    device_.fail_pre_run = true;
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_EQ(device_.runs, 0);
    EXPECT_FLOAT_EQ(at("y")->f32[2], -2.7182817f);
    const node* relu = find_node(source()->core->execution, "r");
    EXPECT_EQ(relu->device, find_default_device());
    ASSERT_EQ(relu->core->refusal_num, 1);
    EXPECT_EQ(relu->core->refusal_list[0].verdict.code, IR_REASON_COMPILE);
    EXPECT_STREQ(relu->core->refusal_list[0].verdict.message,
                 "device 'A', pre_run of part 0 (1 nodes): told to fail");
    // The next prerun tries the device again.
    device_.fail_pre_run = false;
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_EQ(device_.runs, 2);
}

TEST_F(ExecutionTest, AFailingPreRunLeavesTheGraphUnpreparedWhereNothingMayFallBack)
{
    feed(data_);
    set("split.fail_on_fallback", "1");
    ASSERT_EQ(add_ir_graph_affinity(source(), "e", "CPU"), TENGINE_OK);
    device_.fail_pre_run = true;
    EXPECT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_EFALLBACK);
    EXPECT_NE(std::string(tengine_error_message())
                  .find("device 'A', pre_run of part 0 (1 nodes): told to fail"),
              std::string::npos)
        << tengine_error_message();
    EXPECT_EQ(source()->core->execution, nullptr);
    device_.fail_pre_run = false;
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
}

TEST_F(ExecutionTest, AFailingRunIsReportedWhereNothingMayFallBack)
{
    feed(data_);
    set("split.fail_on_fallback", "1");
    ASSERT_EQ(add_ir_graph_affinity(source(), "e", "CPU"), TENGINE_OK);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK) << tengine_error_message();
    device_.fail_run = true;
    device_.script.status = -7;
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(),
                 "device 'A', run of part 0 (1 nodes): it returned -7; falling back to CPU is not "
                 "allowed (split.fail_on_fallback, split.max_fallback_macs)");
    EXPECT_EQ(source()->status, GRAPH_STAT_ERROR);
    device_.fail_run = false;
    EXPECT_EQ(run_ir_graph(source(), 1), TENGINE_OK);
    EXPECT_EQ(source()->status, GRAPH_STAT_READY);
}

TEST_F(ExecutionTest, WhatIsAllocatedIsReleased)
{
    feed(data_);
    ASSERT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    ASSERT_EQ(postrun_ir_graph(source()), TENGINE_OK);
    EXPECT_EQ(device_.allocations, 2);
    EXPECT_EQ(device_.allocator_releases, 2);
    device_.fail_pre_run = true;
    EXPECT_EQ(prerun_ir_graph(source(), &kOptions), TENGINE_OK);
    EXPECT_EQ(device_.allocations, 4);
    EXPECT_EQ(device_.allocator_releases, 4);
}

TEST(Execution, AFailedRunTakesOutputsOfUnknownShapeBack)
{
    IrBuilder source;
    source.input("x", {4});
    source.input("s1", {2}, TENGINE_DT_INT64);
    source.input("s2", {2}, TENGINE_DT_INT64);
    source.add("Reshape", {"x", "s1"}, {"o1"});
    source.add("Reshape", {"x", "s2"}, {"o2"});
    source.outputs({"o1", "o2"});
    std::vector<float> data = {1, 2, 3, 4};
    std::vector<int64_t> good = {2, 2}, bad = {3, 2};
    set_ir_tensor_data(source.find("x"), data.data(), false);
    set_ir_tensor_data(source.find("s1"), good.data(), false);
    set_ir_tensor_data(source.find("s2"), good.data(), false);
    ASSERT_EQ(prerun_ir_graph(source.get(), &kOptions), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(source.find("o1")->f32[3], 4);
    set_ir_tensor_data(source.find("s2"), bad.data(), false);
    EXPECT_LT(run_ir_graph(source.get(), 1), 0);
    EXPECT_EQ(source.find("o1")->data, nullptr);
    EXPECT_EQ(source.find("o2")->data, nullptr);
    set_ir_tensor_data(source.find("s2"), good.data(), false);
    ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK);
    EXPECT_EQ(source.find("o2")->f32[3], 4);
}

TEST(Execution, ShapesThatDependOnDataChangeFromRunToRun)
{
    IrBuilder source;
    source.input("x", {6});
    source.add("NonZero", {"x"}, {"where"});
    source.add("Neg", {"where"}, {"negated"});
    source.outputs({"where", "negated"});
    ASSERT_EQ(prerun_ir_graph(source.get(), &kOptions), TENGINE_OK) << tengine_error_message();
    const std::vector<std::vector<float>> inputs = {
        {0, 1, 0, 1, 0, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 1}};
    for (std::vector<float> data : inputs) {
        set_ir_tensor_data(source.find("x"), data.data(), false);
        ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
        std::vector<int64_t> expected;
        for (int i = 0; i < 6; ++i)
            if (data[i] != 0) expected.push_back(-i);
        const tensor* negated = source.find("negated");
        ASSERT_EQ(negated->dim_num, 2);
        EXPECT_EQ(negated->dims[1], static_cast<int>(expected.size()));
        EXPECT_EQ(std::vector<int64_t>(negated->i64, negated->i64 + negated->elem_num), expected);
    }
}

TEST(Execution, ConstantAndPassedThroughOutputsAreServed)
{
    IrBuilder source;
    source.input("x", {2});
    source.floats("w", {2}, {5, 6});
    source.add("Neg", {"w"}, {"folded"});
    source.outputs({"x", "w", "folded"});
    std::vector<float> data = {1, 2}, mine(2);
    set_ir_tensor_data(source.find("x"), data.data(), false);
    ASSERT_EQ(prerun_ir_graph(source.get(), &kOptions), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK);
    EXPECT_EQ(source.find("x")->data, data.data());
    EXPECT_EQ(source.find("folded")->f32[1], -6.0f);
    set_ir_tensor_data(source.find("folded"), mine.data(), false);
    ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK);
    EXPECT_EQ(mine[0], -5.0f);
}

// Two outputs are one tensor of the execution graph, and another is the input.
TEST(Execution, OutputsThatAreOneTensorAreAllServed)
{
    IrBuilder source;
    source.input("x", {2});
    source.add("Neg", {"x"}, {"y"});
    source.add("Identity", {"y"}, {"same"});
    source.add("Identity", {"x"}, {"copy"});
    source.outputs({"y", "same", "copy"});
    std::vector<float> data = {1, 2}, mine(2);
    set_ir_tensor_data(source.find("x"), data.data(), false);
    ASSERT_EQ(prerun_ir_graph(source.get(), &kOptions), TENGINE_OK) << tengine_error_message();
    const auto expect_results = [&] {
        ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
        for (const char* name : {"y", "same", "copy"}) {
            ASSERT_NE(source.find(name)->data, nullptr) << name;
            EXPECT_EQ(source.find(name)->f32[1], name[0] == 'c' ? 2.0f : -2.0f) << name;
        }
    };
    expect_results();
    set_ir_tensor_data(source.find("same"), mine.data(), false);
    expect_results();
    EXPECT_EQ(mine[0], -1.0f);
    data = {3, 2};
    expect_results();
    EXPECT_EQ(mine[0], -3.0f);
    EXPECT_EQ(source.find("y")->f32[0], -3.0f);
}

}  // namespace
