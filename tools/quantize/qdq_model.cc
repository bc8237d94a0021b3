// SPDX-License-Identifier: Apache-2.0
// Rebuilds the graph node by node. The contract is in qdq_model.h.
#include "quantize/qdq_model.h"

#include <algorithm>

#include "quantize/onnx_model.h"
#include "quantize/weights.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr int64_t kFirstPerChannelOpset = 13;

// A weight that was written, to be shared by nodes that need the same scales.
struct WrittenWeight
{
    std::vector<float> scales;
    int axis = -1;
    std::string dequantized;
};

class Writer
{
  public:
    Writer(const ModelProto& model, const std::vector<QuantizedUnit>& units,
           const std::map<std::string, Quantization>& quantizations, bool per_channel)
        : source_(model.graph()),
          index_(source_),
          names_(index_.names),
          quantizations_(quantizations),
          per_channel_(per_channel)
    {
        result_.model = model;
        result_.model.mutable_graph()->clear_node();
        for (const NodeProto& node : source_.node())
            node_names_.insert(node.name());
        for (const QuantizedUnit& unit : units) {
            for (const int node : unit.nodes)
                units_[node] = &unit;
            written_.insert(unit.outputs.begin(), unit.outputs.end());
        }
    }

    QdqModel write()
    {
        for (const auto& input : source_.input())
            if (quantizations_.count(input.name()) != 0) add_pair(input.name(), input.name());
        for (int i = 0; i < source_.node_size(); ++i)
            write_node(i);
        drop_unused_initializers(graph());
        return std::move(result_);
    }

  private:
    GraphProto* graph() { return result_.model.mutable_graph(); }

    std::string new_name(std::string name)
    {
        while (!names_.insert(name).second)
            name += "_";
        return name;
    }

    NodeProto* add_node(const char* type, const std::string& tensor)
    {
        std::string name = tensor + "_" + type;
        while (!node_names_.insert(name).second)
            name += "_";
        NodeProto* node = graph()->add_node();
        node->set_op_type(type);
        node->set_name(name);
        return node;
    }

    std::string add_initializer(const TensorProto& tensor)
    {
        *graph()->add_initializer() = tensor;
        return tensor.name();
    }

    // Returns the float result of `quantized`, an integer tensor.
    std::string dequantize(const std::string& quantized, const std::string& scale,
                           const std::string& zero_point, int axis, const std::string& tensor,
                           const std::string& result)
    {
        NodeProto* node = add_node("DequantizeLinear", tensor);
        for (const std::string& input : {quantized, scale, zero_point})
            node->add_input(input);
        node->add_output(result);
        if (axis >= 0) {
            auto* attribute = node->add_attribute();
            attribute->set_name("axis");
            attribute->set_type(::onnx::AttributeProto::INT);
            attribute->set_i(axis);
        }
        return result;
    }

    // Behind `source`, which holds the float values of `tensor`; the result is `tensor` itself if
    // `source` is another one.
    void add_pair(const std::string& tensor, const std::string& source)
    {
        const Quantization& quantization = quantizations_.at(tensor);
        const std::string scale = add_initializer(make_proto<float>(
            new_name(tensor + "_scale"), TensorProto::FLOAT, {}, {quantization.scale}));
        const std::string zero_point = add_initializer(make_proto<int8_t>(
            new_name(tensor + "_zero_point"), TensorProto::INT8, {}, {quantization.zero_point}));
        const std::string quantized = new_name(tensor + "_quantized");
        NodeProto* node = add_node("QuantizeLinear", tensor);
        for (const std::string& input : {source, scale, zero_point})
            node->add_input(input);
        node->add_output(quantized);
        const std::string result = source == tensor ? new_name(tensor + "_dequantized") : tensor;
        dequantize(quantized, scale, zero_point, -1, tensor, result);
        result_.dequantized[tensor] = result;
    }

    // What a node reads in the place of `tensor`.
    std::string source_of(const std::string& tensor, bool reader_is_quantized)
    {
        const bool is_pair = reader_is_quantized || written_.count(tensor) != 0;
        if (!is_pair || quantizations_.count(tensor) == 0) return tensor;
        if (result_.dequantized.count(tensor) == 0) add_constant(tensor);
        return result_.dequantized.at(tensor);
    }

    // A constant operand in the way of an activation.
    void add_constant(const std::string& tensor)
    {
        const TensorProto& source = source_.initializer(index_.initializers.at(tensor));
        const Quantization& quantization = quantizations_.at(tensor);
        std::vector<int8_t> values;
        for (const float value : float_values(source))
            values.push_back(quantize_value(value, quantization));
        const std::string quantized =
            add_initializer(make_proto(new_name(tensor + "_quantized"), TensorProto::INT8,
                                       {source.dims().begin(), source.dims().end()}, values));
        const std::string scale = add_initializer(make_proto<float>(
            new_name(tensor + "_scale"), TensorProto::FLOAT, {}, {quantization.scale}));
        const std::string zero_point = add_initializer(make_proto<int8_t>(
            new_name(tensor + "_zero_point"), TensorProto::INT8, {}, {quantization.zero_point}));
        result_.dequantized[tensor] =
            dequantize(quantized, scale, zero_point, -1, tensor, new_name(tensor + "_dequantized"));
    }

    static bool is_data_of(const QuantizedUnit& unit, const std::string& tensor)
    {
        return std::find(unit.inputs.begin(), unit.inputs.end(), tensor) != unit.inputs.end();
    }

