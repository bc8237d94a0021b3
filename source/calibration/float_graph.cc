// SPDX-License-Identifier: Apache-2.0
// Asks quantize.h. The contract is in float_graph.h.
#include "calibration/float_graph.h"

#include <algorithm>
#include <cstring>

#include "base/guard.hpp"
#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

// ---- functions for the library ----

struct Conversation
{
    const Request& request;
    QuantizedGraph made;
    Vector<String>* asked = nullptr;  // if not null, every tensor has a range
    bool is_out_of_memory = false;
};

// An answer of `work`, 0 when it runs out of memory: no exception passes through the library.
template <class Work>
int answer(void* user, const Work& work)
{
    Conversation& conversation = *static_cast<Conversation*>(user);
    try {
        return work(conversation);
    } catch (...) {
        conversation.is_out_of_memory = true;
        return 0;
    }
}

int get_range(void* user, const char* tensor, double* low, double* high)
{
    return answer(user, [&](Conversation& conversation) {
        if (conversation.asked) {
            conversation.asked->emplace_back(tensor);
            return 1;
        }
        const auto found = conversation.request.ranges.find(tensor);
        if (found == conversation.request.ranges.end()) return 0;
        *low = found->second.low;
        *high = found->second.high;
        return 1;
    });
}

bool is_wanted(const Request& request, const String& name)
{
    if (request.only) return name == *request.only;
    return !request.in_float || request.in_float->count(name) == 0;
}

int choose(void* user, const tengine_quantized_layer* told)
{
    return answer(user, [&](Conversation& conversation) {
        Layer layer;
        for (int i = 0; i < told->node_number; ++i) {
            layer.nodes.emplace_back(told->nodes[i]);
            layer.op += (i == 0 ? "" : "+") + String(told->operators[i]);
        }
        layer.tensor = told->tensor;
        layer.stands_alone = told->stands_alone != 0;
        if (!is_wanted(conversation.request, layer.name())) return 0;
        conversation.made.layers.push_back(std::move(layer));
        return 1;
    });
}

void take_tensor(void* user, const tengine_quantized_tensor* tensor)
{
    answer(user, [&](Conversation& conversation) {
        conversation.made.quantizations[tensor->name] = {tensor->scale, tensor->zero_point};
        if (conversation.request.ranges.count(tensor->name) != 0)
            conversation.made.dequantized[tensor->name] = tensor->dequantized;
        return 0;
    });
}

void take_kept(void* user, const char* node)
{
    answer(user, [&](Conversation& conversation) {
        conversation.made.kept.insert(node);
        return 0;
    });
}

