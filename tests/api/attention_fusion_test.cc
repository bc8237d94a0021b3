// SPDX-License-Identifier: Apache-2.0
// The nodes that exporters write for an attention become one step if the tensors between them have
// no other readers, with the same results as when every tensor is an output. Nodes that other steps
// compute take no time.
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Dims = std::vector<int>;

std::vector<float> noise(size_t number, uint32_t seed)
{
    std::vector<float> values(number);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
    }
    return values;
}

class AttentionFusionTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("profiled", 1);
        ASSERT_EQ(tengine_context_set_option(context_, "run.profile", "1"), 0);
        graph_ = create_graph(context_, nullptr, nullptr);
    }
    void TearDown() override
    {
        destroy_graph(graph_);
        destroy_context(context_);
        ApiTest::TearDown();
    }

    tensor_t input(const Dims& dims)
    {
        inputs_.push_back("x" + std::to_string(inputs_.size()));
        return add_input(graph_, inputs_.back().c_str(), dims);
    }

    tensor_t number(float value)
    {
        const std::string name = "f" + std::to_string(++constant_num_);
        return add_constant(graph_, name.c_str(), {}, &value);
    }

    tensor_t node(const char* op, std::initializer_list<tensor_t> inputs)
    {
        names_.push_back(op + std::to_string(names_.size()));
        return add_node(graph_, names_.back().c_str(), op, inputs);
    }

    // Sets an attribute of the node that was added last.
    void set(const char* attribute, const Dims& values)
    {
        EXPECT_EQ(
            set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), attribute, "int[]",
                                  values.data(), static_cast<int>(values.size() * sizeof(int))),
            0)
            << get_tengine_error();
    }

    tensor_t transpose(tensor_t x, const Dims& order)
    {
        const tensor_t y = node("Transpose", {x});
        set("tr_shape", order);
        return y;
    }

    tensor_t reshape(tensor_t x, const Dims& dims)
    {
        const tensor_t y = node("Reshape", {x});
        set("re_shape", dims);
        return y;
    }

    tensor_t slice(tensor_t x, const Dims& begin, const Dims& size)
    {
        const tensor_t y = node("Slice", {x});
        set("begin_", begin);
        set("size_", size);
        return y;
    }

    tensor_t softmax(tensor_t x, int axis = -1)
    {
        const tensor_t y = node("Softmax", {x});
        softmax_ = names_.back();
        EXPECT_EQ(set_node_attr_int(get_graph_node(graph_, names_.back().c_str()), "axis", &axis),
                  0)
            << get_tengine_error();
        return y;
    }

    // Splits [batch, rows, heads * depth] into heads.
    tensor_t split(tensor_t x, int batch, int rows, int heads, const Dims& order)
    {
        return transpose(reshape(x, {batch, rows, heads, -1}), order);
    }

    std::vector<float> run(const std::vector<const char*>& outputs)
    {
        std::vector<const char*> inputs;
        for (const std::string& name : inputs_)
            inputs.push_back(name.c_str());
        EXPECT_TRUE(set_borders(graph_, inputs, outputs)) << get_tengine_error();
        EXPECT_EQ(prerun_graph_multithread(graph_, {1, TENGINE_CLUSTER_ALL, precision_, 0}), 0)
            << get_tengine_error();
        for (size_t i = 0; i < inputs.size(); ++i) {
            const tensor_t tensor = tengine_graph_get_input(graph_, static_cast<int>(i));
            const auto size = static_cast<size_t>(get_tensor_buffer_size(tensor)) / sizeof(float);
            EXPECT_TRUE(write_floats(tensor, noise(size, 77 + static_cast<uint32_t>(i))));
        }
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        std::vector<float> result = read_floats(tengine_graph_get_output(graph_, 0));
        is_fused_ = has_no_time(softmax_);
        EXPECT_EQ(postrun_graph(graph_), 0);
        return result;
    }

    bool has_no_time(const std::string& name)
    {
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph_); ++i) {
            tengine_execution_node node;
            EXPECT_EQ(tengine_graph_get_execution_node(graph_, i, &node), 0);
            if (name == node.name) return node.measured_ms == 0;
        }
        ADD_FAILURE() << "no node " << name;
        return false;
    }

    // Compares the last node's result with and without the others as outputs.
    void compare(bool should_fuse)
    {
        const std::string name = names_.back();
        const std::vector<float> fused = run({name.c_str()});
        EXPECT_EQ(is_fused_, should_fuse);
        std::vector<const char*> all = {name.c_str()};
        for (const std::string& other : names_)
            if (other != name) all.push_back(other.c_str());
        const std::vector<float> plain = run(all);
        EXPECT_FALSE(is_fused_);
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i)
            ASSERT_NEAR(fused[i], plain[i], tolerance_) << i;
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    int constant_num_ = 0;
    bool is_fused_ = false;
    int precision_ = TENGINE_MODE_FP32;
    double tolerance_ = 4e-6;
    std::string softmax_;
    std::vector<std::string> inputs_, names_;
};

