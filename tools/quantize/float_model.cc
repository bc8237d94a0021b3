// SPDX-License-Identifier: Apache-2.0
// Asks the library. The contract is in float_model.h.
#include "quantize/float_model.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <list>

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

// ---- functions for the library ----

struct Conversation
{
    const QuantizationRequest& request;
    QuantizedModel made;
    std::vector<std::string>* asked = nullptr;  // if not null, every tensor has a range
};

Conversation& conversation_of(void* user)
{
    return *static_cast<Conversation*>(user);
}

int get_range(void* user, const char* tensor, double* low, double* high)
{
    Conversation& conversation = conversation_of(user);
    if (conversation.asked) {
        conversation.asked->emplace_back(tensor);
        return 1;
    }
    const auto found = conversation.request.ranges.find(tensor);
    if (found == conversation.request.ranges.end()) return 0;
    *low = found->second.low;
    *high = found->second.high;
    return 1;
}

int choose(void* user, const tengine_quantized_layer* told)
{
    Conversation& conversation = conversation_of(user);
    QuantizedLayer layer;
    layer.name = told->nodes[0];
    layer.tensor = told->tensor;
    layer.nodes = told->node_number;
    layer.stands_alone = told->stands_alone != 0;
    for (int i = 0; i < told->node_number; ++i)
        layer.op += (i == 0 ? "" : "+") + std::string(told->operators[i]);
    if (conversation.request.takes && !conversation.request.takes(layer)) return 0;
    conversation.made.layers.push_back(std::move(layer));
    return 1;
}

void take_tensor(void* user, const tengine_quantized_tensor* tensor)
{
    Conversation& conversation = conversation_of(user);
    conversation.made.quantizations[tensor->name] = {tensor->scale, tensor->zero_point};
    if (conversation.request.ranges.count(tensor->name) != 0)
        conversation.made.dequantized[tensor->name] = tensor->dequantized;
}

void take_kept(void* user, const char* node)
{
    conversation_of(user).made.kept.insert(node);
}

// The structure for the library, which lives as long as its request.
class Question
{
  public:
    explicit Question(Conversation* conversation)
    {
        const QuantizationRequest& request = conversation->request;
        for (const std::string& pattern : request.keep_float)
            patterns_.push_back(pattern.c_str());
        how_.dynamic = request.dynamic ? 1 : 0;
        how_.per_channel = request.per_tensor ? TENGINE_PER_TENSOR : 0;
        how_.unsigned_activations = request.unsigned_activations ? 1 : 0;
        how_.keep_float = patterns_.data();
        how_.keep_float_number = static_cast<int>(patterns_.size());
        how_.user = conversation;
        how_.get_range = how_.dynamic ? nullptr : get_range;
        how_.choose = choose;
        how_.take_tensor = how_.dynamic ? nullptr : take_tensor;
        how_.take_kept = take_kept;
    }

    const tengine_quantization& how() const { return how_; }

  private:
    std::vector<const char*> patterns_;
    tengine_quantization how_ = {};
};

GraphPointer quantize_graph(graph_t graph, const std::string& path, Conversation* conversation)
{
    const Question question(conversation);
    GraphPointer made(tengine_graph_quantize(graph, &question.how()));
    if (!made && get_tengine_errno() == TENGINE_ENOENT) {
        const std::string sentence = get_tengine_error();
        throw Failure("--keep-float" + sentence.substr(sentence.find(':')) +
                      "; `tengine inspect` lists their names");
    }
    if (!made) fail_api(path);
    return made;
}

// ---- properties of graphs ----

std::vector<node_t> list_nodes(graph_t graph)
{
    std::vector<node_t> nodes;
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        node_t node = get_graph_node_by_idx(graph, i);
        const std::string op = get_node_op(node);
        if (op != "InputOp" && op != "Const") nodes.push_back(node);
    }
    return nodes;
}

int count_batch_norms(graph_t graph)
{
    const std::vector<node_t> nodes = list_nodes(graph);
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](node_t node) {
        return std::strcmp(get_node_op(node), "BatchNormalization") == 0;
    }));
}

// Operators that ONNX Runtime and this program write into quantised models, QuantizeLinear and
// DequantizeLinear first of all.
bool is_quantized_operator(const std::string& op)
{
    static const char* const kParts[] = {"uantizeLinear", "QLinear", "QGemm", "Integer"};
    return std::any_of(std::begin(kParts), std::end(kParts),
                       [&](const char* part) { return op.find(part) != std::string::npos; });
}

// The form of tmfiles: the results are int8 or uint8.
bool writes_bytes(node_t node)
{
    for (int i = 0; i < get_node_output_number(node); ++i) {
        tensor_t output = get_node_output_tensor(node, i);
        const int type = !output ? TENGINE_DT_FP32 : get_tensor_data_type(output);
        float scale = 0;
        int zero_point = 0;
        if ((type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8) &&
            get_tensor_quant_param(output, &scale, &zero_point, 1) == 1)
            return true;
    }
    return false;
}

}  // namespace

