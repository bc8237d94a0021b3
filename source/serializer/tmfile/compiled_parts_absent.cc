// SPDX-License-Identifier: Apache-2.0
// The stand-in for compiled_parts.cc and prepared.cc in a build that keeps no compiled parts
// (TENGINE_WITH_PART_CACHE).
#include "serializer/tmfile/compiled_parts.h"
#include "serializer/tmfile/prepared.h"

namespace tengine::tmfile {

int read_compiled_parts(Reading&, uint32_t, const Vector<struct node*>&)
{
    return TENGINE_OK;
}

CompiledParts write_compiled_parts(FileBuilder&, const struct graph&)
{
    return {};
}

const ir_prepared_format_t* find_prepared_format()
{
    return nullptr;
}

}  // namespace tengine::tmfile
