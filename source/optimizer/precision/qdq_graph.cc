// SPDX-License-Identifier: Apache-2.0
// Rebuilds the graph node by node. The contract is in qdq_graph.h.
#include "optimizer/precision/qdq_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/alloc.h"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/pass.h"
#include "optimizer/precision/dynamic_builder.h"

namespace tengine {
namespace {

constexpr int kFirstOpset = 10;            // the first with QuantizeLinear
constexpr int kFirstPerChannelOpset = 13;  // the first in which it has an axis
constexpr int kFirstDynamicOpset = 11;     // the first with DynamicQuantizeLinear

// The opset of ONNX's own operators; the newest if there are none.
int opset_of(const graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        if (!*get_ir_node_domain(&node) && !node.op.method->tengine) return node.op.version;
    }
    return 0;
}

// The opset of the new nodes; those of the base keep their own.
int find_written_opset(const graph& base, const tengine_quantization& how)
{
    const int opset = opset_of(base);
    const int first = how.dynamic                             ? kFirstDynamicOpset
                      : how.per_channel == TENGINE_PER_TENSOR ? kFirstOpset
                                                              : kFirstPerChannelOpset;
    return opset == 0 ? 0 : std::max(opset, first);
}

int check_finite(const tensor& value)
{
    const bool is_finite = std::all_of(value.f32, value.f32 + value.elem_num,
                                       [](float element) { return std::isfinite(element); });
    if (is_finite) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "constant '%s' has values that are not finite",
                             value.name);
}

// A constant value for each output channel; null if the node has none.
const tensor* find_bias(const node& from, int channels)
{
    const tensor* bias = get_ir_node_input(&from, 2);
    const bool fits = is_constant(bias) && bias->data_type == TENGINE_DT_FP32 &&
                      bias->dim_num == 1 && bias->dims[0] == channels;
    return fits ? bias : nullptr;
}

// A weight that was written, for nodes that need the same scales.
struct WrittenWeight
{
    Vector<float> scales;
    int axis;
    tensor* dequantized;
};

class Writer
{
  public:
    Writer(const graph& base, graph& target, const Vector<TensorQuantization>& quantizations,
           const tengine_quantization& how)
        : base_(base),
          builder_(target, find_written_opset(base, how)),
          dynamic_(builder_),
          quantizations_(quantizations),
          how_(how),
          units_(static_cast<size_t>(base.node_num), nullptr),
          tensors_(static_cast<size_t>(base.tensor_num))
    {
    }

    int run(const Vector<QuantizedUnit>& units)
    {
        for (const QuantizedUnit& unit : units)
            mark(unit);
        copy_tensors();
        add_inputs();
        for (int i = 0; i < base_.node_num; ++i)
            write_node(*base_.node_list[i]);
        TENGINE_RETURN_IF_ERROR(builder_.status());
        TENGINE_RETURN_IF_ERROR(set_inputs_and_outputs());
        TENGINE_RETURN_IF_ERROR(settle_constants());
        return tidy_graph(target());
    }

  private:
    // The copy of a tensor of the base.
    struct Target
    {
        String name;
        tensor* copy = nullptr;
        tensor* dequantized = nullptr;  // its dequantised value after the pair
        bool is_written = false;        // the result of a unit
        Vector<WrittenWeight> weights;
    };

    graph& target() const { return builder_.target(); }
    Target& at(const tensor& value) { return tensors_[static_cast<size_t>(value.index)]; }
    Target& at_index(int32_t index) { return tensors_[static_cast<size_t>(index)]; }
    const TensorQuantization& quantization_of(const tensor& value) const
    {
        return quantizations_[static_cast<size_t>(value.index)];
    }
    tensor* copy_of(const tensor* value) { return value ? at(*value).copy : nullptr; }

    void mark(const QuantizedUnit& unit)
    {
        for (const int node : unit.nodes)
            units_[static_cast<size_t>(node)] = &unit;
        for (const tensor* output : unit.outputs)
            at(*output).is_written = true;
    }

    // ---- tensors ----

    // Names are the connections of ONNX, so each tensor gets its own; inputs and outputs keep
    // theirs.
    void copy_tensors()
    {
        const auto name = [this](int32_t index) {
            String& chosen = at_index(index).name;
            if (chosen.empty())
                chosen = builder_.tensor_names().choose(base_.tensor_list[index]->name);
        };
        std::for_each_n(base_.input_tensors, base_.input_tensor_num, name);
        std::for_each_n(base_.output_tensors, base_.output_tensor_num, name);
        for (int i = 0; i < base_.tensor_num; ++i)
            name(i);
        for (int i = 0; i < base_.tensor_num; ++i)
            at_index(i).copy = copy_tensor(*base_.tensor_list[i]);
        for (int i = 0; i < base_.node_num; ++i)
            builder_.node_names().choose(base_.node_list[i]->name);
    }

