// SPDX-License-Identifier: Apache-2.0
#include "verify/graph_of_case.h"

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

constexpr char kNode[] = "node";
constexpr char kConv[] = "conv";  // for a case behind one

std::string input_name(int index)
{
    return "input" + std::to_string(index);
}

void set_option(context_t context, const std::string& option)
{
    const size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    const std::string value = option.substr(equals + 1);
    if (tengine_context_set_option(context, key.c_str(), value.c_str()) < 0)
        fail_api("--option " + option);
}

// "Softmax" alone is Tengine's operator.
std::string operator_name(const std::string& op)
{
    return op.find('.') == std::string::npos ? "ai.onnx." + op : op;
}

void set_attributes(node_t node, const Case& of)
{
    const auto check = [&](int status) {
        if (status < 0) fail_api(of.name());
    };
    for (const auto& [name, values] : of.lists)
        check(set_node_attr_generic(node, name.c_str(), "int64[]", values.data(),
                                    static_cast<int>(values.size() * sizeof(int64_t))));
    for (const auto& [name, values] : of.float_lists)
        check(set_node_attr_generic(node, name.c_str(), "float[]", values.data(),
                                    static_cast<int>(values.size() * sizeof(float))));
    for (const auto& [name, values] : of.text_lists) {
        std::vector<const char*> texts;
        for (const std::string& value : values)
            texts.push_back(value.c_str());
        check(set_node_attr_generic(node, name.c_str(), "string[]", texts.data(),
                                    static_cast<int>(texts.size() * sizeof(char*))));
    }
    for (const auto& [name, value] : of.ints)
        check(set_node_attr_int(node, name.c_str(), &value));
    for (const auto& [name, value] : of.floats)
        check(set_node_attr_float(node, name.c_str(), &value));
    for (const auto& [name, value] : of.texts)
        check(set_node_attr_generic(node, name.c_str(), "string", value.data(),
                                    static_cast<int>(value.size())));
}

// Also of a tensor without elements.
void set_data(tensor_t tensor, const Tensor& value)
{
    const std::byte nothing = {};
    const void* data = value.bytes.empty() ? &nothing : value.bytes.data();
    if (set_tensor_data(tensor, data, static_cast<int>(value.bytes.size())) < 0)
        fail_api(get_tensor_name(tensor));
}

// Whether the node does the case's work. The node before it is a convolution.
bool is_work(const tengine_execution_node& node, const Case& of)
{
    const std::string op = node.op;
    if (of.is_behind_conv && (op == "Conv" || op == "QLinearConv")) return false;
    return op != "Cast" || of.op == "Cast";
}

// Adds the device's kernel of the node to those before, separated by commas.
void add_kernel(graph_t graph, int index, std::string* kernels)
{
    tengine_node_kernel kernel = {};
    if (tengine_graph_get_execution_kernel(graph, index, &kernel, sizeof kernel) < 0) return;
    if (*kernel.name) *kernels += (kernels->empty() ? "" : ",") + std::string(kernel.name);
}

}  // namespace

Target reference_target()
{
    Target target;
    target.device = get_default_device();
    target.options = {target.device + ".kernels=reference"};
    return target;
}

context_t create_target_context(const Target& target)
{
    std::unique_ptr<void, void (*)(context_t)> context(create_context("verify", 1),
                                                       destroy_context);
    if (!context) fail_api("context");
    if (add_context_device(context.get(), target.device.c_str()) < 0)
        fail_api("--device " + target.device);
    const std::string last = get_default_device();
    if (target.device != last && add_context_device(context.get(), last.c_str()) < 0)
        fail_api(last);
    // The tested device keeps a node at any cost.
    for (const char* option : {"split.prune=0", "split.report=none"})
        set_option(context.get(), option);
    for (const std::string& option : target.options)
        set_option(context.get(), option);
    return context.release();
}

