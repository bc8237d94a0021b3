// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/entries.h"

#include <algorithm>
#include <cstring>

#include "base/minimal.h"
#include "graph/entry.h"

namespace tengine::tmfile {
namespace {

bool find_record(const Reading& reading, EntriesRecord* out_record)
{
    if (IS_MINIMAL || reading.file.size() < sizeof(HeaderRecord) + sizeof *out_record) return false;
    std::memcpy(out_record, reading.image->bytes() + sizeof(HeaderRecord), sizeof *out_record);
    return std::memcmp(out_record->mark, kEntriesMark, sizeof kEntriesMark) == 0;
}

int read_names(Reading& reading, const VectorView& list, Vector<String>* out_names)
{
    if (list.count() > IR_MOST_ENTRIES)
        return tengine_error_set(TENGINE_EFORMAT, "the file has %u entries, expected at most %d",
                                 list.count(), IR_MOST_ENTRIES);
    for (uint32_t i = 0; i < list.count(); ++i) {
        std::string_view name;
        TENGINE_RETURN_IF_ERROR(reading.file.read_string(
            list.get<EntryRecord>(i).name, "the name of entry " + to_string(i), &name));
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * (name.size() + sizeof(String))));
        out_names->emplace_back(name);
    }
    return TENGINE_OK;
}

}  // namespace

int choose_entry(Reading& reading, uint32_t header_root, const char* name, uint32_t* out_root)
{
    *out_root = header_root;
    EntriesRecord record;
    if (!find_record(reading, &record)) return TENGINE_OK;
    VectorView list;
    Vector<String> names;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(record.entries, sizeof(EntryRecord),
                                                     "the list of entries", &list));
    TENGINE_RETURN_IF_ERROR(read_names(reading, list, &names));
    Vector<const char*> texts;
    for (const String& text : names)
        texts.push_back(text.c_str());
    const auto found = std::find(names.begin(), names.end(), name);
    const bool is_there = *name && found != names.end();
    const int own = is_there ? static_cast<int>(found - names.begin()) : 0;
    TENGINE_RETURN_IF_ERROR(
        begin_ir_entries(reading.graph, texts.data(), static_cast<int>(texts.size()), own));
    if (*name && !is_there) return fail_without_ir_entry(reading.graph, "option model.entry", name);
    if (list.get<EntryRecord>(0).root != header_root)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the first entry is the model at byte %u, that of the header is "
                                 "at byte %u",
                                 list.get<EntryRecord>(0).root, header_root);
    *out_root = list.get<EntryRecord>(static_cast<uint32_t>(own)).root;
    return TENGINE_OK;
}

void reserve_entries(FileBuilder& builder)
{
    builder.add(EntriesRecord{});
}

void write_entries(FileBuilder& builder, const char* const names[], const Vector<uint32_t>& roots)
{
    Vector<EntryRecord> list;
    for (size_t i = 0; i < roots.size(); ++i)
        list.push_back({builder.add_string(names[i]), roots[i]});
    EntriesRecord record = {};
    std::copy_n(kEntriesMark, sizeof kEntriesMark, record.mark);
    record.entries = builder.add_vector(list);
    if (!builder.is_too_large()) builder.overwrite(sizeof(HeaderRecord), record);
}

}  // namespace tengine::tmfile
