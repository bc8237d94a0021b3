// SPDX-License-Identifier: Apache-2.0
// The operators that a compiler lists in its table, which are those that its device lists.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/compiler_plugin.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

std::vector<std::string> seen;  // operators of the graph that the compiler chooses of

// Chooses every node, and compiles none.
tengine_compiler_t make_compiler()
{
    tengine_compiler_t table = {};
    table.size = sizeof table;
    table.device = "LISTING";
    table.manufacturer = table.sdk_version = table.byte_code_version = "1";
    table.partition = [](void*, const char*, const struct graph* graph, tengine_op_list_t* list) {
        seen.clear();
        for (int i = 0; i < graph->node_num; ++i) {
            seen.push_back(get_ir_node_op(graph->node_list[i]));
            TENGINE_RETURN_IF_ERROR(tengine_op_list_push(list, graph->node_list[i], 0));
        }
        return 0;
    };
    table.compile = [](void*, const char*, const struct subgraph* const[], int, void**) {
        return tengine_error_set(TENGINE_EDEVICE, "it compiles nothing");
    };
    table.get_module_number = [](void*) { return 0; };
    table.get_module = [](void*, int, const void**, size_t*) { return -1; };
    table.get_call = [](void*, int, int*, const char**) { return -1; };
    table.destroy_result = [](void*) {};
    return table;
}

tengine_dispatch_t make_dispatch()
{
    tengine_dispatch_t table = {};
    table.size = sizeof table;
    table.device = "LISTING";
    table.version = table.byte_code_version = "1";
    table.load = [](const void*, size_t, void**) { return -1; };
    table.unload = table.destroy_invocation = [](void*) {};
    table.create_invocation = [](void*, const char*, int, int, void**) { return -1; };
    table.attach_input = [](void*, int, const void*, size_t) { return -1; };
    table.attach_output = [](void*, int, void*, size_t) { return -1; };
    table.invoke = [](void*) { return -1; };
    return table;
}

class OperatorListTest : public ApiTest
{
  protected:
    void list(const std::vector<const char*>& names)
    {
        names_ = names;
        compiler_.operators = names_.data();
        compiler_.operator_number = static_cast<int>(names_.size());
    }

    // Returns the operators in order; "all" for all of them.
    static std::string read_operators()
    {
        std::string text;
        const int number = tengine_device_get_operator_number("LISTING");
        if (number == tengine_operator_get_number()) return "all";
        for (int i = 0; i < number; ++i)
            text += (i == 0 ? "" : " ") + std::string(tengine_device_get_operator("LISTING", i));
        return text;
    }

    std::vector<const char*> names_;
    tengine_compiler_t compiler_ = make_compiler();
};

TEST_F(OperatorListTest, WithoutAListItIsAnyOperator)
{
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
    EXPECT_EQ(read_operators(), "all");
    EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0);
}

// The list is beyond the end of the table.
TEST_F(OperatorListTest, ATableOfTheFirstLengthHasNone)
{
    list({"Neg"});
    compiler_.size = offsetof(tengine_compiler_t, operators);
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
    EXPECT_EQ(read_operators(), "all");
    EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0);
    --compiler_.size;
    EXPECT_EQ(tengine_register_compiler(&compiler_), TENGINE_EVERSION);
}

TEST_F(OperatorListTest, UnknownNamesArePassedOver)
{
    list({"Relu", "NoOperator", "com.microsoft.QGemm"});
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
    EXPECT_EQ(read_operators(), "Relu QGemm");
    EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0);
}

// The dispatch alone runs everything that was compiled ahead.
TEST_F(OperatorListTest, WithoutItsCompilerADispatchTakesAnyOperator)
{
    list({"Relu"});
    const tengine_dispatch_t dispatch = make_dispatch();
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
    ASSERT_EQ(tengine_register_dispatch(&dispatch), 0) << get_tengine_error();
    EXPECT_EQ(read_operators(), "Relu");
    ASSERT_EQ(tengine_unregister_compiler(&compiler_), 0);
    EXPECT_EQ(read_operators(), "all");
    EXPECT_EQ(tengine_unregister_dispatch(&dispatch), 0);
}

// This holds although partition() chooses Relu.
TEST_F(OperatorListTest, WhatIsNotListedIsNotItsOwn)
{
    list({"Neg"});
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "LISTING"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0);
    EXPECT_STREQ(refusal.message, "the device has no Relu");
    destroy_graph(graph);
    destroy_context(context);
    EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0);
}

