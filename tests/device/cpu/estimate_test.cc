// SPDX-License-Identifier: Apache-2.0
// The cost of a node as the CPU device estimates it, and as it reports it. The difference between
// the two depends on the machine; only properties that hold on all machines are tested.
#include "device/cpu/estimate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "device/cpu/machine_rate.h"
#include "graph/graph.h"
#include "module/module.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace tengine::cpu {
namespace {

class EstimateTest : public testing::Test
{
  protected:
    EstimateTest()
    {
        EXPECT_EQ(kernels_.fill(), TENGINE_OK);
        source_.get()->core->run_options.num_thread = 1;
    }

    // Returns the estimate, in ms, for a node whose inputs all have data.
    double estimate(const std::string& op, const std::vector<std::vector<int>>& shapes,
                    int group = 1)
    {
        std::vector<std::string> inputs;
        for (const std::vector<int>& shape : shapes) {
            inputs.push_back("x" + std::to_string(made_++));
            source_.input(inputs.back(), shape);
        }
        node* node = source_.add(op, inputs, {"y" + std::to_string(made_++)});
        if (group > 1) {
            EXPECT_EQ(set_node_int(node, "group", group), TENGINE_OK);
        }
        EXPECT_EQ(node->op.same_shape
                      ? set_node_output_like(node, 0, get_ir_node_input(node, 0), -1)
                      : node->op.infer_shape(node),
                  TENGINE_OK)
            << tengine_error_message();
        return estimate_ms(kernels_, *node);
    }

    test::IrBuilder source_;
    KernelList kernels_;
    int made_ = 0;
};

TEST_F(EstimateTest, MoreWorkTakesLonger)
{
    const double small = estimate("Conv", {{1, 64, 28, 28}, {64, 64, 3, 3}});
    const double deep = estimate("Conv", {{1, 64, 28, 28}, {256, 64, 3, 3}});
    const double wide = estimate("Conv", {{1, 64, 112, 112}, {64, 64, 3, 3}});
    EXPECT_GT(small, 0);
    EXPECT_GT(deep, 3 * small);
    EXPECT_GT(wide, deep);
    EXPECT_TRUE(std::isfinite(wide));
}

TEST_F(EstimateTest, ThreadsShareArithmetic)
{
    const double one = estimate("MatMul", {{512, 512}, {512, 512}});
    source_.get()->core->run_options.num_thread = 1000;  // more threads than cores do not help
    const double many = estimate("MatMul", {{512, 512}, {512, 512}});
    EXPECT_LE(many, one);
    EXPECT_GT(many, one / 1000);
}

TEST_F(EstimateTest, OperatorsThatComputeLittleTakeAsLongAsTheirTensors)
{
    const double add = estimate("Add", {{1, 64, 112, 112}, {1, 64, 112, 112}});
    const double larger = estimate("Add", {{4, 64, 112, 112}, {4, 64, 112, 112}});
    EXPECT_NEAR(larger / add, 4, 0.2);
    EXPECT_GT(estimate("Softmax", {{1, 64, 112, 112}}), add);
    EXPECT_LT(estimate("Identity", {{1, 64, 112, 112}}), add / 10);
}

TEST_F(EstimateTest, ADepthwiseConvIsJudgedByItsOwnKernel)
{
    const double dense = estimate("Conv", {{1, 64, 28, 28}, {64, 64, 3, 3}});
    const double depthwise = estimate("Conv", {{1, 64, 28, 28}, {64, 1, 3, 3}}, 64);
    EXPECT_LT(depthwise, dense);
}

constexpr int kProductTypes[] = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16,
                                 TENGINE_DT_INT8};

TEST_F(EstimateTest, EveryTypeHasARateOfItsOwn)
{
    for (const int type : kProductTypes)
        for (const auto measure : {measure_product, measure_depthwise}) {
            const MachineRate& rate = measure(kernels_, type);
            EXPECT_GT(rate.per_second, 0) << type;
            ASSERT_NE(rate.kernel, nullptr) << type;
            EXPECT_EQ(&measure(kernels_, type), &rate);
        }
    EXPECT_NE(&measure_product(kernels_, TENGINE_DT_INT8),
              &measure_product(kernels_, TENGINE_DT_FP32));
    EXPECT_GT(measure_step(kernels_).per_second, 0);
}

// Hundreds of operations for each byte that is moved: the arithmetic decides the time.
TEST_F(EstimateTest, ProductsAreJudgedByTheRateOfTheirType)
{
    constexpr double kMacs = 256.0 * 256 * 9 * 28 * 28;
    for (const int type : kProductTypes) {
        const std::string name = "w" + std::to_string(type);
        source_.input("x" + name, {1, 256, 30, 30}, type);
        const size_t size = type == TENGINE_DT_INT8 ? 1 : type == TENGINE_DT_FP32 ? 4 : 2;
        source_.constant(name, {256, 256, 3, 3}, std::vector<uint8_t>(256 * 256 * 9 * size, 0),
                         type);
        std::vector<std::string> inputs = {"x" + name, name};
        if (type == TENGINE_DT_INT8) {
            source_.floats("scale", {}, {0.5f});
            source_.constant("zero", {}, std::vector<uint8_t>{0}, type);
            inputs = {"x" + name, "scale", "zero", name, "scale", "zero", "scale", "zero"};
        }
        node* node = source_.add(inputs.size() > 2 ? "QLinearConv" : "Conv", inputs, {"y" + name});
        ASSERT_EQ(node->op.infer_shape(node), TENGINE_OK) << tengine_error_message();
        const double expected = kMacs / measure_product(kernels_, type).per_second * 1e3;
        EXPECT_NEAR(estimate_ms(kernels_, *node) / expected, 1, 0.1) << type;
    }
}

TEST_F(EstimateTest, ThreadsThatAskAtOnceGetTheSame)
{
    std::vector<double> answers(4);
    source_.input("x", {64, 64});
    node* node = source_.add("MatMul", {"x", "x"}, {"y"});
    ASSERT_EQ(node->op.infer_shape(node), TENGINE_OK);
    std::vector<std::thread> threads;
    for (double& answer : answers)
        threads.emplace_back([&] { answer = estimate_ms(kernels_, *node); });
    for (std::thread& thread : threads)
        thread.join();
    for (double answer : answers)
        EXPECT_EQ(answer, answers[0]);
}

TEST(Measure, ARunWithProfileTellsTheTimeOfEveryNode)
{
    std::vector<float> data(64 * 64, 0.5f);
    for (const bool profile : {true, false}) {
        test::IrBuilder source;
        source.input("x", {64, 64});
        source.add("MatMul", {"x", "x"}, {"m"});
        source.add("Relu", {"m"}, {"y"});
        source.outputs({"y"});
        set_ir_tensor_data(source.find("x"), data.data(), false);
        ir_run_options_t options = {};
        options.num_thread = 1;
        options.profile = profile;
        ASSERT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
        const graph* execution = source.get()->core->execution;
        for (int i = 0; i < execution->node_num; ++i) {
            node* node = execution->node_list[i];
            EXPECT_GT(predict_ir_node(node), 0) << node->name;
            EXPECT_EQ(node->core->measured_ns >= 0, profile) << node->name;
        }
        EXPECT_EQ(postrun_ir_graph(source.get()), TENGINE_OK);
    }
}

}  // namespace
}  // namespace tengine::cpu
