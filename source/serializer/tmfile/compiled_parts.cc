// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/compiled_parts.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/alloc.h"
#include "base/maps.hpp"
#include "graph/core.h"
#include "graph/hint.h"
#include "graph/model_part.h"
#include "graph/variant.h"
#include "serializer/tmfile/parts.h"
#include "serializer/tmfile/variants.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

static_assert(kDigestBytes == SHA256_BYTES);
// The key of a node that a part has, in the lists and in the table that finds it.
constexpr uint64_t kEntryBytes = 3 * sizeof(uint64_t);

// ---- reading ----

// Whether the bytes look like a damaged mark, not like other data.
bool resembles_mark(const PartsRecord& lists)
{
    size_t equal = 0;
    for (size_t i = 0; i < sizeof kPartsMark; ++i)
        equal += lists.mark[i] == kPartsMark[i];
    return equal >= sizeof kPartsMark / 2;
}

// The hash of the contents of `lists` and of their offset, so that a moved copy is detected.
void find_digest(const char* bytes, const PartsRecord& lists, uint8_t out_digest[kDigestBytes])
{
    const uint32_t places[] = {lists.begin, lists.size, lists.parts, lists.constants};
    sha256_t hash;
    start_sha256(&hash);
    update_sha256(&hash, places, sizeof places);
    update_sha256(&hash, bytes, lists.size);
    finish_sha256(&hash, out_digest);
}

int check_lists(const Reading& reading, const PartsRecord& lists)
{
    if (std::memcmp(lists.mark, kPartsMark, sizeof kPartsMark) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "their mark has been altered");
    const char* bytes = nullptr;
    TENGINE_RETURN_IF_ERROR(reading.file.find_bytes(lists.begin, lists.size, "their list", &bytes));
    uint8_t digest[kDigestBytes];
    find_digest(bytes, lists, digest);
    if (std::memcmp(digest, lists.digest, kDigestBytes) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "their list has been altered: its hash differs");
}

// Sets the nodes by their order after sorting.
int set_nodes(const VectorView& list, const Vector<struct node*>& nodes, ir_model_part_t* part)
{
    Vector<int32_t> indices;
    for (uint32_t i = 0; i < list.count(); ++i)
        indices.push_back(nodes[list[i]]->index);
    return set_ir_model_part_nodes(part, indices.data(), static_cast<int>(indices.size()));
}

int set_keys(const VectorView& list, uint32_t options, ir_model_part_t* part)
{
    Vector<uint64_t> keys;
    for (uint32_t i = 0; i < list.count(); ++i)
        keys.push_back(list.get<uint64_t>(i));
    part->options = options;
    return set_ir_model_part_keys(part, keys.data(), static_cast<int>(keys.size()));
}

int read_bytes(const Reading& reading, const CompiledPartRecord& record, const String& what,
               ir_model_bytes_t* out_bytes)
{
    const char* data = nullptr;
    TENGINE_RETURN_IF_ERROR(reading.file.find_bytes(record.data, record.size, what, &data));
    std::string_view target;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.target, what + "'s target", &target));
    std::copy_n(record.fingerprint, kDigestBytes, out_bytes->fingerprint);
    std::copy_n(record.digest, kDigestBytes, out_bytes->digest);
    std::snprintf(out_bytes->target, sizeof out_bytes->target, "%s", String(target).c_str());
    out_bytes->data = data;
    out_bytes->size = record.size;
    out_bytes->is_in_file = true;
    return TENGINE_OK;
}

// The records of a part, one entry each.
struct PartLists
{
    VectorView records;
    VectorView places;     // PartRecord
    VectorView nodes;      // PartNodesRecord, none in older files
    VectorView checksums;  // ChecksumRecord, none in older files
};

