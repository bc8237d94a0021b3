// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in training_ops.c.
#pragma once

#include "operator/operator.h"

// Parameters of all of them; each operator uses some.
struct training_param
{
    float norm_coefficient;
    float norm_coefficient_post;  // Adam
    float alpha;                  // Adam, Momentum
    float beta;
    float epsilon;       // Adagrad, Adam
    float decay_factor;  // Adagrad
    char* mode;          // Momentum: "standard" or "nesterov"
};
