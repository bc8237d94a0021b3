// SPDX-License-Identifier: Apache-2.0
// Constants that the C API (c_api.h) shares with the graph objects that devices see (ir.h). Values
// 0-5 of the data types and all layouts and tensor types are those of Tengine Lite.
#pragma once

// Capacity of a shape array: the most dimensions a tensor can have.
#define MAX_SHAPE_DIM_NUM 8

// Element types. The comment gives the bytes of one element.
#define TENGINE_DT_FP32 0     // 4, IEEE 754 single
#define TENGINE_DT_FP16 1     // 2, IEEE 754 half
#define TENGINE_DT_INT8 2     // 1
#define TENGINE_DT_UINT8 3    // 1
#define TENGINE_DT_INT32 4    // 4
#define TENGINE_DT_INT16 5    // 2
#define TENGINE_DT_INT64 6    // 8
#define TENGINE_DT_BOOL 7     // 1, false is 0 and true is 1
#define TENGINE_DT_FP64 8     // 8, IEEE 754 double
#define TENGINE_DT_BF16 9     // 2, upper half of a single
#define TENGINE_DT_UINT16 10  // 2
#define TENGINE_DT_UINT32 11  // 4
#define TENGINE_DT_UINT64 12  // 8
// Elements of 4 and 2 bits lie one after the other without gaps, the first in the low bits of the
// first byte; rows do not begin at a byte. n of them take ceil(n * bits / 8) bytes, and the unused
// bits of the last byte are 0. Only operators that move, cast or quantise take these and small
// floats.
#define TENGINE_DT_UINT4 13  // 4 bits
#define TENGINE_DT_INT4 14   // 4 bits, two's complement
#define TENGINE_DT_UINT2 15  // 2 bits
#define TENGINE_DT_INT2 16   // 2 bits, two's complement
// Small floats, named as ONNX does: bits of the exponent and the mantissa; FN: no infinity, UZ: no
// negative zero.
#define TENGINE_DT_FLOAT8E4M3FN 17    // 1
#define TENGINE_DT_FLOAT8E4M3FNUZ 18  // 1
#define TENGINE_DT_FLOAT8E5M2 19      // 1
#define TENGINE_DT_FLOAT8E5M2FNUZ 20  // 1
#define TENGINE_DT_FLOAT4E2M1 21      // 4 bits
#define TENGINE_DT_FLOAT8E8M0 22      // 1, a power of two
// A pointer to an immutable string of valid UTF-8 that ends with a NUL. See tengine/string.h.
#define TENGINE_DT_STRING 23  // 8, or the size of a pointer
// A real and an imaginary number, one after the other. Only operators that move values take these.
#define TENGINE_DT_COMPLEX64 24   // 8, two singles
#define TENGINE_DT_COMPLEX128 25  // 16, two doubles; addresses are multiples of 8
// Values that are no tensors, plus the type of their elements: a sequence of int64 tensors of any
// shapes is TENGINE_DT_SEQUENCE + TENGINE_DT_INT64. See tengine/sequence.h.
#define TENGINE_DT_SEQUENCE 64
#define TENGINE_DT_OPTIONAL 128           // a tensor, or none
#define TENGINE_DT_OPTIONAL_SEQUENCE 192  // a sequence, or none
// The value of get_tensor_data_type() for a tensor whose type no file declares, until prerun_graph
// has inferred it. No function accepts this type.
#define TENGINE_DT_UNKNOWN 255

// Precision of a run; 0-4 as in Tengine Lite. These are not the TENGINE_DT_* numbers.
#define TENGINE_MODE_FP32 0         // every node in the types that the model has
#define TENGINE_MODE_FP16 1         // fp32 nodes in fp16
#define TENGINE_MODE_HYBRID_INT8 2  // MatMul, Gemm and LSTM by weights in int8; all else in fp32
#define TENGINE_MODE_UINT8 3        // quantised nodes in integers; calibrated tensors are uint8
#define TENGINE_MODE_INT8 4         // quantised nodes in integers; calibrated tensors are int8
#define TENGINE_MODE_BF16 5         // fp32 nodes in bf16

// The values of get_graph_exec_status(); see "States" in c_api.h.
enum graph_exec_stat
{
    GRAPH_STAT_CREATED,
    GRAPH_STAT_READY,
    GRAPH_STAT_RUNNING,
    GRAPH_STAT_DONE,
    GRAPH_STAT_ERROR
};

// Order of the dimensions of an image tensor.
#define TENGINE_LAYOUT_NCHW 0
#define TENGINE_LAYOUT_NHWC 1

// The source of a tensor's data.
#define TENSOR_TYPE_UNKNOWN 0
#define TENSOR_TYPE_VAR 1    // computed at run time
#define TENSOR_TYPE_CONST 2  // known before the run: weights
#define TENSOR_TYPE_INPUT 3  // fed by the user
#define TENSOR_TYPE_DEP 4    // orders two nodes, carries no data

// Groups of CPU cores that the threads of a graph may use.
#define TENGINE_CLUSTER_ALL 0
#define TENGINE_CLUSTER_BIG 1     // the fastest cores
#define TENGINE_CLUSTER_MEDIUM 2  // the cores between
#define TENGINE_CLUSTER_LITTLE 3  // the slowest cores

// Constants of functions that Tengine Lite had removed; kept so that programs compile.
#define NODE_DUMP_ACTION_DISABLE 0
#define NODE_DUMP_ACTION_ENABLE 1
#define NODE_DUMP_ACTION_START 2
#define NODE_DUMP_ACTION_STOP 3
#define NODE_DUMP_ACTION_GET 4
#define GRAPH_PERF_STAT_DISABLE 0
#define GRAPH_PERF_STAT_ENABLE 1
#define GRAPH_PERF_STAT_STOP 2
#define GRAPH_PERF_STAT_START 3
#define GRAPH_PERF_STAT_RESET 4
#define GRAPH_PERF_STAT_GET 5
