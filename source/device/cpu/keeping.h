// SPDX-License-Identifier: Apache-2.0
// Saving and loading of parts (interface.save): the choices of the plan, and packed constants. A
// plan that loads them is made like any other, without the packing.
#pragma once

#include "tengine/device.h"

namespace tengine::cpu {

// Adds save, load and compatibility. save() returns TENGINE_ENOENT where nothing is packed.
void add_keeping(struct interface& table);

}  // namespace tengine::cpu
