// SPDX-License-Identifier: Apache-2.0
// What the callbacks of a custom operator written for TensorFlow Lite call, for operator.h, which
// says what it is for. Names that begin with tengine_tflite_ are not for programs.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "tengine/compat/tflite/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

// What init has returned.
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
    TfLiteQuantizationParams params = {0, 0};
    if (tengine_op_tensor_scale_number(tensor->tensor) != 1) return params;
    params.scale = tengine_op_tensor_scale(tensor->tensor, 0);
    params.zero_point = tengine_op_tensor_zero_point(tensor->tensor, 0);
    return params;
}

// An output: its size is told in invoke, by TfLiteOpaqueContextResizeTensor.
static inline void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor)
{
    tensor->allocation_type = kTfLiteDynamic;
}

// Takes the array over, also when it fails.
static inline TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                                           TfLiteOpaqueTensor* tensor,
                                                           TfLiteIntArray* new_size)
{
    if (!tensor || !new_size) {
        TfLiteIntArrayFree(new_size);
        TfLiteOpaqueContextReportError(context,
                                       "a tensor is resized that is absent, or there was "
                                       "no memory for its size");
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
    return kTfLiteOk;
}

// ---- temporaries ----
//
// A temporary that TfLiteOpaqueNodeSetTemporaries does not name goes when prepare ends, so that one
// which is added in each prepare does not add up.

static inline TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderCreate(void)
{
    return (TfLiteOpaqueTensorBuilder*)calloc(1, sizeof(TfLiteOpaqueTensorBuilder));
}

static inline void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder* builder)
{
    free(builder);
}

static inline TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteType type)
{
    builder->type = type;
    return builder;
}

static inline TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetAllocationType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteAllocationType allocation_type)
{
    builder->allocation_type = allocation_type;
    return builder;
}

static inline TfLiteOpaqueTensor* tengine_tflite_free_temporary(TfLiteOpaqueNode* node, int* index)
{
    for (*index = 0; *index < node->temporary_num; ++*index)
        if (!node->temporaries[*index]->is_used) return node->temporaries[*index];
    TfLiteOpaqueTensor** list = (TfLiteOpaqueTensor**)realloc(
        (void*)node->temporaries, sizeof(TfLiteOpaqueTensor*) * (size_t)(*index + 1));
    if (list) node->temporaries = list;
    TfLiteOpaqueTensor* made =
        list ? (TfLiteOpaqueTensor*)calloc(1, sizeof(TfLiteOpaqueTensor)) : NULL;
    if (made) list[node->temporary_num++] = made;
    return made;
}

static inline TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                                        TfLiteOpaqueTensorBuilder* builder,
                                                        int* new_tensor_index)
{
    TfLiteOpaqueNode* node = context->node;
    int index = 0;
    TfLiteOpaqueTensor* tensor = builder ? tengine_tflite_free_temporary(node, &index) : NULL;
    if (!tensor) {
        TfLiteOpaqueContextReportError(context, "no memory for a temporary");
        return kTfLiteError;
    }
    TfLiteIntArrayFree(tensor->dims);
    memset(tensor, 0, sizeof *tensor);
    tensor->type = builder->type;
    tensor->allocation_type = builder->allocation_type;
    tensor->output = tensor->temporary = -1;
    tensor->is_used = true;
    *new_tensor_index = node->input_num + node->output_num + index;
    return kTfLiteOk;
}

// Inputs, outputs, and what was added; NULL for an index without tensor.
static inline TfLiteOpaqueTensor* TfLiteOpaqueContextGetOpaqueTensor(
    const TfLiteOpaqueContext* context, int index)
{
    const TfLiteOpaqueNode* node = context->node;
    const int first = node->input_num + node->output_num;
    if (index < first) return tengine_tflite_tensor(node, 0, first, index);
    if (index - first >= node->temporary_num) return NULL;
    return node->temporaries[index - first]->is_used ? node->temporaries[index - first] : NULL;
}

// Copies the indices. kTfLiteError for a negative count, an index that is not a temporary, and
// without memory.
static inline TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode* node,
                                                          const int* temporaries,
                                                          int num_temporaries)
{
    const int first = node->input_num + node->output_num;
    for (int i = 0; i < num_temporaries; ++i)
        if (temporaries[i] < first || temporaries[i] - first >= node->temporary_num)
            return kTfLiteError;
    TfLiteIntArray* list = num_temporaries < 0 ? NULL : TfLiteIntArrayCreate(num_temporaries);
    if (!list) return kTfLiteError;
    for (int i = 0; i < node->temporary_num; ++i)
        node->temporaries[i]->is_claimed = false;
    for (int i = 0; i < num_temporaries; ++i) {
        list->data[i] = temporaries[i];
        node->temporaries[temporaries[i] - first]->is_claimed = true;
    }
    TfLiteIntArrayFree(node->claimed);
    node->claimed = list;
    return kTfLiteOk;
}

static inline TfLiteStatus TfLiteOpaqueNodeTemporaries(const TfLiteOpaqueNode* node,
                                                       const int** temporaries,
                                                       int* num_temporaries)
{
    *temporaries = node->claimed ? node->claimed->data : NULL;
    *num_temporaries = node->claimed ? node->claimed->size : 0;
    return kTfLiteOk;
}

#ifdef __cplusplus
}
#endif
