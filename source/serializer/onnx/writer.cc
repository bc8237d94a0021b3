// SPDX-License-Identifier: Apache-2.0
// Graph to ModelProto.
#include "serializer/onnx/writer.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <unordered_set>
#include <vector>

#include "base/replace_file.h"
#include "graph/body.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "graph/option.h"
#include "graph/sequence.h"
#include "onnx/onnx.pb.h"
#include "operator/infer.h"
#include "operator/onnx_form.h"
#include "operator/onnx_type.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "serializer/onnx/external_writer.h"
#include "serializer/onnx/metadata.h"
#include "serializer/onnx/model_frame.h"
#include "serializer/onnx/wire.h"
#include "tengine/log.h"

namespace tengine {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

// The IR version of new models: earlier versions require initialisers to be inputs.
constexpr int kFirstIrVersion = 4;

void fill_tensor_head(int data_type, const int dims[], int dim_num, TensorProto* proto)
{
    proto->set_data_type(get_onnx_type(data_type));
    for (int i = 0; i < dim_num; ++i)
        proto->add_dims(dims[i]);
}

void fill_tensor(int data_type, const int dims[], int dim_num, const void* data, size_t size,
                 TensorProto* proto)
{
    fill_tensor_head(data_type, dims, dim_num, proto);
    if (data_type != TENGINE_DT_STRING) {
        proto->set_raw_data(data, size);
        return;
    }
    const auto* texts = static_cast<const char* const*>(data);
    for (size_t i = 0; i < size / sizeof *texts; ++i)
        proto->add_string_data(texts[i]);
}

// Returns the part of the type that describes a tensor.
::onnx::TypeProto::Tensor* fill_type(int data_type, ::onnx::TypeProto* type)
{
    const int container = get_ir_container(data_type);
    if (container >= TENGINE_DT_OPTIONAL) type = type->mutable_optional_type()->mutable_elem_type();
    if (container % TENGINE_DT_OPTIONAL != 0)
        type = type->mutable_sequence_type()->mutable_elem_type();
    type->mutable_tensor_type()->set_elem_type(get_onnx_type(get_ir_element_type(data_type)));
    return type->mutable_tensor_type();
}

void fill_attribute(const op_field_t& field, const void* memory, AttributeProto* proto)
{
    proto->set_name(field.name);
    switch (static_cast<op_field_kind_t>(field.kind)) {
        case OP_FIELD_INT:
            proto->set_type(AttributeProto::INT);
            proto->set_i(*static_cast<const int*>(memory));
            return;
        case OP_FIELD_FLOAT:
            proto->set_type(AttributeProto::FLOAT);
            proto->set_f(*static_cast<const float*>(memory));
            return;
        case OP_FIELD_STRING:
            proto->set_type(AttributeProto::STRING);
            proto->set_s(*static_cast<const char* const*>(memory));
            return;
        case OP_FIELD_INTS: {
            const auto& list = *static_cast<const op_ints*>(memory);
            proto->set_type(AttributeProto::INTS);
            for (int i = 0; i < list.num; ++i)
                proto->add_ints(list.values[i]);
            return;
        }
        case OP_FIELD_FLOATS: {
            const auto& list = *static_cast<const op_floats*>(memory);
            proto->set_type(AttributeProto::FLOATS);
            for (int i = 0; i < list.num; ++i)
                proto->add_floats(list.values[i]);
            return;
        }
        case OP_FIELD_STRINGS: {
            const auto& list = *static_cast<const op_strings*>(memory);
            proto->set_type(AttributeProto::STRINGS);
            for (int i = 0; i < list.num; ++i)
                proto->add_strings(list.values[i]);
            return;
        }
        case OP_FIELD_TENSOR: {
            const auto& tensor = *static_cast<const op_tensor*>(memory);
            proto->set_type(AttributeProto::TENSOR);
            fill_tensor(tensor.data_type, tensor.dims, tensor.dim_num, tensor.data, tensor.size,
                        proto->mutable_t());
            return;
        }
    }
}

// Whether the node stands for an unknown operator, with its name and attributes.
bool is_unknown(const node& node)
{
    return (node.op.method->traits & OP_OPEN) != 0;
}

struct OperatorName
{
    std::string domain;
    std::string op;
};

OperatorName operator_name_of(const node& node)
{
    if (!is_unknown(node)) return {get_ir_node_domain(&node), get_ir_node_op(&node)};
    const std::string name = get_ir_node_text(&node, "op_name", "");
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? OperatorName{"", name}
                                    : OperatorName{name.substr(0, dot), name.substr(dot + 1)};
}

// Whether the node is an InputOp or a Const, which ONNX does not have.
bool stands_for_value(const node& node)
{
    return node.input_num == 0 && node.op.method->tengine;
}

// The version of a domain that is not ONNX's own.
int version_of_domain(const node& node)
{
    if (is_unknown(node))
        return std::max(1, static_cast<int>(get_ir_node_int(&node, "domain_version", 1)));
    if (node.op.version != NEWEST_KNOWN_OPSET) return node.op.version;
    return std::max(USUAL_OPSET, node.op.method->version);
}

class GraphExport
{
  public:
    GraphExport(const struct graph& graph, const ModelFrame* frame, ExternalWriter* external,
                ModelProto* model)
        : graph_(graph),
          frame_(frame),
          metadata_(find_ir_metadata(&graph)),
          external_(external),
          model_(model)
    {
    }

