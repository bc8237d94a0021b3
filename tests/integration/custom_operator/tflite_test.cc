// SPDX-License-Identifier: Apache-2.0
// Operators with the names of TensorFlow Lite run, written in C (tflite_example.c) and in C++.
#include <cmath>

#include "op_model.h"
#include "tflite_example.h"

namespace tengine {
namespace {

class TfliteTest : public ApiTest
{
  protected:
    static bool run(graph_t graph, const std::vector<float>& x)
    {
        return write_floats(get_graph_input_tensor(graph, 0, 0), x) && prerun_graph(graph) == 0 &&
               run_graph(graph, 1) == 0;
    }

    static std::vector<float> result(graph_t graph)
    {
        return read_floats(get_graph_output_tensor(graph, 0, 0));
    }
};

TEST_F(TfliteTest, TheGuidesOperatorRuns)
{
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", get_atan_op()), 0)
        << get_tengine_error();
    const graph_t graph = load_op_model({});
    ASSERT_TRUE(run(graph, {0.5, 1, 2, 3})) << get_tengine_error();
    for (int i = 0; i < 4; ++i)
        EXPECT_FLOAT_EQ(result(graph)[static_cast<size_t>(i)],
                        std::atan(i > 0 ? static_cast<float>(i) : 0.5f));
}

TEST_F(TfliteTest, TemporariesDoNotAddUp)
{
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", get_sum_op()), 0);
    const graph_t graph = load_op_model({});
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{1, 3, 6, 10}));
        EXPECT_EQ(live_states, 1);
        EXPECT_LE(temporary_num, 2);
    }
    destroy_graph(graph);
    EXPECT_EQ(live_states, 0);
}

TEST_F(TfliteTest, SizesMayDependOnData)
{
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", get_positive_op()), 0);
    const graph_t graph = load_op_model({});
    ASSERT_TRUE(run(graph, {1, -2, 3, -4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1, 3}));
    ASSERT_TRUE(run(graph, {-1, -2, -3, 4}));
    EXPECT_EQ(result(graph), (std::vector<float>{4}));
}

TEST_F(TfliteTest, ChecksSayWhatDoesNotHold)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetPrepare(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
        TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueNodeNumberOfInputs(node), 2);
        return kTfLiteOk;
    });
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) { return kTfLiteOk; });
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_NE(std::string(get_tengine_error())
                  .find("prepare of custom operator 'com.example.Shift': "
                        "TfLiteOpaqueNodeNumberOfInputs(node) is 1, expected 2, 2"),
              std::string::npos)
        << get_tengine_error();
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
}

TEST_F(TfliteTest, RegistrationIsChecked)
{
    EXPECT_EQ(tengine_tflite_register(nullptr, "com.example", nullptr), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 0);
    EXPECT_EQ(tengine_tflite_register(nullptr, "com.example", op), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) { return kTfLiteOk; });
    EXPECT_EQ(tengine_tflite_register(nullptr, "com.example", op), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_ERANGE);
    EXPECT_EQ(tengine_tflite_create(static_cast<TfLiteBuiltinOperator>(31), "Shift", 1, nullptr),
              nullptr);
    TfLiteOperatorDelete(op);
}

}  // namespace
}  // namespace tengine
