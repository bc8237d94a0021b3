// SPDX-License-Identifier: Apache-2.0
// Builds the source graph. Weights stay in the mapped file if they are aligned there and only
// results depend on their values; else they are decoded and copied one at a time; see wire.h.
#include "serializer/onnx/graph_import.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/string_pool.h"
#include "module/module.h"
#include "operator/param.h"
#include "operator/plain_data.h"
#include "serializer/onnx/attribute.h"
#include "serializer/onnx/message.h"
#include "serializer/onnx/metadata.h"
#include "serializer/onnx/tensor.h"
#include "serializer/onnx/value_info.h"

namespace tengine {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

// Attributes can be as large as weights.
void drop_values(NodeProto* proto)
{
    for (::onnx::AttributeProto& attribute : *proto->mutable_attribute())
        if (attribute.has_t()) std::string().swap(*attribute.mutable_t()->mutable_raw_data());
}

// create_ir_...() return NULL after setting the error.
int last_error()
{
    const int code = tengine_error_code();
    return code < 0 ? code : TENGINE_ENOMEM;
}

int count(const std::vector<int32_t>& list)
{
    return static_cast<int>(list.size());
}

// The nodes that write `tensors`, each once; constants have none.
std::vector<int32_t> producers(const struct graph* graph, const std::vector<int32_t>& tensors)
{
    std::vector<int32_t> nodes;
    std::unordered_set<int32_t> seen;
    for (const int32_t tensor : tensors) {
        const int32_t producer = get_ir_graph_tensor(graph, tensor)->producer;
        if (producer >= 0 && seen.insert(producer).second) nodes.push_back(producer);
    }
    return nodes;
}

}  // namespace

int GraphImport::run()
{
    TENGINE_RETURN_IF_ERROR(check_features());
    name_nodes();
    TENGINE_RETURN_IF_ERROR(resolve_operators(proto_, model_->imports, graph_->attribute->context,
                                              node_names_, &operators_));
    TENGINE_RETURN_IF_ERROR(add_initializers());
    TENGINE_RETURN_IF_ERROR(add_inputs());
    TENGINE_RETURN_IF_ERROR(declare_node_outputs());
    TENGINE_RETURN_IF_ERROR(add_nodes());
    TENGINE_RETURN_IF_ERROR(declare_unknown_outputs());
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(graph_));
    return set_inputs_and_outputs();
}

int GraphImport::check_features() const
{
    if (depth_ > IR_MOST_NESTED_BODIES)
        return tengine_error_set(TENGINE_ELIMIT, "graph '%s' is nested in more than %d others",
                                 graph_->name, IR_MOST_NESTED_BODIES);
    if (proto_.output_size() == 0)
        return outer_ ? tengine_error_set(TENGINE_EGRAPH, "graph '%s' has no outputs", graph_->name)
                      : tengine_error_set(TENGINE_EGRAPH, "the graph has no outputs");
    return TENGINE_OK;
}

// Gives every node a unique name: the file's, if it has one that is free.
void GraphImport::name_nodes()
{
    const GraphProto& graph = proto_;
    // The names in a body begin with the body's own, which makes them unique in the model.
    const std::string prefix = outer_ ? graph_->name + std::string("/") : "";
    std::unordered_set<std::string> taken;
    for (const auto& input : graph.input())
        taken.insert(input.name());
    for (const NodeProto& node : graph.node()) {
        const std::string name = node.name().c_str();  // up to a NUL: the IR has C strings
        const bool is_free = !name.empty() && taken.insert(name).second;
        const bool has_prefix = name.compare(0, prefix.size(), prefix) == 0;
        node_names_.push_back(!is_free ? "" : has_prefix ? name : prefix + name);
    }
    for (size_t i = 0; i < node_names_.size(); ++i) {
        if (!node_names_[i].empty()) continue;
        const NodeProto& node = graph.node(static_cast<int>(i));
        std::string name = node.name().c_str();
        if (name.empty()) name = node.op_type().c_str();
        name += "_" + std::to_string(i);
        while (!taken.insert(name).second)
            name += "_";
        node_names_[i] = prefix + name;
    }
}

