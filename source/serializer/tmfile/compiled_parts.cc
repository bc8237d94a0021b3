// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/compiled_parts.h"

#include <algorithm>

#include "graph/model_part.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

static_assert(kDigestBytes == SHA256_BYTES);
static_assert(sizeof(CompiledPartRecord::device) == sizeof(ir_model_part_t::device));
static_assert(sizeof(CompiledPartRecord::target) == sizeof(ir_model_part_t::target));

// What stands there may be somebody else's, or ours with a damaged mark.
bool resembles_mark(const PartsRecord& parts)
{
    size_t equal = 0;
    for (size_t i = 0; i < sizeof kPartsMark; ++i)
        equal += parts.mark[i] == kPartsMark[i];
    return equal >= sizeof kPartsMark / 2;
}

int check_records(const PartsRecord& parts, const VectorView& records, const char* bytes)
{
    if (std::memcmp(parts.mark, kPartsMark, sizeof kPartsMark) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "their mark has been altered");
    uint8_t digest[kDigestBytes];
    find_sha256(bytes, records.count() * sizeof(CompiledPartRecord), digest);
    if (std::memcmp(digest, parts.digest, kDigestBytes) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "their list has been altered: it has another hash");
}

template <size_t size>
bool is_text(const char (&text)[size])
{
    return text[size - 1] == '\0';
}

int read_part(const Reading& reading, const CompiledPartRecord& record, const String& what)
{
    if (!is_text(record.device) || !is_text(record.target))
        return tengine_error_set(TENGINE_EFORMAT, "the texts of %s do not end", what.c_str());
    ir_model_part_t part = {};
    const char* bytes = nullptr;
    TENGINE_RETURN_IF_ERROR(reading.file.find_bytes(record.data, record.size, what, &bytes));
    std::copy_n(record.fingerprint, kDigestBytes, part.fingerprint);
    std::copy_n(record.digest, kDigestBytes, part.digest);
    std::copy_n(record.device, sizeof part.device, part.device);
    std::copy_n(record.target, sizeof part.target, part.target);
    part.bytes = bytes;
    part.size = record.size;
    return add_ir_model_part(reading.graph, &part);
}

int read_parts(Reading& reading, const PartsRecord& parts)
{
    VectorView records;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(parts.parts, sizeof(CompiledPartRecord), "their list", &records));
    const char* bytes = reading.image->bytes() + parts.parts + sizeof(uint32_t);
    TENGINE_RETURN_IF_ERROR(check_records(parts, records, bytes));
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(uint64_t{records.count()} * 2 * sizeof(ir_model_part_t)));
    for (uint32_t i = 0; i < records.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_part(reading, records.get<CompiledPartRecord>(i),
                                          "compiled part " + to_string(i)));
    return TENGINE_OK;
}

// Texts have zeroes behind them already.
CompiledPartRecord describe(FileBuilder& builder, const ir_model_part_t& part)
{
    CompiledPartRecord record = {};
    std::copy_n(part.fingerprint, kDigestBytes, record.fingerprint);
    std::copy_n(part.digest, kDigestBytes, record.digest);
    std::copy_n(part.device, sizeof part.device, record.device);
    std::copy_n(part.target, sizeof part.target, record.target);
    record.size = static_cast<uint32_t>(part.size);
    record.data = builder.add_aligned(part.bytes, part.size, kPartAlignment);
    return record;
}

}  // namespace

int read_compiled_parts(Reading& reading, uint32_t root)
{
    PartsRecord parts;
    const size_t begin = size_t{root} + sizeof(ModelRecord);
    if (reading.file.size() < begin + sizeof parts) return TENGINE_OK;
    std::memcpy(&parts, reading.image->bytes() + begin, sizeof parts);
    if (!resembles_mark(parts)) return TENGINE_OK;
    const int status = read_parts(reading, parts);
    if (status < 0)
        TLOG_WARNING("what devices have compiled of the model is not used: %s",
                     tengine_error_message());
    return status == TENGINE_ENOMEM ? status : TENGINE_OK;
}

PartsRecord write_compiled_parts(FileBuilder& builder, const struct graph& graph)
{
    PartsRecord parts = {};
    Vector<CompiledPartRecord> records;
    for (int i = 0; i < count_ir_model_parts(&graph); ++i)
        records.push_back(describe(builder, *get_ir_model_part(&graph, i)));
    if (records.empty()) return parts;
    std::copy_n(kPartsMark, sizeof kPartsMark, parts.mark);
    find_sha256(records.data(), records.size() * sizeof(CompiledPartRecord), parts.digest);
    parts.parts = builder.add_vector(records);
    return parts;
}

}  // namespace tengine::tmfile
