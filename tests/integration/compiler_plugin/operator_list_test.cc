// SPDX-License-Identifier: Apache-2.0
// The operators that a compiler lists in its table, which are those that its device lists to
// others.
#include <cstddef>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/compiler_plugin.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// It chooses every node, and compiles none.
tengine_compiler_t make_compiler()
{
    tengine_compiler_t table = {};
    table.size = sizeof table;
    table.device = "LISTING";
    table.manufacturer = table.sdk_version = table.byte_code_version = "1";
    table.partition = [](void*, const char*, const struct graph* graph, tengine_op_list_t* list) {
        for (int i = 0; i < graph->node_num; ++i)
            TENGINE_RETURN_IF_ERROR(tengine_op_list_push(list, graph->node_list[i], 0));
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

    // The operators in their order; "all" for all that there are.
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

// A list lies beyond the end of the table.
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

// The dispatch alone runs all that was compiled ahead.
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

// Though partition() chooses Relu.
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

}  // namespace
}  // namespace tengine
