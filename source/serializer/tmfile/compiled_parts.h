// SPDX-License-Identifier: Apache-2.0
// Reading and writing of the compiled parts of a model (graph/model_part.h). The layout is in
// format.h.
#pragma once

#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Gives the graph the compiled parts of its file, if there are any before its record, the model's
// or a body's, at `place`. The graph is complete without them, so their errors are logged. `nodes`:
// in the file's order. TENGINE_ENOMEM.
TENGINE_MUST_USE int read_compiled_parts(Reading& reading, uint32_t place,
                                         const Vector<struct node*>& nodes);

// The offsets that the writer puts elsewhere: the subgraph's vector of parts, 0 when there are
// none, and the record for the place right in front of the model's or the body's.
struct CompiledParts
{
    uint32_t parts = 0;
    PartsRecord record = {};
};

CompiledParts write_compiled_parts(FileBuilder& builder, const struct graph& graph);

}  // namespace tengine::tmfile