    int run()
    {
        TENGINE_RETURN_IF_ERROR(choose_opset());
        begin_model();
        name_tensors();
        TENGINE_RETURN_IF_ERROR(add_contents(model_->mutable_graph()));
        describe_inputs_and_outputs(model_->mutable_graph());
        add_opsets();
        return check_meanings();
    }

  private:
    // The writer of a body of `node`, a node of `outer`.
    GraphExport(const ir_body_t& body, const node& node, GraphExport& outer)
        : graph_(*body.graph),
          frame_(nullptr),
          metadata_(outer.metadata_),
          external_(outer.external_),
          model_(outer.model_),
          outer_(&outer)
    {
        names_.resize(static_cast<size_t>(graph_.tensor_num));
        for (int i = 0; i < body.capture_num; ++i) {
            const int32_t captured = body.inputs[body.input_num - body.capture_num + i];
            names_[static_cast<size_t>(captured)] =
                outer.name_of(node.input_tensors[body.first_capture + i]);
        }
        name_tensors();
    }

    int add_contents(GraphProto* proto)
    {
        find_needed_nodes();
        for (int i = 0; i < graph_.tensor_num; ++i)
            if (is_needed(*graph_.tensor_list[i])) add_constant(*graph_.tensor_list[i], proto);
        for (int i = 0; i < graph_.node_num; ++i)
            if (is_needed_[static_cast<size_t>(i)] && !stands_for_value(*graph_.node_list[i]))
                TENGINE_RETURN_IF_ERROR(add_node(*graph_.node_list[i], proto->add_node()));
        return TENGINE_OK;
    }

    // ---- bodies ----

    // Adds the attributes that are graphs, in the order of method.bodies.
    int add_bodies(const node& node, NodeProto* proto)
    {
        const ir_bodies_t* bodies = node.core->bodies;
        const char* name = node.op.method->bodies;
        for (int i = 0; bodies && i < bodies->num; ++i) {
            const size_t length = std::strcspn(name, "|");
            AttributeProto* attribute = proto->add_attribute();
            attribute->set_name(std::string(name, length));
            attribute->set_type(AttributeProto::GRAPH);
            TENGINE_RETURN_IF_ERROR(
                GraphExport(bodies->list[i], node, *this).write_body(bodies->list[i], attribute));
            name += length + 1;
        }
        return TENGINE_OK;
    }

    int write_body(const ir_body_t& body, AttributeProto* attribute)
    {
        GraphProto* proto = attribute->mutable_g();
        proto->set_name(graph_.name);
        TENGINE_RETURN_IF_ERROR(add_contents(proto));
        for (int i = 0; i < body.input_num - body.capture_num; ++i)
            describe(body.inputs[i], proto->add_input());
        for (int i = 0; i < graph_.output_tensor_num; ++i)
            describe(graph_.output_tensors[i], proto->add_output());
        for (const auto& [domain, opset] : opsets_)
            outer_->opsets_[domain] = std::max(outer_->opsets_[domain], opset);
        outer_->written_.insert(outer_->written_.end(), written_.begin(), written_.end());
        return TENGINE_OK;
    }

    // A body uses no names of the graphs around it, except those of its captures.
    bool is_taken_outside(const std::string& name) const
    {
        return outer_ && (outer_->taken_.count(name) > 0 || outer_->is_taken_outside(name));
    }

    // ---- a graph ----

