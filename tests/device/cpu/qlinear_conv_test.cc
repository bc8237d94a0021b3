// SPDX-License-Identifier: Apache-2.0
// The fast QLinearConv against the reference, bit by bit, on every instruction set this machine
// has, with one worker and several; and scales that change from run to run.
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "base/alloc.h"
#include "device/cpu/kernel/vector_target.h"
#include "device/cpu/kernel_table.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;
using cpu::KernelContext;

struct Case
{
    std::vector<int> x, w;
    int group;
    std::vector<int64_t> strides, dilations, pads;
};

const std::vector<Case> kCases = {
    {{1, 3, 7, 7}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 13, 5, 17}, {17, 13, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 16, 9, 9}, {7, 16, 1, 1}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{1, 12, 13, 11}, {24, 4, 3, 5}, 3, {2, 1}, {1, 2}, {2, 3, 0, 1}},
    {{1, 64, 3, 3}, {130, 64, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{1, 2, 40, 33}, {9, 2, 7, 7}, 1, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {{3, 1, 300}, {5, 1, 4}, 1, {3}, {2}, {2, 7}},
    {{1, 2, 3, 5, 4}, {6, 2, 2, 3, 2}, 1, {1, 1, 1}, {1, 1, 1}, {1, 0, 1, 0, 1, 0}},
    {{0, 2, 6, 6}, {8, 2, 2, 2}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
};

class QuantizedNode
{
  public:
    QuantizedNode(const Case& c, int x_type, int w_type, int y_type)
    {
        std::mt19937 random(17);
        const auto bytes = [&](const char* name, std::vector<int> dims, int type) {
            size_t number = 1;
            for (const int dim : dims)
                number *= static_cast<size_t>(dim);
            std::vector<uint8_t> values(number);
            for (uint8_t& value : values)
                value = static_cast<uint8_t>(random());
            builder_.constant(name, std::move(dims), values, type);
        };
        const int filters = c.w[0];
        bytes("x", c.x, x_type);
        bytes("w", c.w, w_type);
        bytes("x_zero", {}, x_type);
        bytes("w_zero", {filters}, w_type);
        bytes("y_zero", {}, y_type);
        builder_.floats("x_scale", {}, {0.02f});
        builder_.floats("y_scale", {}, {0.7f});
        std::vector<float> scales;
        std::vector<int32_t> bias;
        for (int i = 0; i < filters; ++i) {
            scales.push_back(0.001f * static_cast<float>(i % 11 + 1));
            bias.push_back((i - 5) * 7919);
        }
        builder_.floats("w_scale", {filters}, scales);
        builder_.constant("bias", {filters}, bias, TENGINE_DT_INT32);
        node_ = builder_.add(
            "QLinearConv",
            {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "bias"},
            {"y"});
        set("strides", c.strides);
        set("dilations", c.dilations);
        set("pads", c.pads);
        EXPECT_EQ(set_node_int(node_, "group", c.group), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    // The first kernel with (or without) that name that takes the node.
    const Kernel* find(bool reference) const
    {
        for (int t = 0; t < cpu::kernel_table_num; ++t)
            for (size_t i = 0; i < cpu::kernel_tables[t]->row_num; ++i) {
                const Kernel& kernel = cpu::kernel_tables[t]->rows[i];
                if (!std::strcmp(kernel.op, "QLinearConv") &&
                    reference == !std::strcmp(kernel.name, "reference") &&
                    (!kernel.accepts || kernel.accepts(*node_)))
                    return &kernel;
            }
        return nullptr;
    }

    // The results of runs with these scales of x, prepared once.
    std::vector<uint8_t> run(const Kernel& kernel, int thread_num,
                             const std::vector<float>& scales = {0.02f})
    {
        tensor* y = builder_.find("y");
        const size_t number = static_cast<size_t>(y->elem_num);
        std::vector<uint8_t> values(number * scales.size(), 0xee);
        KernelContext context;
        context.node = node_;
        EXPECT_EQ(create_thread_pool(thread_num, 0, &context.pool), TENGINE_OK);
        EXPECT_EQ(kernel.prepare(context), TENGINE_OK) << tengine_error_message();
        const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory(context.scratch_size),
                                                             free_memory);
        std::memset(scratch.get(), 0xee, context.scratch_size);
        context.scratch = scratch.get();
        for (size_t i = 0; i < scales.size(); ++i) {
            *builder_.find("x_scale")->f32 = scales[i];
            y->data = values.data() + i * number;
            EXPECT_EQ(kernel.run(context), TENGINE_OK) << tengine_error_message();
        }
        y->data = nullptr;
        if (context.free_state) context.free_state(context.state);
        destroy_thread_pool(context.pool);
        return values;
    }

    IrBuilder& builder() { return builder_; }

  private:
    void set(const char* name, const std::vector<int64_t>& values)
    {
        EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }

    IrBuilder builder_;
    node* node_;
};

void compare(const Case& c, int x_type, int w_type, int y_type)
{
    QuantizedNode node(c, x_type, w_type, y_type);
    const Kernel* fast = node.find(false);
    if (!fast) GTEST_SKIP() << "this build has no vectors";
    const std::vector<uint8_t> expected = node.run(*node.find(true), 1);
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        cpu::force_vector_target(target);
        for (const int thread_num : {1, 2, 5}) {
            EXPECT_EQ(node.run(*fast, thread_num), expected)
                << cpu::get_vector_target_name(target) << ", " << thread_num << " threads";
        }
    }
    cpu::force_vector_target(-1);
}

TEST(FastQLinearConv, HasTheBitsOfTheReference)
{
    for (size_t number = 0; number < kCases.size(); ++number) {
        SCOPED_TRACE(number);
        for (const int x_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (const int w_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
                for (const int y_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
                    compare(kCases[number], x_type, w_type, y_type);
    }
}

TEST(FastQLinearConv, ScalesAreReadInEachRun)
{
    QuantizedNode node(kCases[0], TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    const Kernel* reference = node.find(true);
    const Kernel* fast = node.find(false);
    const std::vector<float> scales = {0.02f, 0.005f, 0};
    const std::vector<uint8_t> expected = node.run(*reference, 1, scales);
    EXPECT_NE(std::vector<uint8_t>(expected.begin(), expected.begin() + 196),
              std::vector<uint8_t>(expected.begin() + 196, expected.begin() + 392));
    if (!fast) GTEST_SKIP() << "this build has no vectors";
    EXPECT_EQ(node.run(*fast, 1, scales), expected);
}

TEST(FastQLinearConv, LeavesWhatItCannotPackToTheReference)
{
    QuantizedNode node(kCases[0], TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    node.builder().find("w")->tensor_type = TENSOR_TYPE_VAR;
    EXPECT_EQ(node.find(false), nullptr);
    EXPECT_NE(node.find(true), nullptr);
    const QuantizedNode depthwise({{1, 8, 5, 5}, {8, 1, 3, 3}, 8, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                                  TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    EXPECT_EQ(depthwise.find(false), nullptr);
}

}  // namespace
}  // namespace tengine::test
