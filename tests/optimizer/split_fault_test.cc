// SPDX-License-Identifier: Apache-2.0
// Devices that refuse, change their answers, cannot compile nodes that they took, or return invalid
// data: the results stay right, and the report names the fault. Devices that fail in runs are in
// tests/scheduler.
#include <climits>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

using ContextOwner = std::unique_ptr<ir_context_t, void (*)(ir_context_t*)>;

// x -> Conv c1 -> Relu r1 -> Conv c2 (2 groups) -> Relu r2 -> MaxPool y
class SplitFaultTest : public testing::Test
{
  protected:
    SplitFaultTest() : input_(4 * 8 * 8)
    {
        for (size_t i = 0; i < input_.size(); ++i)
            input_[i] = static_cast<float>(i % 13) / 13 - 0.4f;
        EXPECT_EQ(add_ir_context_device(context_.get(), a_.get(), nullptr, 0), TENGINE_OK);
    }

    void set(const char* key, const char* value)
    {
        EXPECT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
            << tengine_error_message();
    }

    // Fills source_ and expected_, its results on the default device alone.
    void build(void (*add_nodes)(IrBuilder&) = add_network)
    {
        expected_ = make(nullptr, add_nodes);
        make_source(context_.get(), add_nodes);
    }

    // Prepares and runs: expects the right results, in this number of parts.
    void expect_parts(int number)
    {
        ir_run_options_t options = {};
        options.num_thread = 1;
        ASSERT_EQ(prerun_ir_graph(source_->get(), &options), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(get_vector_num(execution()->subgraph_list), number);
        for (int run = 0; run < 2; ++run) {
            ASSERT_EQ(run_ir_graph(source_->get(), 1), TENGINE_OK) << tengine_error_message();
            EXPECT_EQ(output(), expected_);
        }
    }

    void postrun() { EXPECT_EQ(postrun_ir_graph(source_->get()), TENGINE_OK); }
    // Called before a device of the test is destroyed.
    void close()
    {
        source_.reset();
        context_.reset();
    }

    graph* execution() { return source_->get()->core->execution; }
    std::string device_of(const char* node) { return find_node(execution(), node)->device->name; }
    // Returns the names of the devices of all nodes in order.
    std::string devices()
    {
        std::string names;
        for (int i = 0; i < execution()->node_num; ++i)
            names += execution()->node_list[i]->device->name + std::string(" ");
        return names;
    }
    // Returns the reason why the device did not get the node; a verdict of YES without a refusal.
    ir_verdict_t refusal(const char* node_name, TestDevice& device)
    {
        const node* found = find_node(execution(), node_name);
        for (int i = 0; i < found->core->refusal_num; ++i)
            if (found->core->refusal_list[i].device == device.get())
                return found->core->refusal_list[i].verdict;
        return {};
    }
    int code(const char* node_name) { return refusal(node_name, a_).code; }

    static void add_network(IrBuilder& source)
    {
        source.input("x", {1, 4, 8, 8});
        add_conv(source, "x", "c1", 1);
        source.add("Relu", {"c1"}, {"r1"});
        add_conv(source, "r1", "c2", 2);
        source.add("Relu", {"c2"}, {"r2"});
        const int64_t two[] = {2, 2};
        set_node_ints(source.add("MaxPool", {"r2"}, {"y"}), "kernel_shape", two, 2);
    }
    // Adds thirteen nodes in a row.
    static void add_chain(IrBuilder& source)
    {
        source.input("x", {1, 4, 8, 8});
        std::string last = "x";
        for (int i = 0; i < 13; ++i) {
            const std::string next = i == 12 ? "y" : "t" + std::to_string(i);
            source.add(i % 2 ? "Relu" : "Neg", {last}, {next});
            last = next;
        }
    }

    // Adds two thousand nodes, half of which also read the result of the node seven before.
    static void add_mesh(IrBuilder& source)
    {
        source.input("x", {1, 4, 8, 8});
        std::vector<std::string> values = {"x"};
        for (size_t i = 1; i <= 2000; ++i) {
            const std::string next = i == 2000 ? "y" : "t" + std::to_string(i);
            const std::string& last = values.back();
            if (i % 2 == 0)
                source.add("Neg", {last}, {next});
            else
                source.add("Max", {last, values[i < 8 ? 0 : i - 8]}, {next});
            values.push_back(next);
        }
    }

    TestDevice a_{"A", {"Conv", "Relu", "Neg", "MaxPool"}};
    ContextOwner context_{create_ir_context("faults"), destroy_ir_context};

  private:
    static void add_conv(IrBuilder& source, const std::string& from, const std::string& to,
                         int group)
    {
        const int channels = 4 / group;
        std::vector<float> weight(static_cast<size_t>(4 * channels * 9));
        for (size_t i = 0; i < weight.size(); ++i)
            weight[i] = static_cast<float>(i % 7) / 7 - 0.3f;
        source.floats(to + "_weight", {4, channels, 3, 3}, weight);
        node* conv = source.add("Conv", {from, to + "_weight"}, {to});
        EXPECT_EQ(set_node_int(conv, "group", group), TENGINE_OK);
    }

    void make_source(context* context, void (*add_nodes)(IrBuilder&))
    {
        source_ = std::make_unique<IrBuilder>(context);
        add_nodes(*source_);
        source_->outputs({"y"});
        set_ir_tensor_data(source_->find("x"), input_.data(), false);
    }
    std::vector<float> make(context* context, void (*add_nodes)(IrBuilder&))
    {
        make_source(context, add_nodes);
        ir_run_options_t options = {};
        options.num_thread = 1;
        EXPECT_EQ(prerun_ir_graph(source_->get(), &options), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(run_ir_graph(source_->get(), 1), TENGINE_OK) << tengine_error_message();
        return output();
    }
    std::vector<float> output()
    {
        const tensor* y = source_->find("y");
        return {y->f32, y->f32 + y->elem_num};
    }

    std::vector<float> input_, expected_;
    std::unique_ptr<IrBuilder> source_;
};

TEST_F(SplitFaultTest, ADeviceWithoutFaultsGetsAllInOnePart)
{
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "A A A A A ");
    EXPECT_EQ(a_.runs, 2);
    EXPECT_EQ(refusal("c1", a_).verdict, IR_VERDICT_YES);
}

TEST_F(SplitFaultTest, RefusesByAttribute)
{
    a_.script.refuse = "group:2";
    build();
    expect_parts(3);
    EXPECT_EQ(devices(), "A A CPU A A ");
    const ir_verdict_t verdict = refusal("c2", a_);
    EXPECT_EQ(verdict.verdict, IR_VERDICT_NO);
    EXPECT_EQ(verdict.code, IR_REASON_ATTRIBUTE);
    EXPECT_STREQ(verdict.attribute, "group");
    EXPECT_STREQ(verdict.value, "2");
    EXPECT_STREQ(verdict.message, "takes no Conv with group 2");
}

// ---- claims too much, and finds out ----

TEST_F(SplitFaultTest, HandsBackWhatItTook)
{
    a_.script.hand_back = "MaxPool";
    build();
    expect_parts(2);
    EXPECT_EQ(devices(), "A A A A CPU ");
    EXPECT_EQ(code("y"), IR_REASON_HANDBACK);
    EXPECT_EQ(a_.pre_runs, 1);
    EXPECT_GE(a_.evaluations, 1);
}

TEST_F(SplitFaultTest, WhatIsHandedBackGoesToTheNextDevice)
{
    TestDevice b("B", {"Relu"});
    EXPECT_EQ(add_ir_context_device(context_.get(), b.get(), nullptr, 0), TENGINE_OK);
    a_.script.hand_back = "Relu,MaxPool";
    build();
    expect_parts(5);
    EXPECT_EQ(devices(), "A B A B CPU ");
    EXPECT_EQ(refusal("y", b).code, IR_REASON_OPERATOR);
    close();
}

TEST_F(SplitFaultTest, CannotCompileAnOperatorItTook)
{
    a_.script.cannot_compile = "MaxPool";
    build();
    // c1 r1 | c2 | r2 | y: halves of the part with the MaxPool, down to the MaxPool alone.
    expect_parts(4);
    EXPECT_EQ(devices(), "A A A A CPU ");
    EXPECT_EQ(code("y"), IR_REASON_COMPILE);
    EXPECT_NE(std::string(refusal("y", a_).message).find("cannot compile"), std::string::npos);
    EXPECT_EQ(code("r2"), IR_REASON_NONE);
}

// Reading the precision, splitting, evaluating and repairing all use one description.
TEST_F(SplitFaultTest, DescribesItselfOnceInAPreparation)
{
    a_.script.hand_back = "Conv";
    a_.script.cannot_compile = "MaxPool";
    build();
    expect_parts(5);
    EXPECT_EQ(code("y"), IR_REASON_COMPILE);
    EXPECT_EQ(a_.describes, 1);
    postrun();
    expect_parts(5);
    EXPECT_EQ(a_.describes, 2);
}

TEST_F(SplitFaultTest, CannotCompilePartsAboveASize)
{
    a_.script.max_nodes = 4;
    build(add_chain);
    expect_parts(4);  // 13 = 6 + 7 = 3 + 3 + 3 + 4
    for (int i = 0; i < 4; ++i) {
        const subgraph* part = get_ir_graph_subgraph(execution(), i);
        EXPECT_EQ(part->device, a_.get());
        EXPECT_EQ(part->node_num, i == 3 ? 4 : 3);
    }
    EXPECT_EQ(a_.pre_runs, 7);
    EXPECT_EQ(a_.runs, 8);
}

TEST_F(SplitFaultTest, CannotCompileMoreThanOneNode)
{
    a_.script.max_nodes = 1;
    build(add_chain);
    expect_parts(13);
    EXPECT_EQ(a_.runs, 26);
}

TEST_F(SplitFaultTest, CannotCompileMoreThanAHandfulOfManyNodes)
{
    set("run.shape_cache", "0");
    a_.script.operators = "Max,Neg";
    a_.script.max_nodes = 5;
    build(add_mesh);
    expect_parts(512);  // 2000 / 512 is 3 or 4, 2000 / 256 more than 5
    EXPECT_EQ(a_.pre_runs, 1023);
    a_.script.fail_pre_run = 1;
    expect_parts(1);
    EXPECT_EQ(code("y"), IR_REASON_COMPILE);
}

TEST_F(SplitFaultTest, CannotCompileAnything)
{
    for (const int status : {0, -12345, INT_MIN, 17}) {
        a_.script.fail_pre_run = 1;
        a_.script.status = status;
        build();
        expect_parts(1);
        EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
        for (const char* name : {"c1", "r1", "c2", "r2", "y"})
            EXPECT_EQ(code(name), IR_REASON_COMPILE);
    }
    EXPECT_EQ(a_.runs, 0);
}

TEST_F(SplitFaultTest, IsAskedAgainAtTheNextPrerun)
{
    a_.script.fail_pre_run = 1;
    build();
    expect_parts(1);
    a_.script.fail_pre_run = 0;
    expect_parts(1);
    EXPECT_EQ(devices(), "A A A A A ");
    EXPECT_EQ(code("y"), IR_REASON_NONE);
}

// ---- what it costs ----

TEST_F(SplitFaultTest, AFasterDeviceKeepsItsPart)
{
    a_.use_estimate();
    a_.script.estimate_percent = 1;
    set("split.bandwidth", "1000000");
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "A A A A A ");
    EXPECT_GE(a_.estimates, 5);
}

