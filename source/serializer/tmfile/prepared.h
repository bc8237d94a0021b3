// SPDX-License-Identifier: Apache-2.0
// Preparations in a tmfile (graph/prepared.h). The layout is in format.h.
#pragma once

#include "graph/prepared.h"

namespace tengine::tmfile {

// Null in builds that keep no compiled parts.
const ir_prepared_format_t* find_prepared_format();

}  // namespace tengine::tmfile
