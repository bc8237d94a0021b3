// SPDX-License-Identifier: Apache-2.0
// Files with several entries: the prefill and the decoding of a small language model, whose cache
// of keys and values is their state. The expected values are those of plain loops over the whole
// sequence.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "support/allocation_count.h"
#include "tengine/entry.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/state.h"

namespace tengine {

using Floats = std::vector<float>;

constexpr size_t kWidth = 64;  // of a token
constexpr size_t kMost = 12;   // tokens of the cache
constexpr size_t kPrompt = 5;

// Numbers between -1 and 1 that are no pattern.
inline Floats make_numbers(size_t number, unsigned seed)
{
    Floats values(number);
    unsigned state = seed * 2654435761U + 1;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8) / 8388608.0F - 1;
    }
    return values;
}

struct Weights
{
    Weights()
    {
        for (unsigned i = 0; i < 4; ++i) {
            matrices[i] = make_numbers(kWidth * kWidth, i + 1);
            for (float& value : matrices[i])
                value /= 8;
        }
    }

    Floats matrices[4];  // of queries, keys, values, results
};

using Rows = std::vector<std::vector<double>>;

inline Rows multiply(const Rows& rows, const Floats& matrix)
{
    Rows result(rows.size(), std::vector<double>(kWidth));
    for (size_t r = 0; r < rows.size(); ++r)
        for (size_t k = 0; k < kWidth; ++k)
            for (size_t c = 0; c < kWidth; ++c)
                result[r][c] += rows[r][k] * double{matrix[k * kWidth + c]};
    return result;
}

// Causal attention, https://arxiv.org/abs/1706.03762, 3.2.1, without a scale.
inline Rows attend(const Rows& queries, const Rows& keys, const Rows& values)
{
    Rows result(queries.size(), std::vector<double>(kWidth));
    for (size_t t = 0; t < queries.size(); ++t) {
        double sum = 0;
        std::vector<double> weights(t + 1);
        for (size_t s = 0; s <= t; ++s) {
            double product = 0;
            for (size_t k = 0; k < kWidth; ++k)
                product += queries[t][k] * keys[s][k];
            sum += weights[s] = std::exp(product);
        }
        for (size_t s = 0; s <= t; ++s)
            for (size_t c = 0; c < kWidth; ++c)
                result[t][c] += weights[s] / sum * values[s][c];
    }
    return result;
}

inline Rows expected_rows(const Weights& weights, const Floats& tokens)
{
    Rows rows(tokens.size() / kWidth, std::vector<double>(kWidth));
    for (size_t i = 0; i < tokens.size(); ++i)
        rows[i / kWidth][i % kWidth] = double{tokens[i]};
    const Floats* matrices = weights.matrices;
    return multiply(attend(multiply(rows, matrices[0]), multiply(rows, matrices[1]),
                           multiply(rows, matrices[2])),
                    matrices[3]);
}

// A node of ONNX, and its output.
inline tensor_t add_op(graph_t graph, const char* name, const char* op,
                       std::initializer_list<tensor_t> inputs)
{
    const node_t node = tengine_graph_add_node(graph, name, "", op, 0);
    const tensor_t tensor = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    EXPECT_EQ(set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_VAR), 0) << get_tengine_error();
    int index = 0;
    for (tensor_t input : inputs)
        EXPECT_EQ(set_node_input_tensor(node, index++, input), 0) << get_tengine_error();
    return tensor;
}

// cache * keep + place x (x matrix): the rows of x in their places of the cache.
inline tensor_t add_cache(graph_t graph, const std::string& name, tensor_t x, tensor_t matrix,
                          tensor_t keep, tensor_t place)
{
    const tensor_t cache = add_input(graph, name.c_str(), {kMost, kWidth});
    const tensor_t rows = add_op(graph, (name + "_rows").c_str(), "MatMul", {x, matrix});
    const tensor_t kept = add_op(graph, (name + "_kept").c_str(), "Mul", {cache, keep});
    const tensor_t placed = add_op(graph, (name + "_placed").c_str(), "MatMul", {place, rows});
    return add_op(graph, (name + "_next").c_str(), "Add", {kept, placed});
}

