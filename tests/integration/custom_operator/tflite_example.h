// SPDX-License-Identifier: Apache-2.0
// Operators in the form of TensorFlow Lite's guide, in C.
#pragma once

#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_opaque.h"

TENGINE_EXTERN_C_BEGIN

// y = atan(x), with the names that only the guide has.
const TfLiteOperator* get_atan_op(void);

// y = the sum of x so far, through a temporary that is added in each prepare; with init and free,
// which `live_states` counts.
const TfLiteOperator* get_sum_op(void);
extern int live_states;
// Temporaries that the node of the last prepare had room for.
extern int temporary_num;

// y = those of x that are positive: their number is known in invoke.
const TfLiteOperator* get_positive_op(void);

TENGINE_EXTERN_C_END
