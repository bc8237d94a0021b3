// SPDX-License-Identifier: Apache-2.0
// Parameters of Softmax, LogSoftmax and Hardmax; their rows are in softmax_ops.c.
#pragma once

struct softmax_param
{
    int axis;
};