// A graph for `number` tokens at once, with the states "k" and "v".
inline graph_t create_model(context_t context, const Weights& weights, int number)
{
    const int width = kWidth, most = kMost;
    const graph_t graph = create_graph(context, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {number, width});
    const tensor_t place = add_input(graph, "place", {most, number});
    const tensor_t keep = add_input(graph, "keep", {most, 1});
    const tensor_t bias = add_input(graph, "bias", {number, most});
    tensor_t matrices[4];
    for (int i = 0; i < 4; ++i)
        matrices[i] = add_constant(graph, ("w" + std::to_string(i)).c_str(), {width, width},
                                   weights.matrices[i].data());
    const tensor_t queries = add_op(graph, "queries", "MatMul", {x, matrices[0]});
    const tensor_t keys = add_cache(graph, "k", x, matrices[1], keep, place);
    const tensor_t values = add_cache(graph, "v", x, matrices[2], keep, place);
    const tensor_t turned = add_op(graph, "turned", "Transpose", {keys});
    const tensor_t scores = add_op(graph, "scores", "MatMul", {queries, turned});
    const tensor_t biased = add_op(graph, "biased", "Add", {scores, bias});
    const tensor_t shares = add_op(graph, "shares", "Softmax", {biased});
    const tensor_t mixed = add_op(graph, "mixed", "MatMul", {shares, values});
    add_op(graph, "y", "MatMul", {mixed, matrices[3]});
    EXPECT_TRUE(
        set_borders(graph, {"x", "place", "keep", "bias", "k", "v"}, {"k_next", "v_next", "y"}));
    EXPECT_EQ(tengine_graph_keep_state(graph, "k", "k_next"), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_keep_state(graph, "v", "v_next"), 0) << get_tengine_error();
    return graph;
}

inline int64_t count_compiled_bytes(graph_t graph)
{
    int64_t bytes = 0;
    tengine_device_memory memory = {};
    for (int i = 0; tengine_graph_get_device_memory(graph, i, &memory, sizeof memory) == 0; ++i)
        bytes += memory.compiled_bytes;
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    return bytes;
}

class EntryFileTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        tokens_ = make_numbers(kMost * kWidth, 9);
    }

    void TearDown() override
    {
        close();
        std::remove(path_.c_str());
        ApiTest::TearDown();
    }

    void close()
    {
        for (graph_t* graph : {&decode_, &prefill_}) {
            if (*graph && destroy_graph(*graph) < 0) ADD_FAILURE() << get_tengine_error();
            *graph = nullptr;
        }
        if (context_) destroy_context(context_);
        context_ = nullptr;
    }

    // The files are tmfiles otherwise.
    void use_tflite()
    {
        format_ = "tflite";
        path_ = testing::TempDir() + "entries_" + std::to_string(getpid()) + ".tflite";
    }

    // Writes the file from graphs of the program.
    void save()
    {
        const graph_t graphs[] = {create_model(nullptr, weights_, kPrompt),
                                  create_model(nullptr, weights_, 1)};
        const char* const names[] = {"prefill", "decode"};
        ASSERT_EQ(tengine_graph_join_entries(graphs, names, 2), 0) << get_tengine_error();
        ASSERT_EQ(save_graph(graphs[1], format_, path_.c_str()), 0) << get_tengine_error();
        for (const graph_t graph : graphs)
            EXPECT_EQ(destroy_graph(graph), 0);
    }

    void set_option(const char* key, const char* value)
    {
        if (!context_) context_ = create_context("entries", 1);
        ASSERT_EQ(tengine_context_set_option(context_, key, value), 0) << get_tengine_error();
    }

    void load()
    {
        prefill_ = create_graph(context_, format_, path_.c_str());
        ASSERT_NE(prefill_, nullptr) << get_tengine_error();
        decode_ = tengine_graph_open_entry(prefill_, "decode");
        ASSERT_NE(decode_, nullptr) << get_tengine_error();
    }

    void prepare(int precision = TENGINE_MODE_FP32, int threads = 1)
    {
        const options how = {threads, TENGINE_CLUSTER_BIG, precision, 0};
        feed(prefill_, 0, kPrompt);
        feed(decode_, 0, 1);
        ASSERT_EQ(prerun_graph_multithread(prefill_, how), 0) << get_tengine_error();
        ASSERT_EQ(prerun_graph_multithread(decode_, how), 0) << get_tengine_error();
    }

    void feed(graph_t graph, size_t first, size_t number) const
    {
        Floats place(kMost * number), keep(kMost, 1), bias(number * kMost, -1000);
        for (size_t i = 0; i < number; ++i) {
            place[(first + i) * number + i] = 1;
            keep[first + i] = 0;
            std::fill_n(bias.begin() + static_cast<ptrdiff_t>(i * kMost), first + i + 1, 0.0F);
        }
        const auto begin = tokens_.begin() + static_cast<ptrdiff_t>(first * kWidth);
        const Floats x(begin, begin + static_cast<ptrdiff_t>(number * kWidth));
        const std::map<std::string, Floats> inputs = {
            {"x", x}, {"place", place}, {"keep", keep}, {"bias", bias}};
        for (const auto& [name, values] : inputs)
            ASSERT_TRUE(write_floats(get_graph_tensor(graph, name.c_str()), values)) << name;
    }

    Floats run(graph_t graph, size_t first, size_t number) const
    {
        feed(graph, first, number);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(tengine_graph_get_output(graph, 0));
    }

    // Prefill, then token by token; the largest difference from the whole sequence.
    double find_error() const { return find_error(prefill_, decode_); }

    double find_error(graph_t prefill, graph_t decode) const
    {
        Floats made = run(prefill, 0, kPrompt);
        for (size_t i = kPrompt; i < kMost; ++i) {
            const Floats row = run(decode, i, 1);
            made.insert(made.end(), row.begin(), row.end());
        }
        const Rows expected = expected_rows(weights_, tokens_);
        double error = 0;
        for (size_t i = 0; i < made.size(); ++i)
            error = std::max(error, std::fabs(double{made[i]} - expected[i / kWidth][i % kWidth]));
        return made.size() == tokens_.size() ? error : INFINITY;
    }

    // On each device, with each scheduler and precision, with an option of the context.
    void run_everywhere(const char* key, const char* value)
    {
        const std::map<int, double> limits = {
            {TENGINE_MODE_FP32, 1e-4}, {TENGINE_MODE_FP16, 0.02}, {TENGINE_MODE_BF16, 0.15}};
        for (const char* device : {"CPU", "TPU"})
            for (const char* scheduler : {"sync", "pipeline"})
                for (const auto& [precision, limit] : limits) {
                    SCOPED_TRACE(std::string(device) + " " + scheduler + " " +
                                 std::to_string(precision));
                    context_ = create_context("entries", 1);
                    ASSERT_EQ(set_context_device(context_, device, nullptr, 0), 0);
                    set_option("scheduler", scheduler);
                    set_option(key, value);
                    load();
                    prepare(precision, 2);
                    EXPECT_LT(find_error(), limit);
                    close();
                }
    }

    // Lets some of the allocations of the work fail, each alone.
    void expect_clean_failures(const std::function<bool()>& work)
    {
        ASSERT_TRUE(work()) << get_tengine_error();
        close();
        const long begin = count_allocations();
        ASSERT_TRUE(work()) << get_tengine_error();
        const long number = count_allocations() - begin;
        close();
        int failures = 0;
        for (long i = 1; i <= number && !HasFailure(); i += std::max(number / 400, 1L)) {
            SCOPED_TRACE("allocation " + std::to_string(i) + " of " + std::to_string(number));
            take_logged_failures();
            const LiveMemory before = measure_live_memory();
            fail_allocation(i);
            const bool worked = work();
            fail_allocation(0);
            if (!worked) {
                ++failures;
                EXPECT_TRUE(failed_with(TENGINE_ENOMEM));
            }
            close();
            take_logged_failures();
            clr_tengine_errno();
            EXPECT_EQ(measure_live_memory().blocks, before.blocks) << "blocks are left";
        }
        EXPECT_GT(failures, 100);
    }

    std::string read_file() const
    {
        std::ifstream stream(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const char* format_ = "tengine";
    std::string path_ = testing::TempDir() + "entries_" + std::to_string(getpid()) + ".tmfile";
    const Weights weights_;
    Floats tokens_;
    context_t context_ = nullptr;
    graph_t prefill_ = nullptr;
    graph_t decode_ = nullptr;
};

}  // namespace tengine
