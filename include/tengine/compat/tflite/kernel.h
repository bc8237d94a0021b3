// SPDX-License-Identifier: Apache-2.0
// Functions that callbacks of a custom operator for TensorFlow Lite call, for operator.h, which
// says what it is for. Names that begin with tengine_tflite_ are not for programs.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "tengine/compat/tflite/types.h"

TENGINE_EXTERN_C_BEGIN

// ---- errors ----

static inline void TfLiteOpaqueContextReportError(TfLiteOpaqueContext* context, const char* format,
                                                  ...) TENGINE_PRINTF(2, 3);
static inline void TfLiteOpaqueContextReportError(TfLiteOpaqueContext* context, const char* format,
                                                  ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    tengine_op_report(context->op, TENGINE_EDEVICE, "%s", sentence);
}

#define TF_LITE_OPAQUE_ENSURE_MSG(context, condition, message)        \
    do {                                                              \
        if (!(condition)) {                                           \
            TfLiteOpaqueContextReportError((context), "%s", message); \
            return kTfLiteError;                                      \
        }                                                             \
    } while (0)

#define TF_LITE_OPAQUE_ENSURE(context, condition) \
    TF_LITE_OPAQUE_ENSURE_MSG(context, condition, #condition " does not hold")

// Each value is computed once.
#define TF_LITE_OPAQUE_ENSURE_EQ(context, a, b)                                            \
    do {                                                                                   \
        const long long tengine_a_ = (long long)(a);                                       \
        const long long tengine_b_ = (long long)(b);                                       \
        if (tengine_a_ != tengine_b_) {                                                    \
            TfLiteOpaqueContextReportError((context), "%s is %lld, expected %s, %lld", #a, \
                                           tengine_a_, #b, tengine_b_);                    \
            return kTfLiteError;                                                           \
        }                                                                                  \
    } while (0)

#define TF_LITE_OPAQUE_ENSURE_TYPES_EQ(context, a, b) TF_LITE_OPAQUE_ENSURE_EQ(context, a, b)

#define TF_LITE_OPAQUE_ENSURE_NEAR(context, a, b, epsilon)                             \
    do {                                                                               \
        const double tengine_difference_ = (double)(a) - (double)(b);                  \
        if (tengine_difference_ > (epsilon) || tengine_difference_ < -(epsilon)) {     \
            TfLiteOpaqueContextReportError((context), "%s is %f, expected %s, %f", #a, \
                                           (double)(a), #b, (double)(b));              \
            return kTfLiteError;                                                       \
        }                                                                              \
    } while (0)

// ---- nodes ----

static inline int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* node)
{
    return node->input_num;
}

static inline int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* node)
{
    return node->output_num;
}

// As the guide spells them.
static inline int TfLiteOpaqueNodeNumInputs(const TfLiteOpaqueNode* node)
{
    return node->input_num;
}

static inline int TfLiteOpaqueNodeNumOutputs(const TfLiteOpaqueNode* node)
{
    return node->output_num;
}

static inline TfLiteOpaqueTensor* tengine_tflite_tensor(const TfLiteOpaqueNode* node, int first,
                                                        int number, int index)
{
    if (index < 0 || index >= number || !node->tensors[first + index].tensor) return NULL;
    return &node->tensors[first + index];
}

// NULL for an optional input that is absent, and for an index out of range.
static inline const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext* context,
                                                                 const TfLiteOpaqueNode* node,
                                                                 int index)
{
    (void)context;
    return tengine_tflite_tensor(node, 0, node->input_num, index);
}

static inline TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext* context,
                                                            const TfLiteOpaqueNode* node, int index)
{
    (void)context;
    return tengine_tflite_tensor(node, node->input_num, node->output_num, index);
}

// Indices for TfLiteOpaqueContextGetOpaqueTensor; kTfLiteOptionalTensor where one is absent. The
// lists live as long as the node.
static inline TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode* node, const int** inputs,
                                                  int* num_inputs)
{
    *inputs = node->indices;
    *num_inputs = node->input_num;
    return kTfLiteOk;
}

static inline TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode* node,
                                                   const int** outputs, int* num_outputs)
{
    *outputs = node->indices + node->input_num;
    *num_outputs = node->output_num;
    return kTfLiteOk;
}

// The bytes that Init gets. *size is 0 before the call.
static inline TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(const TfLiteOpaqueNode* node,
                                                                const void** init_data, int* size)
{
    *init_data = node->init_data;
    *size = (int)node->init_size;
    return kTfLiteOk;
}

// NULL: built-in operators are not created in this way.
static inline void* TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode* node)
{
    (void)node;
    return NULL;
}

