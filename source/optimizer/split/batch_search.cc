// SPDX-License-Identifier: Apache-2.0
// The search for the fewest batches.
//
// A split without cycle can be run part by part, so it is a sequence of devices and groups. No
// split with the same sequence has run more at any point than the one in which every part
// takes all nodes that it may have and that are ready by then, guests included. So it is enough to
// look for a sequence of such batches, and the result has no cycle: a batch only needs nodes that
// ran before it.
//
// With two kinds a sequence is settled by its first kind. With three or more this contains the
// shortest common supersequence of words without repeated letters, which is NP-complete (Lagoutte
// and Tavenas 2015, "The complexity of Shortest Common Supersequence for inputs with no identical
// consecutive letters"). The search goes breadth first over sequences, length by length. A sequence
// that has run no more than another of its length and is no cheaper is dropped: whatever completes
// it completes the other. Sequences beyond the width of the beam are dropped too, worst first. The
// result is a best sequence unless the beam overflowed; it then is one of the best that were met,
// and never longer than one batch per (kind, level), which is tried as well and is all that is
// tried when the graph is too large for a beam.
#include "optimizer/split/batch_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/maps.hpp"

namespace tengine {

BatchState::BatchState(const BatchGraph& graph)
    : graph_(&graph),
      done_((graph.kind.size() + 63) / 64),
      waits_(graph.wait_num),
      ready_(graph.kind_num)
{
    for (size_t i = 0; i < waits_.size(); ++i)
        if (waits_[i] == 0) ready_[graph.kind[i]].push_back(static_cast<int>(i));
}

bool BatchState::has_ready(int kind) const
{
    const int guest = graph_->guest[kind];
    return !ready_[kind].empty() || (guest >= 0 && !ready_[guest].empty());
}

Vector<int> BatchState::run(int kind)
{
    const int guest = graph_->guest[kind];
    Vector<int> batch = std::move(ready_[kind]);
    ready_[kind].clear();
    if (guest >= 0) {
        batch.insert(batch.end(), ready_[guest].begin(), ready_[guest].end());
        ready_[guest].clear();
    }
    for (size_t i = 0; i < batch.size(); ++i) {  // the list grows meanwhile
        const int node = batch[i];
        done_[node / 64] |= uint64_t{1} << (node % 64);
        for (const int consumer : graph_->consumers[node]) {
            if (--waits_[consumer] > 0) continue;
            const int its_kind = graph_->kind[consumer];
            (its_kind == kind || its_kind == guest ? batch : ready_[its_kind]).push_back(consumer);
        }
    }
    done_num_ += static_cast<int>(batch.size());
    return batch;
}

bool BatchState::covers(const BatchState& other) const
{
    for (size_t i = 0; i < done_.size(); ++i)
        if (other.done_[i] & ~done_[i]) return false;
    return true;
}

int BatchState::max_of_ready(const Vector<int>& weight) const
{
    int most = 0;
    for (const Vector<int>& nodes : ready_)
        for (const int node : nodes)
            most = std::max(most, weight[node]);
    return most;
}

namespace {

// The limit of sequences in the beam, and roughly of numbers copied in the whole search (some
// tenths of a second).
constexpr int64_t kMostPaths = 256;
constexpr int64_t kMostCopied = int64_t{1} << 27;

// A sequence of batches and its state.
struct Path
{
    BatchState state;
    Vector<int> kinds;
    int cost;   // batches that are not of the default kind
    int chain;  // lower bound of the batches that remain

