// SPDX-License-Identifier: Apache-2.0
// Parts of a preparation that has ended: while the next one is made in other shapes, devices take
// up the objects they had made of them. execution->core->spare is the execution graph that had
// them.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Whether two parts of execution graphs are the same except for shapes: device, operators,
// attributes, constants, types, connections.
bool is_same_ir_part(const struct subgraph* a, const struct subgraph* b);

// The object that `device` made of the same part, now the caller's; NULL when there is
// none.
void* take_ir_spare_part(const struct subgraph* part, const struct device* device);

TENGINE_EXTERN_C_END