void set_input_shapes(graph_t graph, const std::vector<Tensor>& inputs)
{
    for (const Tensor& input : inputs) {
        tensor_t tensor = get_graph_tensor(graph, input.name.c_str());
        if (!tensor ||
            set_tensor_shape(tensor, input.shape.data(), static_cast<int>(input.shape.size())) < 0)
            fail_api("input '" + input.name + "'");
    }
}

FloatModel::FloatModel(const std::string& path, const std::vector<Tensor>& inputs,
                       const std::vector<std::string>& devices)
    : path_(path)
{
    context_.reset(create_context("quantize", devices.empty() ? 0 : 1));
    if (!context_) fail_api("context");
    for (const std::string& device : devices)
        if (add_context_device(context_.get(), device.c_str()) < 0) fail_api("--device " + device);
    // Devices get all nodes that they take, whether or not the transfer pays.
    for (const auto& [key, value] : {std::pair{"split.prune", "0"}, {"split.report", "none"}})
        if (!devices.empty() && tengine_context_set_option(context_.get(), key, value) < 0)
            fail_api(key);
    const char* format = format_of(path);
    graph_.reset(create_graph(context_.get(), format ? format : "onnx", path.c_str()));
    if (!graph_) fail_api(path);
    refuse_quantized();
    // An ONNX model keeps the dimensions that it leaves open.
    if (format && std::strcmp(format, "tengine") == 0) set_input_shapes(graph_.get(), inputs);
}

// A second quantisation would only lose accuracy.
void FloatModel::refuse_quantized() const
{
    const std::vector<node_t> nodes = list_nodes(graph_.get());
    std::vector<node_t> found;
    for (node_t node : nodes)
        if (is_quantized_operator(get_node_op(node)) || writes_bytes(node)) found.push_back(node);
    if (found.empty()) return;
    throw Failure(path_ + ": the model is quantised already: " + std::to_string(found.size()) +
                  " of its " + std::to_string(nodes.size()) + " nodes, such as " +
                  get_node_op(found[0]) + " '" + get_node_name(found[0]) +
                  "'; give the float model it was made from");
}

void FloatModel::set_option(const std::string& key, const std::string& value) const
{
    if (tengine_context_set_option(context_.get(), key.c_str(), value.c_str()) < 0)
        fail_api("option " + key);
}

std::vector<std::string> FloatModel::tensors_to_calibrate(QuantizationRequest request) const
{
    request.takes = nullptr;
    std::vector<std::string> asked;
    Conversation conversation = {request, {}, &asked};
    quantize_graph(graph_.get(), path_, &conversation);
    return asked;
}

QuantizedModel FloatModel::quantize(const QuantizationRequest& request) const
{
    Conversation conversation = {request, {}, nullptr};
    conversation.made.graph = quantize_graph(graph_.get(), path_, &conversation);
    conversation.made.has_unsigned_activations = request.unsigned_activations;
    return std::move(conversation.made);
}

tengine_quantization_choice FloatModel::choose(const std::vector<QuantizationRequest>& requests,
                                               const std::vector<Tensor>& inputs) const
{
    std::list<Conversation> conversations;
    std::list<Question> questions;
    std::vector<tengine_quantization> how;
    for (const QuantizationRequest& request : requests) {
        conversations.push_back({request, {}, nullptr});
        how.push_back(questions.emplace_back(&conversations.back()).how());
    }
    tengine_quantization_choice choice = {};
    set_input_shapes(graph_.get(), inputs);
    if (tengine_graph_choose_quantization(graph_.get(), how.data(), static_cast<int>(how.size()),
                                          &choice, sizeof choice) < 0)
        fail_api(path_);
    return choice;
}

GraphPointer FloatModel::in_float() const
{
    return quantize({}).graph;
}

std::map<std::string, std::string> FloatModel::list_operators() const
{
    const GraphPointer folded = in_float();
    std::map<std::string, std::string> operators;
    for (node_t node : list_nodes(folded.get()))
        operators[get_node_name(node)] = get_node_op(node);
    return operators;
}

std::string FloatModel::float_type() const
{
    std::map<int, int64_t> bytes;
    for (int i = 0; i < tengine_graph_get_tensor_number(graph_.get()); ++i) {
        tensor_t tensor = tengine_graph_get_tensor(graph_.get(), i);
        const int type = tensor ? get_tensor_data_type(tensor) : TENGINE_DT_UNKNOWN;
        if (is_floating(type)) bytes[type] += std::max(get_tensor_buffer_size(tensor), 0);
    }
    const auto most =
        std::max_element(bytes.begin(), bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : tengine_data_type_get_name(most->first);
}

std::string FloatModel::bodies_in_float() const
{
    std::string owners;
    for (node_t node : list_nodes(graph_.get())) {
        const std::string op = get_node_op(node);
        if (!has_bodies(op)) continue;
        owners += (owners.empty() ? "" : ", ") + op + " '" + get_node_name(node) + "'";
    }
    return owners.empty() ? "" : "; the bodies of " + owners + " stay in float";
}

NodeCounts FloatModel::count_nodes() const
{
    const GraphPointer folded = in_float();
    return {count_batch_norms(graph_.get()) - count_batch_norms(folded.get()),
            static_cast<int>(list_nodes(folded.get()).size())};
}

}  // namespace tengine::tools
