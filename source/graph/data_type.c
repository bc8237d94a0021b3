// SPDX-License-Identifier: Apache-2.0
// Types of elements, and of values that are no tensors (sequence.h).
#include "graph/sequence.h"

int get_ir_container(int data_type)
{
    return data_type == TENGINE_DT_UNKNOWN ? 0 : data_type & ~(TENGINE_DT_SEQUENCE - 1);
}

int get_ir_element_type(int data_type)
{
    return data_type & (TENGINE_DT_SEQUENCE - 1);
}

static const struct
{
    const char* name;
    int bits;
} data_types[] = {
    [TENGINE_DT_FP32] = {"fp32", 32},
    [TENGINE_DT_FP16] = {"fp16", 16},
    [TENGINE_DT_INT8] = {"int8", 8},
    [TENGINE_DT_UINT8] = {"uint8", 8},
    [TENGINE_DT_INT32] = {"int32", 32},
    [TENGINE_DT_INT16] = {"int16", 16},
    [TENGINE_DT_INT64] = {"int64", 64},
    [TENGINE_DT_BOOL] = {"bool", 8},
    [TENGINE_DT_FP64] = {"fp64", 64},
    [TENGINE_DT_BF16] = {"bf16", 16},
    [TENGINE_DT_UINT16] = {"uint16", 16},
    [TENGINE_DT_UINT32] = {"uint32", 32},
    [TENGINE_DT_UINT64] = {"uint64", 64},
    [TENGINE_DT_UINT4] = {"uint4", 4},
    [TENGINE_DT_INT4] = {"int4", 4},
    [TENGINE_DT_UINT2] = {"uint2", 2},
    [TENGINE_DT_INT2] = {"int2", 2},
    [TENGINE_DT_FLOAT8E4M3FN] = {"float8e4m3fn", 8},
    [TENGINE_DT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8},
    [TENGINE_DT_FLOAT8E5M2] = {"float8e5m2", 8},
    [TENGINE_DT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8},
    [TENGINE_DT_FLOAT4E2M1] = {"float4e2m1", 4},
    [TENGINE_DT_FLOAT8E8M0] = {"float8e8m0", 8},
    [TENGINE_DT_STRING] = {"string", 8 * (int)sizeof(char*)},
    [TENGINE_DT_COMPLEX64] = {"complex64", 64},
    [TENGINE_DT_COMPLEX128] = {"complex128", 128},
};
#define DATA_TYPE_NUM ((int)(sizeof(data_types) / sizeof(data_types[0])))

static bool is_data_type(int data_type)
{
    return data_type >= 0 && data_type < DATA_TYPE_NUM;
}

// Whether the size in bytes is the number of elements.
static bool is_container(int data_type)
{
    return data_type > 0 && data_type < TENGINE_DT_UNKNOWN && get_ir_container(data_type) != 0 &&
           is_data_type(get_ir_element_type(data_type));
}

int get_data_type_bits(int data_type)
{
    if (is_container(data_type)) return 8;
    return is_data_type(data_type) ? data_types[data_type].bits : 0;
}

int get_data_type_size(int data_type)
{
    return (get_data_type_bits(data_type) + 7) / 8;
}

static const char* name_container(int container)
{
    if (container == TENGINE_DT_SEQUENCE) return "sequence";
    return container == TENGINE_DT_OPTIONAL ? "optional value" : "optional sequence";
}

const char* get_data_type_name(int data_type)
{
    if (is_container(data_type)) return name_container(get_ir_container(data_type));
    return is_data_type(data_type) ? data_types[data_type].name : "unknown";
}
