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
    float* scale;      // quant_number scales and zero points; NULL without quantisation
    int* zero_point;
    int* quant_number;
    void* data;        // valid in run; for constants in every function except postrun; else NULL
    void* dev_mem;     // NULL
    void* mapped_mem;  // NULL
};

// A kernel of the program's own for one node (set_custom_kernel). Functions that are NULL, except
// run, are skipped; 0 is success and anything else failure, which fails prerun_graph, run_graph or
// postrun_graph. A function that ends with `return tengine_error_set(code, ...)` of error.h fails
// these with its own code, and its message after the names of node, function and kernel. A function
// that only returns a negative number fails them with that code and a message that the library
// makes; -1, which Tengine Lite used, and positive numbers become TENGINE_EDEVICE. Functions are
// called by the thread that calls prerun_graph, run_graph or postrun_graph, or by a thread of the
// scheduler if that is not "sync"; they must not use the graph's handles. Lists of tensors have
// NULL where an optional tensor is absent.
struct custom_kernel_ops
{
    const char* kernel_name;  // for reports
    const char* op;           // the operator of the node ("Convolution"), checked; NULL: any
    int force;                // nonzero: when bind refuses, prerun_graph fails
    void* kernel_param;       // the program's own
    int kernel_param_size;
    // Shapes of the outputs from those of the inputs: lists of up to MAX_SHAPE_DIM_NUM dimensions,
    // with a 0 after the last; those of outputs are zero-initialised by the caller. `layout` is the
    // graph's. NULL: the rule of the node's operator infers them; an unknown operator has none.
    int (*infer_shape)(struct custom_kernel_ops* ops, const int* inputs[], int input_num,
                       int* outputs[], int output_num, int layout);
    // The input whose memory the output may use, or -1. NULL: none.
    int (*inplace_info)(struct custom_kernel_ops* ops, int output_idx);
    // Whether the kernel supports these tensors. If not, the built-in operator runs, unless it does
    // not exist or the kernel is forced; a log line says so. NULL: the kernel supports all tensors.
    int (*bind)(struct custom_kernel_ops* ops, const struct custom_kernel_tensor* inputs[],
                int input_num, const struct custom_kernel_tensor* outputs[], int output_num);
    // Called before the first run. `dynamic_shape`: the shapes are known only at run time.
    int (*prerun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                  int input_num, struct custom_kernel_tensor* outputs[], int output_num,
                  int dynamic_shape);
    // Called in place of postrun and prerun when a prepared graph is prepared again, or run, and
    // only its shapes have changed.
    int (*reshape)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    // Computes all outputs. Required.
    int (*run)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[], int input_num,
               struct custom_kernel_tensor* outputs[], int output_num);
    // Undoes prerun: called once for each prerun that succeeded.
    int (*postrun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    // Called when the library no longer uses the struct.
    void (*release)(struct custom_kernel_ops* ops);
};

TENGINE_EXTERN_C_END
