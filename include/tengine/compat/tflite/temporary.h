// SPDX-License-Identifier: Apache-2.0
// Temporaries of a custom operator written for TensorFlow Lite, included by operator.h. A temporary
// that TfLiteOpaqueNodeSetTemporaries does not name is removed when prepare ends, so that the
// number of temporaries does not grow with each prepare. kTfLiteArenaRw is memory of the graph's
// plan, and loses its values between two calls of invoke; the others keep theirs.
#pragma once

#include "tengine/compat/tflite/kernel.h"

TENGINE_EXTERN_C_BEGIN

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

// Memory from malloc for a kTfLiteDynamic tensor, which then owns it. Not for others.
static inline TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetData(
    TfLiteOpaqueTensorBuilder* builder, void* data)
{
    builder->data = data;
    return builder;
}

static inline TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantizationParams(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantizationParams params)
{
    builder->params = params;
    return builder;
}

// The reason why the builder's tensor cannot be made; NULL if it can.
static inline const char* tengine_tflite_check_builder(const TfLiteOpaqueTensorBuilder* builder)
{
    if (!builder) return "out of memory for a builder";
    if (builder->allocation_type == kTfLiteDynamic)
        return builder->data ? NULL : "a kTfLiteDynamic tensor has no data";
    if (builder->allocation_type != kTfLiteArenaRw &&
        builder->allocation_type != kTfLiteArenaRwPersistent)
        return "the allocation type of a temporary is expected to be kTfLiteDynamic, "
               "kTfLiteArenaRw or kTfLiteArenaRwPersistent";
    return builder->data ? "only a kTfLiteDynamic tensor may have data of its own" : NULL;
}

static inline void tengine_tflite_empty_temporary(TfLiteOpaqueTensor* tensor)
{
    if (tengine_tflite_is_owner(tensor)) free(tensor->data);
    TfLiteIntArrayFree(tensor->dims);
    memset(tensor, 0, sizeof *tensor);
    tensor->output = tensor->temporary = -1;
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

// A scalar until it is resized. `new_tensor_index` may be NULL.
static inline TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                                        TfLiteOpaqueTensorBuilder* builder,
                                                        int* new_tensor_index)
{
    TfLiteOpaqueNode* node = context->node;
    int index = 0;
    TF_LITE_OPAQUE_ENSURE_MSG(context, !tengine_tflite_check_builder(builder),
                              tengine_tflite_check_builder(builder));
    TfLiteOpaqueTensor* tensor = tengine_tflite_free_temporary(node, &index);
    TfLiteIntArray* dims = tensor ? TfLiteIntArrayCreate(0) : NULL;
    TF_LITE_OPAQUE_ENSURE_MSG(context, dims, "out of memory for a temporary");
    tengine_tflite_empty_temporary(tensor);
    tensor->dims = dims;
    tensor->type = builder->type;
    tensor->allocation_type = builder->allocation_type;
    tensor->params = builder->params;
    tensor->data = builder->data;
    tensor->is_used = true;
    if (new_tensor_index) *new_tensor_index = node->input_num + node->output_num + index;
    return builder->allocation_type == kTfLiteArenaRwPersistent
               ? tengine_tflite_fit_memory(context, tensor)
               : kTfLiteOk;
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

// Copies the indices. kTfLiteError for a negative count, an index that is not a temporary, and when
// out of memory.
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

TENGINE_EXTERN_C_END
