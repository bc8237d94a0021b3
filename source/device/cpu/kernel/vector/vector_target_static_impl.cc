// SPDX-License-Identifier: Apache-2.0
// See vector_target.h, for kernels that are compiled for one instruction set. Highway's library is
// not linked.
#include <hwy/highway.h>

#include "device/cpu/kernel/vector/vector_target.h"

namespace tengine::cpu {

int get_vector_target_num()
{
    return 1;
}

const char* get_vector_target_name(int index)
{
    return index == 0 ? hwy::TargetName(HWY_STATIC_TARGET) : nullptr;
}

void choose_vector_target() {}

void force_vector_target(int) {}

}  // namespace tengine::cpu
