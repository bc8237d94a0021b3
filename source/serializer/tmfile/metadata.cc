// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/metadata.h"

#include <algorithm>
#include <cstring>

#include "base/minimal.h"
#include "graph/core.h"
#include "graph/metadata.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

// ---- reading ----

bool has_mark(const Reading& reading, uint64_t place, const char* mark, size_t size)
{
    return place + size <= reading.file.size() &&
           std::memcmp(reading.image->bytes() + place, mark, size) == 0;
}

// The record ends where the model's begins, or that of the compiled parts between them.
bool find_record(const Reading& reading, uint32_t place, MetadataRecord* out_record)
{
    if (place >= sizeof(PartsRecord) &&
        has_mark(reading, place - sizeof(PartsRecord), kPartsMark, sizeof kPartsMark))
        place -= static_cast<uint32_t>(sizeof(PartsRecord));
    if (place < sizeof *out_record) return false;
    place -= static_cast<uint32_t>(sizeof *out_record);
    if (!has_mark(reading, place, kMetadataMark, sizeof kMetadataMark)) return false;
    std::memcpy(out_record, reading.image->bytes() + place, sizeof *out_record);
    return true;
}

int read_entry(Reading& reading, const MetadataEntryRecord& record)
{
    std::string_view key, text;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.key, "the key of an entry", &key));
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.text, "the text of an entry", &text));
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(2 * sizeof(ir_metadata_entry_t) + key.size() + text.size() + 2));
    int64_t number;
    std::memcpy(&number, record.number, sizeof number);
    const String key_copy(key), text_copy(text);
    const ir_metadata_entry_t entry = {record.kind, number, key_copy.c_str(), text_copy.c_str()};
    return add_ir_metadata(reading.graph->core->metadata, &entry);
}

int read_entries(Reading& reading, uint32_t entries)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(entries, sizeof(MetadataEntryRecord),
                                                     "the list of entries", &list));
    reading.graph->core->metadata = create_ir_metadata();
    if (!reading.graph->core->metadata)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the model's metadata");
    for (uint32_t i = 0; i < list.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_entry(reading, list.get<MetadataEntryRecord>(i)));
    order_ir_metadata(reading.graph->core->metadata);
    return TENGINE_OK;
}

// ---- writing ----

// The versions are those of an ONNX file.
bool is_written(const ir_metadata_entry_t& entry)
{
    return entry.kind != IR_METADATA_IR_VERSION && entry.kind != IR_METADATA_OPSET;
}

MetadataEntryRecord write_entry(FileBuilder& builder, const ir_metadata_entry_t& entry)
{
    MetadataEntryRecord record = {};
    record.kind = entry.kind;
    std::memcpy(record.number, &entry.number, sizeof record.number);
    record.key = *entry.key ? builder.add_string(entry.key) : 0;
    record.text = *entry.text ? builder.add_string(entry.text) : 0;
    return record;
}

}  // namespace

int read_metadata(Reading& reading, uint32_t place)
{
    MetadataRecord record;
    if (IS_MINIMAL || !find_record(reading, place, &record)) return TENGINE_OK;
    const int status = read_entries(reading, record.entries);
    if (status >= 0 || status == TENGINE_ENOMEM) return status;
    TLOG_WARNING("the metadata in the model's file are not used: %s", tengine_error_message());
    tengine_error_clear();
    release_ir_metadata(reading.graph->core->metadata);
    reading.graph->core->metadata = nullptr;
    return TENGINE_OK;
}

bool write_metadata(FileBuilder& builder, const struct graph& graph, MetadataRecord* out_record)
{
    const struct ir_metadata* metadata = find_ir_metadata(&graph);
    Vector<MetadataEntryRecord> entries;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != nullptr; ++i)
        if (is_written(*entry)) entries.push_back(write_entry(builder, *entry));
    if (entries.empty()) return false;
    std::copy_n(kMetadataMark, sizeof kMetadataMark, out_record->mark);
    out_record->entries = builder.add_vector(entries);
    return true;
}

}  // namespace tengine::tmfile
