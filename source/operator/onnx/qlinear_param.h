// SPDX-License-Identifier: Apache-2.0
// Parameters of QGemm and QLinearSoftmax, and what that and Lookup do (qlinear_ops.c).
#pragma once

#include "operator/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qgemm_param
{
    float alpha;
    int transA;
    int transB;
};

// Along the axis, with m the largest x of a row and sums over it,
//     e(x) = round_half_to_even(2^23 exp(-x_scale (m - x)))
//     y = saturate(y_zero_point + round_half_to_even(e(x) r)),  r = 1 / (y_scale sum e) .
// e and its sums are integers, so that the order of summation does not matter; r and the product
// are rounded to floats.
struct qlinear_softmax_param
{
    int axis;
    int opset;  // of the Softmax that is meant
};

// tengine.Lookup(x, table): y = table[x], where x, int8 or uint8, counts as an unsigned byte: -1 is
// entry 255. The table is int8 or uint8 too and gives y its type. It stands for any function of
// one quantised tensor.
#define LOOKUP_TABLE_SIZE 256

#ifdef __cplusplus
}
#endif
