// SPDX-License-Identifier: Apache-2.0
// A graph that becomes a subgraph of the file; written_control.cc has what concerns bodies.
#pragma once

#include "serializer/tflite/writing.h"

namespace tengine::tflite {

// An input of a subgraph: a tensor of its graph, or one that it does not read.
struct SubgraphInput
{
    int32_t tensor;             // -1: not read
    const struct tensor* like;  // whose type and shape it has
};

class SubgraphWriter
{
  public:
    SubgraphWriter(Writing& writing, const struct graph& graph)
        : writing_(writing), origin_(*writing.origin), builder_(writing.builder), graph_(graph)
    {
    }

    int run(const Vector<SubgraphInput>& inputs, const Vector<int32_t>& outputs,
            std::string_view name);
    const Places& places() const { return places_; }

  private:
    // How a state of the graph (graph/state.h) is written.
    enum class StateKind : char
    {
        kPlain,     // a resource that operators read first and assign last
        kVariable,  // the tensor of a recurrent layer, which changes it
        kHidden,    // not at all: the operator has it by itself
        kResource   // a resource whose operators are nodes of the graph
    };

    void order_nodes();
    void find_copies();
    void find_next_values(const struct node& node);
    int32_t root_of(const struct tensor* tensor) const;
    int find_state(int32_t tensor) const;
    StateKind kind_of(int state) const { return state_kinds_[static_cast<size_t>(state)]; }
    bool is_hidden(int32_t tensor) const;
    int32_t add_handle(std::string_view name);
    int call_first_values();
    void name_resource(int state, String* out_container, String* out_name) const;
    Offset<file::Options> name_handle(int state);
    int check_sharing(const FirstValue& mine, const FirstValue& other) const;
    int add_first_value(int state);
    int check_resource(const struct node& node) const;
    int write_handles();
    void write_assignments();
    void add_operator(int code, const Vector<int32_t>& inputs, const Vector<int32_t>& outputs,
                      Offset<file::Options> options);
    void number_tensors(const Vector<SubgraphInput>& inputs, const Vector<int32_t>& outputs);
    int write_node(const struct node& node);
    int write_tensor(const struct tensor& tensor);
    int write_unread(const struct tensor& like, int32_t* out_place);
    int add_tensor(const struct tensor& tensor, std::string_view name, const file::Tensor* record,
                   bool is_records, uint32_t buffer);
    int write_table_use(const struct node& node, int first_operand, Vector<int32_t> inputs);
    int32_t add_table(const struct tensor& keys, const struct tensor& values);
    int write_if(const struct node& node);
    int write_while(const struct node& node);
    int write_branch(const struct node& node, const struct ir_body& body,
                     const Vector<int32_t>& captured, uint32_t* out_subgraph);
    int add_call(const struct node& node, int code, const Vector<uint32_t>& subgraphs,
                 const Vector<int32_t>& inputs, const Vector<int32_t>& outputs);
    Offset<file::Quantization> write_quantisation(const struct tensor& tensor,
                                                  const file::Tensor* record, bool is_records);
    Offset<file::Details> write_details(const file::Quantization& record);
    Offset<file::Sparsity> write_sparsity(const file::Sparsity& record);
    Offset<file::Indices> write_indices(int type, const file::Indices* indices);
    int write_values(const struct tensor& tensor, uint32_t* out_buffer);
    int32_t place_of(int32_t tensor) const;
    Vector<int32_t> list_places(const Vector<int32_t>& tensors) const;
    Vector<int32_t> find_intermediates(const struct node& node) const;

    Writing& writing_;
    const Origin& origin_;
    Builder& builder_;
    const struct graph& graph_;
    Vector<const struct node*> nodes_;
    Vector<int32_t> copied_;     // by tensor: the one whose values it has, or itself
    Vector<const char*> names_;  // by tensor: that of the output that is a copy of it, or null
    Places places_;
    Vector<StateKind> state_kinds_;
    Vector<int32_t> handles_;                           // by state: the tensor of its resource
    Vector<int32_t> called_;                            // subgraphs, by CALL_ONCE
    Map<std::pair<int32_t, int32_t>, int32_t> tables_;  // by keys and values: that of its resource
    Vector<Offset<file::Tensor>> tensors_;
    Vector<Offset<file::Operator>> operators_;
};

}  // namespace tengine::tflite
