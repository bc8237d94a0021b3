// SPDX-License-Identifier: Apache-2.0
// Cast from and to strings: string_cast_impl.cc.
#pragma once

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// Casts if the input or the output, or both, are strings.
TENGINE_MUST_USE int cast_strings(const KernelContext& context);

}  // namespace tengine::cpu
