// SPDX-License-Identifier: Apache-2.0
// The lists of named records: nodes and tensors.
#pragma once

#include <string_view>

#include "base/print_text.hpp"
#include "base/unique_names.hpp"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// The records of a list of "node"s or "tensor"s, each of which needs at least `bytes` of memory.
// The names of all are read first, since a new name must not be that of a later record.
template <class Record>
TENGINE_MUST_USE int read_named_records(Reading& reading, uint32_t list_offset, const char* kind,
                                        size_t bytes, Names* out_names, Vector<Record>* out_records)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(list_offset, sizeof(uint32_t),
                                                     print_text("the list of %ss", kind), &list));
    if (!reading.image) out_names->allow_equal();
    for (uint32_t i = 0; i < list.count(); ++i) {
        const String what = print_text("%s %u", kind, i);
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(bytes + sizeof(Record)));
        Record record;
        TENGINE_RETURN_IF_ERROR(reading.file.read(list[i], what, &record));
        std::string_view name;
        TENGINE_RETURN_IF_ERROR(reading.file.read_string(
            record.name, print_text("the name of %s", what.c_str()), &name));
        out_names->add(name);
        out_records->push_back(record);
    }
    return TENGINE_OK;
}

}  // namespace tengine::tmfile
