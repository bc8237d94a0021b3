// SPDX-License-Identifier: Apache-2.0
#include "tflite_example.h"

#include <math.h>

static int count_elements(const TfLiteOpaqueTensor* tensor)
{
    int count = 1;
    for (int i = 0; i < TfLiteOpaqueTensorNumDimensions(tensor); ++i)
        count *= tensor->dims->data[i];
    return count;
}

// ---- atan ----

static TfLiteStatus prepare_like_input(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueNodeNumInputs(node), 1);
    TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueNodeNumOutputs(node), 1);
    const TfLiteOpaqueTensor* x = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteOpaqueTensor* y = TfLiteOpaqueNodeGetOutput(context, node, 0);
    TF_LITE_OPAQUE_ENSURE_TYPES_EQ(context, TfLiteOpaqueTensorType(x), kTfLiteFloat32);
    TF_LITE_OPAQUE_ENSURE(context, TfLiteTensorGetAllocationType(x) == kTfLiteArenaRw);
    const int rank = TfLiteOpaqueTensorNumDimensions(x);
    TfLiteIntArray* size = TfLiteIntArrayCreate(rank);
    for (int i = 0; i < rank; ++i)
        size->data[i] = x->dims->data[i];
    return TfLiteOpaqueContextResizeTensor(context, y, size);
}

static TfLiteStatus invoke_atan(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
    const float* x = TfLiteOpaqueTensorData(input);
    float* y = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0));
    for (int i = 0; i < count_elements(input); ++i)
        y[i] = atanf(x[i]);
    return kTfLiteOk;
}

const TfLiteOperator* get_atan_op(void)
{
    static const TfLiteOperator* op;
    if (op) return op;
    op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", /*version=*/3);
    TfLiteOperatorSetPrepare(op, prepare_like_input);
    TfLiteOperatorSetInvoke(op, invoke_atan);
    return op;
}

// ---- running sum ----

struct sum_state
{
    int temporary;
};

int live_states;
int temporary_num;

static void* init_sum(void* user_data, TfLiteOpaqueContext* context, const char* buffer,
                      size_t length)
{
    (void)context;
    if (user_data != &live_states || !buffer || length == 0) return NULL;
    ++live_states;
    return calloc(1, sizeof(struct sum_state));
}

static void free_sum(void* user_data, TfLiteOpaqueContext* context, void* state)
{
    (void)user_data, (void)context;
    --live_states;
    free(state);
}

static TfLiteStatus prepare_sum(void* user_data, TfLiteOpaqueContext* context,
                                TfLiteOpaqueNode* node)
{
    struct sum_state* state = TfLiteOpaqueNodeGetUserData(node);
    TfLiteOpaqueTensorBuilder* builder = TfLiteOpaqueTensorBuilderCreate();
    (void)user_data;
    TF_LITE_OPAQUE_ENSURE_MSG(context, state, "init has failed");
    TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteFloat32);
    TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteArenaRw);
    TfLiteStatus status = TfLiteOpaqueContextAddTensor(context, builder, &state->temporary);
    TfLiteOpaqueTensorBuilderDelete(builder);
    TF_LITE_OPAQUE_ENSURE_EQ(context, status, kTfLiteOk);
    status = TfLiteOpaqueNodeSetTemporaries(node, &state->temporary, 1);
    TF_LITE_OPAQUE_ENSURE_EQ(context, status, kTfLiteOk);
    TfLiteIntArray* size = TfLiteIntArrayCreate(1);
    size->data[0] = 1000;
    status = TfLiteOpaqueContextResizeTensor(
        context, TfLiteOpaqueContextGetOpaqueTensor(context, state->temporary), size);
    TF_LITE_OPAQUE_ENSURE_EQ(context, status, kTfLiteOk);
    temporary_num = node->temporary_num;
    return prepare_like_input(context, node);
}

static TfLiteStatus invoke_sum(void* user_data, TfLiteOpaqueContext* context,
                               TfLiteOpaqueNode* node)
{
    const struct sum_state* state = TfLiteOpaqueNodeGetUserData(node);
    const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteOpaqueTensor* temporary = TfLiteOpaqueContextGetOpaqueTensor(context, state->temporary);
    const float* x = TfLiteOpaqueTensorData(input);
    float* y = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0));
    float* sums = TfLiteOpaqueTensorData(temporary);
    (void)user_data;
    TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueTensorByteSize(temporary), 4000);
    TF_LITE_OPAQUE_ENSURE(context, count_elements(input) <= 1000);
    for (int i = 0; i < count_elements(input); ++i)
        sums[i] = x[i] + (i > 0 ? sums[i - 1] : 0);
    for (int i = 0; i < count_elements(input); ++i)
        y[i] = sums[i];
    return kTfLiteOk;
}

const TfLiteOperator* get_sum_op(void)
{
    static const TfLiteOperator* op;
    if (op) return op;
    op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3, &live_states);
    TfLiteOperatorSetInitWithData(op, init_sum);
    TfLiteOperatorSetFreeWithData(op, free_sum);
    TfLiteOperatorSetPrepareWithData(op, prepare_sum);
    TfLiteOperatorSetInvokeWithData(op, invoke_sum);
    return op;
}

// ---- positive elements ----

static TfLiteStatus prepare_positive(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueNodeGetOutput(context, node, 0));
    return kTfLiteOk;
}

static TfLiteStatus invoke_positive(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteOpaqueTensor* output = TfLiteOpaqueNodeGetOutput(context, node, 0);
    const float* x = TfLiteOpaqueTensorData(input);
    TfLiteIntArray* size = TfLiteIntArrayCreate(1);
    for (int i = 0; i < count_elements(input); ++i)
        size->data[0] += x[i] > 0;
    TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueContextResizeTensor(context, output, size),
                             kTfLiteOk);
    float* y = TfLiteOpaqueTensorData(output);
    for (int i = 0; i < count_elements(input); ++i)
        if (x[i] > 0) *y++ = x[i];
    return kTfLiteOk;
}

const TfLiteOperator* get_positive_op(void)
{
    static const TfLiteOperator* op;
    if (op) return op;
    op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Shift", 3);
    TfLiteOperatorSetPrepare(op, prepare_positive);
    TfLiteOperatorSetInvoke(op, invoke_positive);
    return op;
}