int read_compiled_part(Reading& reading, const PartLists& lists, uint32_t index,
                       const Vector<struct node*>& nodes)
{
    const String what = "compiled part " + to_string(index);
    ir_model_bytes_t bytes = {};
    TENGINE_RETURN_IF_ERROR(
        read_bytes(reading, lists.records.get<CompiledPartRecord>(index), what, &bytes));
    if (lists.checksums.count() > 0) {
        const auto record = lists.checksums.get<ChecksumRecord>(index);
        bytes.checksum = {{record.words[0], record.words[1]}};
    }
    Part part;
    TENGINE_RETURN_IF_ERROR(read_part(reading, lists.places[index], what, &part));
    if (part.device == kPreparedDevice) {
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * sizeof bytes));
        return add_ir_model_preparation(reading.graph, &bytes, nullptr);
    }
    PartNodesRecord named = {};
    if (lists.nodes.count() > 0) named = lists.nodes.get<PartNodesRecord>(index);
    VectorView keys;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(named.keys, sizeof(uint64_t), what + "'s keys", &keys));
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(
        2 * sizeof bytes + kEntryBytes * (uint64_t{part.nodes.count()} + keys.count())));
    ir_model_part_t made = {};
    std::snprintf(made.device, sizeof made.device, "%s", part.device.c_str());
    int status = set_nodes(part.nodes, nodes, &made);
    if (status == TENGINE_OK) status = set_keys(keys, named.options, &made);
    if (status == TENGINE_OK) return add_ir_model_part(reading.graph, &made, &bytes, nullptr);
    release_ir_model_part_lists(&made);
    return status;
}

int find_checksums(const Reading& reading, const PartsRecord& record, PartLists* lists)
{
    ChecksumsRecord sums;
    if (record.size < sizeof(uint32_t) + sizeof sums) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read(record.begin + static_cast<uint32_t>(sizeof(uint32_t)),
                          "the place of their checksums", &sums));
    if (std::memcmp(sums.mark, kChecksumsMark, sizeof kChecksumsMark) != 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(
        sums.checksums, sizeof(ChecksumRecord), "the list of their checksums", &lists->checksums));
    if (lists->checksums.count() == lists->records.count()) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "there are %u of them, with checksums of %u",
                             lists->records.count(), lists->checksums.count());
}

int find_lists(const Reading& reading, const PartsRecord& record, PartLists* lists)
{
    const FileView& file = reading.file;
    TENGINE_RETURN_IF_ERROR(
        file.read_vector(record.parts, sizeof(CompiledPartRecord), "their list", &lists->records));
    SubgraphRecord subgraph;
    TENGINE_RETURN_IF_ERROR(
        file.read(reading.subgraph_offset, "the subgraph with its parts", &subgraph));
    TENGINE_RETURN_IF_ERROR(
        file.read_vector(subgraph.parts, sizeof(uint32_t), "the list of parts", &lists->places));
    if (lists->places.count() != lists->records.count())
        return tengine_error_set(TENGINE_EFORMAT, "there are %u of them, and %u parts",
                                 lists->records.count(), lists->places.count());
    TENGINE_RETURN_IF_ERROR(find_checksums(reading, record, lists));
    uint32_t nodes = 0;
    TENGINE_RETURN_IF_ERROR(file.read(record.begin, "the place of their nodes", &nodes));
    TENGINE_RETURN_IF_ERROR(
        file.read_vector(nodes, sizeof(PartNodesRecord), "the list of their nodes", &lists->nodes));
    if (lists->nodes.count() == 0 || lists->nodes.count() == lists->records.count())
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "there are %u of them, with nodes of %u",
                             lists->records.count(), lists->nodes.count());
}

int read_parts(Reading& reading, const PartsRecord& record, const Vector<struct node*>& nodes)
{
    PartLists lists;
    TENGINE_RETURN_IF_ERROR(find_lists(reading, record, &lists));
    for (uint32_t i = 0; i < lists.records.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_compiled_part(reading, lists, i, nodes));
    return TENGINE_OK;
}

