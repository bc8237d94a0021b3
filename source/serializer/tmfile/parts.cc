// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/parts.h"

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "operator/affinity.h"
#include "tengine/device.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

// Each rule is compared with all nodes when it is made, and with all rules.
constexpr uint64_t kMaxComparisons = uint64_t{1} << 24;

int check_indices(const VectorView& list, size_t limit, const String& what)
{
    for (uint32_t i = 0; i < list.count(); ++i)
        if (list[i] >= limit)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "%s contains index %u, expected one below %zu", what.c_str(),
                                     list[i], limit);
    return TENGINE_OK;
}

int add_affinities(const Reading& reading, const Vector<struct node*>& nodes, const Part& part)
{
    if (!find_device_via_name(part.device.c_str())) {
        TLOG_WARNING(
            "the model was split for the device %s, which does not exist; its %u nodes are placed "
            "by this split",
            quote(part.device).c_str(), part.nodes.count());
        return TENGINE_OK;
    }
    for (uint32_t i = 0; i < part.nodes.count(); ++i) {
        const struct node* node = nodes[part.nodes[i]];
        if (node->input_num == 0) continue;  // inputs and constants run nowhere
        TENGINE_RETURN_IF_ERROR(
            add_ir_affinity_hint(reading.graph, node->name, part.device.c_str()));
    }
    return TENGINE_OK;
}

}  // namespace

int read_part(const Reading& reading, uint32_t offset, const String& what, Part* out_part)
{
    PartRecord record;
    TENGINE_RETURN_IF_ERROR(reading.file.read(offset, what, &record));
    const auto node_num = static_cast<size_t>(reading.graph->node_num);
    const auto tensor_num = static_cast<size_t>(reading.graph->tensor_num);
    const size_t size = sizeof(uint32_t);
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(
        record.nodes, size, print_text("%s's nodes", what.c_str()), &out_part->nodes));
    TENGINE_RETURN_IF_ERROR(
        check_indices(out_part->nodes, node_num, print_text("%s's list of nodes", what.c_str())));
    for (const uint32_t tensors : {record.input_tensors, record.output_tensors}) {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(reading.file.read_vector(
            tensors, size, print_text("%s's tensors", what.c_str()), &list));
        TENGINE_RETURN_IF_ERROR(
            check_indices(list, tensor_num, print_text("%s's list of tensors", what.c_str())));
    }
    std::string_view device;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_string(record.device, print_text("%s's device", what.c_str()), &device));
    if (device.empty()) return tengine_error_set(TENGINE_EFORMAT, "%s has no device", what.c_str());
    out_part->device = device;
    return TENGINE_OK;
}

int add_part_affinities(const Reading& reading, const Vector<struct node*>& nodes)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(reading.subgraph.parts, sizeof(uint32_t),
                                                     "the list of parts", &list));
    if (list.count() == 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the model has several subgraphs, but no list of parts");
    uint64_t rules = 0;
    for (uint32_t i = 0; i < list.count(); ++i) {
        Part part;
        TENGINE_RETURN_IF_ERROR(read_part(reading, list[i], print_text("part %u", i), &part));
        rules += part.nodes.count();
        if (rules * nodes.size() > kMaxComparisons)
            return tengine_error_set(
                TENGINE_ELIMIT,
                "the parts of the model name %llu nodes of %zu, which is implausible",
                static_cast<unsigned long long>(rules), nodes.size());
        TENGINE_RETURN_IF_ERROR(add_affinities(reading, nodes, part));
    }
    return TENGINE_OK;
}

}  // namespace tengine::tmfile