int GraphImport::declare(const std::string& name, int data_type, const std::string& owner,
                         struct tensor** out_tensor)
{
    if (name.empty() || name.find('\0') != std::string::npos)
        return tengine_error_set(TENGINE_EGRAPH, "%s: a tensor needs a name without NUL",
                                 owner.c_str());
    const auto [entry, is_new] = tensors_.emplace(name, graph_->tensor_num);
    if (!is_new) {
        const struct tensor* other = get_ir_graph_tensor(graph_, entry->second);
        const char* role = other->tensor_type == TENSOR_TYPE_CONST   ? "an initializer"
                           : other->tensor_type == TENSOR_TYPE_INPUT ? "a graph input"
                                                                     : "the output of a node";
        return tengine_error_set(TENGINE_EGRAPH, "%s: tensor name %s is already taken by %s",
                                 owner.c_str(), quote_name(name).c_str(), role);
    }
    *out_tensor = create_ir_tensor(graph_, name.c_str(), data_type);
    return *out_tensor ? TENGINE_OK : last_error();
}

int GraphImport::add_initializers()
{
    for (const ::onnx::TensorProto& proto : proto_.initializer())
        TENGINE_RETURN_IF_ERROR(add_initializer(proto, proto.raw_data(), nullptr));
    for (const ::onnx::SparseTensorProto& proto : proto_.sparse_initializer())
        TENGINE_RETURN_IF_ERROR(add_sparse_initializer(proto));
    if (outer_) return TENGINE_OK;
    for (const Encoded& encoded : model_->initializers) {
        TENGINE_RETURN_IF_ERROR(add_initializer(encoded));
        if (file_) drop_mapped_bytes(encoded.bytes.data(), encoded.bytes.size());
    }
    return TENGINE_OK;
}

int GraphImport::add_initializer(const Encoded& encoded)
{
    google::protobuf::Arena arena;
    auto& proto = *make_message<::onnx::TensorProto>(&arena);
    std::vector<Encoded> raw;
    TENGINE_RETURN_IF_ERROR(
        split_message(encoded, ::onnx::TensorProto::kRawDataFieldNumber, &proto, &raw));
    return add_initializer(proto, raw.empty() ? Bytes() : raw.back().bytes, file_);
}

int GraphImport::add_initializer(const ::onnx::TensorProto& proto, Bytes raw, ModelFile* file)
{
    const std::string owner = "initializer " + quote_name(proto.name());
    TensorReader reader(proto, raw, owner, external_, file);
    TENGINE_RETURN_IF_ERROR(reader.describe());

    struct tensor* tensor = nullptr;
    TENGINE_RETURN_IF_ERROR(declare(proto.name(), reader.data_type(), owner, &tensor));
    tensor->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, reader.dims(), reader.dim_num()));
    char* values = is_plain_data(tensor) ? reader.view() : nullptr;
    if (values) {
        set_ir_tensor_file_data(tensor, values);
        return TENGINE_OK;
    }
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    return reader.read(*graph_, tensor->data);
}

int GraphImport::add_sparse_initializer(const ::onnx::SparseTensorProto& proto)
{
    const std::string owner = "sparse initializer " + quote_name(proto.values().name());
    SparseReader reader(proto, owner, external_, &model_->sparse_left);
    TENGINE_RETURN_IF_ERROR(reader.describe());
    struct tensor* tensor = nullptr;
    TENGINE_RETURN_IF_ERROR(declare(proto.values().name(), reader.data_type(), owner, &tensor));
    tensor->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, reader.dims(), reader.dim_num()));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    return reader.read(*graph_, tensor->data);
}