CaseGraph::CaseGraph(const Case& of, int data_type, const std::vector<Tensor>& inputs,
                     const Target& target)
    : case_(of), target_(target), context_(create_target_context(target))
{
    graph_.reset(create_graph(context_.get(), nullptr, nullptr));
    if (!graph_) fail_api(of.name());
    node_t node = create_graph_node(graph(), kNode, operator_name(of.op).c_str());
    if (!node) fail_api(of.name());
    set_attributes(node, of);
    for (size_t i = 0; i < of.inputs.size(); ++i)
        if (!of.inputs[i].is_absent) add_input(static_cast<int>(i), of.inputs[i], inputs[i], node);
    for (size_t i = 0; i < of.outputs.size(); ++i) {
        const std::string name = "output" + std::to_string(i);
        const int type = of.outputs[i] == kCaseType ? data_type : of.outputs[i];
        tensor_t output = create_graph_tensor(graph(), name.c_str(), type);
        if (!output ||
            set_node_output_tensor(node, static_cast<int>(i), output, TENSOR_TYPE_VAR) < 0)
            fail_api(of.name());
    }
    std::vector<std::string> names;
    std::vector<const char*> pointers;
    for (const int index : fed_)
        names.push_back(input_name(index));
    for (const std::string& name : names)
        pointers.push_back(name.c_str());
    const char* last = kNode;
    if ((!pointers.empty() &&
         set_graph_input_node(graph(), pointers.data(), static_cast<int>(pointers.size())) < 0) ||
        set_graph_output_node(graph(), &last, 1) < 0)
        fail_api(of.name());
}

tensor_t CaseGraph::add_tensor(const std::string& name, const Tensor& value, int role)
{
    const bool is_constant = role == TENSOR_TYPE_CONST;
    node_t source = create_graph_node(graph(), name.c_str(), is_constant ? "Const" : "InputOp");
    tensor_t tensor = create_graph_tensor(graph(), name.c_str(), value.data_type);
    if (!source || !tensor || set_node_output_tensor(source, 0, tensor, role) < 0 ||
        set_tensor_shape(tensor, value.shape.data(), static_cast<int>(value.shape.size())) < 0)
        fail_api(case_.name());
    if (is_constant) set_data(tensor, value);
    return tensor;
}

// A convolution whose weights are the identity, so that its result is identical to its input.
tensor_t CaseGraph::add_conv(tensor_t from, const Tensor& value)
{
    const bool is_float = is_floating(value.data_type);
    node_t node =
        create_graph_node(graph(), kConv, is_float ? "ai.onnx.Conv" : "ai.onnx.QLinearConv");
    tensor_t result = create_graph_tensor(graph(), kConv, value.data_type);
    std::vector<tensor_t> inputs = {from};
    const auto add = [&](const char* name, const Tensor& constant) {
        inputs.push_back(add_tensor(std::string(kConv) + name, constant, TENSOR_TYPE_CONST));
    };
    Tensor weights = make_tensor(is_float ? value.data_type : TENGINE_DT_INT8,
                                 {value.shape[1], value.shape[1], 1, 1});
    for (int i = 0; i < value.shape[1]; ++i)
        set_element(&weights, static_cast<size_t>(i) * static_cast<size_t>(value.shape[1] + 1), 1);
    if (is_float) {
        add(".weights", weights);
    } else {
        Tensor one = make_tensor(TENGINE_DT_FP32, {});
        set_element(&one, 0, 1);
        const Tensor zero = make_tensor(value.data_type, {});
        add(".scale", one);
        add(".zero", zero);
        add(".weights", weights);
        add(".weight_scale", one);
        add(".weight_zero", make_tensor(TENGINE_DT_INT8, {}));
        add(".result_scale", one);
        add(".result_zero", zero);
    }
    if (!node || !result || set_node_output_tensor(node, 0, result, TENSOR_TYPE_VAR) < 0)
        fail_api(case_.name());
    for (size_t i = 0; i < inputs.size(); ++i)
        if (set_node_input_tensor(node, static_cast<int>(i), inputs[i]) < 0) fail_api(case_.name());
    return result;
}