int read_digest(Reading& reading, const ConstantDigestRecord& record)
{
    if (record.tensor >= static_cast<uint32_t>(reading.graph->tensor_num))
        return tengine_error_set(TENGINE_EFORMAT, "they name tensor %u, there are %d",
                                 record.tensor, reading.graph->tensor_num);
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(ir_digest_t)));
    ir_digest_t** digest = &reading.graph->tensor_list[record.tensor]->core->digest;
    if (!*digest) *digest = static_cast<ir_digest_t*>(alloc_memory(sizeof(ir_digest_t)));
    if (!*digest)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the hash of a constant");
    (*digest)->found = true;
    (*digest)->revision = reading.graph->core->revision;
    std::copy_n(record.digest, kDigestBytes, (*digest)->bytes);
    return TENGINE_OK;
}

int read_digests(Reading& reading, uint32_t constants)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(constants, sizeof(ConstantDigestRecord),
                                                     "their list of constants", &list));
    for (uint32_t i = 0; i < list.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_digest(reading, list.get<ConstantDigestRecord>(i)));
    return TENGINE_OK;
}

int read_lists(Reading& reading, const PartsRecord& lists, const Vector<struct node*>& nodes)
{
    TENGINE_RETURN_IF_ERROR(check_lists(reading, lists));
    TENGINE_RETURN_IF_ERROR(read_digests(reading, lists.constants));
    TENGINE_RETURN_IF_ERROR(read_parts(reading, lists, nodes));
    const int status = read_variants(reading, lists);
    if (status < 0) drop_ir_variants(reading.graph);
    return status;
}

// ---- writing ----

// The nodes of a graph that was translated for this file, or of a body, are in another order.
uint32_t write_nodes(FileBuilder& builder, const struct graph& graph, const ir_model_part_t& part)
{
    if (graph.core->source) return builder.add_vector(part.nodes, 0);
    return builder.add_vector(part.nodes, static_cast<size_t>(part.node_num));
}

uint32_t write_part(FileBuilder& builder, const struct graph& graph, uint32_t id,
                    const ir_model_part_t& part)
{
    PartRecord record = {};
    record.id = id;
    record.nodes = write_nodes(builder, graph, part);
    record.device = builder.add_string(part.device);
    return builder.add(record);
}

PartNodesRecord write_keys(FileBuilder& builder, const ir_model_part_t& part)
{
    PartNodesRecord record = {};
    if (part.key_num > 0)
        record.keys = builder.add_vector(part.keys, static_cast<size_t>(part.key_num));
    record.options = part.options;
    return record;
}

uint32_t write_checksums(FileBuilder& builder, const Vector<const ir_model_part_t*>& parts)
{
    Vector<ChecksumRecord> list;
    for (const ir_model_part_t* part : parts)
        list.push_back({{part->bytes->checksum.words[0], part->bytes->checksum.words[1]}});
    return builder.add_vector(list);
}

uint32_t write_digests(FileBuilder& builder, const struct graph& graph)
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
    return builder.add_vector(list);
}

using ModelParts = Vector<const ir_model_part_t*>;

// Preparations as parts. They know tensors by index, so those of a graph that was translated for
// this file are left out.
Vector<ir_model_part_t> list_preparations(const struct graph& graph)
{
    Vector<ir_model_part_t> list;
    for (int i = 0; !graph.core->source && i < count_ir_model_preparations(&graph); ++i) {
        ir_model_part_t& part = list.emplace_back();
        part.bytes = get_ir_model_preparation(&graph, i);
        std::snprintf(part.device, sizeof part.device, "%s", kPreparedDevice);
    }
    return list;
}

ModelParts list_parts(const struct graph& graph, const Vector<ir_model_part_t>& preparations)
{
    ModelParts parts;
    const struct graph* model = find_ir_model(&graph);
    for (int i = 0; i < count_ir_model_parts(&graph); ++i) {
        const ir_model_part_t* part = get_ir_model_part(&graph, i);
        if (is_ir_part_of_use(model, part->bytes->fingerprint)) parts.push_back(part);
    }
    for (const ir_model_part_t& preparation : preparations)
        parts.push_back(&preparation);
    return parts;
}

