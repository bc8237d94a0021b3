// SPDX-License-Identifier: Apache-2.0
// The fast kernel of Attention against the reference, on every instruction set this machine has;
// with one worker and several, bit by bit.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;
using Floats = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Mask
{
    kNone,
    kBools,   // of tokens and keys
    kFloats,  // of batches, tokens and keys, some of them -infinity
    kShort    // of keys, the last of which are missing
};

struct Case
{
    const char* name;
    int batch, tokens, heads, key_heads, depth, width, past, fresh;
    bool tokens_first = false;
    Mask mask = Mask::kNone;
    std::vector<int64_t> lengths = {};
    std::vector<std::pair<const char*, float>> attributes = {};
};

// Queries and keys are within 0.5, values within 1: the bound is that of
// group_query_kernel_test.cc.
float tolerance_of(const Case& c)
{
    const float depth = static_cast<float>(c.depth);
    const float scores = 2 * (depth + 8) * 0.5f * std::sqrt(depth);
    return (scores + static_cast<float>(c.past + c.fresh) + 16) *
           std::numeric_limits<float>::epsilon();
}

class AttentionNode
{
  public:
    explicit AttentionNode(const Case& c)
    {
        std::vector<std::string> inputs = {"query", "key", "value", "", "", "", ""};
        fill("query", dims_of(c, c.tokens, c.heads, c.depth));
        fill("key", dims_of(c, c.fresh, c.key_heads, c.depth));
        fill("value", dims_of(c, c.fresh, c.key_heads, c.width), 1);
        if (c.mask != Mask::kNone) add_mask(c, inputs[3] = "mask");
        if (c.past > 0) fill(inputs[4] = "past_key", {c.batch, c.key_heads, c.past, c.depth});
        if (c.past > 0) fill(inputs[5] = "past_value", {c.batch, c.key_heads, c.past, c.width}, 1);
        if (!c.lengths.empty())
            builder_.constant(inputs[6] = "lengths", {c.batch}, c.lengths, TENGINE_DT_INT64);
        std::vector<std::string> outputs = {"result"};
        if (c.past > 0) outputs.insert(outputs.end(), {"present_key", "present_value"});
        output_num_ = outputs.size();
        node_ = builder_.add("Attention", inputs, outputs);
        EXPECT_EQ(set_node_int(node_, "q_num_heads", c.heads), TENGINE_OK);
        EXPECT_EQ(set_node_int(node_, "kv_num_heads", c.key_heads), TENGINE_OK);
        for (const auto& [name, value] : c.attributes)
            EXPECT_TRUE(set_node_int(node_, name, static_cast<int64_t>(value)) == TENGINE_OK ||
                        set_node_float(node_, name, value) == TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_accepting_kernels(*node_); }

    // Returns all outputs, one after the other.
    Floats run(const Kernel& kernel, int thread_num)
    {
        Floats all, values[3];
        for (size_t i = 0; i < output_num_; ++i) {
            tensor* output = get_ir_node_output(node_, static_cast<int>(i));
            values[i].assign(static_cast<size_t>(output->elem_num), std::nanf(""));
            output->data = values[i].data();
        }
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        for (size_t i = 0; i < output_num_; ++i) {
            all.insert(all.end(), values[i].begin(), values[i].end());
            get_ir_node_output(node_, static_cast<int>(i))->data = nullptr;
        }
        return all;
    }

  private:
    static std::vector<int> dims_of(const Case& c, int rows, int heads, int size)
    {
        if (c.tokens_first) return {c.batch, rows, heads * size};
        return {c.batch, heads, rows, size};
    }
    void fill(const std::string& name, const std::vector<int>& dims, float largest = 0.5f)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        std::uniform_real_distribution<float> distribution(-largest, largest);
        Floats values(number);
        for (float& value : values)
            value = distribution(random_);
        builder_.floats(name, dims, values);
    }
    void add_mask(const Case& c, const std::string& name)
    {
        const int keys = c.past + c.fresh;
        if (c.mask == Mask::kShort) {
            fill(name, {keys - 3});
        } else if (c.mask == Mask::kFloats) {
            fill(name, {c.batch, 1, c.tokens, keys});
            tensor* mask = builder_.find(name);
            for (int64_t i = 0; i < mask->elem_num; i += 3)
                mask->f32[i] = -kInfinity;
        } else {
            std::vector<uint8_t> bools(static_cast<size_t>(c.tokens * keys));
            for (size_t i = 0; i < bools.size(); ++i)
                bools[i] = i >= static_cast<size_t>(keys) && random_() % 4 != 0;  // row 0: none
            builder_.constant(name, {c.tokens, keys}, bools, TENGINE_DT_BOOL);
        }
    }

