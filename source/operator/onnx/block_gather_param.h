// SPDX-License-Identifier: Apache-2.0
// Parameters of GatherBlockQuantized, and the layout of its data (block_gather_ops.c).
#pragma once

#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct block_gather_param
{
    int bits;
    int block_size;  // elements of a row that share a scale; the last block may be shorter
    int gather_axis;
    int quantize_axis;
};

// Rows along the last axis: elements packed in bytes, low bits first; scales; and zero points,
// packed like the elements.
struct block_gather_form
{
    int64_t row_bytes, elements, blocks, zero_point_bytes;
    int64_t slices, rows;  // slices along axis 0; rows of a slice
};

// Reads the layout of a node that has been inferred.
void resolve_block_gather(const struct node* node, struct block_gather_form* out_form);

TENGINE_EXTERN_C_END