// The bytes of a part. Their stored hash may be that of bytes altered since, so it alone does not
// show that two are equal.
struct SavedBytes
{
    std::string_view digest, data;
    bool operator<(const SavedBytes& other) const
    {
        return std::tie(digest, data) < std::tie(other.digest, other.data);
    }
};

SavedBytes bytes_of(const ir_model_part_t& part)
{
    const ir_model_bytes_t& bytes = *part.bytes;
    return {{reinterpret_cast<const char*>(bytes.digest), kDigestBytes},
            {static_cast<const char*>(bytes.data), bytes.size}};
}

// Writes the bytes of parts. Bytes that parts for several shapes share, such as packed weights, are
// written once.
Vector<CompiledPartRecord> write_bytes(FileBuilder& builder, const ModelParts& parts)
{
    Vector<CompiledPartRecord> records;
    Map<SavedBytes, uint32_t> places;
    for (const ir_model_part_t* part : parts) {
        CompiledPartRecord record = {};
        std::copy_n(part->bytes->fingerprint, kDigestBytes, record.fingerprint);
        std::copy_n(part->bytes->digest, kDigestBytes, record.digest);
        record.size = static_cast<uint32_t>(part->bytes->size);
        const auto [place, is_new] = places.try_emplace(bytes_of(*part), 0);
        if (is_new)
            place->second = builder.add_data(part->bytes->data, part->bytes->size, kPartAlignment);
        record.data = place->second;
        records.push_back(record);
    }
    return records;
}

}  // namespace

int read_compiled_parts(Reading& reading, uint32_t place, const Vector<struct node*>& nodes)
{
    PartsRecord lists;
    if (place < sizeof lists) return TENGINE_OK;
    std::memcpy(&lists, reading.image->bytes() + place - sizeof lists, sizeof lists);
    if (!resembles_mark(lists)) return TENGINE_OK;
    const int status = read_lists(reading, lists, nodes);
    if (status < 0)
        TLOG_WARNING("the compiled parts in the model's file are not used, or not all: %s",
                     tengine_error_message());
    return status == TENGINE_ENOMEM ? status : TENGINE_OK;
}

CompiledParts write_compiled_parts(FileBuilder& builder, const struct graph& graph)
{
    CompiledParts made;
    const Vector<ir_model_part_t> preparations = list_preparations(graph);
    const ModelParts list = list_parts(graph, preparations);
    if (list.empty() && count_ir_variants(&graph) == 0) return made;
    Vector<CompiledPartRecord> records = write_bytes(builder, list);
    std::copy_n(kPartsMark, sizeof kPartsMark, made.record.mark);
    made.record.begin = builder.add(uint32_t{0});
    ChecksumsRecord sums = {};
    std::copy_n(kChecksumsMark, sizeof kChecksumsMark, sums.mark);
    const uint32_t sums_place = builder.add(sums);
    Vector<uint32_t> parts;
    Vector<PartNodesRecord> nodes;
    for (uint32_t i = 0; i < list.size(); ++i) {
        parts.push_back(write_part(builder, graph, i, *list[i]));
        nodes.push_back(write_keys(builder, *list[i]));
        records[i].target = builder.add_string(list[i]->bytes->target);
    }
    sums.checksums = write_checksums(builder, list);
    made.record.constants = write_digests(builder, graph);
    made.record.parts = builder.add_vector(records);
    made.parts = builder.add_vector(parts);
    const uint32_t place = builder.add_vector(nodes);
    write_variants(builder, graph);
    if (builder.is_too_large()) return made;
    builder.overwrite(made.record.begin, place);
    builder.overwrite(sums_place, sums);
    const std::string_view written = builder.view_from(made.record.begin);
    made.record.size = static_cast<uint32_t>(written.size());
    find_digest(written.data(), made.record, made.record.digest);
    return made;
}

}  // namespace tengine::tmfile
