// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself (graph/metadata.h) as records of a tmfile. Readers that do
// not know them, such as Tengine Lite's, skip them.
#pragma once

#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Reads those of a model whose record is at `place` of the file. Damaged ones are left out with a
// warning. ENOMEM.
TENGINE_MUST_USE int read_metadata(Reading& reading, uint32_t place);

// Writes the entries. True: `out_record` has to follow, right before the record of the compiled
// parts or, without any, that of the model.
bool write_metadata(FileBuilder& builder, const struct graph& graph, MetadataRecord* out_record);

}  // namespace tengine::tmfile