TEST_F(SplitFaultTest, ASlowerDeviceLosesItsPart)
{
    a_.use_estimate();
    a_.script.estimate_ms = 1000;
    set("split.bandwidth", "1000000");
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
    const ir_verdict_t verdict = refusal("c1", a_);
    EXPECT_EQ(verdict.verdict, IR_VERDICT_NOT_WORTH);
    EXPECT_EQ(verdict.code, IR_REASON_COST);
    EXPECT_STREQ(verdict.attribute, "saving");
    EXPECT_LT(std::atof(verdict.value), -4000) << verdict.value;  // five nodes of a second each
    EXPECT_NE(std::string(verdict.message).find("5000 ms"), std::string::npos) << verdict.message;
    EXPECT_EQ(a_.pre_runs, 0);
}

TEST_F(SplitFaultTest, AFasterDeviceLosesWhatTakesLongerToMove)
{
    a_.use_estimate();
    set("split.bandwidth", "0.0001");  // 100 kB/s
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
    const ir_verdict_t verdict = refusal("y", a_);
    EXPECT_EQ(verdict.code, IR_REASON_COST);
    // 1 x 4 x 8 x 8 floats in, 1 x 4 x 3 x 3 floats out.
    EXPECT_NE(std::string(verdict.message).find("11.68 ms to move 1168 bytes"), std::string::npos)
        << verdict.message;
}

