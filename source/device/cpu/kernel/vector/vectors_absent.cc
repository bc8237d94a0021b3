// SPDX-License-Identifier: Apache-2.0
// Stand-ins for functions of vector kernels, in a build without Highway: see plan/layout.h and
// vector_target.h.
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// No kernel uses NHWC.
const Kernel* find_layout_kernel(Layout)
{
    return nullptr;
}

const Kernel* find_view_kernel()
{
    return nullptr;
}

int get_vector_target_num()
{
    return 0;
}

const char* get_vector_target_name(int)
{
    return nullptr;
}

void choose_vector_target() {}

void force_vector_target(int) {}

}  // namespace tengine::cpu
