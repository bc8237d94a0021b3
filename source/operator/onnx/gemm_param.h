// SPDX-License-Identifier: Apache-2.0
// Parameters of Gemm, and the matrices that a MatMul multiplies (gemm_ops.c).
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct gemm_param
{
    float alpha;
    float beta;
    int transA;
    int transB;
    int broadcast;  // up to opset 6, whether C may broadcast; later it always may
};

// out (m x n) = A (m x k) * B (k x n), A and B after transposition.
struct gemm_shape
{
    int m, n, k;
};

// A product of stacks of matrices, as numpy.matmul computes it: out[i] = a[i] (m x k) * b[i] (k x
// n), with broadcast stacks. Lists are matrices of one row (a) or one column (b), which the output
// lacks.
struct matmul_shape
{
    int m, n, k;
    int batch_rank;
    int64_t batch;                         // matrices in the output's stack
    int batch_dims[MAX_SHAPE_DIM_NUM];     // the stack's shape
    int64_t a_strides[MAX_SHAPE_DIM_NUM];  // in matrices; 0: the stack of a broadcasts
    int64_t b_strides[MAX_SHAPE_DIM_NUM];
    int output_rank;
    int64_t output_dims[MAX_SHAPE_DIM_NUM];
};

// Finds the sizes for A at input 0, B and C (may be absent) at these inputs, with known shapes.
// EINVAL: they contradict each other.
TENGINE_MUST_USE int resolve_gemm_shape(const struct node* node, int b_index, int addend_index,
                                        bool transposed_a, bool transposed_b,
                                        struct gemm_shape* out_shape);

// Finds the sizes for the tensors at two inputs with known shapes. EINVAL: they cannot be
// multiplied.
TENGINE_MUST_USE int resolve_matmul_shape(const struct node* node, int a_index, int b_index,
                                          struct matmul_shape* out_shape);

TENGINE_EXTERN_C_END
