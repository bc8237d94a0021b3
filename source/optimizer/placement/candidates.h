// SPDX-License-Identifier: Apache-2.0
// The devices that may take a node: the user's affinities, the lists of describe(), the verdict of
// inspect(). The split places nodes by them, and the passes of precision choose the types of nodes.
#pragma once

#include <cstddef>
#include <memory>

#include "base/containers.hpp"
#include "tengine/device.h"

namespace tengine {

struct VectorDeleter
{
    void operator()(vector_t* list) const { release_vector(list); }
};
using IntVector = std::unique_ptr<vector_t, VectorDeleter>;  // int

// The devices of a graph, each once: set_graph_device()'s choice, the context's list, the default
// device.
Vector<device*> list_graph_devices(const graph& graph);
// Whether the default device is the only one; its kernels take constants at any address, and late
// ones (graph/late_constant.h).
bool has_default_device_alone(const graph& graph);

// The devices of a graph, which it uses (graph/use.h), and their abilities.
class Candidates : public Allocated
{
  public:
    Candidates() = default;
    Candidates(const Candidates&) = delete;
    Candidates& operator=(const Candidates&) = delete;
    ~Candidates();
    // An operator that a device has handed back in an earlier preparation of the same graph.
    struct HandedBack
    {
        const struct device* device;
        int source_node, op_type;
    };

    // The candidates of list_graph_devices(). The first call for a graph lets the devices describe
    // themselves and survey the graph, which then owns the candidates. ENOENT when an affinity
    // names a device that is not among them; also fails when a survey fails.
    static int of(const graph& graph, const Candidates** out_candidates);
    // The same before the surveys: until then a device with a survey takes what it lists.
    static int before_surveys(const graph& graph, const Candidates** out_candidates);
    // The same; the devices do not take the operators of the list, which is for a graph whose
    // devices have not been asked yet.
    static int without(const graph& graph, const Vector<HandedBack>& handed_back);
    // The source graph's nodes that devices have chosen (source_nodes.h), for a graph whose devices
    // have not surveyed it.
    static int keep(const graph& graph, Vector<int> source_nodes);
    // The candidates of a part's graph: the default device alone, which computes all nodes.
    static int of_default_device(const graph& part);
    // Those that the graph has; null: none yet.
    static const Candidates* find(const graph& graph);
    // Whether the node is one of those of keep().
    bool keeps(const node& node) const;
    // Whether one of them has yet to survey the graph and lists every operator, so that its list
    // gives no information.
    bool has_undecided() const;

    size_t size() const { return candidates_.size(); }
    device* at(size_t index) const { return candidates_[index].device; }
    bool has(const struct device* device) const { return index_of(device) < size(); }
    size_t index_of(const struct device* device) const;
    // Whether the device, one of the candidates, lists the data type as one that it computes in.
    // False when it failed to describe itself.
    bool lists(const struct device* device, int data_type) const;
    // Whether the device, one of the candidates, takes the node.
    bool takes(const struct device* device, const node& node) const;
    // The index of the first candidate that takes the node; size(): none does.
    size_t find_taker(const node& node) const;

    // Whether the list of without() has the node for the device.
    bool has_handed_back(const struct device* device, const node& node) const;

    // Gives the node to the first candidate from `begin` on that takes it: node.device and its
    // group there, and a refusal for each that does not. node.device is null when none does.
    int place(node& node, size_t begin) const;
    // The group that node.device, which was not set by place(), gives the node. 0 when it refuses
    // the node, or is not a candidate.
    void find_group(node& node) const;
    // Whether a candidate after the node's present device takes it.
    bool has_other(const node& node) const;
    // Gives the node to the next candidate that takes it, with a refusal of the present one.
    int move_on(node& node, const ir_verdict_t& refusal) const;

  private:
    struct Candidate
    {
        struct device* device;
        Vector<int> operators;  // ids of those that it takes, sorted
        IntVector precision;
        ir_verdict_t failure;  // refuses everything when describe() failed
    };
    static int find_or_make(const graph& graph, Candidates** out_candidates);
    static void own(const graph& graph, std::unique_ptr<Candidates> made);
    int list(const graph& graph);
    int survey(const graph& graph);
    int add(struct device* device);
    int check_affinities(const graph& graph) const;
    ir_verdict_t ask(const Candidate& candidate, const node& node) const;
    ir_verdict_t ask_for_place(const Candidate& candidate, const node& node) const;

    Vector<Candidate> candidates_;
    Vector<HandedBack> handed_back_;
    Vector<int> kept_;  // sorted indices of the source graph's nodes
    bool has_surveyed_ = false;
};

// Describes the failure of a device's entry: the message that it recorded, or else its status.
String describe_failure(int status);

// Whether the user's affinity (ir_affinity_t) names the node's device, whether it excludes it, and
// the group that it names there; 0: none.
bool is_pinned(const node& node);
bool is_misplaced(const node& node);
int get_affinity_group(const node& node);
// Whether the model has a compiled part of the node's device for the node: it must be used even on
// a processor with other times.
bool is_compiled_ahead(const node& node);

}  // namespace tengine