int GraphImport::add_inputs()
{
    for (const ValueInfoProto& input : proto_.input()) {
        // Before IR version 4 every initializer had to be listed as input too; later ones are
        // defaults that a caller may replace, which the graph takes as constants.
        const auto known = tensors_.find(input.name());
        if (known != tensors_.end() &&
            get_ir_graph_tensor(graph_, known->second)->tensor_type == TENSOR_TYPE_CONST)
            continue;
        TENGINE_RETURN_IF_ERROR(add_input(input));
    }
    return TENGINE_OK;
}

int GraphImport::add_input(const ValueInfoProto& input)
{
    const std::string owner = "graph input " + quote_name(input.name());
    DeclaredTensor declared;
    declared.data_type = TENGINE_DT_UNKNOWN;
    // The inputs of a body may take their type from the node's inputs.
    if (!outer_ || is_type_given(input))
        TENGINE_RETURN_IF_ERROR(read_value_info(input, owner, &declared));
    inputs_.push_back(graph_->tensor_num);
    struct tensor* tensor = nullptr;
    TENGINE_RETURN_IF_ERROR(declare(input.name(), declared.data_type, owner, &tensor));
    tensor->tensor_type = TENSOR_TYPE_INPUT;
    if (declared.dim_num >= 0) {
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, declared.dims, declared.dim_num));
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_dim_names(tensor, declared.names, declared.dim_num));
    }
    return outer_ ? add_ir_body_input(body_, tensor, false) : add_input_node(tensor);
}

int GraphImport::add_input_node(struct tensor* tensor)
{
    struct node* node = create_ir_node(graph_, tensor->name, get_op_type("tengine", "InputOp"), 0);
    if (!node) return last_error();
    return set_ir_node_output_tensor(node, 0, tensor);
}

// Outputs of nodes are created before all nodes, because the nodes of a file may be in any order.
int GraphImport::declare_node_outputs()
{
    for (int i = 0; i < proto_.node_size(); ++i) {
        const NodeProto& node = proto_.node(i);
        for (const std::string& name : node.output()) {
            if (name.empty()) continue;
            struct tensor* tensor = nullptr;
            TENGINE_RETURN_IF_ERROR(
                declare(name, TENGINE_DT_UNKNOWN,
                        node_label(node.op_type(), node_names_[static_cast<size_t>(i)]), &tensor));
        }
    }
    return TENGINE_OK;
}

int GraphImport::add_nodes()
{
    for (int i = 0; i < proto_.node_size(); ++i) {
        NodeProto& proto = *proto_.mutable_node(i);
        const OperatorId& id = operators_[static_cast<size_t>(i)];
        struct node* node = create_ir_node(graph_, node_names_[static_cast<size_t>(i)].c_str(),
                                           id.type, id.version);
        if (!node) return last_error();
        if (id.is_unknown) TENGINE_RETURN_IF_ERROR(describe_unknown(node, proto));
        TENGINE_RETURN_IF_ERROR(set_attributes(node, proto, external_));
        TENGINE_RETURN_IF_ERROR(connect_node(node, proto));
        if (node->op.method->bodies) TENGINE_RETURN_IF_ERROR(read_bodies(node, proto));
        TENGINE_RETURN_IF_ERROR(take_node_metadata(proto, *node, model_->metadata));
        drop_values(&proto);
    }
    return TENGINE_OK;
}

// An operator that only the program knows: "com.example.Fancy", "Fancy" in ONNX's domain.
int GraphImport::describe_unknown(struct node* node, const NodeProto& proto) const
{
    const std::string domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    const std::string op = domain.empty() ? proto.op_type() : domain + "." + proto.op_type();
    const int version = model_->imports.of(proto).at(domain);
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "domain_version", version));
    TENGINE_RETURN_IF_ERROR(set_node_text(node, "op_name", op.data(), op.size()));
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "max_input_num", proto.input_size()));
    return set_node_int(node, "max_output_num", proto.output_size());
}

