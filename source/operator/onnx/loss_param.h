// SPDX-License-Identifier: Apache-2.0
// Parameters of the loss functions; their rows are in loss_ops.c.
#pragma once

#include <limits.h>

// The default of ignore_index: no class is ignored. No valid target has this value.
#define LOSS_IGNORE_NOTHING INT_MIN

// Parameters of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
struct loss_param
{
    char* reduction;  // "none", "sum", "mean"
    int ignore_index;
};
