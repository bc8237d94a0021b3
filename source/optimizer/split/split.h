// SPDX-License-Identifier: Apache-2.0
// The steps of the default split, in the order split.cc takes them. What they decide is in the
// graph: node->device, node->refusal_list, graph->subgraph_list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/containers.hpp"
#include "tengine/device.h"

namespace tengine {

struct VectorDeleter
{
    void operator()(vector_t* list) const { release_vector(list); }
};
using IntVector = std::unique_ptr<vector_t, VectorDeleter>;  // of int

// The devices of a graph, each once: set_graph_device()'s choice, the context's list, the default
// device (candidates.cc).
Vector<device*> list_graph_devices(const graph& graph);

// What these devices take (candidates.cc).
class Candidates
{
  public:
    // Those of list_graph_devices(). ENOENT when a wish of the user names a device that is not
    // among them.
    static int list(const graph& graph, Candidates* out_candidates);

    size_t size() const { return candidates_.size(); }
    device* at(size_t index) const { return candidates_[index].device; }
    bool has(const struct device* device) const { return index_of(device) < size(); }
    // Whether the device, one of the candidates, takes the node.
    bool takes(const struct device* device, const node& node) const;

    // Gives the node to the first candidate from `begin` on that takes it: node.device, and a
    // refusal for each that does not. node.device is null when none does.
    int place(node& node, size_t begin) const;
    // Whether a candidate behind the node's present device takes it.
    bool has_other(const node& node) const;
    // Gives the node to the next candidate that takes it, with a refusal of the present one.
    int move_on(node& node, const ir_verdict_t& refusal) const;

  private:
    struct Candidate
    {
        struct device* device;
        IntVector allowed, blocked, precision;
        ir_verdict_t failure;  // a refusal of everything, when describe() failed
    };
    int add(struct device* device);
    int check_wishes(const graph& graph) const;
    ir_verdict_t ask(const Candidate& candidate, const node& node) const;
    size_t index_of(const struct device* device) const;

    Vector<Candidate> candidates_;
};

// After a device's entry failed: the sentence it recorded, or else its status (candidates.cc).
String describe_failure(int status);

// Whether the user's wish (ir_affinity_t) names the node's device, and whether it rules it out
// (candidates.cc).
bool is_pinned(const node& node);
bool is_misplaced(const node& node);

// assign.cc: every node to its first candidate. EOPERATOR names all that nobody takes.
int assign_devices(graph& graph, const Candidates& candidates);
int fail_unplaced(const Vector<const node*>& nodes);

// group.cc: parts from node.device, in an order of execution; replaces graph.subgraph_list, sets
// subgraph_idx and connects borders.
int group_parts(graph& graph);

// cost.cc: predicted time of a node on its device, in ns: the device's estimate() or, without one,
// from MACs and bytes. `*out_known` says which.
int64_t predict_node(const device& device, const node& node, bool* out_known);
// Time to move bytes between host and device, by the option split.bandwidth or as measured.
int64_t predict_move(const graph& graph, int64_t bytes);

// prune.cc: parts that save less time than moving their tensors costs go to the next candidate;
// regroups. hand_back.cc: what evaluation() hands back goes to the next candidate; regroups, and
// *out_moved says whether anything did.
int prune_parts(graph& graph, const Candidates& candidates);
int hand_back_nodes(graph& graph, const Candidates& candidates, bool* out_moved);

// check.cc: every node in exactly one part, node.device that of its part, every part behind those
// it needs. Brings parts into such an order when there is one. EGRAPH names `author` (whose split
// it is) and the parts and nodes of a cycle.
int check_parts(graph& graph, const char* author);

// fallback.cc: EFALLBACK when more runs on the default device than the context's options allow.
int check_fallback(const graph& graph);

}  // namespace tengine