Vector<const char*> pointers_to(const Vector<String>& texts)
{
    Vector<const char*> pointers;
    for (const String& text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

// The structure for the library.
tengine_quantization question_of(Conversation* conversation, const Vector<const char*>& keep_float)
{
    const Request& request = conversation->request;
    tengine_quantization how = {};
    how.dynamic = request.dynamic ? 1 : 0;
    how.per_channel = request.scales.per_channel;
    how.unsigned_activations = request.scales.unsigned_activations;
    how.keep_float = keep_float.data();
    how.keep_float_number = static_cast<int>(keep_float.size());
    how.user = conversation;
    how.get_range = how.dynamic ? nullptr : get_range;
    how.choose = choose;
    how.take_tensor = how.dynamic ? nullptr : take_tensor;
    how.take_kept = take_kept;
    return how;
}

int fail_without_memory()
{
    return fail(TENGINE_ENOMEM, "out of memory for the results of a quantisation");
}

int ask(graph_t graph, Conversation* conversation)
{
    const Vector<const char*> keep_float = pointers_to(conversation->request.keep_float);
    const tengine_quantization how = question_of(conversation, keep_float);
    conversation->made.graph.reset(tengine_graph_quantize(graph, &how));
    if (conversation->is_out_of_memory) return fail_without_memory();
    return conversation->made.graph ? TENGINE_OK : tengine_error_code();
}

bool is_floating(int data_type)
{
    return data_type == TENGINE_DT_FP32 || data_type == TENGINE_DT_FP16 ||
           data_type == TENGINE_DT_BF16 || data_type == TENGINE_DT_FP64 ||
           (data_type >= TENGINE_DT_FLOAT8E4M3FN && data_type <= TENGINE_DT_FLOAT8E8M0);
}

// Whether nodes of this operator have bodies.
bool has_bodies(const char* op)
{
    const char* const operators[] = {"If", "Loop", "Scan", "SequenceMap"};
    return std::any_of(std::begin(operators), std::end(operators),
                       [op](const char* known) { return std::strcmp(op, known) == 0; });
}

// Operators that ONNX Runtime and this library write into quantised models, QuantizeLinear and
// DequantizeLinear first of all.
bool is_quantized_operator(const char* op)
{
    const char* const parts[] = {"uantizeLinear", "QLinear", "QGemm", "Integer"};
    return std::any_of(std::begin(parts), std::end(parts),
                       [op](const char* part) { return std::strstr(op, part) != nullptr; });
}

// The form of tmfiles: the results are int8 or uint8.
bool writes_bytes(node_t node)
{
    for (tensor_t output : list_node_outputs(node)) {
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

void DestroyGraph::operator()(void* graph) const
{
    const int code = tengine_error_code();
    Sentence message;
    std::snprintf(message.data(), message.size(), "%s", tengine_error_message());
    destroy_graph(graph);
    if (code < 0) tengine_error_set(code, "%s", message.data());
}

int list_calibrated(graph_t graph, Request request, Vector<String>* out_tensors)
{
    request.in_float = nullptr;
    Conversation conversation = {request, {}, out_tensors, false};
    return ask(graph, &conversation);
}

int quantize_graph(graph_t graph, const Request& request, QuantizedGraph* out_quantized)
{
    Conversation conversation = {request, {}, nullptr, false};
    TENGINE_RETURN_IF_ERROR(ask(graph, &conversation));
    *out_quantized = std::move(conversation.made);
    return TENGINE_OK;
}

int copy_in_float(graph_t graph, GraphPointer* out_graph)
{
    QuantizedGraph quantized;
    TENGINE_RETURN_IF_ERROR(quantize_graph(graph, {}, &quantized));
    *out_graph = std::move(quantized.graph);
    return TENGINE_OK;
}

int choose_scales(graph_t graph, const Request& request, const Vector<Scales>& candidates,
                  tengine_quantization_choice* out_choice)
{
    // The questions point to the conversations.
    Vector<Request> requests(candidates.size(), request);
    Vector<Conversation> conversations;
    conversations.reserve(candidates.size());
    Vector<tengine_quantization> how;
    const Vector<const char*> keep_float = pointers_to(request.keep_float);
    for (size_t i = 0; i < candidates.size(); ++i) {
        requests[i].scales = candidates[i];
        conversations.push_back({requests[i], {}, nullptr, false});
        how.push_back(question_of(&conversations.back(), keep_float));
    }
    const int status = tengine_graph_choose_quantization(
        graph, how.data(), static_cast<int>(how.size()), out_choice, sizeof *out_choice);
    for (const Conversation& conversation : conversations)
        if (conversation.is_out_of_memory) return fail_without_memory();
    return status < 0 ? tengine_error_code() : TENGINE_OK;
}

int refuse_quantized(graph_t graph)
{
    const Vector<node_t> nodes = list_nodes(graph);
    Vector<node_t> found;
    for (node_t node : nodes)
        if (is_quantized_operator(get_node_op(node)) || writes_bytes(node)) found.push_back(node);
    if (found.empty()) return TENGINE_OK;
    return fail(TENGINE_EINVAL,
                "the model is quantised already: %zu of its %zu nodes, such as %s '%s'; "
                "give the float model it was made from",
                found.size(), nodes.size(), get_node_op(found[0]), get_node_name(found[0]));
}

int count_batch_norms(graph_t graph)
{
    const Vector<node_t> nodes = list_nodes(graph);
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](node_t node) {
        return std::strcmp(get_node_op(node), "BatchNormalization") == 0;
    }));
}

String float_type(graph_t graph)
{
    Map<int, int64_t> bytes;
    for (tensor_t tensor : list_tensors(graph)) {
        const int type = get_tensor_data_type(tensor);
        if (is_floating(type))
            bytes[type] += std::max(tengine_tensor_get_buffer_size(tensor), int64_t{0});
    }
    const auto most =
        std::max_element(bytes.begin(), bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : tengine_data_type_get_name(most->first);
}

String bodies_in_float(graph_t graph)
{
    String owners;
    for (node_t node : list_nodes(graph)) {
        const char* op = get_node_op(node);
        if (!has_bodies(op)) continue;
        owners += (owners.empty() ? "" : ", ") + String(op) + " '" + get_node_name(node) + "'";
    }
    return owners.empty() ? "" : "; the bodies of " + owners + " stay in float";
}

}  // namespace tengine::calibration
