// SPDX-License-Identifier: Apache-2.0
// See attention.h. A build without vectors, or a minimal one, has no kernel for fused attention.
#include "device/cpu/kernel/attention/attention.h"

namespace tengine::cpu {

const Kernel* find_fused_attention()
{
    return nullptr;
}

}  // namespace tengine::cpu
