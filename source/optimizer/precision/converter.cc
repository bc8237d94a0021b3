// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/converter.h"

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/pass.h"
#include "optimizer/precision/halves.h"
#include "optimizer/precision/product_bias.h"
#include "optimizer/precision/quantization.h"

namespace tengine {
namespace {

// Whether the node changes types itself.
bool changes_types(const node& node)
{
    for (const char* op : {"Cast", "CastLike", "QuantizeLinear", "DequantizeLinear"})
        if (is_op(&node, op)) return true;
    return false;
}

// Inputs that are parameters, and fp32 for any type of data.
struct Parameters
{
    const char* op;
    int first, last;
};

constexpr Parameters kParameters[] = {
    {"Resize", 1, 2},  // roi, scales
};

bool is_parameter(const node& node, int index)
{
    for (const Parameters& row : kParameters)
        if (is_op(&node, row.op) && index >= row.first && index <= row.last) return true;
    return false;
}

// Whether the node computes fp32 from fp32, and has no other float type.
bool computes_in_float(const node& node)
{
    bool reads = false, writes = false;
    if (node.op.method->traits & OP_RANDOM) return false;
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (!input) continue;
        const int type = input->data_type;
        if (type == TENGINE_DT_FP16 || type == TENGINE_DT_BF16 || type == TENGINE_DT_FP64)
            return false;
        reads = reads || (type == TENGINE_DT_FP32 && !is_parameter(node, i) &&
                          input->tensor_type != TENSOR_TYPE_CONST);
    }
    for (int i = 0; i < node.output_num; ++i) {
        const tensor* output = get_ir_node_output(&node, i);
        writes = writes || (output && output->data_type == TENGINE_DT_FP32);
    }
    return reads && writes;
}

}  // namespace

Converter::Converter(struct graph& graph, const struct device* device, const Candidates& candidates,
                     int data_type)
    : rewriter_(graph, device, candidates), data_type_(data_type)
{
    for (int i = 0; i < graph.tensor_num; ++i) {
        tensor* tensor = graph.tensor_list[i];
        if (tensor && tensor->tensor_type == TENSOR_TYPE_CONST && tensor->core->source_index >= 0 &&
            tensor->data_type == data_type)
            model_copies_[tensor->core->source_index] = tensor;
    }
}

String Converter::name_of(const tensor& value) const
{
    return String(value.name) + "." + get_data_type_name(data_type_);
}

// ---- inputs ----

tensor* Converter::find_copy(const tensor& value) const
{
    const auto copy = copies_.find(value.index);
    if (copy != copies_.end()) return copy->second;
    const auto known = model_copies_.find(value.core->source_index);
    return known == model_copies_.end() ? nullptr : known->second;
}

// All preparations share the copy of a constant of the model.
tensor* Converter::narrow_constant(const tensor& value)
{
    if (tensor* known = find_copy(value)) return known;
    static const char kinds[2] = {};  // copied at once; late
    const tensor* origin = rewriter_.find_late_origin(value);
    ir_pack_key_t key = {};
    key.kind = is_ir_model_constant(&value) ? &kinds[origin ? 1 : 0] : nullptr;
    key.constants[0] = value.data;
    key.sizes[0] = data_type_;
    key.sizes[1] = value.elem_num;
    const auto fill = [&](void* memory) {
        narrow_floats(value.data, value.elem_num, data_type_, static_cast<uint16_t*>(memory));
    };
    using Fill = decltype(fill);
    const auto call = [](void* memory, void* argument) { (*static_cast<Fill*>(argument))(memory); };
    const Vector<int> dims(value.dims, value.dims + value.dim_num);
    tensor* made =
        origin ? rewriter_.add_late_constant(
                     name_of(value), data_type_, dims, key,
                     {origin->index, origin->data, origin->elem_num, {}, make_halves})
               : rewriter_.add_shared_constant(name_of(value), data_type_, dims, key, call,
                                               const_cast<void*>(static_cast<const void*>(&fill)));
    if (made) made->core->source_index = value.core->source_index;
    return made;
}

