// SPDX-License-Identifier: Apache-2.0
// Objects that devices made of the parts of a preparation that has ended. Devices may use them for
// the same parts while the next preparation is made for other shapes. execution->core->spare is the
// execution graph that had them.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Whether two parts of execution graphs are equal except for shapes: device, operators, attributes,
// constants, types, connections.
bool is_same_ir_part(const struct subgraph* a, const struct subgraph* b);

// Takes the object that `device` made of the same part, which the caller then owns; NULL if there
// is none.
void* take_ir_spare_part(const struct subgraph* part, const struct device* device);

TENGINE_EXTERN_C_END