    int choose_opset()
    {
        const auto asked =
            static_cast<int>(get_ir_context_number(graph_.attribute->context, "model.opset"));
        opset_ = choose_onnx_opset(&graph_, asked);
        if (opset_ == 0) return check_onnx_forms(&graph_, asked ? asked : USUAL_OPSET);
        if (asked || opset_ <= USUAL_OPSET) return TENGINE_OK;
        if (check_onnx_forms(&graph_, USUAL_OPSET) != TENGINE_OK)
            TLOG_NOTICE("graph '%s' is written for opset %d: %s", graph_.name, opset_,
                        tengine_error_message());
        tengine_error_clear();
        return TENGINE_OK;
    }

    void begin_model()
    {
        if (frame_)
            *model_ = frame_->model;
        else
            model_->mutable_graph()->set_name(graph_.name);
        write_metadata(metadata_, model_);
        model_->set_ir_version(std::max(get_ir_version_of_opset(opset_), kFirstIrVersion));
    }

    // Names are the connections of ONNX, so each tensor gets its own; inputs and outputs keep
    // theirs.
    void name_tensors()
    {
        names_.resize(static_cast<size_t>(graph_.tensor_num));
        const auto name = [&](int index) {
            std::string& chosen = names_[static_cast<size_t>(index)];
            if (!chosen.empty()) return;
            chosen = graph_.tensor_list[index]->name;
            if (chosen.empty()) chosen = "tensor_" + std::to_string(index);
            while (is_taken_outside(chosen) || !taken_.insert(chosen).second)
                chosen += "_";
        };
        std::for_each_n(graph_.input_tensors, graph_.input_tensor_num, name);
        std::for_each_n(graph_.output_tensors, graph_.output_tensor_num, name);
        for (int i = 0; i < graph_.tensor_num; ++i)
            name(i);
    }

    // A graph whose inputs or outputs were changed has nodes before its inputs and after its
    // outputs.
    void find_needed_nodes()
    {
        is_needed_.resize(static_cast<size_t>(graph_.node_num));
        std::vector<int> tensors(graph_.output_tensors,
                                 graph_.output_tensors + graph_.output_tensor_num);
        while (!tensors.empty()) {
            const struct tensor* tensor = get_ir_graph_tensor(&graph_, tensors.back());
            tensors.pop_back();
            if (!tensor || tensor->producer < 0 || tensor->tensor_type == TENSOR_TYPE_INPUT)
                continue;
            const auto producer = static_cast<size_t>(tensor->producer);
            if (is_needed_[producer]) continue;
            is_needed_[producer] = true;
            const node& node = *graph_.node_list[producer];
            tensors.insert(tensors.end(), node.input_tensors, node.input_tensors + node.input_num);
        }
    }

    // A constant is needed by a node that is, or by a body.
    bool is_needed(const struct tensor& constant) const
    {
        return constant.consumer_num == 0 || is_ir_graph_output(&graph_, constant.index) ||
               std::any_of(constant.consumer, constant.consumer + constant.consumer_num,
                           [&](int node) { return is_needed_[static_cast<size_t>(node)]; });
    }

    const std::string& name_of(int index) const { return names_[static_cast<size_t>(index)]; }

    void add_constant(const struct tensor& tensor, GraphProto* proto) const
    {
        if (tensor.tensor_type != TENSOR_TYPE_CONST) return;
        TensorProto* constant = proto->add_initializer();
        constant->set_name(name_of(tensor.index));
        const size_t size = get_ir_tensor_bytes(&tensor);
        if (tensor.data_type == TENGINE_DT_STRING || !external_->takes(size))
            return fill_tensor(tensor.data_type, tensor.dims, tensor.dim_num, tensor.data, size,
                               constant);
        fill_tensor_head(tensor.data_type, tensor.dims, tensor.dim_num, constant);
        external_->add(tensor.data, size, constant);
    }

    // An absent input has an empty name; absent ones at the end have none.
    static int count_named_inputs(const node& node)
    {
        int count = count_ir_own_inputs(&node);
        while (!node.core->bodies && count > 0 && node.input_tensors[count - 1] < 0)
            --count;
        return count;
    }

    int add_node(const node& node, NodeProto* proto)
    {
        if (node.op.method->tengine && node.op.method->lower)
            return fail_node(&node, TENGINE_ENOTSUP,
                             "is an operator of Tengine without an ONNX equivalent");
        const OperatorName name = operator_name_of(node);
        if (!has_onnx_opset(&node)) {
            int& version = opsets_[name.domain];
            version = std::max(version, version_of_domain(node));
            written_.push_back(&node);
        }
        proto->set_name(node.name);
        proto->set_op_type(name.op);
        if (!name.domain.empty()) proto->set_domain(name.domain);
        for (int i = 0; i < count_named_inputs(node); ++i)
            proto->add_input(node.input_tensors[i] < 0 ? "" : name_of(node.input_tensors[i]));
        for (int i = 0; i < node.output_num; ++i)
            proto->add_output(node.output_tensors[i] < 0 ? "" : name_of(node.output_tensors[i]));
        if (const char* text = find_ir_node_doc_string(metadata_, node.name); *text)
            proto->set_doc_string(text);
        add_attributes(node, proto);
        return add_bodies(node, proto);
    }