constexpr int kHeads = 3, kRows = 10, kDepth = 8;

TEST_F(AttentionFusionTest, HeadsOfLinearLayers)
{
    const Dims shape = {2, kRows, kHeads * kDepth};
    const tensor_t query = split(input(shape), 2, kRows, kHeads, {0, 2, 1, 3});
    const tensor_t key = split(input(shape), 2, kRows, kHeads, {0, 2, 3, 1});
    const tensor_t value = split(input(shape), 2, kRows, kHeads, {0, 2, 1, 3});
    const tensor_t scores = node("Div", {node("MatMul", {query, key}), number(3)});
    const tensor_t result = node("MatMul", {softmax(scores), value});
    reshape(transpose(result, {0, 2, 1, 3}), {2, kRows, -1});
    compare(true);
}

// Unfused, scores below 3, which are exponents, their exponentials and the results are rounded.
TEST_F(AttentionFusionTest, Halves)
{
    const tensor_t x = input({2, kRows, kHeads * kDepth});
    const tensor_t query = split(x, 2, kRows, kHeads, {0, 2, 1, 3});
    const tensor_t key = split(input({2, kRows, kHeads * kDepth}), 2, kRows, kHeads, {0, 2, 3, 1});
    const tensor_t value =
        split(input({2, kRows, kHeads * kDepth}), 2, kRows, kHeads, {0, 2, 1, 3});
    const tensor_t scores = node("Div", {node("MatMul", {query, key}), number(std::sqrt(8.0f))});
    transpose(node("MatMul", {softmax(scores), value}), {0, 2, 1, 3});
    for (const int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16}) {
        precision_ = precision;
        tolerance_ = 2 * (2 * 3 + 2) * (precision == TENGINE_MODE_BF16 ? 0x1p-9 : 0x1p-12);
        compare(true);
    }
}

TEST_F(AttentionFusionTest, SlicesOfOneLayer)
{
    constexpr int kWidth = kHeads * kDepth;
    const tensor_t all = node("Relu", {input({kRows, 1, 3 * kWidth})});
    const auto take = [&](int part, const Dims& order) {
        return transpose(
            reshape(slice(all, {0, 0, part * kWidth}, {kRows, 1, kWidth}), {kRows, kHeads, kDepth}),
            order);
    };
    const tensor_t value = take(2, {1, 0, 2});
    const tensor_t query = node("Div", {take(0, {1, 0, 2}), number(2)});
    const tensor_t scores = node("MatMul", {query, take(1, {1, 2, 0})});
    reshape(transpose(node("MatMul", {softmax(scores, 2), value}), {1, 0, 2}), {kRows, kWidth});
    compare(true);
}

TEST_F(AttentionFusionTest, NumbersBeforeTheProductAndAMask)
{
    const Dims shape = {2, kHeads, kRows, kDepth};
    const tensor_t query = node("Mul", {input(shape), number(0.7f)});
    const tensor_t key = node("Mul", {number(0.9f), transpose(input(shape), {0, 1, 3, 2})});
    const tensor_t mask = input({kRows, kRows});
    const tensor_t scores = node("Add", {mask, node("MatMul", {query, key})});
    node("MatMul", {softmax(scores, 3), input(shape)});
    compare(true);
}

