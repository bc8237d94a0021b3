// SPDX-License-Identifier: Apache-2.0
// Types and numbers of TensorFlow Lite's interface of custom operators, included by operator.h.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tengine/custom_op.h"

TENGINE_EXTERN_C_BEGIN

typedef enum TfLiteStatus
{
    kTfLiteOk = 0,
    kTfLiteError = 1,
    kTfLiteDelegateError = 2,
    kTfLiteApplicationError = 3,
    kTfLiteDelegateDataNotFound = 4,
    kTfLiteDelegateDataWriteError = 5,
    kTfLiteDelegateDataReadError = 6,
    kTfLiteUnresolvedOps = 7,
    kTfLiteCancelled = 8,
    kTfLiteOutputShapeNotKnown = 9
} TfLiteStatus;

// Only the one that the interface of custom operators needs.
typedef enum TfLiteBuiltinOperator
{
    kTfLiteBuiltinCustom = 32
} TfLiteBuiltinOperator;

typedef enum TfLiteType
{
    kTfLiteNoType = 0,
    kTfLiteFloat32 = 1,
    kTfLiteInt32 = 2,
    kTfLiteUInt8 = 3,
    kTfLiteInt64 = 4,
    kTfLiteString = 5,
    kTfLiteBool = 6,
    kTfLiteInt16 = 7,
    kTfLiteComplex64 = 8,
    kTfLiteInt8 = 9,
    kTfLiteFloat16 = 10,
    kTfLiteFloat64 = 11,
    kTfLiteComplex128 = 12,
    kTfLiteUInt64 = 13,
    kTfLiteResource = 14,
    kTfLiteVariant = 15,
    kTfLiteUInt32 = 16,
    kTfLiteUInt16 = 17,
    kTfLiteInt4 = 18,
    kTfLiteBFloat16 = 19
} TfLiteType;

typedef enum TfLiteAllocationType
{
    kTfLiteMemNone = 0,
    kTfLiteMmapRo = 1,
    kTfLiteArenaRw = 2,
    kTfLiteArenaRwPersistent = 3,
    kTfLiteDynamic = 4,
    kTfLitePersistentRo = 5,
    kTfLiteCustom = 6,
    kTfLiteVariantObject = 7,
    kTfLiteNonCpu = 8
} TfLiteAllocationType;

// The index of an input or output that is absent.
#define kTfLiteOptionalTensor (-1)

// Only delegates of TensorFlow Lite call one.
typedef struct TfLiteAsyncKernel TfLiteAsyncKernel;

typedef struct TfLiteQuantizationParams
{
    float scale;
    int32_t zero_point;
} TfLiteQuantizationParams;

// `size` values; TfLiteIntArrayCreate makes room for them.
typedef struct TfLiteIntArray
{
    int size;
    int data[1];
} TfLiteIntArray;

// NULL when out of memory. TfLiteIntArrayFree, which takes NULL, frees it.
static inline TfLiteIntArray* TfLiteIntArrayCreate(int size)
{
    const size_t more = size > 1 ? (size_t)size - 1 : 0;
    TfLiteIntArray* array = (TfLiteIntArray*)calloc(1, sizeof(TfLiteIntArray) + more * sizeof(int));
    if (array) array->size = size;
    return array;
}

static inline void TfLiteIntArrayFree(TfLiteIntArray* array)
{
    free(array);
}

// A complete type, since the published guide reads its dims. The other members are not for
// programs.
typedef struct TfLiteOpaqueTensor
{
    TfLiteIntArray* dims;
    TfLiteType type;
    TfLiteAllocationType allocation_type;
    const tengine_op_tensor_t* tensor;  // NULL: a temporary
    int output;                         // which one; -1: not an output
    int temporary;                      // of tengine_op_request_temporary; -1: none
    void* data;
    TfLiteQuantizationParams params;  // a temporary's
    bool is_used;                     // a temporary: its index is taken
    bool is_claimed;                  // and the node wants it: TfLiteOpaqueNodeSetTemporaries
} TfLiteOpaqueTensor;

// The data that are kept of a node from init to free.
typedef struct TfLiteOpaqueNode
{
    void* user_data;        // what init has returned
    const char* init_data;  // what it got
    size_t init_size;
    TfLiteOpaqueTensor* tensors;
    int* indices;  // of inputs, then outputs, in `tensors`; kTfLiteOptionalTensor: absent
    int input_num;
    int output_num;
    TfLiteOpaqueTensor** temporaries;  // added; their indices follow those of inputs and outputs
    int temporary_num;
    TfLiteIntArray* claimed;  // indices, of TfLiteOpaqueNodeSetTemporaries
} TfLiteOpaqueNode;

// One call.
typedef struct TfLiteOpaqueContext
{
    tengine_op_context_t* op;
    TfLiteOpaqueNode* node;
} TfLiteOpaqueContext;

typedef struct TfLiteOpaqueTensorBuilder
{
    TfLiteType type;
    TfLiteAllocationType allocation_type;
    TfLiteQuantizationParams params;
    void* data;
} TfLiteOpaqueTensorBuilder;

struct tengine_tflite_type
{
    TfLiteType type;
    int data_type;  // TENGINE_DT_*
    size_t size;    // bytes
};

// Ends with a row without size.
static inline const struct tengine_tflite_type* tengine_tflite_types(void)
{
    static const struct tengine_tflite_type types[] = {
        {kTfLiteFloat32, TENGINE_DT_FP32, 4},  {kTfLiteFloat16, TENGINE_DT_FP16, 2},
        {kTfLiteInt8, TENGINE_DT_INT8, 1},     {kTfLiteUInt8, TENGINE_DT_UINT8, 1},
        {kTfLiteInt32, TENGINE_DT_INT32, 4},   {kTfLiteInt16, TENGINE_DT_INT16, 2},
        {kTfLiteInt64, TENGINE_DT_INT64, 8},   {kTfLiteBool, TENGINE_DT_BOOL, 1},
        {kTfLiteFloat64, TENGINE_DT_FP64, 8},  {kTfLiteBFloat16, TENGINE_DT_BF16, 2},
        {kTfLiteUInt16, TENGINE_DT_UINT16, 2}, {kTfLiteUInt32, TENGINE_DT_UINT32, 4},
        {kTfLiteUInt64, TENGINE_DT_UINT64, 8}, {kTfLiteNoType, TENGINE_DT_UNKNOWN, 0}};
    return types;
}

static inline TfLiteType tengine_tflite_type_of(int data_type)
{
    const struct tengine_tflite_type* row = tengine_tflite_types();
    while (row->size && row->data_type != data_type)
        ++row;
    return row->type;
}

static inline size_t tengine_tflite_size_of(TfLiteType type)
{
    const struct tengine_tflite_type* row = tengine_tflite_types();
    while (row->size && row->type != type)
        ++row;
    return row->size;
}

TENGINE_EXTERN_C_END
