// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators on sequences and optional values, see sequence_ops.c.
#pragma once

#include "operator/operator.h"

struct sequence_empty_param
{
    int dtype;  // ONNX's number
};

struct optional_param
{
    int type;  // TENGINE_DT_* of the absent value, TENGINE_DT_OPTIONAL included; 0: none
};

struct concat_from_sequence_param
{
    int axis;
    int new_axis;
};

struct split_to_sequence_param
{
    int axis;
    int keepdims;
};
