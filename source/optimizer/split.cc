// SPDX-License-Identifier: Apache-2.0
// The default split. Assign: each node goes to the first device of the context that takes it, the
// default device last. Group: level of a node = max over its producers (same device: the
// producer's level; other device: level + 1); one part per (device, level). Parts can then only
// depend on parts of a lower level, so the split has no cycle, and its result does not depend on
// the numbering of nodes.
#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/alloc.h"
#include "graph/context.h"
#include "graph/subgraph.h"
#include "module/module.h"
#include "operator/infer.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

struct VectorDeleter
{
    void operator()(vector_t* list) const { release_vector(list); }
};
using IntVector = std::unique_ptr<vector_t, VectorDeleter>;

IntVector make_int_vector()
{
    return IntVector(create_vector(sizeof(int), nullptr));
}

bool contains(const IntVector& list, int value)
{
    for (int i = 0; i < get_vector_num(list.get()); i++)
        if (*static_cast<int*>(get_vector_data(list.get(), i)) == value) return true;
    return false;
}

// A device of the context with what its describe() said.
struct Candidate
{
    struct device* device = nullptr;
    IntVector allowed = make_int_vector();
    IntVector blocked = make_int_vector();
    IntVector precision = make_int_vector();
};

int describe(struct device* device, std::vector<Candidate>* out_candidates)
{
    for (const Candidate& known : *out_candidates)
        if (known.device == device) return TENGINE_OK;
    Candidate candidate;
    if (!candidate.allowed || !candidate.blocked || !candidate.precision)
        return tengine_error_set(TENGINE_ENOMEM, "no memory to ask device '%s'", device->name);
    candidate.device = device;
    tengine_error_clear();
    if (device->allocator->describe(device, candidate.allowed.get(), candidate.blocked.get(),
                                    candidate.precision.get()) < 0) {
        const std::string reason = tengine_error_message();
        return tengine_error_set(TENGINE_EDEVICE, "device '%s' cannot describe itself: %s",
                                 device->name, reason.c_str());
    }
    out_candidates->push_back(std::move(candidate));
    return TENGINE_OK;
}

// Best first: set_graph_device()'s choice, the context's list, the default device.
int list_candidates(const graph& graph, std::vector<Candidate>* out_candidates)
{
    if (graph.device) TENGINE_RETURN_IF_ERROR(describe(graph.device, out_candidates));
    const ir_context_t* context = graph.attribute->context;
    for (int i = 0; context && i < get_vector_num(context->devices); i++) {
        const auto* entry = static_cast<ir_context_device_t*>(get_vector_data(context->devices, i));
        if (entry->device != find_default_device())
            TENGINE_RETURN_IF_ERROR(describe(entry->device, out_candidates));
    }
    return describe(find_default_device(), out_candidates);
}

// Calls visit(tensor) for all inputs and outputs until it returns false.
template <class Visit>
bool for_all_tensors(const node& node, Visit visit)
{
    for (int i = 0; i < node.input_num; i++) {
        const ir_tensor_t* tensor = get_ir_node_input(&node, i);
        if (tensor && !visit(*tensor)) return false;
    }
    for (int i = 0; i < node.output_num; i++) {
        const ir_tensor_t* tensor = get_ir_node_output(&node, i);
        if (tensor && !visit(*tensor)) return false;
    }
    return true;
}

// Constants are parameters (a Reshape's target is int64 on every device): inspect() judges them.
bool has_listed_types(const Candidate& candidate, const node& node, ir_verdict_t* out_verdict)
{
    return for_all_tensors(node, [&](const ir_tensor_t& tensor) {
        if (tensor.tensor_type == TENSOR_TYPE_CONST) return true;
        if (contains(candidate.precision, tensor.data_type)) return true;
        const char* type = get_data_type_name(tensor.data_type);
        refuse_ir_node(out_verdict, IR_REASON_DATA_TYPE, tensor.name, type,
                       "'%s' is %s, which the device does not take", tensor.name, type);
        return false;
    });
}

bool has_known_shapes(const node& node, ir_verdict_t* out_verdict)
{
    return for_all_tensors(node, [&](const ir_tensor_t& tensor) {
        if (is_ir_tensor_shape_known(&tensor)) return true;
        refuse_ir_node(out_verdict, IR_REASON_SHAPE, tensor.name, "",
                       "the shape of '%s' is known at run time only", tensor.name);
        return false;
    });
}

int ask(const Candidate& candidate, const node& node, ir_verdict_t* out_verdict)
{
    struct device* device = candidate.device;
    const char* op = get_ir_node_op(&node);
    if (contains(candidate.blocked, node.op.type) || !contains(candidate.allowed, node.op.type)) {
        refuse_ir_node(out_verdict, IR_REASON_OPERATOR, "", op, "the device has no %s", op);
        return TENGINE_OK;
    }
    // Only the default device runs nodes whose shapes, and so perhaps types, come late.
    const bool is_default = device == find_default_device();
    if (!is_default &&
        (!has_known_shapes(node, out_verdict) || !has_listed_types(candidate, node, out_verdict)))
        return TENGINE_OK;
    if (!device->allocator->inspect) return TENGINE_OK;
    if (device->allocator->inspect(device, &node, out_verdict) < 0)
        return tengine_error_set(TENGINE_EDEVICE, "device '%s' failed to inspect node '%s'",
                                 device->name, node.name);
    return TENGINE_OK;
}

