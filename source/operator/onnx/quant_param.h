// SPDX-License-Identifier: Apache-2.0
// Parameters of QuantizeLinear and DequantizeLinear (quant_ops.c).
#pragma once

#include "operator/operator.h"

struct quant_param
{
    int axis;          // for scales that are a list or per block
    int block_size;    // elements along the axis that share a scale; 0: no blocks
    int output_dtype;  // ONNX's number of the result's type; 0: derived from the inputs
    int precision;     // ONNX's number of the type of the division; 0: the scale's
    int saturate;      // affects 8-bit floats, which are not supported
};
