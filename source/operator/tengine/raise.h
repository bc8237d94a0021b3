// SPDX-License-Identifier: Apache-2.0
// What the raise functions of Tengine's operators ask of an ONNX node, beside operator/infer.h.
// At that time shapes are known, constants are folded, quantisation is in the tensors.
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// The one float a constant input holds; false when it is absent or no such constant.
bool read_raised_float(const struct node* node, int index, float* out_value);
// The values of a constant int32 or int64 input; -1 when it is absent, no constant or longer than
// `capacity`, else their number.
int read_raised_ints(const struct node* node, int index, int64_t* out_values, int capacity);

#ifdef __cplusplus
}
#endif
