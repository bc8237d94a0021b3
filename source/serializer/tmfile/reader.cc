// SPDX-License-Identifier: Apache-2.0
// The frame of a model: header, root, subgraph, inputs and outputs.
#include "serializer/tmfile/reader.h"

#include <algorithm>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "base/sort.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "serializer/tmfile/compiled_parts.h"
#include "serializer/tmfile/entries.h"
#include "serializer/tmfile/metadata.h"
#include "serializer/tmfile/nodes.h"
#include "serializer/tmfile/parts.h"
#include "serializer/tmfile/prepared.h"
#include "serializer/tmfile/tensors.h"

namespace tengine::tmfile {
namespace {

int check_header(const Reading& reading, HeaderRecord* out_header)
{
    if (reading.file.size() < sizeof(HeaderRecord))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "not a tmfile: it has %zu bytes, expected a header of %zu",
                                 reading.file.size(), sizeof(HeaderRecord));
    if (reading.file.size() > UINT32_MAX)
        return tengine_error_set(TENGINE_ELIMIT, "the tmfile has %zu bytes, expected at most 4 GiB",
                                 reading.file.size());
    std::memcpy(out_header, reading.image->bytes(), sizeof(*out_header));
    if (out_header->main_version == kMainVersion) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "not a tmfile of version %d: the first two bytes are version %d",
                             kMainVersion, out_header->main_version);
}

int name_graph(Reading& reading, uint32_t name)
{
    std::string_view text;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(name, "the model's name", &text));
    if (text.empty()) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(text.size() + 1));
    return set_ir_graph_name(reading.graph, String(text).c_str());
}

int check_layout(int32_t layout, const char* which)
{
    if (layout == TENGINE_LAYOUT_NCHW || layout == TENGINE_LAYOUT_NHWC) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "the %s layout is %d, expected 0 (NCHW) or 1 (NHWC)",
                             which, layout);
}

// Entry 0 is the whole graph; further entries only mean that it was split.
int read_subgraph(Reading& reading, uint32_t subgraphs, bool* out_is_split)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(subgraphs, sizeof(uint32_t), "the list of subgraphs", &list));
    if (list.count() == 0) return tengine_error_set(TENGINE_EFORMAT, "the model has no subgraph");
    *out_is_split = list.count() > 1;
    SubgraphRecord& subgraph = reading.subgraph;
    reading.subgraph_offset = list[0];
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_words(list[0], *out_is_split ? sizeof(SubgraphRecord) : kOldSubgraphBytes,
                                "the subgraph", &subgraph));
    TENGINE_RETURN_IF_ERROR(check_layout(subgraph.graph_layout, "graph's"));
    TENGINE_RETURN_IF_ERROR(check_layout(subgraph.model_layout, "model's"));
    reading.graph->graph_layout = TENGINE_LAYOUT_NCHW;
    reading.graph->model_layout = static_cast<int8_t>(subgraph.model_layout);
    return TENGINE_OK;
}

// Reads a list of the subgraph: nodes by their order after sorting.
int read_list(const Reading& reading, uint32_t offset, const char* what,
              const Vector<struct node*>& nodes, Vector<int32_t>* out_nodes)
{
    VectorView list;
    const String where = print_text("the list of %s nodes", what);
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(offset, sizeof(uint32_t), where, &list));
    for (uint32_t i = 0; i < list.count(); ++i) {
        if (list[i] >= nodes.size())
            return tengine_error_set(TENGINE_EFORMAT, "%s contains node %u, expected one of %zu",
                                     where.c_str(), list[i], nodes.size());
        out_nodes->push_back(nodes[list[i]]->index);
    }
    Vector<int32_t> sorted = *out_nodes;
    sort_indices(sorted.data(), sorted.size());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice == sorted.end()) return TENGINE_OK;
    return tengine_error_set(TENGINE_EGRAPH, "%s contains node %s twice", where.c_str(),
                             quote(reading.graph->node_list[*twice]->name).c_str());
}

int set_inputs(const Reading& reading, const Vector<struct node*>& nodes)
{
    Vector<int32_t> list;
    TENGINE_RETURN_IF_ERROR(read_list(reading, reading.subgraph.inputs, "input", nodes, &list));
    for (const int32_t index : list) {
        const struct node* node = get_ir_graph_node(reading.graph, index);
        if (node->input_num > 0)
            return tengine_error_set(TENGINE_EGRAPH, "input node %s has inputs of its own",
                                     quote(node->name).c_str());
    }
    if (list.empty()) return TENGINE_OK;
    return set_ir_graph_input_node(reading.graph, list.data(), static_cast<int>(list.size()));
}

int set_outputs(const Reading& reading, const Vector<struct node*>& nodes)
{
    Vector<int32_t> list;
    TENGINE_RETURN_IF_ERROR(read_list(reading, reading.subgraph.outputs, "output", nodes, &list));
    if (list.empty()) return tengine_error_set(TENGINE_EGRAPH, "the model has no output nodes");
    return set_ir_graph_output_node(reading.graph, list.data(), static_cast<int>(list.size()));
}

}  // namespace

int read_model(struct graph* graph, FileImage* image, const char* entry)
{
    Reading reading(graph, image);
    HeaderRecord header;
    TENGINE_RETURN_IF_ERROR(check_header(reading, &header));
    uint32_t root = 0;
    TENGINE_RETURN_IF_ERROR(choose_entry(reading, header.root, entry, &root));
    ModelRecord model;
    TENGINE_RETURN_IF_ERROR(reading.file.read(root, "the model", &model));
    const bool is_known = model.origin >= 0 && model.origin <= INT8_MAX;
    graph->model_format = static_cast<int8_t>(is_known ? model.origin : 0);
    TENGINE_RETURN_IF_ERROR(name_graph(reading, model.name));
    bool is_split = false;
    TENGINE_RETURN_IF_ERROR(read_subgraph(reading, model.subgraphs, &is_split));
    TENGINE_RETURN_IF_ERROR(add_tensors(reading));
    Vector<struct node*> nodes;
    TENGINE_RETURN_IF_ERROR(add_nodes(reading, &nodes));
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(graph));
    // Outputs are set first: a node that is both, an input that is also an output, stays an input.
    TENGINE_RETURN_IF_ERROR(set_outputs(reading, nodes));
    TENGINE_RETURN_IF_ERROR(set_inputs(reading, nodes));
    if (is_split) TENGINE_RETURN_IF_ERROR(add_part_affinities(reading, nodes));
    TENGINE_RETURN_IF_ERROR(read_metadata(reading, root));
    TENGINE_RETURN_IF_ERROR(read_compiled_parts(reading, root, nodes));
    if (IS_RUNTIME_ONLY && count_ir_model_preparations(graph) == 0)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "this build runs compiled files only, and the tmfile has no "
                                 "prepared graph; `tengine compile` writes one");
    graph->core->prepared_format = find_prepared_format();
    graph->core->file_revision = graph->core->revision;
    return TENGINE_OK;
}

}  // namespace tengine::tmfile
