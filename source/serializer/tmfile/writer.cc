// SPDX-License-Identifier: Apache-2.0
// The records are in the order of the original writer: the data that a record refers to precede it,
// and the header is filled in last. An operator's parameter record directly precedes the
// operator's, which gives its length.
#include "serializer/tmfile/writer.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "operator/infer.h"
#include "serializer/tmfile/compiled_parts.h"
#include "serializer/tmfile/entries.h"
#include "serializer/tmfile/extension.h"
#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile/layout.h"
#include "serializer/tmfile/metadata.h"
#include "serializer/tmfile/parameters.h"
#include "serializer/tmfile/texts.h"

namespace tengine::tmfile {
namespace {

int fail_too_large()
{
    return tengine_error_set(TENGINE_ELIMIT,
                             "the model is larger than 4 GiB, the limit of a tmfile");
}

class ModelWriter
{
  public:
    ModelWriter(const struct graph& graph, FileBuilder& builder)
        : graph_(graph), is_nhwc_(graph.model_layout == TENGINE_LAYOUT_NHWC), builder_(builder)
    {
    }

    // Writes the graph and, at last, the model's record.
    int run(uint32_t* out_root);
    int run_execution(SubgraphRecord* out_subgraph)
    {
        is_execution_ = true;
        is_nhwc_ = false;
        return write_contents(out_subgraph);
    }

  private:
    using StateTensor = struct tensor* (*)(const struct graph* graph, int index);

    Vector<int32_t> list_nodes(const int32_t* nodes, int number, StateTensor of_state);
    int write_contents(SubgraphRecord* out_subgraph);
    int write_body(const ir_body_t& body, uint32_t* out_offset);
    int write_bodies(const struct node& node, Vector<uint32_t>* out_attributes);
    int write_node(const struct node& node, uint32_t* out_offset);
    int write_operator(const struct node& node, OperatorRecord* out_record);
    int write_tensor(const struct tensor& tensor, uint32_t* out_offset);
    int write_quantisation(const struct tensor& tensor, uint32_t* out_offset);
    uint32_t write_dims(const struct tensor& tensor);
    uint32_t write_values(const struct tensor& tensor);
    bool is_without_values(const struct tensor& tensor) const;
    template <class Item, class Write>
    int write_list(Item* const* items, int number, Write write, uint32_t* out_vector);

