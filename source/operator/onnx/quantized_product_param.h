// SPDX-License-Identifier: Apache-2.0
// Parameters of MatMulNBits and MatMulBnb4, and their weights (quantized_product_ops.c).
#pragma once

#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct matmul_nbits_param
{
    int K;
    int N;
    int bits;
    int block_size;
    int accuracy_level;
    int weight_prepacked;
};

// Parameters of MatMulBnb4. B is N x K; if it is not transposed, A has N columns, the result K.
struct matmul_bnb4_param
{
    int K;
    int N;
    int block_size;
    int quant_type;  // 0: FP4, 1: NF4
    int transB;
    int training_mode;  // ignored
};

// Weights are n rows of k elements of 2, 4 or 8 bits, in blocks of block_size along a row, low bits
// first. A row's last block is padded. Element q of a block means (q - zero_point) * scale.
struct nbits_shape
{
    int n, k;
    int bits;
    int block_size;
    int blocks;           // blocks of a row
    int block_bytes;      // bytes of a block's packed elements
    int zero_point_step;  // bytes of a row's zero points, if they are packed like the elements
};

// Reads the sizes of a node that has been inferred.
void resolve_nbits_shape(const struct node* node, struct nbits_shape* out_shape);

TENGINE_EXTERN_C_END
