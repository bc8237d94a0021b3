// SPDX-License-Identifier: Apache-2.0
// Parameters of QGemm and QLinearSoftmax, and what Lookup does (qlinear_ops.c,
// qlinear_float_ops.c).
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
