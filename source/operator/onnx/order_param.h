// SPDX-License-Identifier: Apache-2.0
// Parameters of TopK and CumSum; their rows are in order_ops.c.
#pragma once

struct top_k_param
{
    int axis;
    int k;  // an input since opset 10
    int largest;
    int sorted;
};

struct cum_sum_param
{
    int exclusive;
    int reverse;
};
