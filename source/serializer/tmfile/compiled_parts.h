// SPDX-License-Identifier: Apache-2.0
// What devices have compiled of a model (graph/model_part.h), in its file, both ways. The layout is
// in format.h.
#pragma once

#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Gives the graph the compiled parts of its file, if there are any in front of the model's record
// at `root`. The plain graph is whole without them: what is wrong with them is logged.
// TENGINE_ENOMEM.
TENGINE_MUST_USE int read_compiled_parts(Reading& reading, uint32_t root);

// Adds them, if there are any; the model's record comes next.
void write_compiled_parts(FileBuilder& builder, const struct graph& graph);

}  // namespace tengine::tmfile
