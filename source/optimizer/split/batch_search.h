// SPDX-License-Identifier: Apache-2.0
// The order in which devices should take turns so that a graph is done in the fewest turns.
// group.cc makes parts of the result; nothing here knows of devices or tensors.
#pragma once

#include <cstdint>

#include "base/containers.hpp"

namespace tengine {

// A graph as the search sees it. Nodes are numbered in a topological order; their kinds are the
// devices they run on, and the groups there. A batch has nodes of its kind and guests: nodes of a
// device's group 0, which run in batches of any group of the device.
struct BatchGraph
{
    int kind_num = 0;               // kinds of nodes
    int batch_kind_num = 0;         // the first of these are kinds of batches; others are guests
    int default_kind = 0;           // batches of this kind and later ones are the cheapest
    Vector<int> guest;              // by kind of batch: that of its guests; -1: it has none
    Vector<int> kind;               // each node's
    Vector<int> wait_num;           // each node's uses of other nodes' outputs
    Vector<Vector<int>> consumers;  // each node's, one entry per use
};

// The progress of a graph's run.
class BatchState
{
  public:
    explicit BatchState(const BatchGraph& graph);

    // `kind` is that of a batch.
    bool has_ready(int kind) const;
    // Runs all nodes of the kind and guests that need nothing but nodes that have run or run now,
    // and tells which.
    Vector<int> run(int kind);

    int done_num() const { return done_num_; }
    // Whether all that has run there has run here.
    bool covers(const BatchState& other) const;
    // The largest of the ready nodes' weights; 0 when all is done.
    int max_of_ready(const Vector<int>& weight) const;

  private:
    const BatchGraph* graph_;
    int done_num_ = 0;
    Vector<uint64_t> done_;      // a bit for each node
    Vector<int> waits_;          // each node's inputs that are not there yet
    Vector<Vector<int>> ready_;  // by kind
};

// The kinds whose batches, run one after the other, run the whole graph: as few as possible, of
// these as few as possible that are not of a default kind; a choice that is left is made by the
// order of kinds. The numbering of nodes plays no part. Its limits are in batch_search.cc.
Vector<int> find_batches(const BatchGraph& graph);

}  // namespace tengine
