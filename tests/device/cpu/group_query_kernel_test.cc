// SPDX-License-Identifier: Apache-2.0
// The fast kernel of GroupQueryAttention against the reference, on every instruction set this
// machine has; with one worker and several, and with the cache in place and copied, bit by bit.
#include <cmath>
#include <cstring>
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

struct Case
{
    const char* name;
    int batch, tokens, heads, key_heads, depth;
    int past;                       // capacity in rows; 0: no cache
    std::vector<int32_t> last_key;  // of each batch
    bool is_packed = false;
    int rotary = 0;  // elements that are rotated
    int bias_heads = 0;
    bool has_sink = false;
    std::vector<std::pair<const char*, float>> attributes = {};
    int total() const { return *std::max_element(last_key.begin(), last_key.end()) + 1; }
    bool is_prompt() const { return total() == tokens; }
};

// Queries and keys are within 0.5, or 0.5 sqrt(2) after rotation, values within 1. A score is the
// sum of `depth` products of at most 0.5, times the scale; the errors of two of them, and of a cap,
// are the error of their exponentials' quotient. Each exponential and each product of the second
// sum is rounded.
float tolerance_of(const Case& c)
{
    const float depth = static_cast<float>(c.depth);
    const float scores = 2 * (depth + 8) * 0.5f * std::sqrt(depth);
    return (scores + static_cast<float>(c.total()) + 16) * std::numeric_limits<float>::epsilon();
}

