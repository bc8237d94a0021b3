// SPDX-License-Identifier: Apache-2.0
// Shows each device its whole parts (allocator.evaluation), and gives the nodes that it hands back
// to the next device that takes them.

#include "base/maps.hpp"
#include "optimizer/split/split.h"
#include "tengine/log.h"

namespace tengine {
namespace {

void warn_bad_index(const struct subgraph& part, const char* what, int index)
{
    TLOG_WARNING("device '%s' hands back %s %d, which part %d (%d nodes) does not have; ignored",
                 part.device->name, what, index, part.index, part.node_num);
}

bool is_in(const struct subgraph& part, const node* node)
{
    return node && node->subgraph_idx == part.index;
}

int read(const vector_t* list, int i)
{
    return *static_cast<int*>(get_vector_data(list, i));
}

// Indices of the nodes that the device hands back.
Set<int> collect(const struct subgraph& part, const vector_t* tensors, const vector_t* nodes)
{
    Set<int> handed_back;
    for (int i = 0; i < get_vector_num(nodes); ++i) {
        if (is_in(part, get_ir_graph_node(part.graph, read(nodes, i))))
            handed_back.insert(read(nodes, i));
        else
            warn_bad_index(part, "node", read(nodes, i));
    }
    for (int i = 0; i < get_vector_num(tensors); ++i) {
        const struct tensor* tensor = get_ir_graph_tensor(part.graph, read(tensors, i));
        if (tensor && is_in(part, get_ir_graph_node(part.graph, tensor->producer)))
            handed_back.insert(tensor->producer);
        else
            warn_bad_index(part, "tensor", read(tensors, i));
    }
    return handed_back;
}

// The nodes that the device hands back, with the reason; all of the part when its evaluation fails.
int evaluate(struct subgraph& part, Set<int>* out_nodes, ir_verdict_t* out_verdict)
{
    device* device = part.device;
    const IntVector tensors(create_vector(sizeof(int), nullptr));
    const IntVector nodes(create_vector(sizeof(int), nullptr));
    if (!tensors || !nodes)
        return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory for its evaluation",
                                 device->name);
    tengine_error_clear();
    const int status = device->allocator->evaluation(device, &part, tensors.get(), nodes.get());
    if (status != 0 && tengine_error_code() == TENGINE_ENOMEM) return TENGINE_ENOMEM;
    if (status != 0) {
        refuse_ir_node(out_verdict, IR_REASON_DEVICE, "", "", "evaluation failed: %s",
                       describe_failure(status).c_str());
        out_nodes->insert(part.node_list, part.node_list + part.node_num);
        return TENGINE_OK;
    }
    refuse_ir_node(out_verdict, IR_REASON_HANDBACK, "", "",
                   "the device handed it back after seeing the whole part (%d nodes)",
                   part.node_num);
    *out_nodes = collect(part, tensors.get(), nodes.get());
    return TENGINE_OK;
}

}  // namespace

int hand_back_nodes(graph& graph, const Candidates& candidates, bool* out_moved)
{
    *out_moved = false;
    Vector<const node*> unplaced;
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i) {
        struct subgraph* part = get_ir_graph_subgraph(&graph, i);
        if (part->device == find_default_device() || !part->device->allocator->evaluation) continue;
        Set<int> handed_back;
        ir_verdict_t verdict = {};
        TENGINE_RETURN_IF_ERROR(evaluate(*part, &handed_back, &verdict));
        for (const int index : handed_back) {
            node& node = *graph.node_list[index];
            TENGINE_RETURN_IF_ERROR(candidates.move_on(node, verdict));
            if (!node.device) unplaced.push_back(&node);
            *out_moved = true;
        }
    }
    if (!unplaced.empty()) return fail_unplaced(unplaced);
    return *out_moved ? group_parts(graph) : TENGINE_OK;
}

}  // namespace tengine
