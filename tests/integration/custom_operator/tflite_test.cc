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

// The guide's number, for any import of the model: opset 13 of ONNX, version 3 of com.example.
TEST_F(TfliteTest, VersionOneIsForAllVersions)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Relu", /*version=*/1);
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
        auto* y = static_cast<float*>(
            TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)));
        std::fill_n(y, 4, 7.0f);
        return kTfLiteOk;
    });
    TfLiteOperator* shift = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", /*version=*/1);
    TfLiteOperatorSetInvoke(shift,
                            [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) { return kTfLiteOk; });
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", shift), 0);
    ASSERT_EQ(tengine_tflite_register(nullptr, "", op), 0);
    const graph_t graph = load_op_model({});
    ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{7, 7, 7, 7}));
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
    TfLiteOperatorDelete(shift);
}

// Another number means that version of the domain only.
TEST_F(TfliteTest, OtherVersionsAreThemselves)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", /*version=*/2);
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) { return kTfLiteOk; });
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
}

TEST_F(TfliteTest, InitGetsTheAttributes)
{
    static std::string given, kept;
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetInit(
        op, [](TfLiteOpaqueContext* context, const char* buffer, size_t length) -> void* {
            size_t size = 0;
            const void* same = tengine_op_attributes(context->op, &size);
            if (same == buffer && size == length) given.assign(buffer, length);
            return nullptr;
        });
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode* node) {
        const void* data = nullptr;
        int size = 0;
        TfLiteOpaqueNodeGetCustomInitialData(node, &data, &size);
        kept.assign(static_cast<const char*>(data), static_cast<size_t>(size));
        return kTfLiteOk;
    });
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_NE(given.find("offset"), std::string::npos);
    EXPECT_EQ(kept, given);
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
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

// As in the guide: added in each Prepare, named by SetTemporaries, never resized.
TEST_F(TfliteTest, ATemporaryWithoutASizeIsAScalar)
{
    static int index;
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetPrepare(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
        TfLiteOpaqueTensorBuilder* builder = TfLiteOpaqueTensorBuilderCreate();
        TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteFloat32);
        TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteArenaRw);
        TfLiteOpaqueContextAddTensor(context, builder, &index);
        TfLiteOpaqueTensorBuilderDelete(builder);
        TfLiteOpaqueNodeSetTemporaries(node, &index, 1);
        TfLiteIntArray* size = TfLiteIntArrayCreate(1);
        size->data[0] = 4;
        return TfLiteOpaqueContextResizeTensor(context, TfLiteOpaqueNodeGetOutput(context, node, 0),
                                               size);
    });
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
        TfLiteOpaqueTensor* temporary = TfLiteOpaqueContextGetOpaqueTensor(context, index);
        TF_LITE_OPAQUE_ENSURE(context, TfLiteTensorType(temporary) == kTfLiteFloat32);
        TF_LITE_OPAQUE_ENSURE(context, TfLiteTensorGetAllocationType(temporary) == kTfLiteArenaRw);
        TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueTensorByteSize(temporary), 4);
        auto* data = static_cast<float*>(TfLiteTensorData(temporary));
        TF_LITE_OPAQUE_ENSURE(context, data != nullptr);
        *data = 7;
        auto* y = static_cast<float*>(
            TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)));
        std::fill_n(y, 4, *data);
        return kTfLiteOk;
    });
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{7, 7, 7, 7}));
    }
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
}

// Two counters of runs, in a tensor that persists and in one with memory of its own.
struct Counters
{
    int persistent, dynamic;
};

TfLiteStatus add_counter(TfLiteOpaqueContext* context, TfLiteAllocationType allocation_type,
                         void* data, int* index)
{
    TfLiteOpaqueTensorBuilder* builder = TfLiteOpaqueTensorBuilderCreate();
    TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteInt32);
    TfLiteOpaqueTensorBuilderSetAllocationType(builder, allocation_type);
    TfLiteOpaqueTensorBuilderSetData(builder, data);
    TfLiteOpaqueTensorBuilderSetQuantizationParams(builder, {0.5f, 3});
    const TfLiteStatus status = TfLiteOpaqueContextAddTensor(context, builder, index);
    TfLiteOpaqueTensorBuilderDelete(builder);
    return status;
}

