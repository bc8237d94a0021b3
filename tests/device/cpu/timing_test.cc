// SPDX-License-Identifier: Apache-2.0
// Timed kernels: the list of alternatives, and the choice of the fastest. The test sets the
// fastest, since clocks of test machines are not reliable.
#include "device/cpu/plan/timing.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "device/cpu/kernel/vector/vector_target.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::cpu {
namespace {

using Kernels = Vector<const Kernel*>;

constexpr int kSlowMs = 20;
std::atomic<int> slow_runs{0};
const Kernel* slow_original = nullptr;

int run_slowly(KernelContext& context)
{
    ++slow_runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(kSlowMs));
    return slow_original->run(context);
}

int fail_to_prepare(KernelContext& context)
{
    return fail_node(context.node, TENGINE_ENOMEM, "planted");
}

class TimingTest : public testing::Test
{
  protected:
    TimingTest() { EXPECT_EQ(kernels_.fill(), TENGINE_OK); }

    // Makes a step of a node whose inputs are constants, except the first.
    Step make_step(const std::string& op, const std::vector<std::vector<int>>& shapes,
                   Layout layout = Layout::kPlanar)
    {
        std::vector<std::string> inputs;
        for (const std::vector<int>& shape : shapes) {
            inputs.push_back("x" + std::to_string(made_++));
            if (inputs.size() == 1) {
                source_.input(inputs.back(), shape);
                continue;
            }
            size_t count = 1;
            for (const int dim : shape)
                count *= static_cast<size_t>(dim);
            source_.floats(inputs.back(), shape, std::vector<float>(count, 0.25f));
        }
        node* node = source_.add(op, inputs, {"y" + std::to_string(made_++)});
        EXPECT_EQ(node->op.same_shape
                      ? set_node_output_like(node, 0, get_ir_node_input(node, 0), -1)
                      : node->op.infer_shape(node),
                  TENGINE_OK)
            << tengine_error_message();
        Step step;
        step.context.node = node;
        step.layout = layout;
        for (int i = 0; i < node->input_num; ++i)
            step.inputs.push_back(get_ir_node_input(node, i));
        step.outputs.push_back(get_ir_node_output(node, 0));
        EXPECT_EQ(choose_kernel(kernels_, step), TENGINE_OK);
        return step;
    }

    Step make_conv(int side)
    {
        return make_step("Conv", {{1, 16, side + 2, side + 2}, {24, 16, 3, 3}},
                         Layout::kChannelsLast);
    }

    // Returns a slow copy of the kernel.
    static Kernel make_slow(const Kernel& original)
    {
        slow_original = &original;
        slow_runs = 0;
        Kernel slow = original;
        slow.name = "slow";
        slow.run = run_slowly;
        return slow;
    }

    static std::vector<std::string> names_of(const Kernels& kernels)
    {
        std::vector<std::string> names;
        for (const Kernel* kernel : kernels)
            names.emplace_back(kernel->name);
        return names;
    }

    using Names = std::vector<std::string>;
    test::IrBuilder source_;
    KernelList kernels_;
    int made_ = 0;
};

TEST_F(TimingTest, AlternativesComputeTheSameInTheSameLayout)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    EXPECT_EQ(names_of(list_alternatives(kernels_, make_conv(24))),
              (Names{"conv.f32.winograd4x4", "conv.f32.winograd6x6", "conv.f32.nhwc"}));
    // Few results of four tiles: the kernel that is expected to be the fastest is first.
    EXPECT_EQ(names_of(list_alternatives(kernels_, make_conv(6))),
              (Names{"conv.f32.nhwc", "conv.f32.winograd6x6", "conv.f32.winograd4x4"}));
    EXPECT_TRUE(list_alternatives(kernels_, make_step("Relu", {{3}})).size() < 2);
    for (const Kernel* kernel : list_alternatives(kernels_, make_step("Softmax", {{3, 5}})))
        EXPECT_STRNE(kernel->name, "reference");
}

