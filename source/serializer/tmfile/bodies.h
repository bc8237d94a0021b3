// SPDX-License-Identifier: Apache-2.0
// The graphs of control flow (graph/body.h) in extension records, both ways.
#pragma once

#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// For a node that is connected: its bodies, which are attributes of type "graph".
TENGINE_MUST_USE int read_bodies(Reading& reading, struct node* node, uint32_t attributes);

}  // namespace tengine::tmfile
