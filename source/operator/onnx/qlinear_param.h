// SPDX-License-Identifier: Apache-2.0
// Parameters of QGemm and QLinearSoftmax, and the formulas of QLinearSoftmax and tengine's own
// operators (qlinear_ops.c).
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

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
    int opset;  // the opset of the corresponding Softmax
};

// tengine.QLinearLayerNormalization: LayerNormalization (norm_param.h) of int8 or uint8. For a row
// of n elements, c = x - x_zero_point, with sums over the row and its scale and bias i,
//     d = n c - sum c,  v = (n sum c^2 - (sum c)^2) x_scale^2 / n^2
//     r = x_scale / (n sqrt(v + epsilon)),  s = 2^8 scale / y_scale,  b = 2^8 bias / y_scale
//     y = saturate(y_zero_point + round_half_to_even((round(d r s) + round(b)) / 2^8))
// where d, below 2^24, and the sums are integers, r is computed in doubles and rounded to a float,
// as are s, b, d r and (d r) s; round() is to the nearest integer from -2^21 to 2^21, ties to even.
#define QLINEAR_LAYER_NORM_LONGEST (1 << 16)

// tengine.Lookup(x, table): y = table[x], where x, int8 or uint8, counts as unsigned: -1 is entry
// 255. The table is int8 or uint8 and gives y its type. It represents any function of one quantised
// tensor.
#define LOOKUP_TABLE_SIZE 256

TENGINE_EXTERN_C_END