class AttentionNode
{
  public:
    explicit AttentionNode(const Case& c)
    {
        const int columns = c.key_heads * c.depth;
        std::vector<std::string> inputs = {"query", "key", "value", "", "", "last",
                                           "total", "",    "",      "", "", ""};
        fill("query", {c.batch, c.tokens, c.heads * c.depth + (c.is_packed ? 2 * columns : 0)});
        if (c.is_packed) inputs[1] = inputs[2] = "";
        if (!c.is_packed) fill("key", {c.batch, c.tokens, columns});
        if (!c.is_packed) fill("value", {c.batch, c.tokens, columns}, 1);
        if (c.past > 0) fill(inputs[3] = "past_key", {c.batch, c.key_heads, c.past, c.depth});
        if (c.past > 0) fill(inputs[4] = "past_value", {c.batch, c.key_heads, c.past, c.depth}, 1);
        builder_.constant("last", {c.batch}, c.last_key, TENGINE_DT_INT32);
        builder_.constant("total", {1}, std::vector<int32_t>{c.total()}, TENGINE_DT_INT32);
        if (c.rotary > 0) add_angles(c, &inputs);
        if (c.bias_heads > 0)
            fill(inputs[10] = "bias", {1, c.bias_heads, c.tokens, c.total() + 3}, 2);
        if (c.has_sink) fill(inputs[11] = "sink", {c.heads}, 2);
        node_ = builder_.add("com.microsoft.GroupQueryAttention", inputs,
                             {"result", "present_key", "present_value"});
        EXPECT_EQ(set_node_int(node_, "num_heads", c.heads), TENGINE_OK);
        EXPECT_EQ(set_node_int(node_, "kv_num_heads", c.key_heads), TENGINE_OK);
        EXPECT_EQ(set_node_int(node_, "do_rotary", c.rotary > 0), TENGINE_OK);
        for (const auto& [name, value] : c.attributes)
            EXPECT_TRUE(set_node_int(node_, name, static_cast<int64_t>(value)) == TENGINE_OK ||
                        set_node_float(node_, name, value) == TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_accepting_kernels(*node_); }

    // Returns results, keys and values of the present, one after the other.
    Floats run(const Kernel& kernel, int thread_num)
    {
        Floats values[3];
        for (int i = 0; i < 3; ++i)
            values[i].assign(static_cast<size_t>(node_output(i)->elem_num), std::nanf(""));
        return run(kernel, thread_num, values);
    }

    // Does the same in a copy of the past's memory.
    Floats run_in_place(const Kernel& kernel, int thread_num)
    {
        tensor* past[] = {builder_.find("past_key"), builder_.find("past_value")};
        void* const given[] = {past[0]->data, past[1]->data};
        Floats values[3];
        values[0].assign(static_cast<size_t>(node_output(0)->elem_num), std::nanf(""));
        for (int i = 0; i < 2; ++i) {
            values[1 + i].assign(past[i]->f32, past[i]->f32 + past[i]->elem_num);
            past[i]->data = values[1 + i].data();
        }
        Floats all = run(kernel, thread_num, values);
        for (int i = 0; i < 2; ++i)
            past[i]->data = given[i];
        return all;
    }

    tensor* node_output(int index) { return get_ir_node_output(node_, index); }
    IrBuilder& builder() { return builder_; }

  private:
    Floats run(const Kernel& kernel, int thread_num, Floats (&values)[3])
    {
        for (int i = 0; i < 3; ++i)
            node_output(i)->data = values[i].data();
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        Floats all;
        for (int i = 0; i < 3; ++i) {
            all.insert(all.end(), values[i].begin(), values[i].end());
            node_output(i)->data = nullptr;
        }
        return all;
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
    void add_angles(const Case& c, std::vector<std::string>* inputs)
    {
        const int positions = c.total() + 2, half = c.rotary / 2;
        Floats cos, sin;
        for (int i = 0; i < positions * half; ++i) {
            cos.push_back(std::cos(0.37f * static_cast<float>(i)));
            sin.push_back(std::sin(0.37f * static_cast<float>(i)));
        }
        builder_.floats((*inputs)[7] = "cos", {positions, half}, cos);
        builder_.floats((*inputs)[8] = "sin", {positions, half}, sin);
    }

    IrBuilder builder_;
    std::mt19937 random_{31};
    node* node_;
};

void expect_near(const Floats& actual, const Floats& expected, float tolerance)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

// Rows of results in place that are neither past nor new are ignored: they are unchanged in place,
// and 0 in a copy.
void expect_same_cache(AttentionNode& node, const Case& c, const Floats& in_place,
                       const Floats& copied)
{
    const auto results = static_cast<size_t>(node.node_output(0)->elem_num);
    const auto rows = static_cast<size_t>(node.node_output(1)->dims[2]);
    const auto depth = static_cast<size_t>(c.depth), heads = static_cast<size_t>(c.key_heads);
    ASSERT_EQ(in_place.size(), copied.size());
    for (size_t i = 0; i < copied.size(); ++i) {
        if (i >= results) {
            const size_t row = (i - results) / depth % rows;
            const size_t b = (i - results) / (depth * rows * heads) % c.last_key.size();
            const auto used = c.is_prompt() ? c.tokens : c.last_key[b] + 1;
            if (row >= static_cast<size_t>(used)) continue;
        }
        ASSERT_EQ(in_place[i], copied[i]) << "element " << i << " in place";
    }
}

void compare_on_target(AttentionNode& node, const Case& c, const Floats& expected)
{
    const Kernel& kernel = *node.kernels().front();
    const Floats alone = node.run(kernel, 1);
    expect_near(alone, expected, tolerance_of(c));
    for (const int thread_num : {2, 5})
        EXPECT_EQ(node.run(kernel, thread_num), alone) << thread_num << " threads";
    if (c.past < c.total()) return;
    for (const int thread_num : {1, 3})
        expect_same_cache(node, c, node.run_in_place(kernel, thread_num), alone);
}

void compare(const Case& c)
{
    SCOPED_TRACE(c.name);
    AttentionNode node(c);
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    const Floats expected = node.run(*kernels.back(), 1);
    EXPECT_EQ(node.run(*kernels.back(), 3), expected);
    if (c.past >= c.total())
        expect_same_cache(node, c, node.run_in_place(*kernels.back(), 2), expected);
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has the reference only";
    ASSERT_EQ(kernels.size(), 2u);
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        SCOPED_TRACE(cpu::get_vector_target_name(target));
        cpu::force_vector_target(target);
        compare_on_target(node, c, expected);
    }
    cpu::force_vector_target(-1);
}

// One token, with keys in less than a block, blocks and a part of one.
TEST(GroupQueryKernel, DecodesOneToken)
{
    compare({"first", 1, 1, 1, 1, 1, 0, {0}});
    compare({"few keys", 2, 1, 6, 2, 13, 21, {3, 20}, false, 6});
    compare({"one block", 1, 1, 14, 2, 64, 300, {255}, false, 64});
    compare({"blocks", 1, 1, 14, 2, 64, 600, {556}, true, 64});
    compare({"lengths", 3, 1, 4, 4, 33, 530, {511, 0, 512}, false, 8});
    compare({"grows", 1, 1, 4, 2, 16, 256, {256}});
    compare({"many heads", 1, 1, 71, 1, 24, 270, {262}});
}

TEST(GroupQueryKernel, ReadsPrompts)
{
    compare({"few tokens", 1, 5, 4, 2, 16, 0, {4}, false, 16});
    compare({"lengths", 2, 17, 6, 3, 20, 0, {16, 9}, true, 10});
    compare({"tiles", 1, 61, 14, 2, 64, 80, {60}, false, 64});
    compare({"tiles and blocks", 1, 290, 7, 1, 36, 0, {289}, true, 36});
    compare({"after others", 1, 30, 14, 2, 32, 400, {299}, false, 32});
    compare({"few after others", 1, 3, 14, 2, 32, 600, {520}, false, 32});
}

// Many tokens fill more than one block, and the options of the other scores apply to theirs, too.
TEST(GroupQueryKernel, HasScoresOfAllKinds)
{
    const auto everything = [](Case& c) {
        c.attributes = {{"local_window_size", 300}, {"softcap", 0.5f}};
        c.bias_heads = 6;
        c.has_sink = true;
    };
    const auto describe = [](int tokens, int past, int last) {
        return Case{"", 1, tokens, 6, 2, 24, past, {last}, false, 24};
    };
    for (const int tokens : {1, 40}) {
        const auto change = [&](const char* name, const auto& make_change) {
            Case c = describe(tokens, 600, 540);
            c.name = name;
            make_change(c);
            compare(c);
        };
        change("window", [](Case& c) { c.attributes = {{"local_window_size", 19}}; });
        change("window of a block", [](Case& c) { c.attributes = {{"local_window_size", 257}}; });
        change("softcap", [](Case& c) { c.attributes = {{"softcap", 0.25f}}; });
        change("scale", [](Case& c) { c.attributes = {{"scale", 0.125f}}; });
        change("smooth", [](Case& c) { c.attributes = {{"smooth_softmax", 1}}; });
        change("sink", [](Case& c) { c.has_sink = true; });
        change("bias", [](Case& c) { c.bias_heads = 6; });
        change("bias of all heads", [](Case& c) { c.bias_heads = 1; });
        change("interleaved", [](Case& c) { c.attributes = {{"rotary_interleaved", 1}}; });
        change("all keys", [](Case& c) { c.attributes = {{"causal", 0}}; });
        change("everything", everything);
    }
    Case many = describe(270, 270, 269);
    many.name = "everything of many tokens";
    everything(many);
    compare(many);
}

TEST(GroupQueryKernel, LeavesMaskedTokensToTheFormula)
{
    AttentionNode node({"masked", 1, 1, 2, 1, 8, 0, {0}, false, 0, 1});
    node.builder().find("bias")->f32[0] = -std::numeric_limits<float>::infinity();
    for (const Kernel* kernel : node.kernels())
        EXPECT_TRUE(std::isnan(node.run(*kernel, 1)[0])) << kernel->name;
}

}  // namespace
}  // namespace tengine::test
