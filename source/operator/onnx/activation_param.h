// SPDX-License-Identifier: Apache-2.0
// Parameters of activation functions; their rows are in activation_ops.c.
#pragma once

// Parameters of LeakyRelu, Elu, Celu, Swish, ThresholdedRelu.
struct alpha_param
{
    float alpha;
};

struct selu_param
{
    float alpha;
    float gamma;
};

struct hard_sigmoid_param
{
    float alpha;
    float beta;
};

struct shrink_param
{
    float bias;
    float lambd;
};

// Attributes of opset 6; in later opsets the optional inputs 1 and 2.
struct clip_param
{
    float min;
    float max;
};

struct gelu_param
{
    char* approximate;
};
