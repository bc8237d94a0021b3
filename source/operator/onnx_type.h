// SPDX-License-Identifier: Apache-2.0
// ONNX's numbers of element types (TensorProto.DataType), as attributes such as Cast's `to` and
// EyeLike's `dtype` hold them, to TENGINE_DT_*.
#pragma once

#include <stdint.h>

#include "tengine/defines.h"
#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Returns a name such as "float8e4m3fn" for messages, also of types that Tengine does not have;
// else "unknown".
const char* get_onnx_type_name(int64_t onnx_type);

// Returns -1 when the number is not an element type's.
static inline int get_data_type_of_onnx(int64_t onnx_type)
{
    static const signed char types[] = {
        -1,                 // UNDEFINED
        TENGINE_DT_FP32,    // FLOAT
        TENGINE_DT_UINT8,   // UINT8
        TENGINE_DT_INT8,    // INT8
        TENGINE_DT_UINT16,  // UINT16
        TENGINE_DT_INT16,   // INT16
        TENGINE_DT_INT32,   // INT32
        TENGINE_DT_INT64,   // INT64
        TENGINE_DT_STRING,  // STRING
        TENGINE_DT_BOOL,    // BOOL
        TENGINE_DT_FP16,    // FLOAT16
        TENGINE_DT_FP64,    // DOUBLE
        TENGINE_DT_UINT32,  // UINT32
        TENGINE_DT_UINT64,  // UINT64
        TENGINE_DT_COMPLEX64,
        TENGINE_DT_COMPLEX128,
        TENGINE_DT_BF16,  // BFLOAT16
        TENGINE_DT_FLOAT8E4M3FN,
        TENGINE_DT_FLOAT8E4M3FNUZ,
        TENGINE_DT_FLOAT8E5M2,
        TENGINE_DT_FLOAT8E5M2FNUZ,
        TENGINE_DT_UINT4,
        TENGINE_DT_INT4,
        TENGINE_DT_FLOAT4E2M1,
        TENGINE_DT_FLOAT8E8M0,
        TENGINE_DT_UINT2,
        TENGINE_DT_INT2,
    };
    const int64_t num = (int64_t)(sizeof(types) / sizeof(types[0]));
    return onnx_type >= 0 && onnx_type < num ? types[onnx_type] : -1;
}

// Returns ONNX's number of a TENGINE_DT_*.
static inline int get_onnx_type(int data_type)
{
    int onnx_type = 26;
    while (onnx_type > 0 && get_data_type_of_onnx(onnx_type) != data_type)
        --onnx_type;
    return onnx_type;
}

TENGINE_EXTERN_C_END