TfLiteStatus prepare_counters(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    auto* counters = static_cast<Counters*>(TfLiteOpaqueNodeGetUserData(node));
    TF_LITE_OPAQUE_ENSURE(context, add_counter(context, kTfLiteMmapRo, nullptr, nullptr) != 0);
    TF_LITE_OPAQUE_ENSURE(context, add_counter(context, kTfLiteDynamic, nullptr, nullptr) != 0);
    TF_LITE_OPAQUE_ENSURE(context, add_counter(context, kTfLiteArenaRw, counters, nullptr) != 0);
    add_counter(context, kTfLiteArenaRwPersistent, nullptr, &counters->persistent);
    add_counter(context, kTfLiteDynamic, calloc(1, sizeof(int)), &counters->dynamic);
    const int indices[] = {counters->persistent, counters->dynamic};
    TfLiteOpaqueNodeSetTemporaries(node, indices, 2);
    TfLiteOpaqueTensor* persistent =
        TfLiteOpaqueContextGetOpaqueTensor(context, counters->persistent);
    TfLiteIntArray* size = TfLiteIntArrayCreate(1);
    size->data[0] = 100;
    TfLiteOpaqueContextResizeTensor(context, persistent, size);
    static_cast<int*>(TfLiteOpaqueTensorData(persistent))[99] = 0;
    TF_LITE_OPAQUE_ENSURE_EQ(context,
                             TfLiteOpaqueTensorGetQuantizationParams(persistent).zero_point, 3);
    size = TfLiteIntArrayCreate(1);
    size->data[0] = 2;
    return TfLiteOpaqueContextResizeTensor(context, TfLiteOpaqueNodeGetOutput(context, node, 0),
                                           size);
}

TfLiteStatus invoke_counters(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const auto* counters = static_cast<const Counters*>(TfLiteOpaqueNodeGetUserData(node));
    auto* persistent = static_cast<int*>(
        TfLiteOpaqueTensorData(TfLiteOpaqueContextGetOpaqueTensor(context, counters->persistent)));
    auto* dynamic = static_cast<int*>(
        TfLiteOpaqueTensorData(TfLiteOpaqueContextGetOpaqueTensor(context, counters->dynamic)));
    const int *inputs, *outputs;
    int input_num, output_num;
    TfLiteOpaqueNodeInputs(node, &inputs, &input_num);
    TfLiteOpaqueNodeOutputs(node, &outputs, &output_num);
    TF_LITE_OPAQUE_ENSURE_EQ(context, input_num * 10 + output_num, 11);
    TF_LITE_OPAQUE_ENSURE(context, TfLiteOpaqueContextGetOpaqueTensor(context, inputs[0]) ==
                                       TfLiteOpaqueNodeGetInput(context, node, 0));
    auto* y = static_cast<float*>(
        TfLiteOpaqueTensorData(TfLiteOpaqueContextGetOpaqueTensor(context, outputs[0])));
    y[0] = static_cast<float>(++persistent[99]);
    y[1] = static_cast<float>(++*dynamic);
    return kTfLiteOk;
}

TEST_F(TfliteTest, TemporariesMayKeepTheirValues)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetInit(op, [](TfLiteOpaqueContext*, const char*, size_t) -> void* {
        return calloc(1, sizeof(Counters));
    });
    TfLiteOperatorSetFree(op, [](TfLiteOpaqueContext*, void* counters) { free(counters); });
    TfLiteOperatorSetPrepare(op, prepare_counters);
    TfLiteOperatorSetInvoke(op, invoke_counters);
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    for (float i = 1; i < 4; ++i) {
        ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{i, i}));
    }
    const int dims[] = {2};
    ASSERT_EQ(set_tensor_shape(get_graph_input_tensor(graph, 0, 0), dims, 1), 0);
    ASSERT_TRUE(run(graph, {1, 2})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1, 1})) << "made again in Prepare";
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
}

// As in TensorFlow Lite without a delegate.
TEST_F(TfliteTest, AnAsyncKernelIsKeptAndNotCalled)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetAsyncKernel(
        op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) -> TfLiteAsyncKernel* { abort(); });
    TfLiteOperatorSetInplaceOperator(op, 1);
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
        const void* data;
        int size;
        TfLiteOpaqueNodeGetCustomInitialData(node, &data, &size);
        TF_LITE_OPAQUE_ENSURE(context, data && size > 0 && !TfLiteOpaqueNodeGetBuiltinData(node));
        memset(TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)), 0, 16);
        return kTfLiteOk;
    });
    EXPECT_EQ(TfLiteOperatorGetBuiltInCode(op), kTfLiteBuiltinCustom);
    EXPECT_EQ(TfLiteOperatorGetInplaceOperator(op), 1);
    ASSERT_EQ(tengine_tflite_register(nullptr, "com.example", op), 0);
    const graph_t graph = load_op_model({});
    ASSERT_TRUE(run(graph, {1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{0, 0, 0, 0}));
    destroy_graph(graph);
    release_tengine();
    TfLiteOperatorDelete(op);
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
