// SPDX-License-Identifier: Apache-2.0
// The argument of set_custom_kernel() of c_api.h: a program's own kernel for one node. Names and
// members are Tengine Lite's.
#pragma once

#include "tengine/defines.h"
#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// A tensor as the functions of custom_kernel_ops get it.
struct custom_kernel_tensor
{
    int dim[MAX_SHAPE_DIM_NUM];
    int dim_num;
    int element_num;
    int element_size;  // bytes
    int data_type;     // TENGINE_DT_*
    int dev_type;      // 0: host memory
    int layout_type;   // TENGINE_LAYOUT_*, a tag
    int quant_type;    // 0: not quantised, 1: one scale, 2: one for each channel
    float* scale;      // *quant_number of them; NULL without
    int* zero_point;
    int* quant_number;
    void* data;        // valid in run; of constants in every function but postrun; else NULL
    void* dev_mem;     // NULL
    void* mapped_mem;  // NULL
};

// A kernel of the program's own for one node (set_custom_kernel). Functions that are NULL, except
// run, are skipped; 0 is success and anything else failure, which fails prerun_graph, run_graph or
// postrun_graph. A function that ends with `return tengine_error_set(code, ...)` of error.h fails
// these with its own code, and its message after the names of node, function and kernel. One that
// only returns a negative number fails them with that as the code, except the -1 of Tengine Lite,
// which like positive numbers becomes TENGINE_EDEVICE, and gets a message made for it. They are
// called by the thread that calls these, or by one of the scheduler's when that is not "sync"; they
// must not use the graph's handles. Lists of tensors have NULL where an optional tensor is absent.
struct custom_kernel_ops
{
    const char* kernel_name;  // for reports
    const char* op;           // the operator it is for ("Convolution"), checked; NULL: any
    int force;                // nonzero: when bind refuses, prerun_graph fails
    void* kernel_param;       // the program's own
    int kernel_param_size;
    // Shapes of the outputs from those of the inputs: lists of up to MAX_SHAPE_DIM_NUM dimensions,
    // with a 0 after the last; those of outputs are zero-initialised by the caller. `layout` is the
    // graph's. NULL: by the rule of the node's operator, which an unknown operator does not have.
    int (*infer_shape)(struct custom_kernel_ops* ops, const int* inputs[], int input_num,
                       int* outputs[], int output_num, int layout);
    // The input whose memory the output may take over, or -1. NULL: none.
    int (*inplace_info)(struct custom_kernel_ops* ops, int output_idx);
    // Whether the kernel supports these tensors. If not, the built-in operator runs, unless it does
    // not exist or the kernel is forced; a log line says so. NULL: the kernel supports all tensors.
    int (*bind)(struct custom_kernel_ops* ops, const struct custom_kernel_tensor* inputs[],
                int input_num, const struct custom_kernel_tensor* outputs[], int output_num);
    // Before the first run. `dynamic_shape`: the shapes are known only at run time.
    int (*prerun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                  int input_num, struct custom_kernel_tensor* outputs[], int output_num,
                  int dynamic_shape);
    // In place of postrun and prerun, when a graph that is prepared is prepared again, or run, with
    // other shapes and is otherwise as it was.
    int (*reshape)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    // Computes all outputs. Required.
    int (*run)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[], int input_num,
               struct custom_kernel_tensor* outputs[], int output_num);
    // Undoes prerun: once for each that succeeded.
    int (*postrun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    // The library has no more use for the struct.
    void (*release)(struct custom_kernel_ops* ops);
};

TENGINE_EXTERN_C_END
