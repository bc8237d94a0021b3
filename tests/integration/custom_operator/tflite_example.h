// SPDX-License-Identifier: Apache-2.0
// Operators written as in TensorFlow Lite's guide, in C.
#pragma once

#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_opaque.h"

TENGINE_EXTERN_C_BEGIN

// y = atan(x), with only the names that the guide uses.
const TfLiteOperator* get_atan_op(void);

// y = the running sum of x, through a temporary that is added in each prepare; with init and free,
// which `live_states` counts.
const TfLiteOperator* get_sum_op(void);
extern int live_states;
// Temporaries that the node of the last prepare had room for.
extern int temporary_num;

// y = the positive elements of x: their number is known only in invoke.
const TfLiteOperator* get_positive_op(void);

TENGINE_EXTERN_C_END
