// SPDX-License-Identifier: Apache-2.0
// The format's records of parts: which nodes run together on which device.
#pragma once

#include "base/containers.hpp"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

struct Part
{
    VectorView nodes;  // indices in the file's order
    String device;
};

// The record at `offset`; `what` names it in messages. TENGINE_EFORMAT.
TENGINE_MUST_USE int read_part(const Reading& reading, uint32_t offset, const String& what,
                               Part* out_part);

// The devices of the parts of a model that was split ahead of time become affinities
// (operator/affinity.h). The split itself is ours. Devices that are not there are warned of.
// `nodes`: in the file's order.
TENGINE_MUST_USE int add_part_affinities(const Reading& reading, const Vector<struct node*>& nodes);

}  // namespace tengine::tmfile
