// SPDX-License-Identifier: Apache-2.0
// Parameters of TopK, and of CumSum and CumProd; their rows are in order_ops.c.
#pragma once

struct top_k_param
{
    int axis;
    int k;  // an input since opset 10
    int largest;
    int sorted;
};

struct cumulation_param
{
    int exclusive;
    int reverse;
};
