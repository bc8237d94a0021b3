// SPDX-License-Identifier: Apache-2.0
// Parameters of the normalisations (norm_ops.c).
#pragma once

#include "operator/operator.h"

struct batch_norm_param
{
    float epsilon;
    float momentum;
    int training_mode;
    int is_test;  // opset 6; old forms are removed by lowering, see lower_batch_norm
    int spatial;  // up to opset 8; 0: statistics for every position
};

struct instance_norm_param
{
    float epsilon;
};

struct lrn_param
{
    float alpha;
    float beta;
    float bias;
    int size;
};

struct lp_norm_param
{
    int axis;
    int p;
};

struct layer_norm_param  // of RMSNormalization and SimplifiedLayerNormalization, too
{
    int axis;
    float epsilon;
    int stash_type;  // ONNX's number of the type of Mean and InvStdDev
};

struct group_norm_param
{
    float epsilon;
    int num_groups;
    int stash_type;
};
