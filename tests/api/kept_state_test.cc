// SPDX-License-Identifier: Apache-2.0
// state.h: values that a graph keeps from run to run, in graphs built by hand, in files of both
// formats, in instances and quantised copies, with both schedulers and several devices. The values
// are sums of small numbers, which all precisions represent.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/custom_kernel.h"
#include "tengine/graph.h"
#include "tengine/metadata.h"
#include "tengine/quantize.h"
#include "tengine/state.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

class KeptStateTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        for (const graph_t graph : graphs_)
            EXPECT_EQ(destroy_graph(graph), 0);
        ApiTest::TearDown();
    }

    // sum = x + before, y = -sum, all of shape [2].
    graph_t create_sum(context_t context = nullptr)
    {
        const graph_t graph = own(create_graph(context, nullptr, nullptr));
        const tensor_t x = add_input(graph, "x", {2});
        const tensor_t before = add_input(graph, "before", {2});
        const tensor_t sum = add_node(graph, "sum", "Add", {before, x});
        add_node(graph, "y", "Neg", {sum});
        EXPECT_TRUE(set_borders(graph, {"x", "before"}, {"sum", "y"}));
        return graph;
    }

    graph_t create_kept(context_t context = nullptr)
    {
        const graph_t graph = create_sum(context);
        EXPECT_EQ(tengine_graph_keep_state(graph, "before", "sum"), 0) << get_tengine_error();
        return graph;
    }

    // The same as a model with properties.
    graph_t load_sum(const std::string& first_value, context_t context = nullptr)
    {
        const std::string bytes =
            make_model({make_node("Add", {"before", "x"}, "sum", "sum"),
                        make_node("Neg", {"sum"}, "y", "y")},
                       {make_value_info("x", {"n"}), make_value_info("before", {"n"})},
                       make_value_info("y", {"n"})) +
            Message()
                .bytes(7, Message().bytes(12, make_value_info("sum", {"n"})).text())
                .bytes(14, make_property("tengine.state.before", "sum"))
                .bytes(14, make_property("tengine.initial.before", first_value))
                .text();
        const graph_t graph = own(tengine_graph_load(context, "onnx", bytes.data(), bytes.size()));
        const int dims[] = {2};
        for (const char* name : {"x", "before"})
            EXPECT_EQ(set_tensor_shape(get_graph_tensor(graph, name), dims, 1), 0);
        return graph;
    }

    graph_t own(graph_t graph)
    {
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (graph) graphs_.push_back(graph);
        return graph;
    }

    graph_t save_and_load(graph_t graph, const char* format)
    {
        const std::string path =
            testing::TempDir() + "state_" + std::to_string(getpid()) + ".model";
        EXPECT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        const graph_t loaded = own(create_graph(nullptr, format, path.c_str()));
        std::remove(path.c_str());
        return loaded;
    }

    std::vector<graph_t> graphs_;
};

void feed(graph_t graph, float value)
{
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), Floats(2, value)));
}

// Runs with these values of x; y is expected to be the sum so far, which begins with `sum`.
void expect_sums(graph_t graph, const Floats& values, float sum)
{
    ASSERT_EQ(tengine_graph_get_input_number(graph), 1);
    ASSERT_EQ(tengine_graph_get_output_number(graph), 1);
    for (const float value : values) {
        feed(graph, value);
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        sum += value;
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), Floats(2, -sum));
    }
}

Floats state_of(graph_t graph)
{
    const tensor_t state = tengine_graph_get_state(graph, 0);
    const Floats values = read_floats(state);
    release_graph_tensor(state);
    return values;
}

TEST_F(KeptStateTest, RunsReadWhatTheLastOneLeft)
{
    const graph_t graph = create_kept();
    EXPECT_EQ(tengine_graph_get_state_number(graph), 1);
    EXPECT_EQ(get_graph_input_node_number(graph), 1);
    EXPECT_EQ(get_graph_output_node_number(graph), 1);
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1, 2, 3}, 0);
    EXPECT_EQ(state_of(graph), Floats(2, 6));
    ASSERT_EQ(postrun_graph(graph), 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {4}, 6);
    ASSERT_EQ(tengine_graph_reset_states(graph), 0);
    expect_sums(graph, {5}, 0);
}