// No rule gives the types of such operators' results, so the types in the file are used.
int GraphImport::declare_unknown_outputs()
{
    std::unordered_set<int> unknown;
    for (int i = 0; i < graph_->node_num; ++i) {
        const struct node* node = graph_->node_list[i];
        const bool is_open = (node->op.method->traits & OP_OPEN) != 0;
        if (is_open) unknown.insert(node->output_tensors, node->output_tensors + node->output_num);
    }
    if (unknown.empty()) return TENGINE_OK;
    const auto declare_type = [&](const ValueInfoProto& value) {
        const auto known = tensors_.find(value.name());
        if (!is_type_given(value) || known == tensors_.end() || !unknown.count(known->second))
            return static_cast<int>(TENGINE_OK);
        DeclaredTensor declared;
        TENGINE_RETURN_IF_ERROR(
            read_value_info(value, "value " + quote_name(value.name()), &declared));
        return set_ir_tensor_data_type(graph_->tensor_list[known->second], declared.data_type);
    };
    for (const ValueInfoProto& value : proto_.value_info())
        TENGINE_RETURN_IF_ERROR(declare_type(value));
    return TENGINE_OK;
}

int GraphImport::connect_node(struct node* node, const NodeProto& proto)
{
    // The last input is set first, so that the node's lists grow once.
    for (int i = proto.input_size() - 1; i >= 0; --i) {
        if (proto.input(i).empty()) continue;
        struct tensor* tensor = nullptr;
        TENGINE_RETURN_IF_ERROR(find_tensor(proto.input(i), &tensor));
        if (!tensor)
            return tengine_error_set(
                TENGINE_EGRAPH,
                "%s: input %d, %s, is not a graph input, an initializer or the output of a node",
                node_label(proto.op_type(), node->name).c_str(), i,
                quote_name(proto.input(i)).c_str());
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, i, tensor));
    }
    for (int i = proto.output_size() - 1; i >= 0; --i) {
        if (proto.output(i).empty()) continue;
        struct tensor* tensor = get_ir_graph_tensor(graph_, tensors_.at(proto.output(i)));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, i, tensor));
    }
    return TENGINE_OK;
}

// ---- bodies ----

// Null: neither this graph nor one around it has the name.
int GraphImport::find_tensor(const std::string& name, struct tensor** out_tensor)
{
    const auto known = tensors_.find(name);
    if (known != tensors_.end()) {
        *out_tensor = get_ir_graph_tensor(graph_, known->second);
        return TENGINE_OK;
    }
    return outer_ ? capture(name, out_tensor) : TENGINE_OK;
}

int GraphImport::capture(const std::string& name, struct tensor** out_tensor)
{
    struct tensor* outside = nullptr;
    TENGINE_RETURN_IF_ERROR(outer_->find_tensor(name, &outside));
    if (!outside) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(declare(name, outside->data_type, graph_->name, out_tensor));
    (*out_tensor)->tensor_type = TENSOR_TYPE_INPUT;
    inputs_.push_back((*out_tensor)->index);
    captured_.push_back(outside);
    return add_ir_body_input(body_, *out_tensor, true);
}

// The attribute's name lies at `*names`, which then points to the next; null: that was the last.
static std::string take_name(const char** names)
{
    const char* end = std::strchr(*names, '|');
    const std::string name(*names, end ? end : *names + std::strlen(*names));
    *names = end ? end + 1 : nullptr;
    return name;
}

static ::onnx::GraphProto* find_graph(NodeProto& node, const std::string& name)
{
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.name() == name && attribute.has_g()) return attribute.mutable_g();
    return nullptr;
}

int GraphImport::read_bodies(struct node* node, NodeProto& proto)
{
    const char* names = node->op.method->bodies;
    const auto number = 1 + std::count(names, names + std::strlen(names), '|');
    node->core->bodies = create_ir_bodies(static_cast<int>(number));
    if (!node->core->bodies)
        return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory for its graphs",
                                 node->name);
    if (const int last = proto.input_size() - 1; last >= node->input_num)  // absent ones at the end
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, last, nullptr));
    for (int i = 0; names; ++i) {
        const std::string name = take_name(&names);
        ::onnx::GraphProto* graph = find_graph(proto, name);
        if (!graph)
            return tengine_error_set(TENGINE_EGRAPH, "%s: attribute '%s', a graph, is required",
                                     node_label(proto.op_type(), node->name).c_str(), name.c_str());
        TENGINE_RETURN_IF_ERROR(read_body(node, name, *graph, &node->core->bodies->list[i]));
    }
    return TENGINE_OK;
}