TEST_F(TimingTest, AlternativesFuseWhatTheStepHasTakenOver)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    Step step = make_step("MatMul", {{2, 5, 8}, {8, 9}});
    EXPECT_EQ(names_of(list_alternatives(kernels_, step)),
              (Names{"matmul.f32.packed", "matmul.f32.blocked"}));
    step.inputs.push_back(step.inputs[1]);  // at the index of a bias
    EXPECT_EQ(names_of(list_alternatives(kernels_, step)), (Names{"matmul.f32.packed"}));
    Step active = make_step("MatMul", {{2, 5, 8}, {8, 9}});
    active.context.fusion.activation = Activation::kTanh;
    EXPECT_EQ(names_of(list_alternatives(kernels_, active)), (Names{"matmul.f32.packed"}));
    Step scaled = make_conv(6);
    scaled.context.fusion.scale = 1;
    EXPECT_EQ(names_of(list_alternatives(kernels_, scaled)), (Names{"conv.f32.nhwc"}));
}

TEST_F(TimingTest, TheFastestIsTaken)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    const Step step = make_conv(12);
    const Kernels real = list_alternatives(kernels_, step);
    const Kernel slow = make_slow(*real[0]);
    KernelTimes times;
    EXPECT_EQ(find_fastest(step, {&slow, real[1]}, &times), real[1]);
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].kernel, &slow);
    EXPECT_GE(times[0].ns, kSlowMs * 1'000'000u);
    EXPECT_GT(times[1].ns, 0u);

    times.clear();
    slow_runs = 0;
    EXPECT_EQ(find_fastest(step, {real[1], &slow}, &times), real[1]);
    EXPECT_EQ(times.size(), 2u);
    EXPECT_EQ(slow_runs, 1) << "what is far slower is run once";
    EXPECT_EQ(step.outputs[0]->data, nullptr) << "buffers are the timer's own";
}

TEST_F(TimingTest, AKernelThatCannotBeRunIsNotTaken)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    const Step step = make_conv(12);
    const Kernels real = list_alternatives(kernels_, step);
    Kernel failing = *real[0];
    failing.prepare = fail_to_prepare;
    KernelTimes times;
    EXPECT_EQ(find_fastest(step, {real[1], &failing}, &times), real[1]);
    EXPECT_EQ(times.size(), 1u);
    EXPECT_EQ(tengine_error_code(), TENGINE_OK);
    EXPECT_EQ(find_fastest(step, {&failing, real[1]}, &times), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_OK);
}

TEST_F(TimingTest, EqualStepsAreTimedOnce)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    TimedKernels timed;
    Vector<Step> steps;
    steps.push_back(make_conv(12));
    steps.push_back(make_conv(12));
    steps.push_back(make_conv(13));
    timed.choose(kernels_, steps);
    ASSERT_EQ(steps[0].times.size(), 3u);
    EXPECT_EQ(steps[1].kernel, steps[0].kernel);
    for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(steps[1].times[i].ns, steps[0].times[i].ns);
    EXPECT_FALSE(steps[2].times.empty());

    // A saved kernel comes before a timed one.
    for (const char* name : {"conv.f32.nhwc", "conv.f32.winograd4x4"}) {
        Step loaded = make_conv(12);
        timed.take(kernels_, name, loaded);
        EXPECT_STREQ(loaded.kernel->name, name);
    }
    // Later kernels are not timed.
    for (const char* name : {"conv.f32.nhwc", "conv.f32.winograd4x4"}) {
        TimedKernels other;
        Step loaded = make_conv(12);
        other.take(kernels_, name, loaded);
        Vector<Step> equal;
        equal.push_back(make_conv(12));
        other.choose(kernels_, equal);
        EXPECT_STREQ(equal[0].kernel->name, name);
        EXPECT_TRUE(equal[0].times.empty());
    }
}

TEST_F(TimingTest, NamesOfOtherKernelsAreNotTaken)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    TimedKernels timed;
    for (const char* name : {"", "reference", "conv.absent", "conv.f32.im2col"}) {
        Step step = make_conv(12);
        const Kernel* usual = step.kernel;
        timed.take(kernels_, name, step);
        EXPECT_EQ(step.kernel, usual) << name;
    }
    Vector<Step> steps;
    steps.push_back(make_conv(12));
    timed.choose(kernels_, steps);
    EXPECT_FALSE(steps[0].times.empty()) << "nothing was learned from these";
}

TEST_F(TimingTest, WhatTakesLongIsNotTimed)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    TimedKernels timed;
    Vector<Step> steps;
    steps.push_back(make_conv(60000));  // 10^13 multiply-accumulates
    timed.choose(kernels_, steps);
    EXPECT_TRUE(steps[0].times.empty());
    EXPECT_NE(steps[0].untimed, nullptr);
    EXPECT_STREQ(steps[0].kernel->name, "conv.f32.winograd6x6");
}

}  // namespace
}  // namespace tengine::cpu
