// SPDX-License-Identifier: Apache-2.0
// Rebuilds the graph node by node. The contract is in qdq_graph.h.
#include "optimizer/precision/qdq_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/alloc.h"
#include "base/float_to_index.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/precision/weights.h"

namespace tengine {
namespace {

constexpr int kFirstOpset = 10;            // has QuantizeLinear
constexpr int kFirstPerChannelOpset = 13;  // gives it an axis

// The version of ONNX's own operators; that of the newest where there are none.
int opset_of(const graph& graph)
{
    for (int i = 0; i < graph.node_num; i++) {
        const node& node = *graph.node_list[i];
        if (!*get_ir_node_domain(&node) && !node.op.method->tengine) return node.op.version;
    }
    return 0;
}

int check_opset(int opset, bool per_channel)
{
    if (opset == 0) return TENGINE_OK;
    if (opset < kFirstOpset)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "the model is of opset %d, QuantizeLinear came with %d; convert "
                                 "the model first",
                                 opset, kFirstOpset);
    if (per_channel && opset < kFirstPerChannelOpset)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "scales per channel need opset %d, the model is of opset %d",
                                 kFirstPerChannelOpset, opset);
    return TENGINE_OK;
}

// Names that nothing else in the graph has.
class Namer
{
  public:
    String choose(String name)
    {
        while (!taken_.insert(name).second)
            name += "_";
        return name;
    }

  private:
    Set<String> taken_;
};

bool is_constant(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST;
}