// Times that exceed a 64-bit number of nanoseconds.
TEST_F(SplitFaultTest, AFasterDeviceLosesWhatTakesForeverToMove)
{
    a_.use_estimate();
    set("split.bandwidth", "1e-300");
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
    EXPECT_EQ(refusal("y", a_).code, IR_REASON_COST);
}

TEST_F(SplitFaultTest, CostIsNotLookedAtWithoutPruning)
{
    a_.use_estimate();
    a_.script.estimate_ms = 1000;
    set("split.prune", "0");
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "A A A A A ");
}

// ---- nonsense ----

TEST_F(SplitFaultTest, AnEstimateThatIsNoneCountsAsNone)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    a_.use_estimate();
    set("split.bandwidth", "0.0001");
    for (const double garbage : {std::nan(""), -1.0, kInfinity, -kInfinity, 1e300}) {
        a_.script.estimate_ms = garbage;
        build();
        expect_parts(1);
        EXPECT_EQ(devices(), "A A A A A ") << garbage;
        for (int i = 0; i < execution()->node_num; ++i)
            EXPECT_GT(predict_ir_node(execution()->node_list[i]), 0) << garbage;
    }
}

TEST_F(SplitFaultTest, HandingBackWhatThereIsNotIsIgnored)
{
    a_.script.garbage_evaluation = 1;
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "A A A A A ");
}

TEST_F(SplitFaultTest, AVerdictThereIsNotIsARefusal)
{
    for (const int verdict : {77, -1, INT_MIN, INT_MAX}) {
        a_.script.verdict = verdict;
        build();
        expect_parts(1);
        EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
        EXPECT_EQ(code("c1"), IR_REASON_DEVICE);
        EXPECT_STREQ(refusal("c1", a_).value, std::to_string(verdict).c_str());
    }
}

TEST_F(SplitFaultTest, AnInspectionThatFailsIsARefusal)
{
    a_.on_inspect = [](const node&) { return -12345; };
    build();
    expect_parts(1);
    EXPECT_EQ(devices(), "CPU CPU CPU CPU CPU ");
    EXPECT_EQ(code("c1"), IR_REASON_DEVICE);
}

}  // namespace