// The pointer that init has returned.
static inline void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* node)
{
    return node->user_data;
}

// ---- tensors ----

static inline int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* tensor)
{
    return tensor->dims ? tensor->dims->size : -1;
}

// As the guide spells it.
static inline int32_t TfLiteOpaqueTensorNumDimensions(const TfLiteOpaqueTensor* tensor)
{
    return TfLiteOpaqueTensorNumDims(tensor);
}

static inline int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* tensor, int32_t index)
{
    const bool is_there = index >= 0 && index < TfLiteOpaqueTensorNumDims(tensor);
    return is_there ? tensor->dims->data[index] : -1;
}

static inline TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* tensor)
{
    return tensor->type;
}

// As the guide spells it.
static inline TfLiteType TfLiteTensorType(const TfLiteOpaqueTensor* tensor)
{
    return tensor->type;
}

static inline size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* tensor)
{
    size_t bytes = tengine_tflite_size_of(tensor->type);
    if (!tensor->dims) return 0;
    for (int i = 0; i < tensor->dims->size; ++i)
        bytes *= (size_t)tensor->dims->data[i];
    return bytes;
}

// In prepare only constants have data.
static inline void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* tensor)
{
    return tensor->data;
}

// As the guide spells it.
static inline void* TfLiteTensorData(const TfLiteOpaqueTensor* tensor)
{
    return tensor->data;
}

static inline const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* tensor)
{
    return tengine_op_tensor_name(tensor->tensor);
}

static inline TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(
    const TfLiteOpaqueTensor* tensor)
{
    return tensor->allocation_type;
}

// As the guide spells it.
static inline TfLiteAllocationType TfLiteTensorGetAllocationType(const TfLiteOpaqueTensor* tensor)
{
    return tensor->allocation_type;
}

// Zeroes for a tensor that is not quantised, and for one with a scale for each slice.
static inline TfLiteQuantizationParams TfLiteOpaqueTensorGetQuantizationParams(
    const TfLiteOpaqueTensor* tensor)
{
    TfLiteQuantizationParams params = tensor->params;
    if (tengine_op_tensor_scale_number(tensor->tensor) != 1) return params;
    params.scale = tengine_op_tensor_scale(tensor->tensor, 0);
    params.zero_point = tengine_op_tensor_zero_point(tensor->tensor, 0);
    return params;
}

// An output: TfLiteOpaqueContextResizeTensor sets its size in invoke. A temporary: it has memory of
// its own from then on, which grows with its size.
static inline void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor)
{
    if (tensor->output < 0 && tensor->allocation_type == kTfLiteArenaRw) tensor->data = NULL;
    tensor->temporary = -1;
    tensor->allocation_type = kTfLiteDynamic;
}

// Whether memory is the tensor's own, from malloc: temporaries that are not in the plan.
static inline bool tengine_tflite_is_owner(const TfLiteOpaqueTensor* tensor)
{
    return !tensor->tensor && tensor->allocation_type != kTfLiteArenaRw;
}

static inline TfLiteStatus tengine_tflite_fit_memory(TfLiteOpaqueContext* context,
                                                     TfLiteOpaqueTensor* tensor)
{
    const size_t bytes = TfLiteOpaqueTensorByteSize(tensor);
    void* data = realloc(tensor->data, bytes > 0 ? bytes : 1);
    if (!data) {
        TfLiteOpaqueContextReportError(context, "out of memory for a temporary");
        return kTfLiteError;
    }
    tensor->data = data;
    return kTfLiteOk;
}

// Takes ownership of the array, also when it fails.
static inline TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                                           TfLiteOpaqueTensor* tensor,
                                                           TfLiteIntArray* new_size)
{
    if (!tensor || !new_size) {
        TfLiteIntArrayFree(new_size);
        TfLiteOpaqueContextReportError(context,
                                       "a tensor is resized that is absent, or there was "
                                       "out of memory for its size");
        return kTfLiteError;
    }
    if (tensor->output >= 0 &&
        tengine_op_resize_output(context->op, tensor->output, new_size->data, new_size->size) < 0) {
        TfLiteIntArrayFree(new_size);
        return kTfLiteError;
    }
    TfLiteIntArrayFree(tensor->dims);
    tensor->dims = new_size;
    if (tensor->output >= 0)
        tensor->data =
            tengine_op_tensor_mutable_data(tengine_op_output(context->op, tensor->output));
    return tengine_tflite_is_owner(tensor) ? tengine_tflite_fit_memory(context, tensor) : kTfLiteOk;
}

TENGINE_EXTERN_C_END
