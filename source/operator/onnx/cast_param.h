// SPDX-License-Identifier: Apache-2.0
// Parameters of Cast; its row is in cast_ops.c.
#pragma once

struct cast_param
{
    int to;            // ONNX's number of the type, see onnx_type.h
    int saturate;      // affects 8-bit floats only
    char* round_mode;  // affects float8_e8m0 only
};