    // The copy has no data: most constants are quantised.
    tensor* copy_tensor(const tensor& from)
    {
        tensor* to = builder_.add_tensor(at(from).name, from.data_type);
        if (!to) return nullptr;
        to->tensor_type = from.tensor_type;
        to->layout = from.layout;
        const bool is_given = from.tensor_type != TENSOR_TYPE_VAR && from.shape_set;
        if (is_given) builder_.fail(set_ir_tensor_shape(to, from.dims, from.dim_num));
        take_declaration(from, *to);
        return to;
    }

    // Copies the model's data on a tensor, which the base does not have.
    void take_declaration(const tensor& from, tensor& to)
    {
        const tensor* declared = get_ir_graph_tensor(base_.core->source, from.core->source_index);
        if (!declared) return;
        if (from.data_type == TENGINE_DT_UNKNOWN && declared->data_type != TENGINE_DT_UNKNOWN)
            builder_.fail(set_ir_tensor_data_type(&to, declared->data_type));
        builder_.fail(copy_ir_declaration(declared, &to));
    }

    void add_inputs()
    {
        for (int i = 0; i < base_.input_tensor_num; ++i) {
            const Target& input = at_index(base_.input_tensors[i]);
            const String name = builder_.node_names().choose(input.name);
            node* made =
                create_ir_node(&target(), name.c_str(), get_op_type("tengine", "InputOp"), 0);
            builder_.fail(made ? set_ir_node_output_tensor(made, 0, input.copy)
                               : tengine_error_code());
        }
        for (int i = 0; i < base_.input_tensor_num; ++i) {
            const tensor& input = *base_.tensor_list[base_.input_tensors[i]];
            if (quantization_of(input).is_quantized) add_pair(input, copy_of(&input));
        }
    }

    // After `source`, which holds the float values of `value`; the result is the copy of `value`
    // if `source` is another tensor.
    void add_pair(const tensor& value, tensor* source)
    {
        const Target& known = at(value);
        remember(value, builder_.add_pair(known.name, quantization_of(value).by, source,
                                          source == known.copy ? nullptr : known.copy));
    }

    void remember(const tensor& value, tensor* dequantized)
    {
        at(value).dequantized = dequantized;
        if (!how_.take_tensor || !dequantized) return;
        const Quantization& by = quantization_of(value).by;
        const tengine_quantized_tensor told = {at(value).name.c_str(), by.scale, by.zero_point,
                                               dequantized->name};
        how_.take_tensor(how_.user, &told);
    }

    // The tensor that a node reads in place of `value`.
    tensor* source_of(const tensor* value, bool is_data)
    {
        if (!value) return nullptr;
        const Target& known = at(*value);
        const TensorQuantization& quantization = quantization_of(*value);
        if (!quantization.is_quantized || !(is_data || known.is_written)) return known.copy;
        if (!known.dequantized && is_constant(value))
            remember(*value, builder_.add_constant_operand(known.name, quantization.by, *value));
        return known.dequantized;
    }

    // ---- nodes ----

    void write_node(const node& from)
    {
        const QuantizedUnit* unit = units_[static_cast<size_t>(from.index)];
        if (unit && how_.dynamic) return write_product(from);
        const bool has_weight = unit && unit->nodes[0] == from.index &&
                                unit->role == QuantizedRole::kWeighted &&
                                is_constant(get_ir_node_input(&from, 1));
        Vector<tensor*> inputs;
        for (int i = 0; i < from.input_num; ++i) {
            tensor* input = get_ir_node_input(&from, i);
            const bool is_data = unit && std::find(unit->inputs.begin(), unit->inputs.end(),
                                                   input) != unit->inputs.end();
            inputs.push_back(has_weight && i > 0 ? copy_of(input) : source_of(input, is_data));
        }
        if (has_weight) builder_.fail(set_weights(from, &inputs));
        node* to = nullptr;
        if (builder_.status() == TENGINE_OK) builder_.fail(copy_node_head(from, target(), &to));
        if (builder_.status() < 0) return;
        to->core->source_index = -1;
        builder_.connect(*to, inputs, nullptr);
        connect_outputs(from, *to);
    }

    void write_product(const node& from)
    {
        builder_.fail(check_finite(*get_ir_node_input(&from, 1)));
        if (builder_.status() == TENGINE_OK)
            dynamic_.write(from, copy_of(get_ir_node_input(&from, 0)),
                           copy_of(get_ir_node_input(&from, 2)),
                           copy_of(get_ir_node_output(&from, 0)));
    }

    void connect_outputs(const node& from, node& to)
    {
        Vector<std::pair<const tensor*, tensor*>> paired;
        for (int i = 0; i < from.output_num; ++i) {
            const tensor* output = get_ir_node_output(&from, i);
            if (!output) continue;
            tensor* made = copy_of(output);
            if (quantization_of(*output).is_quantized) {
                if (at(*output).is_written && is_ir_graph_output(&base_, output->index))
                    made = builder_.add_tensor(
                        builder_.tensor_names().choose(at(*output).name + "_float"),
                        TENGINE_DT_FP32);
                paired.emplace_back(output, made);
            }
            if (made) builder_.fail(set_ir_node_output_tensor(&to, i, made));
        }
        for (const auto& [output, made] : paired)
            add_pair(*output, made);
    }

