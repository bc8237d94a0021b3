// SPDX-License-Identifier: Apache-2.0
// The operator com.example.OffsetAtan: y = atan(x + offset), for float tensors of any shape.
#pragma once

#include "tengine/custom_op.h"

// Registers the operator for all graphs. 0 or -1.
int register_offset_atan(void);