    // A path that has run more than another, or as much at no higher cost, ranks before it.
    bool operator<(const Path& other) const
    {
        return std::forward_as_tuple(chain, -state.done_num(), cost, kinds) <
               std::forward_as_tuple(other.chain, -other.state.done_num(), other.cost, other.kinds);
    }
    bool makes_needless(const Path& other) const
    {
        return cost <= other.cost && state.covers(other.state);
    }
};

// The kind of a batch with nodes of both kinds; -1: there is none. Guests have any kind of batch
// that takes them.
int find_common_kind(const BatchGraph& graph, int a, int b)
{
    const auto takes = [&](int kind, int guest) {
        return kind < graph.batch_kind_num && graph.guest[kind] == guest;
    };
    if (a == b || takes(a, b)) return a;
    return takes(b, a) ? b : -1;
}

// The longest chain of batches from each node to the end: a lower bound for the node and those
// after it. The batch of a guest has the kind that saves one, if any does.
Vector<int> measure_chains(const BatchGraph& graph)
{
    Vector<int> chain(graph.kind.size());
    Vector<int> kinds(graph.kind);  // of the batch, in such a chain
    for (size_t i = chain.size(); i-- > 0;) {
        for (const int next : graph.consumers[i])
            chain[i] = std::max(chain[i], chain[next]);
        for (const int next : graph.consumers[i])
            if (chain[next] == chain[i] && kinds[i] >= 0)
                kinds[i] = find_common_kind(graph, kinds[i], kinds[next]);
        if (chain[i] > 0 && kinds[i] >= 0) continue;
        ++chain[i];
        kinds[i] = graph.kind[i];
    }
    return chain;
}

void go_on(Path& path, int kind, const BatchGraph& graph, const Vector<int>& chains)
{
    path.state.run(kind);
    path.kinds.push_back(kind);
    path.cost += kind < graph.default_kind;
    path.chain = path.state.max_of_ready(chains);
}

// Extends each path by one batch in all ways. The last extension of each path moves its state.
Vector<Path> extend(Vector<Path> paths, const BatchGraph& graph, const Vector<int>& chains)
{
    Vector<Path> extended;
    for (Path& path : paths) {
        Vector<int> ready;
        for (int kind = 0; kind < graph.batch_kind_num; ++kind)
            if (path.state.has_ready(kind)) ready.push_back(kind);
        for (const int kind : ready) {
            extended.push_back(kind == ready.back() ? std::move(path) : path);
            go_on(extended.back(), kind, graph, chains);
        }
    }
    return extended;
}

// The best `width` paths, without dominated ones.
Vector<Path> select(Vector<Path> paths, size_t width)
{
    const auto is_worse = [](const Path& left, const Path& right) { return right < left; };
    std::make_heap(paths.begin(), paths.end(), is_worse);
    Vector<Path> selected;
    while (!paths.empty() && selected.size() < width) {
        std::pop_heap(paths.begin(), paths.end(), is_worse);
        Path path = std::move(paths.back());
        paths.pop_back();
        const auto makes_needless = [&](const Path& better) { return better.makes_needless(path); };
        if (std::none_of(selected.begin(), selected.end(), makes_needless))
            selected.push_back(std::move(path));
    }
    return selected;
}

// A kind of batch that takes nodes of the kind.
int find_batch_kind(const BatchGraph& graph, int kind)
{
    if (kind < graph.batch_kind_num) return kind;
    return static_cast<int>(std::find(graph.guest.begin(), graph.guest.end(), kind) -
                            graph.guest.begin());
}

// One batch per (level, kind). The level of a node is the maximum over its producers (same kind:
// the producer's level; other kind: level + 1). All nodes of a level have run after its batches, or
// earlier.
Path run_by_levels(const BatchGraph& graph, const Vector<int>& chains)
{
    Set<std::pair<int, int>> batches;
    Vector<int> level(graph.kind.size());
    for (size_t i = 0; i < level.size(); ++i) {
        batches.emplace(level[i], graph.kind[i]);
        for (const int next : graph.consumers[i])
            level[next] = std::max(level[next], level[i] + (graph.kind[next] != graph.kind[i]));
    }
    Path path = {BatchState(graph), {}, 0, 0};
    for (const auto& [at_level, kind] : batches) {
        const int batch_kind = find_batch_kind(graph, kind);
        if (path.state.has_ready(batch_kind)) go_on(path, batch_kind, graph, chains);
    }
    return path;
}

// With two kinds there are two paths and nothing is copied; else the beam is as wide as time
// allows.
int64_t choose_width(const BatchGraph& graph, size_t most_batches)
{
    if (graph.batch_kind_num <= 2) return 2;
    const auto copied =
        static_cast<int64_t>(graph.kind.size() * most_batches) * (graph.batch_kind_num - 1);
    return std::min(kMostCopied / std::max<int64_t>(copied, 1), kMostPaths);
}

}  // namespace

Vector<int> find_batches(const BatchGraph& graph)
{
    const Vector<int> chains = measure_chains(graph);
    const Path by_levels = run_by_levels(graph, chains);
    const size_t most = by_levels.kinds.size();
    const auto width = static_cast<size_t>(choose_width(graph, most));
    if (most == 0 || width == 0) return by_levels.kinds;
    Vector<Path> paths = {{BatchState(graph), {}, 0, 0}};
    for (size_t length = 0; length < most; ++length) {
        paths = select(extend(std::move(paths), graph, chains), width);
        const Path& best = paths.front();  // the cheapest, if one has finished
        if (best.chain > 0) continue;
        const bool is_better = length + 1 < most || best < by_levels;
        return is_better ? best.kinds : by_levels.kinds;
    }
    return by_levels.kinds;
}

}  // namespace tengine
