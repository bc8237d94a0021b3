// SPDX-License-Identifier: Apache-2.0
// The state of parts that the CPU device saves (interface.save): the choices of the plan, and
// constants as kernels have packed them. A plan that loads them is made as any other, without the
// packing.
#pragma once

#include "tengine/device.h"

namespace tengine::cpu {

// Adds save, load and compatibility. save() returns TENGINE_ENOENT where nothing is packed.
void add_keeping(struct interface& table);

}  // namespace tengine::cpu
