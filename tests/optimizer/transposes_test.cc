// SPDX-License-Identifier: Apache-2.0
// The pass transposes. Each operator reads the Transpose of a picture with the channels first, and
// that of an input, before which nothing moves: the results are the same.
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>

#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace {

using namespace tengine::test;

constexpr int64_t kToLast[] = {0, 2, 3, 1};
constexpr int64_t kToFirst[] = {0, 3, 1, 2};

void set_ints(node* node, const char* name, const std::vector<int64_t>& values)
{
    ASSERT_EQ(set_node_ints(node, name, values.data(), static_cast<int>(values.size())), 0);
}

void add_transpose(IrBuilder& source, const std::string& from, const std::string& to,
                   const int64_t (&order)[4])
{
    set_ints(source.add("Transpose", {from}, {to}), "perm", {order, order + 4});
}

// Nodes from "t", 1 x 3 x 4 x 2 with the channels last, to "y".
struct Case
{
    const char* name;
    std::function<void(IrBuilder&)> add;
    bool is_moved = true;
};

const Case kCases[] = {
    {"Relu", [](IrBuilder& s) { s.add("Relu", {"t"}, {"y"}); }},
    {"Clip",
     [](IrBuilder& s) {
         s.floats("low", {}, {-1});
         s.floats("high", {}, {4});
         s.add("Clip", {"t", "low", "high"}, {"y"});
     }},
    {"Add of itself",
     [](IrBuilder& s) {
         s.add("Add", {"t", "t"}, {"y"});
     }},
    {"Mul of channels",
     [](IrBuilder& s) {
         s.floats("w", {2}, {2, 3});
         s.add("Mul", {"t", "w"}, {"y"});
     }},
    {"Sub of a column",
     [](IrBuilder& s) {
         s.floats("w", {3, 1, 1}, {1, 2, 3});
         s.add("Sub", {"w", "t"}, {"y"});
     }},
    {"PRelu",
     [](IrBuilder& s) {
         s.floats("w", {1, 1, 2}, {0.5f, 0.25f});
         s.add("PRelu", {"t", "w"}, {"y"});
     }},
    {"Add of an input",
     [](IrBuilder& s) {
         s.input("other", {1, 3, 4, 2});
         s.add("Add", {"t", "other"}, {"y"});
     },
     false},
    {"Concat",
     [](IrBuilder& s) {
         s.add("Neg", {"t"}, {"n"});
         EXPECT_EQ(set_node_int(s.add("Concat", {"t", "n"}, {"y"}), "axis", -1), 0);
     }},
    {"Softmax", [](IrBuilder& s) { s.add("Softmax", {"t"}, {"y"}); }},
    {"Split",
     [](IrBuilder& s) {
         node* split = s.add("Split", {"t"}, {"a", "b"});
         EXPECT_EQ(set_node_int(split, "axis", 3), 0);
         EXPECT_EQ(set_node_int(split, "num_outputs", 2), 0);
         s.add("Sub", {"a", "b"}, {"y"});
     }},
    {"Pad",
     [](IrBuilder& s) {
         s.ints("pads", {0, 1, 0, 2, 0, 0, 3, 1});
         s.add("Pad", {"t", "pads"}, {"y"});
     }},
    {"Slice",
     [](IrBuilder& s) {
         s.ints("begin", {1, 0});
         s.ints("end", {3, 1});
         s.ints("axes", {2, -1});
         s.add("Slice", {"t", "begin", "end", "axes"}, {"y"});
     }},
    {"Slice without axes",
     [](IrBuilder& s) {
         s.ints("begin", {0, 1});
         s.ints("end", {1, 3});
         s.add("Slice", {"t", "begin", "end"}, {"y"});
     }},
    {"ReduceMean, axes kept",
     [](IrBuilder& s) {
         s.ints("axes", {1, -2});
         s.add("ReduceMean", {"t", "axes"}, {"y"});
     }},
    {"ReduceMax, axis dropped",
     [](IrBuilder& s) {
         s.ints("axes", {1});
         EXPECT_EQ(set_node_int(s.add("ReduceMax", {"t", "axes"}, {"y"}), "keepdims", 0), 0);
     }},
    {"ReduceSum to a list",
     [](IrBuilder& s) {
         s.ints("axes", {1, 2});
         EXPECT_EQ(set_node_int(s.add("ReduceSum", {"t", "axes"}, {"y"}), "keepdims", 0), 0);
     }},
    {"QuantizeLinear of channels",
     [](IrBuilder& s) {
         s.floats("scale", {2}, {0.5f, 0.25f});
         s.constant<int8_t>("zero", {2}, {0, 3}, TENGINE_DT_INT8);
         EXPECT_EQ(set_node_int(s.add("QuantizeLinear", {"t", "scale", "zero"}, {"q"}), "axis", 3),
                   0);
         EXPECT_EQ(
             set_node_int(s.add("DequantizeLinear", {"q", "scale", "zero"}, {"y"}), "axis", -1), 0);
     }},
    {"MatMul",
     [](IrBuilder& s) {
         s.floats("w", {2, 2}, {1, 2, 3, 4});
         s.add("MatMul", {"t", "w"}, {"y"});
     },
     false},
};

