// SPDX-License-Identifier: Apache-2.0
// Tentative rewriting: nodes and tensors are added to the graph, the device is asked, and refused
// nodes are removed again.
#pragma once

#include <cstdint>
#include <utility>

#include "base/containers.hpp"
#include "graph/graph_pool.h"
#include "graph/late_constant.h"
#include "optimizer/placement/candidates.h"

namespace tengine {

// A node to be made. It gets the attributes of `like` that both operators have under one name, and
// those given here.
struct NodeDraft
{
    const char* domain;
    const char* op;
    String name;
    int source_index;  // the model's node it stands for, or -1
    Vector<tensor*> inputs;
    Vector<String> outputs;  // names of the tensors, which are new
    const node* like = nullptr;
    Vector<std::pair<const char*, int64_t>> ints = {};
    Vector<std::pair<const char*, Vector<int64_t>>> lists = {};
    Vector<std::pair<const char*, const char*>> texts = {};
    Vector<std::pair<const char*, float>> floats = {};
};

class Rewriter
{
  public:
    Rewriter(struct graph& graph, const struct device* device, const Candidates& candidates)
        : graph_(graph), device_(device), candidates_(candidates)
    {
    }

    struct graph& graph() const { return graph_; }

    // A failure other than a refusal, such as running out of memory; the graph is then unusable.
    int status() const { return status_; }

    // take_back() removes the nodes made since begin().
    void begin();
    void take_back();

    // Null, with status() set, when memory runs out.
    tensor* add_tensor(const String& name, int data_type);
    tensor* add_constant(const String& name, int data_type, const Vector<int>& dims,
                         const void* bytes);
    // One of one axis, of int64.
    tensor* add_list(const String& name, const Vector<int64_t>& values);
    // A constant that preparations share (graph/graph_pool.h): fill(memory, argument) writes it.
    tensor* add_shared_constant(const String& name, int data_type, const Vector<int>& dims,
                                const ir_pack_key_t& key, void (*fill)(void*, void*),
                                void* argument);
    // The constant of the source graph of which a late constant (graph/late_constant.h) can be made
    // in place of a copy; null: the copy has data, since it is small, `constant` does not last, or
    // devices beside the default one may read it.
    const tensor* find_late_origin(const tensor& constant) const;
    tensor* add_late_constant(const String& name, int data_type, const Vector<int>& dims,
                              const ir_pack_key_t& key, const ir_late_values_t& values);

    // Null when an input is null or the operator does not take them. Types and shapes of the
    // outputs are inferred.
    node* add_node(const NodeDraft& draft);
    // The same; null also when the device does not take the node.
    node* add_device_node(const NodeDraft& draft);
    // The same for a node with one output: returns that tensor.
    tensor* add_device_tensor(const NodeDraft& draft);
    // Makes an older node the draft's operator; it keeps its name and its outputs.
    void exchange(node& older, const NodeDraft& draft);
    // A Cast to a float type; `name` is that of its result.
    tensor* add_cast(tensor* value, int data_type, const String& name);

    // Whether a tensor existed before begin().
    bool is_older(const tensor& tensor) const { return tensor.index < first_tensor_; }

    void fail(int status)
    {
        if (status < 0 && status_ == TENGINE_OK) status_ = status;
    }

  private:
    static String name_operator(const NodeDraft& draft);
    node* create(const NodeDraft& draft);
    void set_attributes(node& made, const NodeDraft& draft);
    void connect_inputs(node& made, const NodeDraft& draft);
    bool connect(node& made, const NodeDraft& draft);
    node* infer(node* made);

    struct graph& graph_;
    const struct device* device_;
    const Candidates& candidates_;
    int status_ = TENGINE_OK;
    int first_node_ = 0;
    int first_tensor_ = 0;
};

}  // namespace tengine
