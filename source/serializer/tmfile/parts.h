// SPDX-License-Identifier: Apache-2.0
// The format's records of parts: nodes that run together on a device.
#pragma once

#include "base/containers.hpp"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

struct Part
{
    VectorView nodes;  // indices in the file's order
    String device;
};

// Reads the record at `offset`; `what` names it in messages. TENGINE_EFORMAT.
TENGINE_MUST_USE int read_part(const Reading& reading, uint32_t offset, const String& what,
                               Part* out_part);

// Sets affinities (operator/affinity.h) from the devices of the parts of a model that was split
// ahead of time; the split itself is not used. A device that is not registered is logged. `nodes`:
// in the file's order.
TENGINE_MUST_USE int add_part_affinities(const Reading& reading, const Vector<struct node*>& nodes);

}  // namespace tengine::tmfile
