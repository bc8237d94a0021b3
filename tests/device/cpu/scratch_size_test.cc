// SPDX-License-Identifier: Apache-2.0
// Scratch that a small model may request exceeds the address space of 32 bits.
#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/prepared_kernel.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

// 4 KB of weights, 4 MiB of results, and a copy of the padded input beyond 4 GiB.
node* add_tall_conv(IrBuilder& builder)
{
    constexpr int kHeight = 1025;
    constexpr int64_t kWidth = 1 << 20;
    const int64_t pads[] = {kHeight / 2, kWidth / 2, kHeight / 2, kWidth / 2 - 1};
    builder.input("x", {1, 1, 1, 1});
    builder.floats("w", {1, 1, kHeight, 1}, std::vector<float>(kHeight));
    node* conv = builder.add("Conv", {"x", "w"}, {"y"});
    EXPECT_EQ(set_node_ints(conv, "pads", pads, 4), TENGINE_OK);
    EXPECT_EQ(conv->op.infer_shape(conv), TENGINE_OK) << tengine_error_message();
    return conv;
}

TEST(ScratchSize, HasAllItsBits)
{
    IrBuilder builder;
    node* conv = add_tall_conv(builder);
    for (const cpu::Kernel* kernel : cpu::list_runnable_kernels(*conv)) {
        if (std::strcmp(kernel->name, "conv.f32.depthwise_nchw") != 0) continue;
        cpu::KernelContext context;
        context.node = conv;
        ASSERT_EQ(kernel->prepare(context), TENGINE_OK) << tengine_error_message();
        context.free_state(context.state);
        EXPECT_GE(context.scratch_size, (uint64_t{1025} << 20) * sizeof(float));
        return;
    }
    GTEST_SKIP() << "this build has no vector kernel of it";
}

TEST(ScratchSize, BeyondAllAddressesIsRefused)
{
    if (sizeof(size_t) > 4) GTEST_SKIP() << "there are enough addresses";
    IrBuilder builder;
    const node* conv = add_tall_conv(builder);
    builder.outputs({"y"});
    if (std::strcmp(cpu::list_runnable_kernels(*conv).front()->name, "conv.f32.depthwise_nchw") !=
        0)
        GTEST_SKIP() << "this build has no vector kernel of it";
    const ir_run_options_t options = {};
    EXPECT_EQ(prerun_ir_graph(builder.get(), &options), TENGINE_ELIMIT) << tengine_error_message();
    EXPECT_NE(std::strstr(tengine_error_message(), "more memory than the address space has"),
              nullptr)
        << tengine_error_message();
}

}  // namespace
}  // namespace tengine::test