// The tensor in the narrow type, if the graph has it: it was widened, or is narrowed already.
tensor* Converter::find_narrow(const tensor& value) const
{
    const graph& graph = rewriter_.graph();
    const node* producer = producer_of(graph, &value);
    if (is_op(producer, "Cast")) {
        tensor* origin = get_ir_node_input(producer, 0);
        if (origin->data_type == data_type_) return origin;
    }
    for (int i = 0; i < value.consumer_num; ++i) {
        const node* reader = get_ir_graph_node(&graph, value.consumer[i]);
        if (!is_op(reader, "Cast")) continue;
        tensor* result = get_ir_node_output(reader, 0);
        if (result->data_type == data_type_) return result;
    }
    return nullptr;
}

tensor* Converter::narrow(tensor* value)
{
    if (!value || value->data_type != TENGINE_DT_FP32) return value;
    if (value->tensor_type == TENSOR_TYPE_CONST) return narrow_constant(*value);
    if (tensor* known = find_narrow(*value)) return known;
    const String name = name_of(*value);
    return rewriter_.add_cast(value, data_type_, name);
}

// Only copies whose nodes stay may be used again.
void Converter::remember_copies(const node& origin, const node& made)
{
    for (int i = 0; i < origin.input_num; ++i) {
        const tensor* wide = get_ir_node_input(&origin, i);
        tensor* narrow = get_ir_node_input(&made, i);
        if (wide && wide != narrow && wide->tensor_type == TENSOR_TYPE_CONST)
            copies_[wide->index] = narrow;
    }
}

// ---- nodes ----

// Readers in fp32, and the graph's outputs, keep their tensor.
bool Converter::widen_outputs(node& origin, node& made)
{
    Vector<tensor*> wide, narrow;
    for (int i = 0; i < origin.output_num; ++i) {
        wide.push_back(get_ir_node_output(&origin, i));
        narrow.push_back(get_ir_node_output(&made, i));
    }
    destroy_ir_node(&rewriter_.graph(), &origin);
    for (size_t i = 0; i < wide.size(); ++i) {
        if (!wide[i]) continue;
        int status = TENGINE_OK;
        if (wide[i]->data_type == narrow[i]->data_type) {
            status = set_ir_node_output_tensor(&made, static_cast<int>(i), wide[i]);
        } else {
            const tensor* cast =
                rewriter_.add_cast(narrow[i], TENGINE_DT_FP32, String(wide[i]->name) + ".fp32");
            if (!cast) return false;
            status = set_ir_node_output_tensor(producer_of(rewriter_.graph(), cast), 0, wide[i]);
        }
        rewriter_.fail(status);
    }
    return rewriter_.status() >= 0;
}

bool Converter::convert(node& node)
{
    NodeDraft draft = {get_ir_node_domain(&node),
                       get_ir_node_op(&node),
                       node.name,
                       node.core->source_index,
                       {},
                       {},
                       &node};
    for (int i = 0; i < node.input_num; ++i) {
        tensor* input = get_ir_node_input(&node, i);
        draft.inputs.push_back(is_parameter(node, i) ? input : narrow(input));
        if (input && !draft.inputs.back()) return false;
    }
    for (int i = 0; i < node.output_num; ++i) {
        const tensor* output = get_ir_node_output(&node, i);
        draft.outputs.push_back(output ? name_of(*output) : "");
    }
    struct node* made = rewriter_.add_device_node(draft);
    if (!made) return false;
    for (int i = 0; i < node.output_num; ++i) {
        const tensor* wide = get_ir_node_output(&node, i);
        const tensor* narrow = get_ir_node_output(made, i);
        if (!wide) continue;
        const int type = wide->data_type == TENGINE_DT_FP32 ? data_type_ : wide->data_type;
        if (narrow->data_type != type || !has_same_shape(*wide, *narrow)) return false;
    }
    remember_copies(node, *made);
    return widen_outputs(node, *made);
}

int Converter::run()
{
    const int node_num = rewriter_.graph().node_num;  // added nodes are not visited
    for (int i = 0; i < node_num; ++i) {
        node* node = rewriter_.graph().node_list[i];
        if (!node || node->core->keep_float || node->dynamic_shape || changes_types(*node) ||
            !computes_in_float(*node))
            continue;
        if (data_type_ == TENGINE_DT_FP16 && wide_.has(*node)) continue;
        rewriter_.begin();
        if (!convert(*node)) rewriter_.take_back();
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
    }
    return TENGINE_OK;
}

}  // namespace tengine
