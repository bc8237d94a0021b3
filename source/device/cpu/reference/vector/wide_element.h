// SPDX-License-Identifier: Apache-2.0
// Elements of 16 bytes, complex128, which kernels move like others (types.h). Minimal builds have
// none.
#pragma once

#include "base/minimal.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {

struct WideElement
{
    uint64_t halves[2];
};

// Calls dispatch_size(), or body(Type<WideElement>{}).
template <class Body>
int dispatch_moved_size(int element_size, Body&& body)
{
    if (!IS_MINIMAL && element_size == sizeof(WideElement)) return body(Type<WideElement>{});
    return dispatch_size(element_size, body);
}

}  // namespace tengine::cpu
