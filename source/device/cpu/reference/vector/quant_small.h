// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear of elements of 2 and 4 bits and floats of 4 and 8 bits.
#pragma once

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// For an output of such a type: integers saturate after the zero point is added, floats of 4 bits
// are rounded after it; zero points of floats of 8 bits are 0.
int quantize_small(KernelContext& context);
// For an input of such a type.
int dequantize_small(KernelContext& context);

}  // namespace tengine::cpu
