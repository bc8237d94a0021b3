// SPDX-License-Identifier: Apache-2.0
// Custom operators: shapes that change, shapes that depend on data, temporaries.
#include <cstdint>
#include <cstring>

#include "op_model.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

TEST_F(CustomOpTest, ANewShapeIsPreparedAgain)
{
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    const tensor_t x = get_graph_input_tensor(graph, 0, 0);
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4}));
    for (const int size : {7, 4, 1}) {
        ASSERT_EQ(set_tensor_shape(x, &size, 1), 0);
        const std::vector<float> values(static_cast<size_t>(size), 2);
        ASSERT_TRUE(prepare_and_run(graph, values)) << get_tengine_error();
        EXPECT_EQ(result(graph), std::vector<float>(static_cast<size_t>(size), 2.5));
    }
    EXPECT_EQ(shift_op.count("init"), 1);
    EXPECT_EQ(shift_op.count("prepare"), 4);
}

// Several runs are in flight, each with its own tensors.
TEST_F(CustomOpTest, RunsMayOverlap)
{
    const context_t context = create_context("pipeline", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    ASSERT_TRUE(register_shift_op(&shift_op, context));
    const graph_t graph = load({}, context);
    const tensor_t x = get_graph_input_tensor(graph, 0, 0);
    ASSERT_TRUE(write_floats(x, {0, 0, 0, 0}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
    for (int i = 1; i < 20; ++i) {
        const float value = static_cast<float>(i);
        ASSERT_TRUE(write_floats(x, {value, value, value, value}));
        ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
        ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>(4, value - 0.5f)));
    }
    ASSERT_EQ(wait_graph(graph, 0), 1);
    EXPECT_EQ(result(graph), (std::vector<float>(4, 19.5f)));
    EXPECT_EQ(shift_op.count("invoke"), 20);
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(CustomOpTest, OutputsLikeAnInputNeedNoPrepare)
{
    tengine_op_t* op = tengine_op_create("com.example", "Shift", 1, 5);
    tengine_op_set_outputs_like(op, 0);
    tengine_op_set_invoke(op, [](void*, tengine_op_context_t* context) {
        const tengine_op_tensor_t* x = tengine_op_input(context, 0);
        std::memcpy(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)),
                    tengine_op_tensor_data(x), tengine_op_tensor_bytes(x));
        return 0;
    });
    ASSERT_EQ(tengine_op_register(nullptr, op), 0);
    tengine_op_destroy(op);
    const graph_t graph = load();
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1, 2, 3, 4}));
}

// Keeps the positive elements, whose number is known only in invoke.
int keep_positive(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    const auto* from = static_cast<const float*>(tengine_op_tensor_data(x));
    int number = 0;
    for (int i = 0; i < tengine_op_tensor_elements(x); ++i)
        number += from[i] > 0;
    EXPECT_EQ(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)), nullptr);
    TENGINE_OP_ENSURE_OK(tengine_op_resize_output(context, 0, &number, 1));
    auto* to = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)));
    for (int i = 0; i < tengine_op_tensor_elements(x); ++i)
        if (from[i] > 0) *to++ = from[i];
    return 0;
}

int mark_dynamic(void*, tengine_op_context_t* context)
{
    return tengine_op_set_output_dynamic(context, 0);
}

TEST_F(CustomOpTest, SizesMayDependOnData)
{
    shift_op.prepare = mark_dynamic;
    shift_op.invoke = keep_positive;
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    ASSERT_TRUE(prepare_and_run(graph, {1, -2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1, 3, 4}));
    ASSERT_TRUE(write_floats(get_graph_input_tensor(graph, 0, 0), {-1, -2, -3, 8}));
    ASSERT_EQ(run_graph(graph, 1), 0);
    EXPECT_EQ(result(graph), (std::vector<float>{8}));
    shift_op.invoke = [](void*, tengine_op_context_t*) { return 0; };
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_NE(last_error().find("invoke of custom operator 'com.example.Shift' gave output 0, "
                                "'y', no size"),
              std::string::npos);
}

// An operator after one whose size depends on data is prepared in the run.
TEST_F(CustomOpTest, InputsMayHaveSizesThatDependOnData)
{
    ShiftOp& relu = add_op();
    shift_op.prepare = mark_dynamic;
    shift_op.invoke = keep_positive;
    relu.prepare = [](void*, tengine_op_context_t* context) {
        EXPECT_EQ(tengine_op_request_temporary(context, 100), 0);
        return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
    };
    relu.invoke = [](void*, tengine_op_context_t* context) {
        EXPECT_NE(tengine_op_temporary(context, 0), nullptr);
        return shift(context);
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    ASSERT_TRUE(register_shift_op(&relu, nullptr, "", "Relu", 1, 28));
    const graph_t graph = load();
    ASSERT_TRUE(prepare_and_run(graph, {1, -2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(relu.calls, (std::vector<std::string>{"init", "prepare", "invoke"}));
    EXPECT_EQ(result(graph), (std::vector<float>{1.5, 3.5, 4.5}));
    ASSERT_TRUE(write_floats(get_graph_input_tensor(graph, 0, 0), {-1, 2, -3, -4}));
    ASSERT_EQ(run_graph(graph, 1), 0);
    EXPECT_EQ(result(graph), (std::vector<float>{2.5}));
    // The type that prepare set in an earlier run is binding.
    relu.prepare = [](void*, tengine_op_context_t* context) {
        return tengine_op_set_output_type(context, 0, TENGINE_DT_INT8);
    };
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EDTYPE);
    EXPECT_NE(last_error().find("output 0 is int8, expected fp32"), std::string::npos);
}

TEST_F(CustomOpTest, TemporariesArePlanned)
{
    static std::vector<char*> places;
    shift_op.prepare = [](void*, tengine_op_context_t* context) {
        EXPECT_EQ(tengine_op_request_temporary(context, 1), 0);
        EXPECT_EQ(tengine_op_request_temporary(context, 1000), 1);
        EXPECT_EQ(tengine_op_request_temporary(context, SIZE_MAX), TENGINE_ELIMIT);
        EXPECT_EQ(tengine_op_request_temporary(context, 0), 2);
        EXPECT_EQ(tengine_op_temporary(context, 0), nullptr);
        return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
    };
    shift_op.invoke = [](void*, tengine_op_context_t* context) {
        places.clear();
        for (int i = 0; i < 3; ++i)
            places.push_back(static_cast<char*>(tengine_op_temporary(context, i)));
        EXPECT_EQ(tengine_op_temporary(context, 3), nullptr);
        EXPECT_EQ(tengine_op_temporary(context, -1), nullptr);
        std::memset(places[0], 1, 1);
        std::memset(places[1], 2, 1000);
        return shift(context);
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    tengine_graph_memory first = {}, later = {};
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << get_tengine_error();
    ASSERT_EQ(get_graph_memory(graph, &first, sizeof first), 0);
    EXPECT_EQ(result(graph), (std::vector<float>{1.5, 2.5, 3.5, 4.5}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places[0]) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places[1]) % 64, 0u);
    EXPECT_GE(places[1], places[0] + 1);
    EXPECT_GE(places[2], places[1] + 1000);
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4}));
    ASSERT_EQ(get_graph_memory(graph, &later, sizeof later), 0);
    EXPECT_GE(first.device_bytes, 1000 + 64);
    EXPECT_EQ(first.device_bytes, later.device_bytes);
}

}  // namespace
}  // namespace tengine
