// SPDX-License-Identifier: Apache-2.0
// Parameters of operators that reduce along axes; their rows are in reduce_ops.c.
#pragma once

#include "operator/operator.h"

struct reduce_param
{
    struct op_ints axes;  // an input in newer opsets
    int keepdims;
    int noop_with_empty_axes;
};

// ArgMax, ArgMin.
struct arg_param
{
    int axis;
    int keepdims;
    int select_last_index;
};

// MeanVarianceNormalization.
struct mvn_param
{
    struct op_ints axes;  // empty: 0, 2, 3
};
