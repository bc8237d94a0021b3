// SPDX-License-Identifier: Apache-2.0
// Parameters of element-wise operators with one input; their rows are in unary_ops.c.
#pragma once

struct is_inf_param
{
    int detect_negative;
    int detect_positive;
};