int GraphImport::read_body(struct node* node, const std::string& attribute,
                           ::onnx::GraphProto& proto, ir_body_t* body)
{
    body->graph = create_ir_graph(graph_->attribute->context);
    if (!body->graph) return last_error();
    TENGINE_RETURN_IF_ERROR(join_ir_strings(body->graph, graph_));
    const std::string name = node->name + ("/" + attribute);
    TENGINE_RETURN_IF_ERROR(set_ir_graph_name(body->graph, name.c_str()));
    GraphImport import(body->graph, proto, *this, body);
    TENGINE_RETURN_IF_ERROR(import.run());
    body->first_capture = node->input_num;
    for (struct tensor* tensor : import.captured_)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, node->input_num, tensor));
    return TENGINE_OK;
}

// Files may omit the type of outputs, or have an empty one: the nodes then determine it.
static int take_declared_type(const ValueInfoProto& output, const std::string& owner,
                              struct tensor* tensor)
{
    if (!is_type_given(output)) return TENGINE_OK;
    int data_type;
    TENGINE_RETURN_IF_ERROR(read_value_type(output.type(), owner, &data_type));
    if (data_type == TENGINE_DT_UNKNOWN || tensor->tensor_type != TENSOR_TYPE_VAR)
        return TENGINE_OK;
    return set_ir_tensor_data_type(tensor, data_type);
}

// The nodes determine the shape; what the model declares is kept for the names of dimensions.
static int take_declared_shape(const ValueInfoProto& output, const std::string& owner,
                               struct tensor* tensor)
{
    if (!output.type().has_tensor_type() || tensor->tensor_type != TENSOR_TYPE_VAR)
        return TENGINE_OK;
    DeclaredTensor declared;
    const bool is_read = read_value_info(output, owner, &declared) == TENGINE_OK;
    if (!is_read) tengine_error_clear();
    if (!is_read || declared.dim_num < 0) return TENGINE_OK;
    return declare_ir_tensor_shape(tensor, declared.dims, declared.names, declared.dim_num);
}

int GraphImport::find_outputs(std::vector<int32_t>* out_tensors)
{
    for (const ValueInfoProto& output : proto_.output()) {
        const std::string owner = "graph output " + quote_name(output.name());
        struct tensor* tensor = nullptr;
        TENGINE_RETURN_IF_ERROR(find_tensor(output.name(), &tensor));
        if (!tensor)
            return tengine_error_set(
                TENGINE_EGRAPH, "%s is not a graph input, an initializer or the output of a node",
                owner.c_str());
        TENGINE_RETURN_IF_ERROR(take_declared_type(output, owner, tensor));
        if (!outer_) TENGINE_RETURN_IF_ERROR(take_declared_shape(output, owner, tensor));
        out_tensors->push_back(tensor->index);
    }
    return TENGINE_OK;
}

// Outputs first: a node that is both, an input handed through, stays marked as input.
int GraphImport::set_inputs_and_outputs()
{
    std::vector<int32_t> outputs;
    TENGINE_RETURN_IF_ERROR(find_outputs(&outputs));
    std::vector<int32_t> nodes = producers(graph_, outputs);
    if (!nodes.empty())
        TENGINE_RETURN_IF_ERROR(set_ir_graph_output_node(graph_, nodes.data(), count(nodes)));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_output_tensor(graph_, outputs.data(), count(outputs)));
    if (outer_) return set_ir_graph_input_tensor(graph_, inputs_.data(), count(inputs_));
    nodes = producers(graph_, inputs_);
    return nodes.empty() ? TENGINE_OK : set_ir_graph_input_node(graph_, nodes.data(), count(nodes));
}

}  // namespace tengine
