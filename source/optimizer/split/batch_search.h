// SPDX-License-Identifier: Apache-2.0
// The shortest sequence of turns of devices that runs a graph. group.cc makes parts of it; this
// file knows no devices or tensors.
#pragma once

#include <cstdint>

#include "base/containers.hpp"

namespace tengine {

// A graph for the search. Nodes are numbered in topological order; a kind is a device and a group.
// A batch has nodes of its kind and guests: nodes of a device's group 0, which run in batches of
// any group of the device.
struct BatchGraph
{
    int kind_num = 0;               // kinds of nodes
    int batch_kind_num = 0;         // the first ones are kinds of batches; others are guests
    int default_kind = 0;           // batches of this kind and later ones are the cheapest
    Vector<int> guest;              // by kind of batch: the kind of its guests; -1: it has none
    Vector<int> kind;               // of each node
    Vector<int> wait_num;           // uses of other nodes' outputs by each node
    Vector<Vector<int>> consumers;  // of each node, one entry per use
};

// The progress of a graph's run.
class BatchState
{
  public:
    explicit BatchState(const BatchGraph& graph);

    // `kind` is that of a batch.
    bool has_ready(int kind) const;
    // Runs all nodes of the kind and guests that depend only on nodes that have run or run now, and
    // returns them.
    Vector<int> run(int kind);

    int done_num() const { return done_num_; }
    // Whether every node that has run there has run here.
    bool covers(const BatchState& other) const;
    // The largest weight of ready nodes; 0 when all have run.
    int max_of_ready(const Vector<int>& weight) const;

  private:
    const BatchGraph* graph_;
    int done_num_ = 0;
    Vector<uint64_t> done_;      // a bit for each node
    Vector<int> waits_;          // inputs of each node that are not ready yet
    Vector<Vector<int>> ready_;  // by kind
};

// The kinds whose batches, in this order, run the whole graph: as few as possible, with as few as
// possible that are not of a default kind; ties are broken by the order of kinds. The numbering of
// nodes does not matter. batch_search.cc describes its limits.
Vector<int> find_batches(const BatchGraph& graph);

}  // namespace tengine
