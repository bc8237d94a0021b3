// SPDX-License-Identifier: Apache-2.0
// Graphs that are run twice: with their last result as the output, so that nodes are fused, and
// with every result as an output, so that none is.
#pragma once

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "fixture.h"

namespace tengine {

inline std::vector<float> noise(size_t number, uint32_t seed)
{
    std::vector<float> values(number);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
    }
    return values;
}

inline size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

class FusionTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_graph(nullptr, nullptr, nullptr);
    }
    void TearDown() override
    {
        destroy_graph(graph_);
        ApiTest::TearDown();
    }

    tensor_t input(const char* name, const std::vector<int>& dims)
    {
        inputs_.push_back(name);
        input_sizes_.push_back(count(dims));
        return add_input(graph_, name, dims);
    }

    tensor_t constant(const std::vector<int>& dims)
    {
        const std::vector<float> values = noise(count(dims), ++seed_);
        return add_constant(graph_, ("c" + std::to_string(seed_)).c_str(), dims, values.data());
    }

    tensor_t scalar(float value)
    {
        return add_constant(graph_, ("s" + std::to_string(++seed_)).c_str(), {}, &value);
    }

    tensor_t node(const char* op, std::initializer_list<tensor_t> inputs)
    {
        names_.push_back(op + std::to_string(names_.size()));
        return add_node(graph_, names_.back().c_str(), op, inputs);
    }

    tensor_t transpose(tensor_t x, const std::vector<int>& order)
    {
        const tensor_t y = node("Transpose", {x});
        EXPECT_EQ(set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), "tr_shape",
                                        "int[]", order.data(),
                                        static_cast<int>(order.size() * sizeof(int))),
                  0)
            << get_tengine_error();
        return y;
    }

    tensor_t mean_of_rows(tensor_t x)
    {
        const int64_t last = -1;
        const std::string name = "a" + std::to_string(++seed_);
        return node("ReduceMean",
                    {x, add_constant(graph_, name.c_str(), {1}, &last, TENGINE_DT_INT64)});
    }

    // Layer normalisation in nine nodes.
    tensor_t layer_norm(tensor_t x, tensor_t scale, tensor_t shift)
    {
        const tensor_t left = node("Sub", {x, mean_of_rows(x)});
        const tensor_t variance = mean_of_rows(node("Pow", {left, scalar(2)}));
        const tensor_t root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
        return node("Add", {node("Mul", {scale, node("Div", {left, root})}), shift});
    }

    tensor_t batch_norm(tensor_t x, int channels)
    {
        const std::vector<float> variance(static_cast<size_t>(channels), 0.75f);
        const std::string name = "v" + std::to_string(++seed_);
        const tensor_t positive = add_constant(graph_, name.c_str(), {channels}, variance.data());
        return node("BatchNormalization", {x, constant({channels}), constant({channels}),
                                           constant({channels}), positive});
    }

    // Adds a convolution with padding, depthwise according to `groups`.
    tensor_t conv(tensor_t x, int inputs, int outputs, int groups = 1, int kernel = 3)
    {
        const tensor_t weights = constant({outputs, inputs / groups, kernel, kernel});
        const tensor_t y = node("Conv", {x, weights, constant({outputs})});
        const node_t made = get_graph_node(graph_, names_.back().c_str());
        const int pad = kernel / 2, pads[] = {pad, pad, pad, pad};
        EXPECT_EQ(set_node_attr_generic(made, "pads", "int[]", pads, sizeof pads), 0)
            << get_tengine_error();
        EXPECT_EQ(set_node_attr_int(made, "group", &groups), 0) << get_tengine_error();
        return y;
    }

    // Adds a transposed convolution with strides of 2, and `before` as padding at the beginning of
    // both axes.
    tensor_t transposed_conv(tensor_t x, tensor_t weights, int before)
    {
        const tensor_t y = node("ConvTranspose", {x, weights});
        const node_t made = get_graph_node(graph_, names_.back().c_str());
        const int strides[] = {2, 2}, pads[] = {before, before, 0, 0};
        EXPECT_EQ(set_node_attr_generic(made, "strides", "int[]", strides, sizeof strides), 0)
            << get_tengine_error();
        EXPECT_EQ(set_node_attr_generic(made, "pads", "int[]", pads, sizeof pads), 0)
            << get_tengine_error();
        return y;
    }

    std::vector<float> run(const std::vector<const char*>& outputs)
    {
        EXPECT_TRUE(set_borders(graph_, inputs_, outputs)) << get_tengine_error();
        EXPECT_EQ(prerun_graph_multithread(graph_, {1, TENGINE_CLUSTER_ALL, precision_, 0}), 0)
            << get_tengine_error();
        for (size_t i = 0; i < inputs_.size(); ++i) {
            const tensor_t tensor = tengine_graph_get_input(graph_, static_cast<int>(i));
            const auto seed = 77 + static_cast<uint32_t>(i);
            EXPECT_TRUE(write_floats(tensor, noise(input_sizes_[i], seed)));
        }
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        std::vector<float> result = read_floats(tengine_graph_get_output(graph_, 0));
        EXPECT_EQ(postrun_graph(graph_), 0);
        return result;
    }

    // Compares the last node's result, fused and not.
    void compare() { compare_last(names_.back().c_str()); }

    void compare_last(const std::string& name)
    {
        const std::vector<float> fused = run({name.c_str()});
        std::vector<const char*> all = {name.c_str()};
        for (const std::string& other : names_)
            if (other != name) all.push_back(other.c_str());
        const std::vector<float> plain = run(all);
        has_same_bits_ = fused == plain;
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i)
            ASSERT_NEAR(fused[i], plain[i], tolerance_ * std::fabs(plain[i]) + absolute_) << i;
    }

    // In 16 bits: fused nodes round less often, so that results differ, by at most this many
    // roundings of numbers near 1.
    void compare_halves(double roundings)
    {
        for (const int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16}) {
            precision_ = precision;
            absolute_ = roundings * (precision == TENGINE_MODE_BF16 ? 0x1p-8 : 0x1p-11);
            compare();
            EXPECT_FALSE(has_same_bits_);
        }
    }

    graph_t graph_ = nullptr;
    int precision_ = TENGINE_MODE_FP32;
    bool has_same_bits_ = false;
    double tolerance_ = 0, absolute_ = 0;
    uint32_t seed_ = 0;
    std::vector<const char*> inputs_;
    std::vector<size_t> input_sizes_;
    std::vector<std::string> names_;
};

}  // namespace tengine