    static void add_attribute(const node& node, const op_field_t& field, NodeProto* proto)
    {
        const void* memory = static_cast<const char*>(node.op.param_mem) + field.offset;
        AttributeProto* attribute = proto->add_attribute();
        const bool is_type = std::strcmp(get_ir_node_op(&node), "Optional") == 0;
        if (!is_type) return fill_attribute(field, memory, attribute);
        attribute->set_name(field.name);
        attribute->set_type(AttributeProto::TYPE_PROTO);
        fill_type(*static_cast<const int*>(memory), attribute->mutable_tp());
    }

    // Adds the attributes that the model lists, in its order, then all others that are not the
    // default.
    void add_attributes(const node& node, NodeProto* proto) const
    {
        const method& method = *node.op.method;
        const int version = has_onnx_opset(&node) ? opset() : node.op.version;
        std::unordered_set<const op_field_t*> listed;
        if (frame_ && frame_->attributes.count(node.name)) {
            for (const std::string& name : frame_->attributes.at(node.name)) {
                const op_field_t* field = find_op_field(&method, name.c_str(), version);
                if (field && listed.insert(field).second) add_attribute(node, *field, proto);
            }
        }
        // An unknown operator has only the fields that were added to the row from the file.
        const int first = is_unknown(node) ? find_op_method(node.op.type, 0)->field_num : 0;
        for (int i = first; i < method.field_num; ++i) {
            const op_field_t& field = method.fields[i];
            if (has_own_param(&node, &field) && !listed.count(&field))
                add_attribute(node, field, proto);
        }
    }

    int opset() const { return outer_ ? outer_->opset() : opset_; }

    void describe(int index, ::onnx::ValueInfoProto* proto) const
    {
        const struct tensor& tensor = *graph_.tensor_list[index];
        proto->set_name(name_of(index));
        if (tensor.data_type == TENGINE_DT_UNKNOWN) return;
        auto* type = fill_type(tensor.data_type, proto->mutable_type());
        if (get_ir_container(tensor.data_type) != 0) return;
        const struct tensor* declared = find_declared(tensor);
        if (tensor.shape_set)
            fill_shape(tensor.dims, tensor.dim_num, declared, type);
        else if (declared && is_ir_shape_declared(declared))
            fill_shape(declared->core->declaration->dims, declared->core->declaration->dim_num,
                       declared, type);
    }

    static void fill_shape(const int dims[], int dim_num, const struct tensor* declared,
                           ::onnx::TypeProto::Tensor* type)
    {
        type->mutable_shape();
        for (int i = 0; i < dim_num; ++i) {
            auto* dim = type->mutable_shape()->add_dim();
            const char* name = declared ? get_ir_tensor_dim_name(declared, i) : "";
            if (dims[i] >= 0)
                dim->set_dim_value(dims[i]);
            else if (*name)
                dim->set_dim_param(name);
        }
    }

    // The tensor in the model, of which the graph may be a copy in another opset; or null.
    const struct tensor* find_declared(const struct tensor& tensor) const
    {
        if (tensor.core->declaration || !graph_.core->source) return &tensor;
        return get_ir_graph_tensor(graph_.core->source, tensor.core->source_index);
    }

    // Whether the inputs have the shapes that the model declares; the declared shapes of computed
    // tensors are then valid, too.
    bool has_declared_shapes() const
    {
        const auto& declared = model_->graph().input();
        if (!frame_ || declared.size() != graph_.input_tensor_num) return false;
        for (int i = 0; i < declared.size(); ++i)
            if (!is_declared(*graph_.tensor_list[graph_.input_tensors[i]], declared.Get(i)))
                return false;
        return true;
    }

    static bool is_declared(const struct tensor& tensor, const ::onnx::ValueInfoProto& declared)
    {
        const auto& type = declared.type().tensor_type();
        if (declared.name() != tensor.name || type.elem_type() != get_onnx_type(tensor.data_type) ||
            type.has_shape() != (tensor.shape_set != 0) ||
            type.shape().dim_size() != tensor.dim_num)
            return false;
        for (int i = 0; i < tensor.dim_num; ++i) {
            const auto& dim = type.shape().dim(i);
            const bool is_open = !dim.has_dim_value() || dim.dim_value() < 0;
            if (tensor.dims[i] != (is_open ? -1 : dim.dim_value())) return false;
        }
        return true;
    }

