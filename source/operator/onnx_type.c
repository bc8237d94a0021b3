// SPDX-License-Identifier: Apache-2.0
// Names of ONNX's element types, also of those that only files have.
#include "operator/onnx_type.h"

#include <stddef.h>

const char* get_onnx_type_name(int64_t onnx_type)
{
    static const char* const names[] = {
        "undefined",      "float32",    "uint8",          "int8",       "uint16",   "int16",
        "int32",          "int64",      "string",         "bool",       "float16",  "float64",
        "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
        "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",     "float4e2m1",
        "float8e8m0",     "uint2",      "int2",
    };
    const int64_t num = (int64_t)(sizeof(names) / sizeof(names[0]));
    return onnx_type >= 0 && onnx_type < num ? names[onnx_type] : "unknown";
}