    IrBuilder builder_;
    std::mt19937 random_{47};
    size_t output_num_;
    node* node_;
};

void compare(const Case& c)
{
    SCOPED_TRACE(c.name);
    AttentionNode node(c);
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    const Floats expected = node.run(*kernels.back(), 1);
    EXPECT_EQ(node.run(*kernels.back(), 3), expected);
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has the reference only";
    ASSERT_EQ(kernels.size(), 2u);
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        SCOPED_TRACE(cpu::get_vector_target_name(target));
        cpu::force_vector_target(target);
        const Floats alone = node.run(*kernels.front(), 1);
        ASSERT_EQ(alone.size(), expected.size());
        for (size_t i = 0; i < alone.size(); ++i)
            ASSERT_NEAR(alone[i], expected[i], tolerance_of(c)) << "element " << i;
        EXPECT_EQ(node.run(*kernels.front(), 4), alone);
    }
    cpu::force_vector_target(-1);
}

TEST(AttentionKernel, HasLayoutsAndHeads)
{
    compare({"one of all", 1, 1, 1, 1, 1, 1, 0, 1});
    compare({"heads first", 2, 7, 6, 2, 13, 20, 0, 19});
    compare({"tokens first", 2, 7, 6, 2, 13, 20, 0, 19, true});
    compare({"tiles and blocks", 1, 61, 4, 2, 32, 24, 0, 300, true});
    compare({"one token", 2, 1, 14, 2, 64, 64, 0, 530});
    compare({"one token of few heads", 2, 1, 6, 2, 19, 36, 0, 530});
    compare({"past", 2, 3, 4, 2, 16, 12, 290, 3, true});
    compare({"past of heads", 1, 50, 3, 3, 16, 12, 9, 50});
}

TEST(AttentionKernel, HasScoresOfAllKinds)
{
    for (const auto& [tokens, past] : {std::pair{1, 270}, {40, 270}, {270, 0}}) {
        const Case plain = {"", tokens > 100 ? 1 : 2, tokens, 4, 2, 24, 20, past, tokens};
        const auto change = [&](const char* name, const auto& make_change) {
            Case c = plain;
            c.name = name;
            make_change(c);
            compare(c);
        };
        change("causal", [](Case& c) { c.attributes = {{"is_causal", 1}}; });
        change("window", [](Case& c) {
            c.attributes = {{"left_window_size", 19}, {"right_window_size", 3}};
        });
        change("softcap", [](Case& c) { c.attributes = {{"softcap", 0.25f}}; });
        change("bools", [](Case& c) { c.mask = Mask::kBools; });
        change("floats", [](Case& c) {
            c.mask = Mask::kFloats;
            c.attributes = {{"is_causal", 1}, {"scale", 0.125f}};
        });
        change("short", [](Case& c) { c.mask = Mask::kShort; });
    }
    compare({"lengths",
             3,
             5,
             4,
             2,
             16,
             16,
             0,
             300,
             false,
             Mask::kNone,
             {300, 2, 0},
             {{"is_causal", 1}}});
}

}  // namespace
}  // namespace tengine::test
