// SPDX-License-Identifier: Apache-2.0
// Reading and writing of bodies (graph/body.h) in extension records.
#pragma once

#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Reads the bodies of a connected node, which are attributes of type "graph".
TENGINE_MUST_USE int read_bodies(Reading& reading, struct node* node, uint32_t attributes);

}  // namespace tengine::tmfile
