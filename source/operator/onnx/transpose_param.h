// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in transpose_ops.c.
#pragma once

#include "operator/operator.h"

struct transpose_param
{
    struct op_ints perm;  // absent: dimensions are reversed
};

// DepthToSpace and SpaceToDepth.
struct block_param
{
    int blocksize;
    char* mode;  // DepthToSpace: DCR or CRD
};