// ---- an operator that the model has in several nodes ----

class WholeOperatorTest : public OperatorListTest
{
  protected:
    void TearDown() override
    {
        if (context_) destroy_context(context_);
        EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0);
        std::remove(kFile);
        take_logged_failures();
        OperatorListTest::TearDown();
    }

    void use(const std::vector<const char*>& names)
    {
        list(names);
        ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << get_tengine_error();
        context_ = create_context("c", 1);
        ASSERT_EQ(add_context_device(context_, "LISTING"), 0);
    }

    // Gelu by erf in a row, as PyTorch has it.
    graph_t create_blocks(int batch, int number)
    {
        const graph_t graph = create_graph(context_, nullptr, nullptr);
        const float root = 1.41421356f, one = 1, half = 0.5f;
        const tensor_t constants[] = {add_constant(graph, "root", {}, &root),
                                      add_constant(graph, "one", {}, &one),
                                      add_constant(graph, "half", {}, &half)};
        tensor_t x = add_input(graph, "x", {batch, kWidth});
        for (int i = 0; i < number; ++i) {
            const auto add = [&](const char* name, const char* op,
                                 std::initializer_list<tensor_t> inputs) {
                return add_node(graph, (name + std::to_string(i)).c_str(), op, inputs);
            };
            const tensor_t scaled = add("scaled", "Div", {x, constants[0]});
            const tensor_t gate = add("gate", "Add", {add("erf", "Erf", {scaled}), constants[1]});
            x = add("y", "Mul", {add("product", "Mul", {x, gate}), constants[2]});
        }
        const std::string last = "y" + std::to_string(number - 1);
        EXPECT_TRUE(set_borders(graph, {"x"}, {last.c_str()})) << get_tengine_error();
        return graph;
    }

    // The compiler fails, so that the CPU computes.
    static void expect_values(graph_t graph, int batch, int number)
    {
        std::vector<float> x;
        for (int i = 0; i < batch * kWidth; ++i)
            x.push_back(static_cast<float>(i % 11) - 5);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), x));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        const std::vector<float> y = read_floats(tengine_graph_get_output(graph, 0));
        ASSERT_EQ(y.size(), x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            double expected = double{x[i]};
            for (int k = 0; k < number; ++k)
                expected *= 0.5 * (1 + std::erf(expected / std::sqrt(2.0)));
            EXPECT_NEAR(y[i], expected, 1e-6 * number);
        }
        EXPECT_EQ(seen, std::vector<std::string>(static_cast<size_t>(number), "Gelu"));
    }

    static constexpr int kWidth = 8;
    static constexpr const char* kFile = "whole_operator_test.model";
    context_t context_ = nullptr;
};

TEST_F(WholeOperatorTest, ComesInEachBlockAndBatch)
{
    use({"Gelu"});
    for (const int batch : {1, 2})
        for (const int number : {1, 3}) {
            const graph_t graph = create_blocks(batch, number);
            expect_values(graph, batch, number);
            destroy_graph(graph);
        }
}

TEST_F(WholeOperatorTest, ComesFromFiles)
{
    use({"Gelu"});
    for (const char* format : {"tengine", "onnx"}) {
        const graph_t saved = create_blocks(2, 2);
        ASSERT_EQ(save_graph(saved, format, kFile), 0) << get_tengine_error();
        destroy_graph(saved);
        const graph_t graph = create_graph(context_, format, kFile);
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        expect_values(graph, 2, 2);
        destroy_graph(graph);
    }
}

TEST_F(WholeOperatorTest, StaysInNodesForACompilerOfNodes)
{
    use({"Div", "Erf", "Add", "Mul"});
    const graph_t graph = create_blocks(1, 1);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(seen, (std::vector<std::string>{"Div", "Erf", "Add", "Mul", "Mul"}));
    destroy_graph(graph);
}

// The same model with five nodes and with one.
TEST_F(WholeOperatorTest, ModelsOfBothFormsAreAlike)
{
    const std::string folder = TENGINE_SHARED_DATA_DIR "/faults/35_decomposed_gelu";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
    use({"Conv", "Gelu"});
    for (const char* name : {"/gelu_five.onnx", "/gelu_one.onnx"}) {
        const graph_t graph = create_graph(context_, "onnx", (folder + name).c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(seen, (std::vector<std::string>{"Conv", "Gelu"})) << name;
        destroy_graph(graph);
    }
}

}  // namespace
}  // namespace tengine
