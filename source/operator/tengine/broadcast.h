// SPDX-License-Identifier: Apache-2.0
// Broadcasting of two operands of different sizes in Tengine's element-wise operators (Eltwise,
// BroadMul, Comparison, Logical). It goes by numbers of elements, not by shapes as numpy's
// broadcasting does; where Tengine has no rule numpy's is taken.
#pragma once

#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

typedef enum tm_match
{
    TM_MATCH_SAME,       // as many elements: element by element
    TM_MATCH_SCALAR,     // the smaller has one
    TM_MATCH_CHANNEL,    // one for each plane of each image
    TM_MATCH_PLANE,      // one plane, the same for each channel
    TM_MATCH_CHANNELS,   // one for each channel, the same for each image
    TM_MATCH_BROADCAST,  // numpy's
} tm_match_t;

typedef struct tm_operands
{
    tm_match_t match;
    bool swapped;                     // the second operand is the larger one
    int64_t dims[MAX_SHAPE_DIM_NUM];  // the smaller one's shape for numpy's broadcasting,
    int dim_num;                      // the larger one's rank; not set for TM_MATCH_BROADCAST
} tm_operands_t;

tm_operands_t match_tm_operands(const struct tensor* first, const struct tensor* second);

// Returns inputs 0 and 1 of the node that is lowered, in shapes and types that ONNX's operators
// take.
void emit_tm_operands(emitter_t* emit, struct tensor* out_operands[2]);

// Whether Tengine's rule gives the same as numpy's for a node with inputs 0 and 1 and output 0, so
// that the node can be raised; then *out_operands is set. Else the node is refused.
bool do_tm_operands_fit(struct node* node, tm_operands_t* out_operands);

TENGINE_EXTERN_C_END
