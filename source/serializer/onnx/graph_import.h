// SPDX-License-Identifier: Apache-2.0
// GraphProto to source graph: constants, inputs, nodes and outputs, with the file's operators and
// names. Graphs that are attributes, such as the branches of an If, become bodies of their node
// (graph/body.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/body.h"
#include "serializer/onnx/external_data.h"
#include "serializer/onnx/model_files.h"
#include "serializer/onnx/opset.h"
#include "serializer/onnx/sparse.h"
#include "serializer/onnx/wire.h"
#include "tengine/ir.h"

namespace tengine {

// A model taken apart: its weights are still encoded. When memory runs out, messages of protobuf
// that are not in an arena lose the fields that were being moved to them.
struct OnnxModel
{
    google::protobuf::Arena arena;
    ::onnx::ModelProto& header = *make_message<::onnx::ModelProto>(&arena);  // without graph
    ::onnx::GraphProto& graph = *make_message<::onnx::GraphProto>(&arena);   // no initializers
    std::vector<Encoded> initializers;
    Imports imports;
    struct ir_metadata* metadata = nullptr;  // the graph's
    size_t sparse_left = SparseReader::kMostBytes;
};

class GraphImport
{
  public:
    // `file` holds the initializers' bytes, or is NULL when they are the caller's. Consumes the
    // model: values that have become part of `graph` are freed.
    GraphImport(struct graph* graph, OnnxModel* model, ExternalData* external, ModelFile* file)
        : graph_(graph), model_(model), proto_(model->graph), external_(external), file_(file)
    {
    }

    // Fails with TENGINE_EGRAPH (names taken twice, an input that no node produces, a cycle) and
    // with the failures of the parts. Errors of the cheap checks come before weights are copied.
    TENGINE_MUST_USE int run();

    // After run(): the names of the nodes, in the model's order.
    const std::vector<std::string>& node_names() const { return node_names_; }

  private:
    // A body of a node of `outer`, whose values it can read.
    GraphImport(struct graph* graph, ::onnx::GraphProto& proto, GraphImport& outer, ir_body_t* body)
        : graph_(graph),
          model_(outer.model_),
          proto_(proto),
          external_(outer.external_),
          file_(nullptr),
          outer_(&outer),
          body_(body),
          depth_(outer.depth_ + 1)
    {
    }

    TENGINE_MUST_USE int check_features() const;
    void name_nodes();
    TENGINE_MUST_USE int add_initializers();
    TENGINE_MUST_USE int add_initializer(const Encoded& encoded);
    TENGINE_MUST_USE int add_initializer(const ::onnx::TensorProto& proto, Bytes raw,
                                         ModelFile* file);
    TENGINE_MUST_USE int add_sparse_initializer(const ::onnx::SparseTensorProto& proto);
    TENGINE_MUST_USE int add_inputs();
    TENGINE_MUST_USE int add_input(const ::onnx::ValueInfoProto& input);
    TENGINE_MUST_USE int add_input_node(struct tensor* tensor);
    TENGINE_MUST_USE int declare_node_outputs();
    TENGINE_MUST_USE int add_nodes();
    TENGINE_MUST_USE int describe_unknown(struct node* node, const ::onnx::NodeProto& proto) const;
    TENGINE_MUST_USE int declare_unknown_outputs();
    TENGINE_MUST_USE int connect_node(struct node* node, const ::onnx::NodeProto& proto);
    TENGINE_MUST_USE int read_bodies(struct node* node, ::onnx::NodeProto& proto);
    TENGINE_MUST_USE int read_body(struct node* node, const std::string& attribute,
                                   ::onnx::GraphProto& proto, ir_body_t* body);
    TENGINE_MUST_USE int find_tensor(const std::string& name, struct tensor** out_tensor);
    TENGINE_MUST_USE int capture(const std::string& name, struct tensor** out_tensor);
    TENGINE_MUST_USE int set_inputs_and_outputs();
    TENGINE_MUST_USE int find_outputs(std::vector<int32_t>* out_tensors);
    TENGINE_MUST_USE int declare(const std::string& name, int data_type, const std::string& owner,
                                 struct tensor** out_tensor);

    struct graph* graph_;
    OnnxModel* model_;
    ::onnx::GraphProto& proto_;
    ExternalData* external_;
    ModelFile* file_;
    GraphImport* outer_ = nullptr;          // for a body: the graph around it
    ir_body_t* body_ = nullptr;             // and what it becomes
    int depth_ = 0;                         // number of graphs around it
    std::vector<struct tensor*> captured_;  // for a body: tensors of the graph around it
    std::vector<std::string> node_names_;
    std::vector<OperatorId> operators_;
    std::vector<int32_t> inputs_;                   // tensors
    std::unordered_map<std::string, int> tensors_;  // name to index
};

}  // namespace tengine
