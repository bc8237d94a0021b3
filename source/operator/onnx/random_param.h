// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in random_ops.c.
#pragma once

#include "operator/operator.h"

// Parameters of all of them. `seed` is NaN if it is not given: every run then starts from the
// clock.
struct random_param
{
    int dtype;  // ONNX's number of the output's type; 0: as input 0
    float seed;
    struct op_ints shape;  // RandomNormal, RandomUniform
    float mean;            // normal distributions
    float scale;
    float low;  // uniform distributions
    float high;
    int sample_size;  // Multinomial
};
