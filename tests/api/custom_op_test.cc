// SPDX-License-Identifier: Apache-2.0
// Custom operators: from registration to a run, the arguments of callbacks, and their failures.
#include "tengine/custom_op.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "op_model.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

TEST_F(CustomOpTest, ARegisteredOperatorRuns)
{
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    ASSERT_TRUE(prepare_and_run(graph, {-1, 0, 1, 2})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{0, 0.5, 1.5, 2.5}));
    EXPECT_EQ(run_graph(graph, 1), 0);
    EXPECT_EQ(shift_op.calls, (std::vector<std::string>{"init", "prepare", "invoke", "invoke"}));
    tengine_execution_node node;
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0);
    EXPECT_STREQ(node.op, "com.example.Shift");
    EXPECT_STREQ(node.kernel, "com.example.Shift");
    EXPECT_STREQ(node.device, "CPU");
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(shift_op.calls.back(), "free");
    EXPECT_EQ(shift_op.states, 0);
}

TEST_F(CustomOpTest, OperatorsThatAreNotRegisteredAreNamed)
{
    graph_t graph = load();
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_EQ(
        last_error(),
        "operator 'com.example.Shift' of node 'shift' is unknown: register a custom operator with "
        "tengine_op_register, or set a kernel with set_custom_kernel");
    // It is looked up in each preparation until it exists.
    ASSERT_TRUE(register_shift_op(&shift_op));
    EXPECT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << get_tengine_error();
}

// Such operators become nodes of a file's own domain only after registration.
TEST_F(CustomOpTest, UnknownOperatorsOfKnownDomainsLoadWhenRegistered)
{
    for (const char* domain : {"", "ai.onnx", "com.microsoft"}) {
        const OpModel model = {domain, "Shift", 13};
        EXPECT_EQ(load_op_model(model), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    }
    EXPECT_EQ(load_op_model({"", "Shift", 13}), nullptr);
    EXPECT_NE(last_error().find("Shift (opset 13: 'shift'); a custom operator can be registered"),
              std::string::npos);
    ShiftOp& microsoft = add_op();
    ASSERT_TRUE(register_shift_op(&shift_op, nullptr, "ai.onnx", "Shift", 13, 28));
    ASSERT_TRUE(register_shift_op(&microsoft, nullptr, "com.microsoft"));
    EXPECT_TRUE(prepare_and_run(load({"", "Shift", 13}), {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_TRUE(prepare_and_run(load({"com.microsoft", "Shift", 1}), {1, 2, 3, 4}))
        << get_tengine_error();
    EXPECT_EQ(shift_op.count("invoke"), 1);
    EXPECT_EQ(microsoft.count("invoke"), 1);
}

TEST_F(CustomOpTest, TheRangeOfVersionsDecides)
{
    ShiftOp& newer = add_op();
    ASSERT_TRUE(register_shift_op(&shift_op, nullptr, "com.example", "Shift", 1, 2));
    ASSERT_TRUE(register_shift_op(&newer, nullptr, "com.example", "Shift", 4, 5));
    EXPECT_FALSE(prepare_and_run(load(), {1, 2, 3, 4}));  // version 3
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    EXPECT_TRUE(prepare_and_run(load({"com.example", "Shift", 2}), {1, 2, 3, 4}));
    EXPECT_TRUE(prepare_and_run(load({"com.example", "Shift", 4}), {1, 2, 3, 4}));
    EXPECT_EQ(shift_op.count("invoke"), 1);
    EXPECT_EQ(newer.count("invoke"), 1);
}

// Negative numbers distinguish Relu and Shift.
TEST_F(CustomOpTest, BuiltInOperatorsAreOverriddenByVersion)
{
    const OpModel relu = {"", "Tanh", 13, {4}, false};
    ASSERT_TRUE(register_shift_op(&shift_op, nullptr, "", "Tanh", 14, 28));
    graph_t graph = load(relu);
    ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0}));
    EXPECT_EQ(result(graph), (std::vector<float>{0, 0, 0, 0}));
    ShiftOp& fitting = add_op();
    ASSERT_TRUE(register_shift_op(&fitting, nullptr, "", "Tanh", 1, 13));
    graph = load(relu);
    ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{0.5, 0.5, 0.5, 0.5}));
    EXPECT_TRUE(shift_op.calls.empty());
}