    int set_weights(const node& from, Vector<tensor*>* inputs)
    {
        const tensor& weight = *get_ir_node_input(&from, 1);
        const int channel_axis = find_weight_axis(from);
        const bool has_channels = channel_axis >= 0 && channel_axis < weight.dim_num;
        const tensor* bias = has_channels ? find_bias(from, weight.dims[channel_axis]) : nullptr;
        TENGINE_RETURN_IF_ERROR(check_finite(weight));
        if (bias) TENGINE_RETURN_IF_ERROR(check_finite(*bias));
        const int axis = how_.per_channel != TENGINE_PER_TENSOR && has_channels ? channel_axis : -1;
        const float unit = quantization_of(*get_ir_node_input(&from, 0)).by.scale;
        WeightBytes quantized = quantize_weight_values(weight, axis, bias, unit);
        (*inputs)[1] = write_weight(weight, axis, quantized);
        if (!bias) return TENGINE_OK;
        for (float& scale : quantized.scales)
            scale *= unit;
        (*inputs)[2] =
            builder_.add_bias(at(*bias).name, quantized.scales, axis >= 0 ? 0 : -1, *bias);
        return TENGINE_OK;
    }

    tensor* write_weight(const tensor& weight, int axis, const WeightBytes& quantized)
    {
        Target& known = at(weight);
        for (const WrittenWeight& one : known.weights)
            if (one.scales == quantized.scales && one.axis == axis) return one.dequantized;
        known.weights.push_back(
            {quantized.scales, axis, builder_.add_weight(known.name, quantized, axis, weight)});
        return known.weights.back().dequantized;
    }

    // ---- the end ----

    Vector<int32_t> copies_of(const int32_t* tensors, int number)
    {
        Vector<int32_t> copied;
        for (int i = 0; i < number; ++i)
            copied.push_back(at_index(tensors[i]).copy->index);
        return copied;
    }

    // The producers of these tensors, each once.
    Vector<int32_t> producers_of(const Vector<int32_t>& tensors) const
    {
        Vector<int32_t> nodes;
        for (const int32_t index : tensors) {
            const int32_t producer = target().tensor_list[index]->producer;
            if (producer >= 0 && std::find(nodes.begin(), nodes.end(), producer) == nodes.end())
                nodes.push_back(producer);
        }
        return nodes;
    }

    // Outputs are set first: a node that is both, an input that is also an output, stays an input.
    int set_inputs_and_outputs()
    {
        const auto count = [](const Vector<int32_t>& list) {
            return static_cast<int>(list.size());
        };
        const Vector<int32_t> outputs = copies_of(base_.output_tensors, base_.output_tensor_num);
        const Vector<int32_t> inputs = copies_of(base_.input_tensors, base_.input_tensor_num);
        const Vector<int32_t> last = producers_of(outputs);
        const Vector<int32_t> first = producers_of(inputs);
        if (!last.empty())
            TENGINE_RETURN_IF_ERROR(set_ir_graph_output_node(&target(), last.data(), count(last)));
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_output_tensor(&target(), outputs.data(), count(outputs)));
        return first.empty() ? TENGINE_OK
                             : set_ir_graph_input_node(&target(), first.data(), count(first));
    }

    // Constants with readers get their data, the others are removed.
    int settle_constants()
    {
        for (int i = 0; i < base_.tensor_num; ++i) {
            tensor* copy = at_index(i).copy;
            if (!is_constant(copy)) continue;
            if (copy->consumer_num == 0 && !is_ir_graph_output(&target(), copy->index)) {
                destroy_ir_tensor(&target(), copy);
                continue;
            }
            TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(copy));
            const size_t bytes = get_ir_tensor_bytes(copy);
            if (bytes > 0) std::memcpy(copy->data, base_.tensor_list[i]->data, bytes);
        }
        return TENGINE_OK;
    }

    const graph& base_;
    QdqBuilder builder_;
    DynamicBuilder dynamic_;
    const Vector<TensorQuantization>& quantizations_;
    const tengine_quantization& how_;
    Vector<const QuantizedUnit*> units_;  // by each of their nodes
    Vector<Target> tensors_;              // by tensor of the base
};

}  // namespace

int create_qdq_graph(const graph& base, const Vector<QuantizedUnit>& units,
                     const Vector<TensorQuantization>& quantizations,
                     const tengine_quantization& how, graph** out_graph)
{
    GraphPointer target(create_ir_graph(base.attribute->context));
    if (!target) return tengine_error_code();
    target->graph_layout = base.graph_layout;
    target->model_layout = base.model_layout;
    TENGINE_RETURN_IF_ERROR(set_ir_graph_name(target.get(), base.name));
    TENGINE_RETURN_IF_ERROR(Writer(base, *target, quantizations, how).run(units));
    *out_graph = target.release();
    return TENGINE_OK;
}

}  // namespace tengine