TEST_F(KeptStateTest, DevicesSchedulersAndPrecisions)
{
    for (const char* device : {"CPU", "TPU"})
        for (const char* scheduler : {"sync", "pipeline"})
            for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
                SCOPED_TRACE(std::string(device) + " " + scheduler + " " +
                             std::to_string(precision));
                const context_t context = create_context("states", 1);
                ASSERT_EQ(tengine_context_set_option(context, "scheduler", scheduler), 0);
                ASSERT_EQ(set_context_device(context, device, nullptr, 0), 0);
                const graph_t graph = create_kept(context);
                feed(graph, 0);
                options how = {1, TENGINE_CLUSTER_BIG, precision, 0};
                ASSERT_EQ(prerun_graph_multithread(graph, how), 0) << get_tengine_error();
                expect_sums(graph, {1, 2, 3}, 0);
                ASSERT_EQ(destroy_graph(graph), 0);
                graphs_.clear();
                destroy_context(context);
            }
}

TEST_F(KeptStateTest, OneRunIsInFlight)
{
    const context_t context = create_context("states", 1);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    const graph_t graph = create_kept(context);
    feed(graph, 1);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    for (int i = 1; i < 4; ++i) {
        ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 0), -1);
        EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
        EXPECT_EQ(tengine_graph_reset_states(graph), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
        ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
        EXPECT_EQ(state_of(graph), Floats(2, static_cast<float>(i)));
    }
    ASSERT_EQ(destroy_graph(graph), 0);
    graphs_.clear();
    destroy_context(context);
}

// A kernel that negates, and fails when it is told to.
struct Negation
{
    bool fails = false;

    static int run(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[], int,
                   struct custom_kernel_tensor* outputs[], int)
    {
        if (static_cast<Negation*>(ops->kernel_param)->fails) return -1;
        for (int i = 0; i < 2; ++i)
            static_cast<float*>(outputs[0]->data)[i] = -static_cast<float*>(inputs[0]->data)[i];
        return 0;
    }
};

TEST_F(KeptStateTest, ARunThatFailsLeavesThem)
{
    const graph_t graph = create_kept();
    Negation negation;
    custom_kernel_ops ops = {};
    ops.kernel_name = "negation";
    ops.op = "Neg";
    ops.force = 1;
    ops.kernel_param = &negation;
    ops.run = Negation::run;
    ASSERT_EQ(set_custom_kernel(get_graph_node(graph, "y"), "CPU", &ops), 0) << get_tengine_error();
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1, 2}, 0);
    negation.fails = true;
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    EXPECT_EQ(state_of(graph), Floats(2, 3));
    negation.fails = false;
    expect_sums(graph, {4}, 3);
    // The kernel's data are those of this function.
    ASSERT_EQ(destroy_graph(graph), 0);
    graphs_.clear();
}

TEST_F(KeptStateTest, FilesAndCopiesHaveThem)
{
    const graph_t graph = create_kept();
    EXPECT_STREQ(tengine_graph_find_property(graph, "tengine.state.before"), "sum");
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1}, 0);
    std::vector<graph_t> copies = {own(tengine_graph_share(graph))};
    for (const char* format : {"onnx", "tengine"}) {
        const graph_t saved = save_and_load(graph, format);
        copies.push_back(saved);
        copies.push_back(own(tengine_graph_share(saved)));
        for (const char* second : {"onnx", "tengine"})
            copies.push_back(save_and_load(saved, second));
    }
    for (const graph_t copy : copies) {
        SCOPED_TRACE(get_graph_node_num(copy));
        EXPECT_EQ(get_graph_input_node_number(copy), 1);
        EXPECT_EQ(get_graph_output_node_number(copy), 1);
        feed(copy, 0);
        ASSERT_EQ(prerun_graph(copy), 0) << get_tengine_error();
        expect_sums(copy, {2, 3}, 0);
    }
    expect_sums(graph, {5}, 1);
}

TEST_F(KeptStateTest, QuantisedCopiesHaveThem)
{
    const graph_t graph = create_kept();
    tengine_quantization how = {};
    how.get_range = [](void*, const char*, double* low, double* high) {
        *low = -128;
        *high = 127;
        return 1;
    };
    const graph_t quantized = own(tengine_graph_quantize(graph, &how));
    feed(quantized, 0);
    ASSERT_EQ(prerun_graph(quantized), 0) << get_tengine_error();
    expect_sums(quantized, {1, 2, 3}, 0);
}

