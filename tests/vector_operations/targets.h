// SPDX-License-Identifier: Apache-2.0
// Runs a check for every instruction set that it is compiled for and this processor has. Included
// after Highway.
#pragma once

#ifndef HWY_COMPILE_ONLY_STATIC
#include "device/cpu/kernel/vector/vector_target.h"
#endif

namespace tengine::vector_operations {

#ifdef TENGINE_EXPECTED_TARGET
static_assert(HWY_STATIC_TARGET == TENGINE_EXPECTED_TARGET, "kernels are compiled for another");
#endif

// Calls body() with each of them chosen; once if only one is compiled.
template <class Body>
void for_each_target(const Body& body)
{
#ifdef HWY_COMPILE_ONLY_STATIC
    body();
#else
    for (int i = 0; i < cpu::get_vector_target_num(); ++i) {
        cpu::force_vector_target(i);
        body();
    }
    cpu::force_vector_target(-1);
#endif
}

}  // namespace tengine::vector_operations