int remember_refusal(node& node, struct device* device, const ir_verdict_t& verdict)
{
    const size_t bytes = sizeof(ir_refusal_t) * static_cast<size_t>(node.refusal_num);
    auto* list = static_cast<ir_refusal_t*>(
        resize_memory(node.refusal_list, bytes, bytes + sizeof(ir_refusal_t)));
    if (!list) return fail_node(&node, TENGINE_ENOMEM, "no memory for a refusal");
    list[node.refusal_num++] = {device, verdict};
    node.refusal_list = list;
    return TENGINE_OK;
}

// Index of the candidate that takes the node; -1: none does.
int assign(const std::vector<Candidate>& candidates, node& node, int* out_candidate)
{
    *out_candidate = -1;
    for (size_t i = 0; i < candidates.size(); i++) {
        ir_verdict_t verdict = {};
        TENGINE_RETURN_IF_ERROR(ask(candidates[i], node, &verdict));
        if (verdict.verdict == IR_VERDICT_YES) {
            *out_candidate = static_cast<int>(i);
            return TENGINE_OK;
        }
        TENGINE_RETURN_IF_ERROR(remember_refusal(node, candidates[i].device, verdict));
    }
    return TENGINE_OK;
}

// One sentence for all nodes that no device takes.
int fail_unplaced(const std::vector<const node*>& nodes)
{
    constexpr size_t kMostNamed = 8;
    std::string sentence;
    for (size_t i = 0; i < nodes.size() && i < kMostNamed; i++) {
        const node& node = *nodes[i];
        sentence += std::string(i ? "; " : "") + get_ir_node_op(&node) + " '" + node.name + "'";
        if (node.refusal_num > 0)
            sentence += std::string(": ") + node.refusal_list[node.refusal_num - 1].verdict.message;
    }
    if (nodes.size() > kMostNamed)
        sentence += "; and " + std::to_string(nodes.size() - kMostNamed) + " more";
    return tengine_error_set(TENGINE_EOPERATOR, "no device takes %zu node(s): %s", nodes.size(),
                             sentence.c_str());
}

int assign_all(const std::vector<Candidate>& candidates, graph& graph, std::vector<int>* out_device)
{
    std::vector<const node*> unplaced;
    for (int i = 0; i < graph.node_num; i++) {
        int candidate;
        TENGINE_RETURN_IF_ERROR(assign(candidates, *graph.node_list[i], &candidate));
        if (candidate < 0) unplaced.push_back(graph.node_list[i]);
        out_device->push_back(candidate);
    }
    return unplaced.empty() ? TENGINE_OK : fail_unplaced(unplaced);
}

std::vector<int> compute_levels(const graph& graph, const std::vector<int>& device)
{
    std::vector<int> level(static_cast<size_t>(graph.node_num), 0);
    for (int i = 0; i < graph.node_num; i++) {  // topological order
        const node& node = *graph.node_list[i];
        for (int k = 0; k < node.input_num; k++) {
            const ir_tensor_t* tensor = get_ir_node_input(&node, k);
            if (!tensor || tensor->producer < 0) continue;
            const int from = tensor->producer;
            level[i] = std::max(level[i], level[from] + (device[from] != device[i] ? 1 : 0));
        }
    }
    return level;
}

int fill_part(ir_subgraph_t& part, const std::vector<int>& nodes)
{
    part.node_list = static_cast<int32_t*>(alloc_memory(sizeof(int32_t) * nodes.size()));
    if (!part.node_list) return tengine_error_set(TENGINE_ENOMEM, "no memory for a part");
    std::copy(nodes.begin(), nodes.end(), part.node_list);
    part.node_num = static_cast<int32_t>(nodes.size());
    for (const int index : nodes)
        part.graph->node_list[index]->subgraph_idx = part.index;
    return TENGINE_OK;
}

int group(graph& graph, const std::vector<Candidate>& candidates, const std::vector<int>& device)
{
    const std::vector<int> level = compute_levels(graph, device);
    std::map<std::pair<int, int>, std::vector<int>> parts;  // (level, device) → nodes
    for (int i = 0; i < graph.node_num; i++)
        parts[{level[i], device[i]}].push_back(i);
    for (const auto& [key, nodes] : parts) {
        ir_subgraph_t* part = create_ir_subgraph(&graph, candidates[key.second].device);
        if (!part) return tengine_error_set(TENGINE_ENOMEM, "no memory for a part");
        TENGINE_RETURN_IF_ERROR(fill_part(*part, nodes));
    }
    return TENGINE_OK;
}

int split_by_levels(graph& graph)
{
    std::vector<Candidate> candidates;
    TENGINE_RETURN_IF_ERROR(list_candidates(graph, &candidates));
    std::vector<int> device;
    TENGINE_RETURN_IF_ERROR(assign_all(candidates, graph, &device));
    return group(graph, candidates, device);
}

}  // namespace

int split_graph(graph& graph)
{
    const device* best = find_best_device(&graph);
    const bool own = best->optimizer && best->optimizer->split_graph;
    TENGINE_RETURN_IF_ERROR(own ? best->optimizer->split_graph(&graph)
                                : split_graph_node_to_sub_graph(&graph));
    return connect_ir_subgraphs(&graph);
}

}  // namespace tengine

int split_graph_node_to_sub_graph(struct graph* graph)
{
    try {
        return tengine::split_by_levels(*graph);
    } catch (const std::bad_alloc&) {
        return tengine_error_set(TENGINE_ENOMEM, "no memory to split graph '%s'", graph->name);
    }
}