    void write_node(int i)
    {
        NodeProto node = source_.node(i);
        const auto unit = units_.find(i);
        const bool is_unit = unit != units_.end();
        const bool has_weight = is_unit && unit->second->nodes[0] == i &&
                                unit->second->op->role == QuantizedRole::kWeighted &&
                                index_.is_constant(node.input(1));
        for (int k = 0; k < node.input_size(); ++k) {
            if (has_weight && k > 0) continue;
            const bool is_data = is_unit && is_data_of(*unit->second, node.input(k));
            node.set_input(k, source_of(node.input(k), is_data));
        }
        if (has_weight) set_weights(source_.node(i), &node);
        std::vector<std::string> paired;
        for (std::string& output : *node.mutable_output()) {
            if (quantizations_.count(output) == 0) continue;
            paired.push_back(output);
            if (written_.count(output) != 0 && index_.outputs.count(output) != 0)
                output = renamed_[output] = new_name(output + "_float");
        }
        *graph()->add_node() = node;
        for (const std::string& tensor : paired)
            add_pair(tensor, renamed_.count(tensor) != 0 ? renamed_[tensor] : tensor);
    }

    // One value for each output channel, constant; "" if the node has none such.
    std::string find_bias(const NodeProto& node, int64_t channels) const
    {
        const auto bias = index_.initializers.find(input_of(node, 2));
        if (bias == index_.initializers.end()) return "";
        const TensorProto& tensor = source_.initializer(bias->second);
        const bool fits = is_float(tensor) && tensor.dims_size() == 1 && tensor.dims(0) == channels;
        return fits ? tensor.name() : "";
    }

    void set_weights(const NodeProto& source, NodeProto* node)
    {
        const std::string& name = source.input(1);
        const TensorProto& weight = source_.initializer(index_.initializers.at(name));
        ChannelLayout layout = channel_layout(source, weight);
        const std::string bias = layout.axis < 0 ? "" : find_bias(source, layout.channels);
        if (!per_channel_) layout = {};
        const float input_scale = quantizations_.at(source.input(0)).scale;
        const std::vector<float> weights = float_values(weight);
        std::vector<float> bias_values;
        if (!bias.empty())
            bias_values = float_values(source_.initializer(index_.initializers.at(bias)));
        std::vector<float> scales = weight_scales(weights, layout, bias_values, input_scale);
        node->set_input(1, write_weight(weight, weights, layout, scales));
        if (bias.empty()) return;
        for (float& scale : scales)
            scale *= input_scale;
        node->set_input(2, write_bias(bias, bias_values, layout.axis >= 0, scales));
    }

    std::string write_weight(const TensorProto& weight, const std::vector<float>& values,
                             const ChannelLayout& layout, const std::vector<float>& scales)
    {
        std::vector<WrittenWeight>& written = weights_[weight.name()];
        for (const WrittenWeight& one : written)
            if (one.scales == scales && one.axis == layout.axis) return one.dequantized;
        const std::string& name = weight.name();
        const std::string quantized =
            add_initializer(make_proto(new_name(name + "_quantized"), TensorProto::INT8,
                                       {weight.dims().begin(), weight.dims().end()},
                                       quantize_weights(values, layout, scales)));
        written.push_back(
            {scales, layout.axis,
             add_constant_scale<int8_t>(quantized, name, TensorProto::INT8, scales, layout.axis)});
        return written.back().dequantized;
    }

    std::string write_bias(const std::string& name, const std::vector<float>& values,
                           bool is_per_channel, const std::vector<float>& scales)
    {
        const std::string quantized = add_initializer(
            make_proto(new_name(name + "_quantized"), TensorProto::INT32,
                       {static_cast<int64_t>(values.size())}, quantize_bias(values, scales)));
        return add_constant_scale<int32_t>(quantized, name, TensorProto::INT32, scales,
                                           is_per_channel ? 0 : -1);
    }

    // Scales and zero points of zero; scalars without an axis, as the one scale then is.
    template <typename Element>
    std::string add_constant_scale(const std::string& quantized, const std::string& tensor,
                                   int data_type, const std::vector<float>& scales, int axis)
    {
        std::vector<int64_t> dims;
        if (axis >= 0) dims.push_back(static_cast<int64_t>(scales.size()));
        const std::string scale = add_initializer(
            make_proto(new_name(tensor + "_scale"), TensorProto::FLOAT, dims, scales));
        const std::string zero_point =
            add_initializer(make_proto(new_name(tensor + "_zero_point"), data_type, dims,
                                       std::vector<Element>(scales.size(), 0)));
        return dequantize(quantized, scale, zero_point, axis, tensor,
                          new_name(tensor + "_dequantized"));
    }

    const GraphProto& source_;
    GraphIndex index_;
    std::set<std::string> names_;
    std::set<std::string> node_names_;
    const std::map<std::string, Quantization>& quantizations_;
    bool per_channel_;
    std::map<int, const QuantizedUnit*> units_;   // by each of their nodes
    std::set<std::string> written_;               // results of units
    std::map<std::string, std::string> renamed_;  // outputs of the model, before their pair
    std::map<std::string, std::vector<WrittenWeight>> weights_;
    QdqModel result_;
};

}  // namespace

QdqModel write_qdq_model(const ModelProto& model, const std::vector<QuantizedUnit>& units,
                         const std::map<std::string, Quantization>& quantizations, bool per_channel)
{
    if (per_channel && opset_of(model) < kFirstPerChannelOpset)
        throw Failure("--per-channel needs opset 13, the model is of opset " +
                      std::to_string(opset_of(model)));
    return Writer(model, units, quantizations, per_channel).write();
}

}  // namespace tengine::tools