// A weight that was written, to be shared by nodes that need the same scales.
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
          target_(target),
          quantizations_(quantizations),
          how_(how),
          opset_(opset_of(base)),
          units_(static_cast<size_t>(base.node_num), nullptr),
          is_written_(static_cast<size_t>(base.tensor_num), false),
          copies_(static_cast<size_t>(base.tensor_num), nullptr),
          dequantized_(static_cast<size_t>(base.tensor_num), nullptr)
    {
    }

    int run(const Vector<QuantizedUnit>& units)
    {
        TENGINE_RETURN_IF_ERROR(check_opset(opset_, how_.per_channel != 0));
        for (const QuantizedUnit& unit : units)
            mark(unit);
        copy_tensors();
        add_inputs();
        for (int i = 0; i < base_.node_num; i++)
            write_node(*base_.node_list[i]);
        TENGINE_RETURN_IF_ERROR(status_);
        TENGINE_RETURN_IF_ERROR(set_borders());
        drop_unused_constants();
        TENGINE_RETURN_IF_ERROR(copy_constants());
        return tidy_graph(target_);
    }

  private:
    void fail(int status)
    {
        if (status < 0 && status_ == TENGINE_OK) status_ = status;
    }

    void mark(const QuantizedUnit& unit)
    {
        for (const int node : unit.nodes)
            units_[static_cast<size_t>(node)] = &unit;
        for (const tensor* output : unit.outputs)
            is_written_[static_cast<size_t>(output->index)] = true;
    }

    // ---- what the base has ----

    // Names say what is connected, so no two tensors share one; inputs and outputs keep theirs.
    void copy_tensors()
    {
        std::for_each_n(base_.input_tensors, base_.input_tensor_num,
                        [this](int32_t i) { name_tensor(i); });
        std::for_each_n(base_.output_tensors, base_.output_tensor_num,
                        [this](int32_t i) { name_tensor(i); });
        for (int i = 0; i < base_.tensor_num; i++)
            name_tensor(i);
        for (int i = 0; i < base_.tensor_num; i++)
            copies_[static_cast<size_t>(i)] = copy_tensor(*base_.tensor_list[i]);
        for (int i = 0; i < base_.node_num; i++)
            node_names_.choose(base_.node_list[i]->name);
    }

    void name_tensor(int32_t index)
    {
        String& name = names_[index];
        if (name.empty()) name = tensor_names_.choose(base_.tensor_list[index]->name);
    }

    // Without data: most constants are quantised.
    tensor* copy_tensor(const tensor& from)
    {
        tensor* to = add_tensor(names_[from.index], from.data_type);
        if (!to) return nullptr;
        to->tensor_type = from.tensor_type;
        to->layout = from.layout;
        const bool is_given = from.tensor_type != TENSOR_TYPE_VAR && from.shape_set;
        if (is_given) fail(set_ir_tensor_shape(to, from.dims, from.dim_num));
        take_declaration(from, *to);
        return to;
    }

    // What the model says of a tensor, which the base does not repeat.
    void take_declaration(const tensor& from, tensor& to)
    {
        const tensor* declared = get_ir_graph_tensor(base_.source, from.source_index);
        if (!declared) return;
        if (from.data_type == TENGINE_DT_UNKNOWN && declared->data_type != TENGINE_DT_UNKNOWN)
            fail(set_ir_tensor_data_type(&to, declared->data_type));
        if (!declared->dim_names) return;
        const char* names[MAX_SHAPE_DIM_NUM];
        for (int i = 0; i < to.dim_num; i++)
            names[i] = get_ir_tensor_dim_name(declared, i);
        fail(set_ir_tensor_dim_names(&to, names, to.dim_num));
    }

    tensor* copy_of(const tensor* value) const
    {
        return value ? copies_[static_cast<size_t>(value->index)] : nullptr;
    }

    const TensorQuantization& quantization_of(const tensor& value) const
    {
        return quantizations_[static_cast<size_t>(value.index)];
    }

    void add_inputs()
    {
        for (int i = 0; i < base_.input_tensor_num; i++) {
            const tensor& input = *base_.tensor_list[base_.input_tensors[i]];
            const String name = node_names_.choose(names_[input.index]);
            node* made =
                create_ir_node(&target_, name.c_str(), get_op_type("tengine", "InputOp"), 0);
            fail(made ? set_ir_node_output_tensor(made, 0, copy_of(&input)) : tengine_error_code());
        }
        for (int i = 0; i < base_.input_tensor_num; i++) {
            const tensor& input = *base_.tensor_list[base_.input_tensors[i]];
            if (quantization_of(input).is_quantized) add_pair(input, copy_of(&input));
        }
    }

    // ---- what is new ----

    tensor* add_tensor(const String& name, int data_type)
    {
        if (status_ < 0) return nullptr;
        tensor* made = create_ir_tensor(&target_, name.c_str(), data_type);
        if (!made) fail(tengine_error_code());
        return made;
    }

    tensor* add_constant(const String& name, int data_type, const Vector<int>& dims,
                         const void* bytes)
    {
        tensor* made = add_tensor(tensor_names_.choose(name), data_type);
        if (!made) return nullptr;
        made->tensor_type = TENSOR_TYPE_CONST;
        fail(set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size())));
        if (status_ == TENGINE_OK) fail(allocate_ir_tensor(made));
        if (status_ == TENGINE_OK) std::memcpy(made->data, bytes, get_ir_tensor_bytes(made));
        return made;
    }

    void connect(node& made, const Vector<tensor*>& inputs, tensor* output)
    {
        for (size_t i = 0; i < inputs.size(); i++)
            if (inputs[i]) fail(set_ir_node_input_tensor(&made, static_cast<int>(i), inputs[i]));
        if (output) fail(set_ir_node_output_tensor(&made, 0, output));
    }

    // QuantizeLinear or DequantizeLinear for a tensor of this name; with its axis, unless it is -1.
    tensor* add_linear(const char* op, const String& name, int axis, const Vector<tensor*>& inputs,
                       tensor* output)
    {
        if (status_ < 0) return nullptr;
        const String node_name = node_names_.choose(name + "_" + op);
        node* made = create_ir_node(&target_, node_name.c_str(), get_op_type("", op), opset_);
        if (!made) {
            fail(tengine_error_code());
            return nullptr;
        }
        if (axis >= 0) fail(set_node_int(made, "axis", axis));
        connect(*made, inputs, output);
        return output;
    }

    tensor* add_scale(const String& name, const Quantization& by)
    {
        return add_constant(name + "_scale", TENGINE_DT_FP32, {}, &by.scale);
    }

    tensor* add_zero_point(const String& name, const Quantization& by)
    {
        const auto byte = static_cast<int8_t>(by.zero_point);
        return add_constant(name + "_zero_point", TENGINE_DT_INT8, {}, &byte);
    }

    void remember(const tensor& value, tensor* dequantized)
    {
        dequantized_[static_cast<size_t>(value.index)] = dequantized;
        if (!how_.take_tensor || !dequantized) return;
        const Quantization& by = quantization_of(value).by;
        const tengine_quantized_tensor told = {names_[value.index].c_str(), by.scale, by.zero_point,
                                               dequantized->name};
        how_.take_tensor(how_.user, &told);
    }

    // Behind `source`, which holds the float values of `value`; the result is the copy of `value`
    // if `source` is another tensor.
    void add_pair(const tensor& value, tensor* source)
    {
        const Quantization& by = quantization_of(value).by;
        const String& name = names_[value.index];
        tensor* scale = add_scale(name, by);
        tensor* zero_point = add_zero_point(name, by);
        tensor* bytes = add_tensor(tensor_names_.choose(name + "_quantized"), TENGINE_DT_INT8);
        add_linear("QuantizeLinear", name, -1, {source, scale, zero_point}, bytes);
        tensor* result =
            source == copy_of(&value)
                ? add_tensor(tensor_names_.choose(name + "_dequantized"), TENGINE_DT_FP32)
                : copy_of(&value);
        add_linear("DequantizeLinear", name, -1, {bytes, scale, zero_point}, result);
        remember(value, result);
    }

    // A constant operand in the way of an activation.
    void add_quantized_constant(const tensor& value)
    {
        const Quantization& by = quantization_of(value).by;
        const String& name = names_[value.index];
        Vector<uint8_t> bytes;
        for (int64_t i = 0; i < value.elem_num; i++)
            bytes.push_back(quantize_value(value.f32[i], by));
        tensor* stored = add_constant(name + "_quantized", TENGINE_DT_INT8,
                                      {value.dims, value.dims + value.dim_num}, bytes.data());
        tensor* scale = add_scale(name, by);
        tensor* zero_point = add_zero_point(name, by);
        tensor* result = add_tensor(tensor_names_.choose(name + "_dequantized"), TENGINE_DT_FP32);
        remember(value,
                 add_linear("DequantizeLinear", name, -1, {stored, scale, zero_point}, result));
    }

    // What a node reads in the place of `value`.
    tensor* source_of(const tensor* value, bool is_data)
    {
        if (!value) return nullptr;
        const auto index = static_cast<size_t>(value->index);
        const bool is_pair = is_data || is_written_[index];
        if (!is_pair || !quantization_of(*value).is_quantized) return copy_of(value);
        if (!dequantized_[index] && is_constant(value)) add_quantized_constant(*value);
        return dequantized_[index];
    }

    // ---- nodes ----

    void write_node(const node& from)
    {
        const QuantizedUnit* unit = units_[static_cast<size_t>(from.index)];
        const bool has_weight = unit && unit->nodes[0] == from.index &&
                                unit->role == QuantizedRole::kWeighted &&
                                is_constant(get_ir_node_input(&from, 1));
        Vector<tensor*> inputs;
        for (int i = 0; i < from.input_num; i++) {
            tensor* input = get_ir_node_input(&from, i);
            const bool is_data = unit && std::find(unit->inputs.begin(), unit->inputs.end(),
                                                   input) != unit->inputs.end();
            inputs.push_back(has_weight && i > 0 ? copy_of(input) : source_of(input, is_data));
        }
        if (has_weight) set_weights(from, &inputs);
        if (status_ < 0) return;
        node* to = nullptr;
        fail(copy_node_head(from, target_, &to));
        if (status_ < 0) return;
        to->source_index = -1;
        connect(*to, inputs, nullptr);
        connect_outputs(from, *to);
    }

    void connect_outputs(const node& from, node& to)
    {
        Vector<std::pair<const tensor*, tensor*>> paired;
        for (int i = 0; i < from.output_num; i++) {
            const tensor* output = get_ir_node_output(&from, i);
            if (!output) continue;
            tensor* made = copy_of(output);
            if (quantization_of(*output).is_quantized) {
                if (is_written_[static_cast<size_t>(output->index)] &&
                    is_ir_graph_output(&base_, output->index))
                    made = add_tensor(tensor_names_.choose(names_[output->index] + "_float"),
                                      TENGINE_DT_FP32);
                paired.emplace_back(output, made);
            }
            if (made) fail(set_ir_node_output_tensor(&to, i, made));
        }
        for (const auto& [output, made] : paired)
            add_pair(*output, made);
    }

    // One value for each output channel, constant; null if the node has none such.
    static const tensor* find_bias(const node& from, int channels)
    {
        const tensor* bias = get_ir_node_input(&from, 2);
        const bool fits = is_constant(bias) && bias->data_type == TENGINE_DT_FP32 &&
                          bias->dim_num == 1 && bias->dims[0] == channels;
        return fits ? bias : nullptr;
    }

    static bool are_finite(const tensor& value)
    {
        return std::all_of(value.f32, value.f32 + value.elem_num,
                           [](float element) { return std::isfinite(element); });
    }

    void set_weights(const node& from, Vector<tensor*>* inputs)
    {
        const tensor& weight = *get_ir_node_input(&from, 1);
        const int channel_axis = find_weight_axis(from);
        const bool has_channels = channel_axis >= 0 && channel_axis < weight.dim_num;
        const tensor* bias = has_channels ? find_bias(from, weight.dims[channel_axis]) : nullptr;
        for (const tensor* value : {&weight, bias})
            if (value && !are_finite(*value))
                fail(tengine_error_set(
                    TENGINE_EINVAL, "constant '%s' has values that are not finite", value->name));
        if (status_ < 0) return;
        const int axis = how_.per_channel && has_channels ? channel_axis : -1;
        const float unit = quantization_of(*get_ir_node_input(&from, 0)).by.scale;
        WeightBytes quantized = quantize_weight_values(weight, axis, bias, unit);
        (*inputs)[1] = write_weight(weight, axis, quantized);
        if (!bias) return;
        for (float& scale : quantized.scales)
            scale *= unit;
        (*inputs)[2] = write_bias(*bias, axis, quantized.scales);
    }

    tensor* write_weight(const tensor& weight, int axis, const WeightBytes& quantized)
    {
        Vector<WrittenWeight>& written = weights_[weight.index];
        for (const WrittenWeight& one : written)
            if (one.scales == quantized.scales && one.axis == axis) return one.dequantized;
        const String& name = names_[weight.index];
        tensor* stored =
            add_constant(name + "_quantized", TENGINE_DT_INT8,
                         {weight.dims, weight.dims + weight.dim_num}, quantized.bytes.data());
        written.push_back(
            {quantized.scales, axis, add_dequantized(stored, name, quantized.scales, axis)});
        return written.back().dequantized;
    }

    tensor* write_bias(const tensor& bias, int axis, const Vector<float>& scales)
    {
        Vector<int32_t> words;
        for (int64_t i = 0; i < bias.elem_num; i++) {
            const float scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
            const double word = std::nearbyint(double{bias.f32[i]} / scale);
            words.push_back(static_cast<int32_t>(float_to_index(word, INT32_MIN, INT32_MAX)));
        }
        const String& name = names_[bias.index];
        tensor* stored = add_constant(name + "_quantized", TENGINE_DT_INT32,
                                      {static_cast<int>(words.size())}, words.data());
        return add_dequantized(stored, name, scales, axis >= 0 ? 0 : -1);
    }

    // With zero points of zero; scalars without an axis, as the one scale then is.
    tensor* add_dequantized(tensor* stored, const String& name, const Vector<float>& scales,
                            int axis)
    {
        Vector<int> dims;
        if (axis >= 0) dims.push_back(static_cast<int>(scales.size()));
        tensor* scale = add_constant(name + "_scale", TENGINE_DT_FP32, dims, scales.data());
        const Vector<int32_t> zeros(scales.size(), 0);
        tensor* zero_point = add_constant(
            name + "_zero_point", stored ? stored->data_type : TENGINE_DT_INT8, dims, zeros.data());
        tensor* result = add_tensor(tensor_names_.choose(name + "_dequantized"), TENGINE_DT_FP32);
        return add_linear("DequantizeLinear", name, axis, {stored, scale, zero_point}, result);
    }

    // ---- the end ----

    Vector<int32_t> copies_of(const int32_t* tensors, int number) const
    {
        Vector<int32_t> copied;
        for (int i = 0; i < number; i++)
            copied.push_back(copies_[static_cast<size_t>(tensors[i])]->index);
        return copied;
    }

    // The nodes that write these tensors, each once.
    Vector<int32_t> producers_of(const Vector<int32_t>& tensors) const
    {
        Vector<int32_t> nodes;
        for (const int32_t index : tensors) {
            const int32_t producer = target_.tensor_list[index]->producer;
            if (producer >= 0 && std::find(nodes.begin(), nodes.end(), producer) == nodes.end())
                nodes.push_back(producer);
        }
        return nodes;
    }

    // Outputs first: a node that is both, an input handed through, stays marked as input.
    int set_borders()
    {
        const auto number = [](const Vector<int32_t>& list) {
            return static_cast<int>(list.size());
        };
        const Vector<int32_t> outputs = copies_of(base_.output_tensors, base_.output_tensor_num);
        const Vector<int32_t> inputs = copies_of(base_.input_tensors, base_.input_tensor_num);
        const Vector<int32_t> last = producers_of(outputs);
        const Vector<int32_t> first = producers_of(inputs);
        if (!last.empty())
            TENGINE_RETURN_IF_ERROR(set_ir_graph_output_node(&target_, last.data(), number(last)));
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_output_tensor(&target_, outputs.data(), number(outputs)));
        return first.empty() ? TENGINE_OK
                             : set_ir_graph_input_node(&target_, first.data(), number(first));
    }

    void drop_unused_constants()
    {
        for (tensor*& copy : copies_) {
            if (copy->consumer_num > 0 || is_ir_graph_output(&target_, copy->index) ||
                copy->tensor_type != TENSOR_TYPE_CONST)
                continue;
            destroy_ir_tensor(&target_, copy);
            copy = nullptr;
        }
    }

    int copy_constants()
    {
        for (int i = 0; i < base_.tensor_num; i++) {
            tensor* copy = copies_[static_cast<size_t>(i)];
            if (!copy || copy->tensor_type != TENSOR_TYPE_CONST) continue;
            TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(copy));
            const size_t bytes = get_ir_tensor_bytes(copy);
            if (bytes > 0) std::memcpy(copy->data, base_.tensor_list[i]->data, bytes);
        }
        return TENGINE_OK;
    }

    const graph& base_;
    graph& target_;
    const Vector<TensorQuantization>& quantizations_;
    const tengine_quantization& how_;
    const int opset_;
    int status_ = TENGINE_OK;
    Namer tensor_names_;
    Namer node_names_;
    Map<int32_t, String> names_;                   // of the base's tensors in the target
    Vector<const QuantizedUnit*> units_;           // by each of their nodes
    Vector<bool> is_written_;                      // by tensor: the result of a unit
    Vector<tensor*> copies_;                       // by tensor
    Vector<tensor*> dequantized_;                  // by tensor: what is left of it
    Map<int32_t, Vector<WrittenWeight>> weights_;  // by the base's tensor
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
