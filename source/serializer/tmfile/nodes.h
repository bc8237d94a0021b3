// SPDX-License-Identifier: Apache-2.0
// The nodes of a tmfile.
#pragma once

#include "base/containers.hpp"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Adds the nodes and connects them with the tensors, which exist. *out_nodes: in the file's order.
TENGINE_MUST_USE int add_nodes(Reading& reading, Vector<struct node*>* out_nodes);

}  // namespace tengine::tmfile