    void describe_inputs_and_outputs(GraphProto* proto) const
    {
        const bool keeps_shapes = has_declared_shapes();
        proto->clear_output();
        if (!keeps_shapes) {
            proto->clear_input();
            proto->clear_value_info();
            for (int i = 0; i < graph_.input_tensor_num; ++i)
                describe(graph_.input_tensors[i], proto->add_input());
        }
        for (int i = 0; i < graph_.output_tensor_num; ++i) {
            const auto* declared = keeps_shapes ? find_output(graph_.output_tensors[i]) : nullptr;
            if (declared)
                *proto->add_output() = *declared;
            else
                describe(graph_.output_tensors[i], proto->add_output());
        }
    }

    // The model's declaration of an output, or null.
    const ::onnx::ValueInfoProto* find_output(int index) const
    {
        for (const auto& output : frame_->model.graph().output())
            if (output.name() == name_of(index)) return &output;
        return nullptr;
    }

    // The model's own import of a domain, or null.
    ::onnx::OperatorSetIdProto* find_opset(const std::string& domain) const
    {
        for (auto& opset : *model_->mutable_opset_import())
            if (opset.domain() == domain || (domain.empty() && opset.domain() == "ai.onnx"))
                return &opset;
        return nullptr;
    }

    void add_opsets()
    {
        if (auto* given = find_opset(""))
            given->set_version(opset_);
        else
            opsets_[""] = opset_;
        for (const auto& [domain, version] : opsets_) {
            if (auto* given = find_opset(domain)) {
                given->set_version(std::max<int64_t>(given->version(), version));
                continue;
            }
            auto* opset = model_->add_opset_import();
            opset->set_domain(domain);
            opset->set_version(version);
        }
    }

    // A file has one version of each domain, but nodes of functions may have another. The optimizer
    // converts those of ONNX's own domain.
    int check_meanings() const
    {
        for (const node* written : written_) {
            const OperatorName name = operator_name_of(*written);
            const auto version = static_cast<int>(find_opset(name.domain)->version());
            const int own = version_of_domain(*written);
            if (own == version || means_the_same(*written, version)) continue;
            return fail_node(written, TENGINE_ENOTSUP,
                             "is written for opset %d and means something else in opset %d, which "
                             "other nodes of the model need: an ONNX file cannot hold both",
                             own, version);
        }
        return TENGINE_OK;
    }

    static bool means_the_same(const node& node, int version)
    {
        const method& method = *node.op.method;
        if (is_unknown(node) || find_op_method(node.op.type, version) != &method) return false;
        for (int i = 0; i < method.field_num; ++i) {
            const op_field_t& field = method.fields[i];
            if (has_own_param(&node, &field) &&
                find_op_field(&method, field.name, version) != &field)
                return false;
        }
        return true;
    }

    const struct graph& graph_;
    const ModelFrame* frame_;
    const struct ir_metadata* metadata_;
    ExternalWriter* external_;
    ModelProto* model_;
    GraphExport* outer_ = nullptr;  // for a body: that of the graph around it
    std::vector<std::string> names_;
    std::unordered_set<std::string> taken_;  // names of these, except captures
    std::vector<bool> is_needed_;            // by node: an output of the graph depends on it
    int opset_ = 0;                          // of ONNX's own domain
    std::map<std::string, int> opsets_;      // of the other domains
    std::vector<const node*> written_;       // the nodes of these, also those of bodies
};

}  // namespace

int save_onnx_file(const struct graph& graph, const ModelFrame* frame, const char* path)
{
    google::protobuf::Arena arena;
    ModelProto& model = *make_message<ModelProto>(&arena);
    ExternalWriter external(graph, path);
    TENGINE_RETURN_IF_ERROR(GraphExport(graph, frame, &external, &model).run());
    const size_t size = model.ByteSizeLong();
    if (size > INT_MAX)
        return tengine_error_set(
            TENGINE_ELIMIT,
            "graph '%s' has %zu bytes beside its weights; an ONNX file (protobuf) has at most %d",
            graph.name, size, INT_MAX);
    std::string bytes;
    if (!model.SerializeToString(&bytes))
        return tengine_error_set(TENGINE_EINTERNAL, "graph '%s' cannot be written as ONNX",
                                 graph.name);
    TENGINE_RETURN_IF_ERROR(external.write());
    return replace_file(path, bytes.data(), bytes.size());
}

}  // namespace tengine
