// SPDX-License-Identifier: Apache-2.0
// The oracle of the splitter: random graphs, counts of parts that share no code with the splitter,
// and the splitter itself applied to such a graph. Tests are in split_*_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace tengine::test {

// Nodes in a topological order. The kind of a node represents its device, the last kind the default
// device.
struct Dag
{
    int kind_num;
    std::vector<int> kind;
    std::vector<std::vector<int>> producers;
    std::vector<int> group = {};  // of each node; empty: all are of group 0

    int group_of(int node) const { return group.empty() ? 0 : group[node]; }
    int size() const { return static_cast<int>(kind.size()); }
};

// Makes a random graph. Its density, the length of its edges and how often a node has its
// producer's kind also depend on the seed.
Dag make_random_dag(unsigned seed, int node_num, int kind_num);

// Gives nodes random groups from 0 to group_num, including those of the default device.
void add_random_groups(unsigned seed, int group_num, Dag* dag);

// Makes independent chains of nodes of random kinds, which are hard to split into the fewest parts.
Dag make_random_chains(unsigned seed, int chain_num, int length, int kind_num);

struct PartCount
{
    int parts;
    int accelerator_parts;  // of other kinds than the last
};

// One part per (kind, group, level), level of a node = max over its producers (same kind and group:
// the producer's level; other: level + 1). Nodes of group 0 share parts with each other only.
PartCount count_by_levels(const Dag& dag);
// Returns the fewest parts for two kinds without groups: parts alternate, so that it is enough to
// try both kinds as the first. Then the level of a node without producers is 0 if it is of the
// first kind, else 1.
PartCount count_by_parity(const Dag& dag);
// Returns the fewest parts, by trying all partitions into parts of one kind with at most one group.
// For about a dozen nodes.
PartCount count_by_brute_force(const Dag& dag);

// Whether the dependencies between parts (`part` for each node) have no cycle.
bool is_acyclic(const Dag& dag, const std::vector<int>& part);

// Adds the nodes of a DAG, "n0" and so on, with operators that match the kinds, in this order
// (empty: as numbered). Those without producers read `input`. Returns tensors by node.
std::vector<tensor*> add_dag(graph* graph, const Dag& dag, tensor* input,
                             std::vector<int> order = {});

struct SplitPart
{
    std::string device;
    std::vector<std::string> nodes;  // sorted by name
    bool operator==(const SplitPart& other) const
    {
        return device == other.device && nodes == other.nodes;
    }
};
std::vector<SplitPart> read_parts(const graph* execution);

// An execution graph with the source it was made from.
struct SplitGraph
{
    std::unique_ptr<IrBuilder> source;
    std::unique_ptr<graph, void (*)(graph*)> execution = {nullptr, destroy_ir_graph};
};

// A context with devices "A", "B"..., each of which takes one kind, and without pruning. They set
// the groups of nodes; for the default device the user's affinity does.
class DagSplitter
{
  public:
    explicit DagSplitter(int kind_num);

    // Through all passes; execution is null (error set) on failure.
    SplitGraph split(const Dag& dag, std::vector<int> order = {});
    device* at(int kind) const;

  private:
    Dag dag_;  // that is split
    std::vector<std::unique_ptr<TestDevice>> devices_;
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
};

}  // namespace tengine::test
