// SPDX-License-Identifier: Apache-2.0
// Variants of the model (graph/variant.h) as records of a tmfile: the last ones that the hash of
// the compiled parts covers.
#pragma once

#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Reads those of a file whose record of compiled parts has been checked, if it has any.
// TENGINE_EFORMAT, TENGINE_ELIMIT: the model then has none of them.
TENGINE_MUST_USE int read_variants(Reading& reading, const PartsRecord& lists);

// Writes those of the graph, after all other records of its compiled parts.
void write_variants(FileBuilder& builder, const struct graph& graph);

}  // namespace tengine::tmfile