TEST_F(AttentionFusionTest, MasksThatBroadcast)
{
    for (const Dims& dims : {Dims{2, 1, 1, 7}, Dims{2, 3, 5, 7}, Dims{1, 1, 5, 7}, Dims{7}}) {
        SCOPED_TRACE(testing::PrintToString(dims));
        const tensor_t mask = node("Relu", {input(dims)});
        const tensor_t product =
            node("MatMul", {input({2, 3, 5, kDepth}), input({2, 3, kDepth, 7})});
        const tensor_t scores = node("Add", {node("Mul", {number(2), product}), mask});
        node("MatMul", {softmax(scores), input({2, 3, 7, 4})});
        compare(true);
        TearDown();
        SetUp();
        names_.clear();
        inputs_.clear();
    }
}

TEST_F(AttentionFusionTest, MatricesAlone)
{
    node("MatMul", {softmax(node("MatMul", {input({5, 6}), input({6, 7})})), input({7, 4})});
    compare(true);
}

TEST_F(AttentionFusionTest, TwoThatFollowEachOther)
{
    const Dims shape = {kHeads, kRows, kDepth};
    tensor_t x = input(shape);
    for (int i = 0; i < 2; ++i)
        x = node("MatMul",
                 {softmax(node("MatMul", {x, transpose(input(shape), {0, 2, 1})})), input(shape)});
    compare(true);
}

// One tensor is query, key and value, and other nodes read it too.
TEST_F(AttentionFusionTest, QueriesThatAreKeysAndValues)
{
    const tensor_t x = node("Relu", {input({kHeads, kRows, kDepth})});
    const tensor_t scores = node("MatMul", {x, transpose(x, {0, 2, 1})});
    node("Add", {node("MatMul", {softmax(scores), x}), x});
    compare(true);
}

TEST_F(AttentionFusionTest, ScoresThatAreReadElsewhereStay)
{
    const tensor_t scores = node("MatMul", {input({2, 5, 6}), input({2, 6, 5})});
    const tensor_t result = node("MatMul", {softmax(scores), input({2, 5, 5})});
    node("Add", {result, scores});
    compare(false);
}

TEST_F(AttentionFusionTest, WeightsThatAreReadElsewhereStay)
{
    const tensor_t weights = softmax(node("MatMul", {input({2, 5, 6}), input({2, 6, 5})}));
    node("Add", {node("MatMul", {weights, input({2, 5, 5})}), weights});
    compare(false);
}

TEST_F(AttentionFusionTest, AnotherAxisStays)
{
    const tensor_t scores = node("MatMul", {input({2, 5, 6}), input({2, 6, 5})});
    node("MatMul", {softmax(scores, 1), input({2, 5, 5})});
    compare(false);
}

TEST_F(AttentionFusionTest, WeightsOnTheRightStay)
{
    const tensor_t weights = softmax(node("MatMul", {input({2, 5, 6}), input({2, 6, 5})}));
    node("MatMul", {input({2, 5, 5}), weights});
    compare(false);
}

TEST_F(AttentionFusionTest, MasksThatMakeMoreScoresStay)
{
    const tensor_t product = node("MatMul", {input({1, 5, 6}), input({1, 6, 7})});
    const tensor_t scores = node("Add", {product, input({2, 5, 7})});
    node("MatMul", {softmax(scores), input({2, 7, 4})});
    compare(false);
}

TEST_F(AttentionFusionTest, MasksThatMakeMoreQueriesStay)
{
    const tensor_t product = node("MatMul", {input({2, 1, 6}), input({2, 6, 7})});
    const tensor_t scores = node("Add", {product, input({2, 5, 7})});
    node("MatMul", {softmax(scores), input({2, 7, 4})});
    compare(false);
}

TEST_F(AttentionFusionTest, MasksWithOneNumberForAllKeysStay)
{
    const tensor_t product = node("MatMul", {input({2, 5, 6}), input({2, 6, 7})});
    node("MatMul", {softmax(node("Add", {product, input({5, 1})})), input({2, 7, 4})});
    compare(false);
}

TEST_F(AttentionFusionTest, ValuesForAllHeadsStay)
{
    const tensor_t scores = node("MatMul", {input({2, 5, 6}), input({2, 6, 7})});
    node("MatMul", {softmax(scores), input({7, 4})});
    compare(false);
}

}  // namespace
}  // namespace tengine
