// SPDX-License-Identifier: Apache-2.0
// The steps of the default split, in the order of split.cc. They store their decisions in the
// graph: node->device, node->refusal_list, graph->subgraph_list.
#pragma once

#include <cstdint>

#include "base/containers.hpp"
#include "optimizer/placement/candidates.h"
#include "tengine/device.h"

namespace tengine {

// assign.cc: every node to its first candidate. EOPERATOR names all nodes that no device takes.
int assign_devices(graph& graph, const Candidates& candidates);
int fail_unplaced(const Vector<const node*>& nodes);

// group.cc: parts from node.device and the node's group, in an order of execution; replaces
// graph.subgraph_list, sets subgraph_idx and connects boundaries.
int group_parts(graph& graph);
// Whether the node gets its own part: where parts run at the same time, other nodes of the default
// device need not wait for an asynchronous one.
bool is_alone(const node& node);

// cost.cc: predicted time of a node on its device, in ns: from the device's estimate() or, if it
// has none, from MACs and bytes. `*out_known`: whether estimate() gave it.
int64_t predict_node(const device& device, const node& node, bool* out_known);
// Time to move bytes between host and device, by the option split.bandwidth or as measured.
int64_t predict_move(const graph& graph, int64_t bytes);

// give_up.cc: whether a part may move to other devices: the user did not require its device, and
// another device takes each node. Gives each node to its next candidate, with the refusal `why`;
// appends nodes whose next device has changed its verdict.
bool may_give_up(const struct subgraph& part, const Candidates& candidates);
int give_up(const struct subgraph& part, const ir_verdict_t& why, const Candidates& candidates,
            Vector<const node*>* out_unplaced);

// small.cc: parts that are smaller than the options split.min_nodes and split.min_macs allow go to
// the next candidate; regroups. prune.cc: parts that save less time than moving their tensors costs
// go to the next candidate; regroups. hand_back.cc: nodes that evaluation() hands back go to the
// next candidate; regroups, and *out_moved says whether anything did.
int drop_small_parts(graph& graph, const Candidates& candidates);
int prune_parts(graph& graph, const Candidates& candidates);
int hand_back_nodes(graph& graph, const Candidates& candidates, bool* out_moved);

// check.cc: every node must be in exactly one part, whose device is node.device, and every part
// after those that it depends on. Sorts parts into such an order if there is one. EGRAPH names
// `author` (whose split it is) and the parts and nodes of a cycle.
int check_parts(graph& graph, const char* author);
// Called after check_parts(): EGRAPH names a part with nodes of two groups.
int check_groups(const graph& graph, const char* author);
bool has_mixed_part(const graph& graph);

// fallback.cc: EFALLBACK when more nodes fall back to the default device than the context's options
// allow.
int check_fallback(const graph& graph);

}  // namespace tengine
