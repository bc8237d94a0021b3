// SPDX-License-Identifier: Apache-2.0
// Parameters of QuantizeLinear and DequantizeLinear (quant_ops.c).
#pragma once

#include "operator/operator.h"

struct quant_param
{
    int axis;          // for scales that are a list or belong to blocks
    int block_size;    // elements along the axis that share a scale; 0: no blocks
    int output_dtype;  // ONNX's number of the result's type; 0: as the inputs say
    int precision;     // ONNX's number of the type that is divided in; 0: that of the scale
    int saturate;      // for 8-bit floats, which we do not have
};