TEST_F(KeptStateTest, TheFirstValueIsAProperty)
{
    for (const std::string digits : {"0000803f", "0000803f0000803f"}) {
        const graph_t graph = load_sum(digits);
        feed(graph, 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        expect_sums(graph, {1, 2}, 1);
        ASSERT_EQ(tengine_graph_reset_states(graph), 0);
        expect_sums(save_and_load(graph, "tengine"), {}, 1);
        expect_sums(graph, {3}, 1);
    }
}

TEST_F(KeptStateTest, AnOptionMakesThemInputsAndOutputs)
{
    const context_t context = create_context("states", 0);
    ASSERT_EQ(tengine_context_set_option(context, "model.states", "0"), 0);
    const graph_t graph = load_sum("0000803f", context);
    const graph_t shared = own(tengine_graph_share(graph));
    for (const graph_t plain : {graph, shared}) {
        EXPECT_EQ(tengine_graph_get_state_number(plain), 0);
        EXPECT_EQ(tengine_graph_get_input_number(plain), 2);
        EXPECT_EQ(tengine_graph_get_output_number(plain), 2);
    }
    EXPECT_EQ(tengine_graph_get_state_number(save_and_load(graph, "onnx")), 1);
    for (const graph_t made : graphs_)
        ASSERT_EQ(destroy_graph(made), 0);
    graphs_.clear();
    destroy_context(context);
}

TEST_F(KeptStateTest, ProgramsSaveAndRestoreThem)
{
    const graph_t graph = create_kept();
    const tensor_t state = tengine_graph_get_state(graph, 0);
    EXPECT_STREQ(get_tensor_name(state), "before");
    EXPECT_TRUE(write_floats(state, {10, 10}));
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1}, 10);
    EXPECT_EQ(read_floats(state), Floats(2, 11));
    EXPECT_TRUE(write_floats(state, {20, 20}));
    expect_sums(graph, {1}, 20);
    EXPECT_EQ(set_tensor_buffer(state, get_tensor_buffer(state), 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    release_graph_tensor(state);
}

TEST_F(KeptStateTest, OtherNodesBecomeOutputs)
{
    const graph_t graph = create_kept();
    const char* names[] = {"sum"};
    ASSERT_EQ(set_graph_output_node(graph, names, 1), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_output_number(graph), 0);
    const char* again[] = {"y"};
    ASSERT_EQ(set_graph_output_node(graph, again, 1), 0) << get_tengine_error();
    const char* inputs[] = {"x"};
    ASSERT_EQ(set_graph_input_node(graph, inputs, 1), 0) << get_tengine_error();
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1, 2}, 0);
}

TEST_F(KeptStateTest, OtherShapes)
{
    const graph_t graph = create_kept();
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1}, 0);
    const tensor_t x = tengine_graph_get_input(graph, 0);
    const tensor_t state = tengine_graph_get_state(graph, 0);
    const int wide[] = {3}, old[] = {2};
    ASSERT_EQ(set_tensor_shape(x, wide, 1), 0);
    EXPECT_TRUE(write_floats(x, {1, 1, 1}));
    EXPECT_EQ(prerun_graph(graph), -1);
    take_logged_failures();
    ASSERT_EQ(set_tensor_shape(state, wide, 1), 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    for (int i = 1; i < 3; ++i) {
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(state), Floats(3, static_cast<float>(i)));
    }
    ASSERT_EQ(set_tensor_shape(x, old, 1), 0);
    ASSERT_EQ(set_tensor_shape(state, old, 1), 0);
    feed(graph, 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sums(graph, {1, 2}, 0);
    release_graph_tensor(state);
}

TEST_F(KeptStateTest, Refusals)
{
    const graph_t graph = create_sum();
    EXPECT_EQ(tengine_graph_get_state(graph, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_keep_state(graph, nullptr, "sum"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_keep_state(graph, "before", ""), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const char* input : {"sum", "none"}) {
        EXPECT_EQ(tengine_graph_keep_state(graph, input, "sum"), -1);
        EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    }
    EXPECT_EQ(tengine_graph_keep_state(graph, "before", "x"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    EXPECT_EQ(tengine_graph_get_state_number(graph), 0);
    ASSERT_EQ(tengine_graph_keep_state(graph, "before", "sum"), 0);
    EXPECT_EQ(tengine_graph_keep_state(graph, "before", "sum"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    EXPECT_EQ(tengine_graph_get_state_number(graph), 1);
    for (const char* digits : {"00", "0000000g", "0000803F", "0000803f000080"}) {
        const graph_t wrong = load_sum(digits);
        feed(wrong, 0);
        EXPECT_EQ(prerun_graph(wrong), -1);
        EXPECT_FALSE(take_logged_failures().empty());
    }
}

}  // namespace
}  // namespace tengine