void CaseGraph::add_input(int index, const Operand& operand, const Tensor& value, node_t node)
{
    const int role = operand.is_constant ? TENSOR_TYPE_CONST : TENSOR_TYPE_INPUT;
    tensor_t tensor = add_tensor(input_name(index), value, role);
    if (index == 0 && case_.is_behind_conv) tensor = add_conv(tensor, value);
    if (set_node_input_tensor(node, index, tensor) < 0) fail_api(case_.name());
    if (!operand.is_constant) fed_.push_back(index);
}

void CaseGraph::prepare()
{
    options settings = {};
    settings.num_thread = target_.threads;
    settings.cluster = TENGINE_CLUSTER_ALL;
    settings.precision = target_.precision;
    if (prerun_graph_multithread(graph(), settings) < 0) fail_api(case_.name());
}

Placement CaseGraph::placement() const
{
    Placement placement;
    const int number = tengine_graph_get_execution_node_number(graph());
    if (number < 0) fail_api(case_.name());
    placement.is_removed = true;
    placement.is_taken = true;
    for (int i = 0; i < number; ++i) {
        tengine_execution_node node = {};
        if (tengine_graph_get_execution_node(graph(), i, &node) < 0) fail_api(case_.name());
        if (!is_work(node, case_)) continue;
        placement.mac_number += node.mac_number;
        placement.is_removed = false;
        if (node.device == target_.device) {
            add_kernel(graph(), i, &placement.kernels);
            continue;
        }
        placement.is_taken = false;
        for (int k = 0; k < node.refusal_number; ++k) {
            tengine_refusal refusal = {};
            if (tengine_graph_get_refusal(graph(), i, k, &refusal) < 0) fail_api(case_.name());
            if (refusal.device == target_.device) placement.reason = refusal.message;
        }
    }
    placement.is_taken = placement.is_taken && !placement.is_removed;
    return placement;
}

void CaseGraph::feed(const std::vector<Tensor>& inputs)
{
    for (const int index : fed_) {
        const Tensor& value = inputs[static_cast<size_t>(index)];
        tensor_t tensor = get_graph_tensor(graph(), input_name(index).c_str());
        if (!tensor) fail_api(case_.name());
        set_data(tensor, value);
    }
}

void CaseGraph::reshape(const std::vector<Tensor>& inputs)
{
    for (const int index : fed_) {
        const std::vector<int>& shape = inputs[static_cast<size_t>(index)].shape;
        tensor_t tensor = get_graph_tensor(graph(), input_name(index).c_str());
        if (!tensor || set_tensor_shape(tensor, shape.data(), static_cast<int>(shape.size())) < 0)
            fail_api(case_.name());
    }
}

void CaseGraph::run()
{
    if (run_graph(graph(), 1) < 0) fail_api(case_.name());
}

std::vector<Tensor> CaseGraph::outputs() const
{
    std::vector<Tensor> outputs;
    for (int i = 0; i < tengine_graph_get_output_number(graph()); ++i) {
        tensor_t tensor = tengine_graph_get_output(graph(), i);
        Tensor output = describe_tensor(tensor);
        const int bytes = get_tensor_buffer_size(tensor);
        if (bytes < 0) fail_api(case_.name());
        output.bytes.resize(static_cast<size_t>(bytes));
        if (bytes > 0 && get_tensor_data(tensor, output.bytes.data(), bytes) < 0)
            fail_api(case_.name());
        outputs.push_back(std::move(output));
    }
    return outputs;
}

int64_t CaseGraph::redo_number() const
{
    tengine_graph_stats stats = {};
    if (tengine_graph_get_stats(graph(), &stats) < 0) fail_api(case_.name());
    int64_t number = 0;
    for (int i = 0; i < stats.subgraph_number; ++i) {
        tengine_subgraph part = {};
        if (tengine_graph_get_subgraph(graph(), i, &part) < 0) fail_api(case_.name());
        number += part.redo_number;
    }
    return number;
}

}  // namespace tengine::tools
