// SPDX-License-Identifier: Apache-2.0
// Models that were split ahead of time: which node runs on which device.
#pragma once

#include "base/containers.hpp"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// The devices of the parts become affinities (operator/affinity.h). The split itself is ours.
// Devices that are not there are warned of. `nodes`: in the file's order.
TENGINE_MUST_USE int add_part_affinities(const Reading& reading, const Vector<struct node*>& nodes);

}  // namespace tengine::tmfile