    const struct graph& graph_;
    bool is_nhwc_;
    bool is_execution_ = false;
    FileBuilder& builder_;
    const ir_body_t* body_ = nullptr;         // the body that the graph is
    Vector<const struct tensor*> constants_;  // by buffer
};

template <class Item, class Write>
int ModelWriter::write_list(Item* const* items, int number, Write write, uint32_t* out_vector)
{
    Vector<uint32_t> offsets(static_cast<size_t>(number));
    for (int i = 0; i < number; ++i) {
        TENGINE_RETURN_IF_ERROR((this->*write)(*items[i], &offsets[static_cast<size_t>(i)]));
        if (builder_.is_too_large()) return fail_too_large();
    }
    *out_vector = builder_.add_vector(offsets);
    return TENGINE_OK;
}

// States (graph/state.h) are inputs and outputs of the file, whose properties name them.
Vector<int32_t> ModelWriter::list_nodes(const int32_t* nodes, int number, StateTensor of_state)
{
    Vector<int32_t> list(nodes, nodes + number);
    for (int i = 0; i < count_ir_states(&graph_); ++i) {
        const int32_t producer = of_state(&graph_, i)->producer;
        if (std::find(list.begin(), list.end(), producer) == list.end()) list.push_back(producer);
    }
    return list;
}

int ModelWriter::run(uint32_t* out_root)
{
    if (graph_.output_num == 0)
        return tengine_error_set(TENGINE_EGRAPH, "the graph has no output nodes to write");
    SubgraphRecord subgraph = {};
    subgraph.graph_layout = subgraph.model_layout = graph_.model_layout;
    TENGINE_RETURN_IF_ERROR(write_contents(&subgraph));
    const Vector<int32_t> inputs =
        list_nodes(graph_.input_nodes, graph_.input_num, get_ir_state_input);
    const Vector<int32_t> outputs =
        list_nodes(graph_.output_nodes, graph_.output_num, get_ir_state_output);
    subgraph.inputs = builder_.add_vector(inputs.data(), inputs.size());
    subgraph.outputs = builder_.add_vector(outputs.data(), outputs.size());
    const CompiledParts compiled = write_compiled_parts(builder_, graph_);
    subgraph.parts = compiled.parts;
    ModelRecord model = {};
    model.name = *graph_.name ? builder_.add_string(graph_.name) : 0;
    const uint32_t subgraphs[] = {builder_.add(subgraph)};
    model.subgraphs = builder_.add_vector(subgraphs, 1);
    model.origin = graph_.model_format;
    MetadataRecord metadata = {};
    if (write_metadata(builder_, graph_, &metadata)) builder_.add(metadata);
    if (compiled.parts != 0) builder_.add(compiled.record);
    *out_root = builder_.add(model);
    return builder_.is_too_large() ? fail_too_large() : TENGINE_OK;
}

int ModelWriter::write_contents(SubgraphRecord* out_subgraph)
{
    TENGINE_RETURN_IF_ERROR(write_list(graph_.node_list, graph_.node_num, &ModelWriter::write_node,
                                       &out_subgraph->nodes));
    TENGINE_RETURN_IF_ERROR(write_list(graph_.tensor_list, graph_.tensor_num,
                                       &ModelWriter::write_tensor, &out_subgraph->tensors));
    Vector<uint32_t> buffers;
    for (const struct tensor* constant : constants_)
        buffers.push_back(write_values(*constant));
    out_subgraph->buffers = builder_.add_vector(buffers);
    return TENGINE_OK;
}

// ---- bodies ----

int ModelWriter::write_body(const ir_body_t& body, uint32_t* out_offset)
{
    body_ = &body;
    SubgraphRecord subgraph = {};
    TENGINE_RETURN_IF_ERROR(write_contents(&subgraph));
    const CompiledParts compiled = write_compiled_parts(builder_, graph_);
    subgraph.parts = compiled.parts;
    BodyRecord record = {};
    record.subgraph = builder_.add(subgraph);
    record.inputs = builder_.add_vector(body.inputs, static_cast<size_t>(body.input_num));
    record.outputs =
        builder_.add_vector(graph_.output_tensors, static_cast<size_t>(graph_.output_tensor_num));
    record.capture_num = static_cast<uint32_t>(body.capture_num);
    if (compiled.parts != 0) builder_.add(compiled.record);
    *out_offset = builder_.add(record);
    return TENGINE_OK;
}

int ModelWriter::write_bodies(const struct node& node, Vector<uint32_t>* out_attributes)
{
    const ir_bodies_t* bodies = node.core->bodies;
    const char* name = node.op.method->bodies;
    for (int i = 0; bodies && i < bodies->num; ++i) {
        uint32_t body = 0;
        TENGINE_RETURN_IF_ERROR(
            ModelWriter(*bodies->list[i].graph, builder_).write_body(bodies->list[i], &body));
        const size_t length = std::strcspn(name, "|");
        out_attributes->push_back(write_body_attribute(builder_, {name, length}, body));
        name += length + 1;
    }
    return TENGINE_OK;
}

// A body's input may be a constant in this graph and a tensor in another.
static bool is_body_input(const ir_body_t* body, const struct tensor& tensor)
{
    return body && std::find(body->inputs, body->inputs + body->input_num, tensor.index) !=
                       body->inputs + body->input_num;
}

// ---- nodes and tensors ----

// Writes lists of tensors; an absent one is -1 in the file, too.
uint32_t write_indices(FileBuilder& builder, const int32_t* list, int number)
{
    return number > 0 ? builder.add_vector(list, static_cast<size_t>(number)) : 0;
}

int ModelWriter::write_node(const struct node& node, uint32_t* out_offset)
{
    NodeRecord record = {};
    record.id = static_cast<uint32_t>(node.index);
    record.name = builder_.add_string(node.name);
    record.inputs = write_indices(builder_, node.input_tensors, node.input_num);
    record.outputs = write_indices(builder_, node.output_tensors, node.output_num);
    OperatorRecord op = {};
    const bool is_open = (node.op.method->traits & OP_OPEN) != 0;
    Vector<uint32_t> bodies;
    TENGINE_RETURN_IF_ERROR(write_bodies(node, &bodies));
    if (!node.op.method->tengine || is_open || is_execution_)
        record.attributes = write_attributes(builder_, node, is_execution_, std::move(bodies));
    TENGINE_RETURN_IF_ERROR(write_operator(node, &op));
    record.op = builder_.add(op);
    record.dynamic_shape = node.dynamic_shape;
    *out_offset = builder_.add(record);
    return TENGINE_OK;
}

int ModelWriter::write_operator(const struct node& node, OperatorRecord* out_record)
{
    const struct tengine_record* tengine = node.op.method->tengine;
    if (!tengine || is_execution_) {
        out_record->type = kExtensionType;
        out_record->version = static_cast<uint32_t>(node.op.version);
        out_record->param = write_operator_name(builder_, node);
        return TENGINE_OK;
    }
    if (tengine->id < 0)
        return fail_node(&node, TENGINE_EOPERATOR,
                         "operator %s of Tengine has no number in tmfiles", get_ir_node_op(&node));
    out_record->type = static_cast<uint32_t>(tengine->id);
    out_record->version = 1;
    return write_parameters(builder_, node, is_nhwc_, &out_record->param);
}

int ModelWriter::write_tensor(const struct tensor& tensor, uint32_t* out_offset)
{
    const bool is_input = is_body_input(body_, tensor);
    const bool is_constant = tensor.tensor_type == TENSOR_TYPE_CONST && !is_input;
    if (is_constant && !is_ir_tensor_shape_known(&tensor))
        return tengine_error_set(TENGINE_EGRAPH, "the shape of the constant '%s' is not known",
                                 tensor.name);
    if (is_constant && get_ir_tensor_bytes(&tensor) > UINT32_MAX) return fail_too_large();
    const bool is_text = tensor.data_type == TENGINE_DT_STRING;
    if (is_constant && is_nhwc_ && (is_text || get_data_type_bits(tensor.data_type) < 8))
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "constant '%s' is %s, which a tmfile in NHWC does not have",
                                 tensor.name, get_data_type_name(tensor.data_type));
    TensorRecord record = {};
    record.id = static_cast<uint32_t>(tensor.index);
    record.buffer = kAbsentTensor;
    record.name = builder_.add_string(tensor.name);
    record.dims = tensor.shape_set ? write_dims(tensor) : 0;
    TENGINE_RETURN_IF_ERROR(write_quantisation(tensor, &record.quantisation));
    record.type = is_input ? int{TENSOR_TYPE_INPUT} : int{tensor.tensor_type};
    record.data_type = tensor.data_type;
    if (is_constant && !(is_execution_ && find_ir_origin(&graph_, &tensor))) {
        record.buffer = static_cast<uint32_t>(constants_.size());
        constants_.push_back(&tensor);
    }
    *out_offset = builder_.add(record);
    return TENGINE_OK;
}

uint32_t ModelWriter::write_dims(const struct tensor& tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    std::copy_n(tensor.dims, tensor.dim_num, dims);
    if (is_nhwc_ && tensor.dim_num == 4) dims_to_nhwc(dims);
    return builder_.add_vector(dims, tensor.dim_num);
}

int ModelWriter::write_quantisation(const struct tensor& tensor, uint32_t* out_offset)
{
    *out_offset = 0;
    const int number = tensor.quant_param_num;
    if (number == 0) return TENGINE_OK;
    if (number > 1 && tensor.quant_axis != 0 && !is_execution_)
        return tengine_error_set(
            TENGINE_ENOTSUP,
            "tensor '%s' has scales along dimension %d, a tmfile stores them along dimension 0",
            tensor.name, tensor.quant_axis);
    Vector<uint32_t> offsets;
    for (int i = 0; i < number; ++i) {
        QuantRecord record = {};
        record.scale = number == 1 ? tensor.scale : tensor.scale_list[i];
        record.zero_point = number == 1 ? tensor.zero_point : tensor.zp_list[i];
        offsets.push_back(builder_.add(record));
    }
    *out_offset = builder_.add_vector(offsets);
    return TENGINE_OK;
}

// Constants that had no values in the file, and got none from the program, are written without.
bool ModelWriter::is_without_values(const struct tensor& tensor) const
{
    if (!tensor.data) return true;
    const FileImage* image = find_image(graph_);
    return image && image->is_without_values(tensor.data, get_ir_tensor_bytes(&tensor));
}

uint32_t ModelWriter::write_values(const struct tensor& tensor)
{
    const size_t bytes = get_ir_tensor_bytes(&tensor);
    BufferRecord record = {};
    if (IR_HAS_STRINGS && tensor.data_type == TENGINE_DT_STRING) {
        const String texts = encode_texts(static_cast<const char* const*>(tensor.data),
                                          static_cast<size_t>(tensor.elem_num));
        record.size = static_cast<uint32_t>(texts.size());
        record.data = builder_.add_data(texts.data(), texts.size(), kBufferAlignment);
        return builder_.add(record);
    }
    record.size = static_cast<uint32_t>(bytes);
    if (is_without_values(tensor)) return builder_.add(record);
    if (is_nhwc_ && tensor.dim_num == 4) {
        Vector<char> permuted(bytes);
        values_to_nhwc(&tensor, static_cast<const char*>(tensor.data), permuted.data());
        record.data = builder_.add_data(permuted.data(), bytes, kBufferAlignment);
    } else {
        record.data = builder_.add_data(tensor.data, bytes, kBufferAlignment);
    }
    return builder_.add(record);
}

}  // namespace

int write_model(const Vector<const struct graph*>& graphs, const char* const names[],
                Vector<char>* out_bytes)
{
    FileBuilder builder;
    HeaderRecord header = {};
    header.main_version = kMainVersion;
    builder.add(header);
    const bool has_entries = graphs.size() > 1;
    if (has_entries) {
        builder.keep_once();
        reserve_entries(builder);
    }
    Vector<uint32_t> roots(graphs.size());
    for (size_t i = 0; i < graphs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(ModelWriter(*graphs[i], builder).run(&roots[i]));
    if (has_entries) write_entries(builder, names, roots);
    if (builder.is_too_large()) return fail_too_large();
    header.root = roots[0];
    builder.overwrite(0, header);
    *out_bytes = builder.take();
    return TENGINE_OK;
}

int write_execution(const struct graph& execution, FileBuilder& builder,
                    SubgraphRecord* out_subgraph)
{
    return ModelWriter(execution, builder).run_execution(out_subgraph);
}

}  // namespace tengine::tmfile
