// SPDX-License-Identifier: Apache-2.0
// Parameters of the pools (pool_ops.c): MaxPool, AveragePool, LpPool, MaxUnpool, the global ones
// and those of quantised tensors.
#pragma once

#include "operator/onnx/window.h"

TENGINE_EXTERN_C_BEGIN

struct pool_param
{
    struct window_param window;
    int count_include_pad;  // AveragePool
    int storage_order;      // MaxPool: indices count along the last axis (0) or the first (1)
    int p;                  // LpPool
    int channels_last;      // QLinearAveragePool; always 0 in a graph that was lowered
};

struct global_pool_param
{
    int p;              // GlobalLpPool
    int channels_last;  // QLinearGlobalAveragePool, as above
};

// Compute the window of a pool, and that of MaxUnpool as a transposed one, which ignores the input
// output_shape. The shape of input 0 is known.
TENGINE_MUST_USE int resolve_pool_window(const struct node* node, struct window* out_window);
TENGINE_MUST_USE int resolve_unpool_window(const struct node* node, struct window* out_window);

TENGINE_EXTERN_C_END