// An override also applies to a graph that is prepared for these shapes already.
TEST_F(CustomOpTest, AnOverrideCountsFromTheNextPreparation)
{
    const graph_t graph = load({"", "Tanh", 13, {4}, false});
    ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0}));
    EXPECT_EQ(result(graph), (std::vector<float>{0, 0, 0, 0}));
    ASSERT_TRUE(register_shift_op(&shift_op, nullptr, "", "Tanh", 1, 13));
    ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{0.5, 0.5, 0.5, 0.5}));
}

TEST_F(CustomOpTest, AContextComesBeforeTheProcess)
{
    ShiftOp& own = add_op();
    const context_t context = create_context("mine", 0);
    ASSERT_TRUE(register_shift_op(&shift_op));
    ASSERT_TRUE(register_shift_op(&own, context));
    EXPECT_TRUE(prepare_and_run(load({}, context), {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(own.count("invoke"), 1);
    EXPECT_TRUE(shift_op.calls.empty());
    EXPECT_TRUE(prepare_and_run(load(), {1, 2, 3, 4}));
    EXPECT_EQ(shift_op.count("invoke"), 1);
    // The context ends with its last graph, and the operator with it.
    destroy_context(context);
    EXPECT_EQ(own.releases, 0);
    release_tengine();
    EXPECT_EQ(own.releases, 1);
    EXPECT_EQ(shift_op.releases, 1);
    EXPECT_EQ(own.states + shift_op.states, 0);
}

TEST_F(CustomOpTest, DescriptionsAreChecked)
{
    EXPECT_EQ(tengine_op_create(nullptr, "Shift", 1, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_op_create("", nullptr, 1, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_op_create("", "", 1, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_op_create("com", "example.Shift", 1, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_op_create("", "Shift", 0, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_op_create("", "Shift", 2, 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    tengine_op_t* op = tengine_op_create("com.example", "Shift", 1, 1);
    EXPECT_EQ(tengine_op_register(nullptr, op), -1);
    EXPECT_NE(last_error().find("has no function invoke"), std::string::npos);
    const auto do_nothing = [](void*, tengine_op_context_t*) { return 0; };
    EXPECT_EQ(tengine_op_set_invoke(op, do_nothing), 0);
    EXPECT_EQ(tengine_op_register(nullptr, op), -1);
    EXPECT_NE(last_error().find("has no function prepare"), std::string::npos);
    EXPECT_EQ(tengine_op_set_outputs_like(op, -1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_op_set_outputs_like(op, 0), 0);
    EXPECT_EQ(tengine_op_register(nullptr, op), 0);
    tengine_op_destroy(op);
}

TEST_F(CustomOpTest, ARegisteredOperatorStaysAsItIs)
{
    tengine_op_t* op = create_shift_op(&shift_op);
    EXPECT_EQ(tengine_op_unregister(nullptr, op), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    ASSERT_EQ(tengine_op_register(nullptr, op), 0);
    EXPECT_EQ(tengine_op_register(nullptr, op), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(tengine_op_set_invoke(op, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_op_set_outputs_like(op, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ShiftOp& other = add_op();
    EXPECT_FALSE(register_shift_op(&other, nullptr, "com.example", "Shift", 5, 7));
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(other.releases, 1);
    const graph_t graph = load();
    EXPECT_EQ(tengine_op_unregister(nullptr, op), 0);
    EXPECT_EQ(tengine_op_register(nullptr, op), 0);
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4}));
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(tengine_op_unregister(nullptr, op), -1);
    EXPECT_NE(last_error().find("is in use by 1 nodes"), std::string::npos);
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(tengine_op_unregister(nullptr, op), 0);
    EXPECT_EQ(shift_op.releases, 0);
    tengine_op_destroy(op);
    EXPECT_EQ(shift_op.releases, 1);
}

TEST_F(CustomOpTest, CallbacksReadAttributes)
{
    shift_op.prepare = [](void*, tengine_op_context_t* context) {
        int number = -1;
        EXPECT_STREQ(tengine_op_type(context), "com.example.Shift");
        EXPECT_STREQ(tengine_op_node_name(context), "shift");
        EXPECT_EQ(tengine_op_version(context), 3);
        EXPECT_EQ(tengine_op_float(context, "offset", 9), 0.5f);
        EXPECT_EQ(tengine_op_int(context, "level", 9), 7);
        EXPECT_STREQ(tengine_op_text(context, "mode", ""), "soft");
        EXPECT_EQ(tengine_op_ints(context, "steps", &number)[1], 9);
        EXPECT_EQ(number, 2);
        EXPECT_EQ(tengine_op_floats(context, "weights", &number)[1], 2.5f);
        EXPECT_STREQ(tengine_op_texts(context, "words", &number)[1], "two");
        EXPECT_EQ(number, 2);
        // Attributes of another kind, and missing ones.
        EXPECT_EQ(tengine_op_int(context, "offset", 9), 9);
        EXPECT_EQ(tengine_op_ints(context, "words", &number), nullptr);
        EXPECT_EQ(number, 0);
        EXPECT_EQ(tengine_op_texts(context, "nothing", &number), nullptr);
        EXPECT_EQ(tengine_op_text(context, nullptr, nullptr), nullptr);
        return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    EXPECT_EQ(prerun_graph(load()), 0) << get_tengine_error();
    EXPECT_EQ(shift_op.count("prepare"), 1);
}

TEST_F(CustomOpTest, CallbacksSeeTensors)
{
    shift_op.prepare = [](void*, tengine_op_context_t* context) {
        const tengine_op_tensor_t* x = tengine_op_input(context, 0);
        tengine_op_tensor_t* y = tengine_op_output(context, 0);
        EXPECT_EQ(tengine_op_input(context, 1), nullptr);
        EXPECT_EQ(tengine_op_input(context, -1), nullptr);
        EXPECT_EQ(tengine_op_output(context, 1), nullptr);
        EXPECT_STREQ(tengine_op_tensor_name(x), "x");
        EXPECT_EQ(tengine_op_tensor_rank(x), 2);
        EXPECT_EQ(tengine_op_tensor_dim(x, 1), 13);
        EXPECT_EQ(tengine_op_tensor_dim(x, 2), 0);
        EXPECT_EQ(tengine_op_tensor_elements(x), 91);
        EXPECT_EQ(tengine_op_tensor_bytes(x), 364u);
        EXPECT_EQ(tengine_op_tensor_is_constant(x), 0);
        EXPECT_EQ(tengine_op_tensor_data(x), nullptr);
        EXPECT_EQ(tengine_op_tensor_scale_number(x), 0);
        EXPECT_EQ(tengine_op_tensor_scale(x, 0), 0);
        EXPECT_EQ(tengine_op_tensor_rank(y), -1);
        EXPECT_EQ(tengine_op_tensor_dim(y, 0), -1);
        EXPECT_EQ(tengine_op_tensor_elements(y), 0);
        EXPECT_EQ(tengine_op_set_output_type(context, 1, TENGINE_DT_FP32), TENGINE_ERANGE);
        EXPECT_EQ(tengine_op_set_output_type(context, 0, 99), TENGINE_EDTYPE);
        const int bad[] = {3, -1};
        EXPECT_EQ(tengine_op_resize_output(context, 0, bad, 2), TENGINE_ERANGE);
        EXPECT_EQ(tengine_op_resize_output(context, 0, bad, 9), TENGINE_ERANGE);
        EXPECT_EQ(tengine_op_resize_output(context, 0, nullptr, 1), TENGINE_EINVAL);
        EXPECT_EQ(tengine_op_set_output_like(context, 0, y), TENGINE_EINVAL);
        EXPECT_EQ(tengine_op_set_output_like(context, 0, nullptr), TENGINE_EINVAL);
        return tengine_op_set_output_like(context, 0, x);
    };
    shift_op.invoke = [](void*, tengine_op_context_t* context) {
        const int dims[] = {7, 13};
        EXPECT_EQ(tengine_op_tensor_rank(tengine_op_output(context, 0)), 2);
        EXPECT_EQ(tengine_op_resize_output(context, 0, dims, 2), TENGINE_ESTATE);
        EXPECT_EQ(tengine_op_set_output_type(context, 0, TENGINE_DT_FP32), TENGINE_ESTATE);
        EXPECT_EQ(tengine_op_set_output_dynamic(context, 0), TENGINE_ESTATE);
        EXPECT_EQ(tengine_op_request_temporary(context, 4), TENGINE_ESTATE);
        return shift(context);
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    EXPECT_TRUE(
        prepare_and_run(load({"com.example", "Shift", 3, {7, 13}}), std::vector<float>(91, 1)))
        << get_tengine_error();
    EXPECT_EQ(shift_op.count("invoke"), 1);
}

// Outside of callbacks there is no context; a NULL is harmless.
TEST_F(CustomOpTest, AccessorsSurviveNull)
{
    int number = 1;
    EXPECT_STREQ(tengine_op_type(nullptr), "");
    EXPECT_STREQ(tengine_op_node_name(nullptr), "");
    EXPECT_EQ(tengine_op_version(nullptr), 0);
    EXPECT_EQ(tengine_op_state(nullptr), nullptr);
    EXPECT_EQ(tengine_op_int(nullptr, "a", 5), 5);
    EXPECT_EQ(tengine_op_float(nullptr, "a", 5), 5);
    EXPECT_STREQ(tengine_op_text(nullptr, "a", "b"), "b");
    EXPECT_EQ(tengine_op_ints(nullptr, "a", &number), nullptr);
    EXPECT_EQ(tengine_op_floats(nullptr, "a", &number), nullptr);
    EXPECT_EQ(tengine_op_texts(nullptr, "a", nullptr), nullptr);
    EXPECT_EQ(tengine_op_input_number(nullptr) + tengine_op_output_number(nullptr), 0);
    EXPECT_EQ(tengine_op_input(nullptr, 0), nullptr);
    EXPECT_EQ(tengine_op_output(nullptr, 0), nullptr);
    EXPECT_STREQ(tengine_op_tensor_name(nullptr), "");
    EXPECT_EQ(tengine_op_tensor_type(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_rank(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_dim(nullptr, 0), 0);
    EXPECT_EQ(tengine_op_tensor_elements(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_bytes(nullptr), 0u);
    EXPECT_EQ(tengine_op_tensor_is_constant(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_data(nullptr), nullptr);
    EXPECT_EQ(tengine_op_tensor_mutable_data(nullptr), nullptr);
    EXPECT_EQ(tengine_op_tensor_scale_number(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_scale_axis(nullptr), 0);
    EXPECT_EQ(tengine_op_tensor_scale(nullptr, 0), 0);
    EXPECT_EQ(tengine_op_tensor_zero_point(nullptr, 0), 0);
    EXPECT_EQ(tengine_op_set_output_type(nullptr, 0, 0), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_resize_output(nullptr, 0, &number, 1), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_set_output_like(nullptr, 0, nullptr), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_set_output_dynamic(nullptr, 0), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_request_temporary(nullptr, 1), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_temporary(nullptr, 0), nullptr);
    EXPECT_EQ(tengine_op_report(nullptr, TENGINE_EINVAL, nullptr), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_report(nullptr, 5, "positive"), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_check_type(nullptr, nullptr, TENGINE_DT_FP32), TENGINE_EINVAL);
    tengine_op_destroy(nullptr);
}

TEST_F(CustomOpTest, FailuresAreTheCallbacksOwn)
{
    ASSERT_TRUE(register_shift_op(&shift_op));
    shift_op.code = TENGINE_ERANGE;
    shift_op.sentence = "offset is 9, expected at most 1";
    for (const char* callback : {"init", "prepare", "invoke"}) {
        const graph_t graph = load();
        shift_op.failing = callback;
        EXPECT_FALSE(prepare_and_run(graph, {1, 2, 3, 4}));
        EXPECT_EQ(get_tengine_errno(), TENGINE_ERANGE);
        EXPECT_NE(last_error().find(std::string("com.example.Shift 'shift': ") + callback +
                                    " of custom operator 'com.example.Shift': offset is 9, "
                                    "expected at most 1"),
                  std::string::npos)
            << callback;
        shift_op.failing.clear();
        EXPECT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << callback << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{1.5, 2.5, 3.5, 4.5}));
        EXPECT_EQ(destroy_graph(graph), 0);
        EXPECT_EQ(shift_op.states, 0);
    }
}

TEST_F(CustomOpTest, BareResultsBecomeErrors)
{
    ASSERT_TRUE(register_shift_op(&shift_op));
    shift_op.failing = "prepare";
    const std::pair<int, int> results[] = {
        {-1, TENGINE_EDEVICE}, {3, TENGINE_EDEVICE}, {TENGINE_EDTYPE, TENGINE_EDTYPE}};
    for (const auto& [returned, code] : results) {
        const graph_t graph = load();
        shift_op.code = returned;
        EXPECT_EQ(prerun_graph(graph), -1);
        EXPECT_EQ(get_tengine_errno(), code);
        EXPECT_NE(last_error().find("returned " + std::to_string(returned)), std::string::npos);
    }
}

TEST_F(CustomOpTest, ChecksSayWhatDoesNotHold)
{
    struct Check
    {
        tengine_op_prepare_t prepare;
        const char* sentence;
    };
    const Check checks[] = {
        {[](void*, tengine_op_context_t* context) {
             const int axis = 3;
             TENGINE_OP_ENSURE(context,
                               axis < tengine_op_tensor_rank(tengine_op_input(context, 0)));
             return 0;
         },
         "axis < tengine_op_tensor_rank(tengine_op_input(context, 0)) does not hold"},
        {[](void*, tengine_op_context_t* context) {
             TENGINE_OP_ENSURE_EQ(context, tengine_op_input_number(context), 2);
             return 0;
         },
         "tengine_op_input_number(context) is 1, expected 2"},
        {[](void*, tengine_op_context_t* context) {
             TENGINE_OP_ENSURE_TYPE(context, tengine_op_input(context, 0), TENGINE_DT_INT64);
             return 0;
         },
         "'x' is fp32, expected int64"},
        {[](void*, tengine_op_context_t* context) {
             TENGINE_OP_ENSURE_TYPE(context, tengine_op_input(context, 1), TENGINE_DT_INT64);
             return 0;
         },
         "the tensor is absent, expected one of int64"},
        {[](void*, tengine_op_context_t* context) {
             TENGINE_OP_ENSURE_OK(tengine_op_set_output_type(context, 5, TENGINE_DT_FP32));
             return 0;
         },
         "output 5, expected 0 to 0"},
        {[](void*, tengine_op_context_t*) { return 0; }, "gave output 0, 'y', no size"},
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    for (const Check& check : checks) {
        shift_op.prepare = check.prepare;
        EXPECT_EQ(prerun_graph(load()), -1);
        const std::string sentence = last_error();
        EXPECT_NE(sentence.find(check.sentence), std::string::npos) << sentence;
    }
}

// Saved are the operator, the version of the domain, and attributes, including those that are 0.
TEST_F(CustomOpTest, ModelsAreSavedWithTheirOperators)
{
    shift_op.prepare = [](void*, tengine_op_context_t* context) {
        int number = 0;
        EXPECT_EQ(tengine_op_version(context), 3);
        EXPECT_EQ(tengine_op_int(context, "level", 9), 7);
        EXPECT_EQ(tengine_op_int(context, "zero", 9), 0);
        EXPECT_STREQ(tengine_op_text(context, "mode", ""), "soft");
        EXPECT_EQ(tengine_op_ints(context, "steps", &number)[1], 9);
        EXPECT_EQ(tengine_op_floats(context, "weights", &number)[1], 2.5f);
        EXPECT_STREQ(tengine_op_texts(context, "words", &number)[1], "two");
        return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    graph_t graph = load();
    const std::string base = testing::TempDir() + "custom_op_test_" + std::to_string(getpid());
    for (const char* format : {"onnx", "tengine", "tengine", "onnx"}) {
        const std::string file = base + "." + format;
        ASSERT_EQ(save_graph(graph, format, file.c_str()), 0) << get_tengine_error();
        ASSERT_EQ(destroy_graph(graph), 0);
        graph = create_graph(nullptr, format, file.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        ASSERT_TRUE(prepare_and_run(graph, {-1, 2, 3, 4})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{0, 2.5, 3.5, 4.5}));
        std::remove(file.c_str());
    }
    EXPECT_GE(shift_op.count("prepare"), 4);
}

TEST_F(CustomOpTest, CustomKernelsOfNodesComeFirst)
{
    static custom_kernel_ops ops;  // the graph uses it until TearDown()
    ops = {};
    ops.kernel_name = "mine";
    ops.infer_shape = [](custom_kernel_ops*, const int* inputs[], int, int* outputs[], int, int) {
        outputs[0][0] = inputs[0][0];
        return 0;
    };
    ops.run = [](custom_kernel_ops*, custom_kernel_tensor* in[], int, custom_kernel_tensor* out[],
                 int) {
        std::memcpy(out[0]->data, in[0]->data, 16);
        return 0;
    };
    ASSERT_TRUE(register_shift_op(&shift_op));
    graph_t graph = load();
    ASSERT_EQ(set_custom_kernel(get_graph_node(graph, "shift"), "CPU", &ops), 0);
    set_tensor_data_type(get_graph_tensor(graph, "y"), TENGINE_DT_FP32);
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_TRUE(shift_op.calls.empty());
    graph = load();
    ASSERT_EQ(prerun_graph(graph), 0);
    EXPECT_EQ(set_custom_kernel(get_graph_node(graph, "shift"), "CPU", &ops), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(remove_custom_kernel(get_graph_node(graph, "shift"), "CPU"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

}  // namespace
}  // namespace tengine
