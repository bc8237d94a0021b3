// SPDX-License-Identifier: Apache-2.0
// GraphProto to source graph: constants, inputs, nodes, outputs, in the file's own words.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "serializer/onnx/external_data.h"
#include "serializer/onnx/model_files.h"
#include "serializer/onnx/opset.h"
#include "serializer/onnx/wire.h"
#include "tengine/ir.h"

namespace tengine {

// A model taken apart: its weights are still encoded. Where memory runs out, messages of protobuf
// lose what they were about to take over, unless they lie in an arena.
struct OnnxModel
{
    google::protobuf::Arena arena;
    ::onnx::ModelProto& header = *make_message<::onnx::ModelProto>(&arena);  // without graph
    ::onnx::GraphProto& graph = *make_message<::onnx::GraphProto>(&arena);   // no initializers
    std::vector<Encoded> initializers;
    Opsets opsets;
};

class GraphImport
{
  public:
    // `file` holds the initializers' bytes, or is NULL when they are the caller's. Consumes the
    // model: values that have become part of `graph` are freed.
    GraphImport(struct graph* graph, OnnxModel* model, ExternalData* external, ModelFile* file)
        : graph_(graph), model_(model), external_(external), file_(file)
    {
    }

    // Fails with TENGINE_EGRAPH (names taken twice, an input that no node produces, a cycle) and
    // with what the parts fail with. Errors of the cheap checks come before weights are copied.
    TENGINE_MUST_USE int run();

    // After run(): what the nodes are called, in the model's order.
    const std::vector<std::string>& node_names() const { return node_names_; }

  private:
    TENGINE_MUST_USE int check_features() const;
    void name_nodes();
    TENGINE_MUST_USE int add_initializers();
    TENGINE_MUST_USE int add_initializer(const Encoded& encoded);
    TENGINE_MUST_USE int add_inputs();
    TENGINE_MUST_USE int add_input(const ::onnx::ValueInfoProto& input);
    TENGINE_MUST_USE int declare_node_outputs();
    TENGINE_MUST_USE int add_nodes();
    TENGINE_MUST_USE int describe_unknown(struct node* node, const ::onnx::NodeProto& proto) const;
    TENGINE_MUST_USE int declare_unknown_outputs();
    TENGINE_MUST_USE int connect_node(struct node* node, const ::onnx::NodeProto& proto);
    TENGINE_MUST_USE int set_borders();
    TENGINE_MUST_USE int find_outputs(std::vector<int32_t>* out_tensors) const;
    TENGINE_MUST_USE int declare(const std::string& name, int data_type, const std::string& owner,
                                 struct tensor** out_tensor);

    struct graph* graph_;
    OnnxModel* model_;
    ExternalData* external_;
    ModelFile* file_;
    std::vector<std::string> node_names_;
    std::vector<OperatorId> operators_;
    std::vector<int32_t> inputs_;                   // tensors
    std::unordered_map<std::string, int> tensors_;  // name to index
};

}  // namespace tengine
