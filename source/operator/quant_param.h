// SPDX-License-Identifier: Apache-2.0
// Parameters of QuantizeLinear and DequantizeLinear (quant_ops.c).
#pragma once

#include "operator/operator.h"

struct quant_param
{
    int axis;      // of scales that are a list
    int saturate;  // for 8-bit floats, which we do not have
};
