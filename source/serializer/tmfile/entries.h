// SPDX-License-Identifier: Apache-2.0
// The entries of a file (graph/entry.h): models that share its bytes. The layout is in format.h.
#pragma once

#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Finds the model's record of the entry of this name, "": the first one, which is the header's, and
// makes the graph that entry; a file without entries has the header's model alone. Minimal builds
// read that of any file. TENGINE_ENOENT: no such entry. TENGINE_EFORMAT: the list is damaged.
TENGINE_MUST_USE int choose_entry(Reading& reading, uint32_t header_root, const char* name,
                                  uint32_t* out_root);

// Right behind the header: room for the record, and its contents, of the models at `roots`.
void reserve_entries(FileBuilder& builder);
void write_entries(FileBuilder& builder, const char* const names[], const Vector<uint32_t>& roots);

}  // namespace tengine::tmfile
