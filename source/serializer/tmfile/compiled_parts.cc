// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/compiled_parts.h"

#include <algorithm>
#include <cstdio>

#include "base/alloc.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "serializer/tmfile/parts.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

static_assert(kDigestBytes == SHA256_BYTES);

// ---- reading ----

// What stands there may be somebody else's, or ours with a damaged mark.
bool resembles_mark(const PartsRecord& lists)
{
    size_t equal = 0;
    for (size_t i = 0; i < sizeof kPartsMark; ++i)
        equal += lists.mark[i] == kPartsMark[i];
    return equal >= sizeof kPartsMark / 2;
}

// Of what `lists` tells and where, so that it cannot be told to be elsewhere.
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

// The nodes by their place after sorting, in order.
int set_nodes(const VectorView& list, const Vector<struct node*>& nodes, ir_model_part_t* part)
{
    Vector<int32_t> indices;
    for (uint32_t i = 0; i < list.count(); ++i)
        indices.push_back(nodes[list[i]]->index);
    return set_ir_model_part_nodes(part, indices.data(), static_cast<int>(indices.size()));
}

int read_compiled_part(Reading& reading, const CompiledPartRecord& record, uint32_t part_offset,
                       const Vector<struct node*>& nodes, const String& what)
{
    ir_model_part_t made = {};
    const char* bytes = nullptr;
    TENGINE_RETURN_IF_ERROR(reading.file.find_bytes(record.data, record.size, what, &bytes));
    std::string_view target;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.target, what + "'s target", &target));
    Part part;
    TENGINE_RETURN_IF_ERROR(read_part(reading, part_offset, what, &part));
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(2 * sizeof made + sizeof(int32_t) * uint64_t{part.nodes.count()}));
    std::copy_n(record.fingerprint, kDigestBytes, made.fingerprint);
    std::copy_n(record.digest, kDigestBytes, made.digest);
    std::snprintf(made.device, sizeof made.device, "%s", part.device.c_str());
    std::snprintf(made.target, sizeof made.target, "%s", String(target).c_str());
    made.bytes = bytes;
    made.size = record.size;
    TENGINE_RETURN_IF_ERROR(set_nodes(part.nodes, nodes, &made));
    return add_ir_model_part(reading.graph, &made);
}

int read_parts(Reading& reading, uint32_t parts, const Vector<struct node*>& nodes)
{
    VectorView records, list;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(parts, sizeof(CompiledPartRecord), "their list", &records));
    SubgraphRecord subgraph;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read(reading.subgraph_offset, "the subgraph with its parts", &subgraph));
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(subgraph.parts, sizeof(uint32_t), "the list of parts", &list));
    if (list.count() != records.count())
        return tengine_error_set(TENGINE_EFORMAT, "there are %u of them, and %u parts",
                                 records.count(), list.count());
    for (uint32_t i = 0; i < records.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_compiled_part(reading, records.get<CompiledPartRecord>(i),
                                                   list[i], nodes,
                                                   "compiled part " + to_string(i)));
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
    if (!*digest) return tengine_error_set(TENGINE_ENOMEM, "no memory for the hash of a constant");
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
    return read_parts(reading, lists.parts, nodes);
}

// ---- writing ----

// A graph that was translated for this file has its nodes in another order.
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

ModelParts list_parts(const struct graph& graph)
{
    ModelParts parts;
    for (int i = 0; i < count_ir_model_parts(&graph); ++i)
        parts.push_back(get_ir_model_part(&graph, i));
    return parts;
}

// Who altered bytes did not change the hash that goes with them, so that alone tells nothing.
bool has_same_bytes(const ir_model_part_t& a, const ir_model_part_t& b)
{
    const auto bytes_of = [](const ir_model_part_t& part) {
        return std::string_view(static_cast<const char*>(part.bytes), part.size);
    };
    return std::memcmp(a.digest, b.digest, kDigestBytes) == 0 && bytes_of(a) == bytes_of(b);
}

// Their bytes. What parts for several shapes have in common, such as packed weights, is in the file
// once.
Vector<CompiledPartRecord> write_bytes(FileBuilder& builder, const ModelParts& parts)
{
    Vector<CompiledPartRecord> records;
    for (const ir_model_part_t* part : parts) {
        CompiledPartRecord record = {};
        std::copy_n(part->fingerprint, kDigestBytes, record.fingerprint);
        std::copy_n(part->digest, kDigestBytes, record.digest);
        record.size = static_cast<uint32_t>(part->size);
        size_t same = 0;
        while (!has_same_bytes(*parts[same], *part))
            ++same;
        record.data = same < records.size()
                          ? records[same].data
                          : builder.add_aligned(part->bytes, part->size, kPartAlignment);
        records.push_back(record);
    }
    return records;
}

}  // namespace

int read_compiled_parts(Reading& reading, uint32_t root, const Vector<struct node*>& nodes)
{
    PartsRecord lists;
    if (root < sizeof lists) return TENGINE_OK;
    std::memcpy(&lists, reading.image->bytes() + root - sizeof lists, sizeof lists);
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
    const ModelParts list = list_parts(graph);
    if (list.empty()) return made;
    Vector<CompiledPartRecord> records = write_bytes(builder, list);
    std::copy_n(kPartsMark, sizeof kPartsMark, made.record.mark);
    made.record.begin = builder.add(uint32_t{0});
    Vector<uint32_t> parts;
    for (uint32_t i = 0; i < list.size(); ++i) {
        parts.push_back(write_part(builder, graph, i, *list[i]));
        records[i].target = builder.add_string(list[i]->target);
    }
    made.record.constants = write_digests(builder, graph);
    made.record.parts = builder.add_vector(records);
    made.parts = builder.add_vector(parts);
    const std::string_view written = builder.view_from(made.record.begin);
    made.record.size = static_cast<uint32_t>(written.size());
    find_digest(written.data(), made.record, made.record.digest);
    return made;
}

}  // namespace tengine::tmfile
