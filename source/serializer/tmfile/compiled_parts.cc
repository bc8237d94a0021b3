// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/compiled_parts.h"

#include <algorithm>

#include "base/alloc.h"
#include "graph/core.h"
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

struct Records
{
    VectorView parts;
    VectorView constants;
};

// Of both lists as they lie in the file.
void find_digest(const char* parts, size_t part_bytes, const char* constants, size_t constant_bytes,
                 uint8_t out_digest[kDigestBytes])
{
    sha256_t hash;
    start_sha256(&hash);
    update_sha256(&hash, parts, part_bytes);
    update_sha256(&hash, constants, constant_bytes);
    finish_sha256(&hash, out_digest);
}

int check_lists(const Reading& reading, const PartsRecord& parts, const Records& records)
{
    if (std::memcmp(parts.mark, kPartsMark, sizeof kPartsMark) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "their mark has been altered");
    const char* lists = reading.image->bytes() + sizeof(uint32_t);
    uint8_t digest[kDigestBytes];
    find_digest(lists + parts.parts, records.parts.count() * sizeof(CompiledPartRecord),
                lists + parts.constants, records.constants.count() * sizeof(ConstantDigestRecord),
                digest);
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

int read_digest(const Reading& reading, const ConstantDigestRecord& record)
{
    if (record.tensor >= static_cast<uint32_t>(reading.graph->tensor_num))
        return tengine_error_set(TENGINE_EFORMAT, "they name tensor %u, there are %d",
                                 record.tensor, reading.graph->tensor_num);
    ir_digest_t** digest = &reading.graph->tensor_list[record.tensor]->core->digest;
    if (!*digest) *digest = static_cast<ir_digest_t*>(alloc_memory(sizeof(ir_digest_t)));
    if (!*digest) return tengine_error_set(TENGINE_ENOMEM, "no memory for the hash of a constant");
    (*digest)->found = true;
    (*digest)->revision = reading.graph->core->revision;
    std::copy_n(record.digest, kDigestBytes, (*digest)->bytes);
    return TENGINE_OK;
}

int read_records(Reading& reading, const Records& records)
{
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(uint64_t{records.parts.count()} * 2 * sizeof(ir_model_part_t) +
                              uint64_t{records.constants.count()} * 2 * sizeof(ir_digest_t)));
    for (uint32_t i = 0; i < records.constants.count(); ++i)
        TENGINE_RETURN_IF_ERROR(
            read_digest(reading, records.constants.get<ConstantDigestRecord>(i)));
    for (uint32_t i = 0; i < records.parts.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_part(reading, records.parts.get<CompiledPartRecord>(i),
                                          "compiled part " + to_string(i)));
    return TENGINE_OK;
}

int read_lists(Reading& reading, const PartsRecord& parts)
{
    Records records;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(parts.parts, sizeof(CompiledPartRecord),
                                                     "their list", &records.parts));
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(parts.constants, sizeof(ConstantDigestRecord),
                                                     "their list of constants",
                                                     &records.constants));
    TENGINE_RETURN_IF_ERROR(check_lists(reading, parts, records));
    return read_records(reading, records);
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

// Those that have been found for fingerprints.
Vector<ConstantDigestRecord> list_digests(const struct graph& graph)
{
    Vector<ConstantDigestRecord> list;
    for (int i = 0; i < graph.tensor_num; ++i) {
        const ir_digest_t* digest = graph.tensor_list[i]->core->digest;
        if (!digest || !digest->found || digest->revision != graph.core->revision) continue;
        ConstantDigestRecord record = {};
        record.tensor = static_cast<uint32_t>(i);
        std::copy_n(digest->bytes, kDigestBytes, record.digest);
        list.push_back(record);
    }
    return list;
}

}  // namespace

int read_compiled_parts(Reading& reading, uint32_t root)
{
    PartsRecord parts;
    if (root < sizeof parts) return TENGINE_OK;
    std::memcpy(&parts, reading.image->bytes() + root - sizeof parts, sizeof parts);
    if (!resembles_mark(parts)) return TENGINE_OK;
    const int status = read_lists(reading, parts);
    if (status < 0)
        TLOG_WARNING("the compiled parts in the model's file are not used, or not all: %s",
                     tengine_error_message());
    return status == TENGINE_ENOMEM ? status : TENGINE_OK;
}

void write_compiled_parts(FileBuilder& builder, const struct graph& graph)
{
    Vector<CompiledPartRecord> parts;
    for (int i = 0; i < count_ir_model_parts(&graph); ++i)
        parts.push_back(describe(builder, *get_ir_model_part(&graph, i)));
    if (parts.empty()) return;
    const Vector<ConstantDigestRecord> constants = list_digests(graph);
    PartsRecord lists = {};
    std::copy_n(kPartsMark, sizeof kPartsMark, lists.mark);
    find_digest(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof parts[0],
                reinterpret_cast<const char*>(constants.data()),
                constants.size() * sizeof constants[0], lists.digest);
    lists.parts = builder.add_vector(parts);
    lists.constants = builder.add_vector(constants);
    builder.add(lists);
}

}  // namespace tengine::tmfile