// With `anchored`, a MaxPool of one element, which has the channels first, precedes the Transpose.
std::vector<float> run(const Case& chosen, bool anchored, int* out_first)
{
    IrBuilder source;
    tensor* x = source.input("x", {1, 2, 3, 4});
    if (anchored) set_ints(source.add("MaxPool", {"x"}, {"p"}), "kernel_shape", {1, 1});
    add_transpose(source, anchored ? "p" : "x", "t", kToLast);
    chosen.add(source);
    source.outputs({"y"});
    std::vector<float> values(24);
    std::iota(values.begin(), values.end(), -11.0f);
    for (const char* name : {"x", "other"})
        if (tensor* input = source.find(name)) set_ir_tensor_data(input, values.data(), false);
    EXPECT_EQ(x->elem_num, 24);
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                        destroy_ir_graph);
    EXPECT_NE(made, nullptr) << tengine_error_message();
    *out_first = 0;
    for (int i = 0; made && i < made->node_num; ++i) {
        const node* first = made->node_list[i];
        if (std::string(get_ir_node_op(first)) == "Transpose") *out_first = i;
    }
    ir_run_options_t options = {};
    options.num_thread = 1;
    EXPECT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* result = source.find("y");
    return {result->f32, result->f32 + result->elem_num};
}

TEST(Transposes, ResultsAreTheSame)
{
    for (const Case& each : kCases) {
        SCOPED_TRACE(each.name);
        int moved = 0, still = 0;
        const std::vector<float> expected = run(each, false, &still);
        const std::vector<float> actual = run(each, true, &moved);
        ASSERT_EQ(actual.size(), expected.size());
        // Sums along another axis, those of Softmax, may have another order.
        for (size_t i = 0; i < actual.size(); ++i)
            EXPECT_FLOAT_EQ(actual[i], expected[i]) << i;
        // The MaxPool and the operator precede it, if it is needed at all.
        if (each.is_moved)
            EXPECT_NE(moved, 1);
        else
            EXPECT_EQ(moved, 1);
    }
}

int count_transposes(IrBuilder& source)
{
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                        destroy_ir_graph);
    EXPECT_NE(made, nullptr) << tengine_error_message();
    int number = 0;
    for (int i = 0; made && i < made->node_num; ++i)
        number += std::string(get_ir_node_op(made->node_list[i])) == "Transpose";
    return number;
}

TEST(Transposes, PairsCancelOut)
{
    IrBuilder source;
    source.input("x", {1, 2, 3, 4});
    set_ints(source.add("MaxPool", {"x"}, {"p"}), "kernel_shape", {1, 1});
    add_transpose(source, "p", "t", kToLast);
    source.add("Relu", {"t"}, {"r"});
    source.add("Add", {"r", "t"}, {"s"});
    add_transpose(source, "s", "u", kToFirst);
    set_ints(source.add("MaxPool", {"u"}, {"y"}), "kernel_shape", {2, 2});
    source.outputs({"y"});
    EXPECT_EQ(count_transposes(source), 0);
}

// A picture of one element for each channel is a list in both orders.
TEST(Transposes, OneElementNeedsNone)
{
    IrBuilder source;
    source.input("x", {1, 2, 3, 4});
    source.add("GlobalAveragePool", {"x"}, {"p"});
    add_transpose(source, "p", "t", kToLast);
    source.ints("shape", {1, 2});
    source.add("Reshape", {"t", "shape"}, {"y"});
    source.outputs({"y"});
    EXPECT_EQ(count_transposes(source), 0);
}

// Those of attentions stay for the operators that are recognised.
TEST(Transposes, OthersStay)
{
    IrBuilder source;
    source.input("x", {1, 2, 3, 4});
    add_transpose(source, "x", "t", kToLast);
    source.add("Relu", {"t"}, {"r"});
    add_transpose(source, "r", "y", kToFirst);
    source.outputs({"y"});
    EXPECT_EQ(count_transposes(source), 2);
}

}  // namespace
