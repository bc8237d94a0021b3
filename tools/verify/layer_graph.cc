// SPDX-License-Identifier: Apache-2.0
#include "verify/layer_graph.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "temporary_folder.h"
#include "tensor_file/failure.h"
#include "verify/bound.h"

namespace tengine::tools {
namespace {

bool stands_for_value(node_t node)
{
    const std::string op = get_node_op(node);
    return op == "InputOp" || op == "Const";
}

std::vector<node_t> list_nodes(graph_t graph)
{
    std::vector<node_t> nodes;
    for (int i = 0; i < get_graph_node_num(graph); ++i)
        nodes.push_back(get_graph_node_by_idx(graph, i));
    return nodes;
}

std::vector<std::string> list_outputs(node_t node)
{
    std::vector<std::string> names;
    for (int i = 0; i < get_node_output_number(node); ++i)
        if (tensor_t tensor = get_node_output_tensor(node, i))
            names.emplace_back(get_tensor_name(tensor));
    return names;
}

Layer describe_layer(node_t node, const std::set<std::string>& variable)
{
    Layer layer;
    layer.name = get_node_name(node);
    layer.op = get_node_op(node);
    layer.ends = {layer.name};
    layer.outputs = list_outputs(node);
    for (int i = 0; i < get_node_input_number(node); ++i) {
        tensor_t tensor = get_node_input_tensor(node, i);
        if (!tensor) continue;
        LayerInput input;
        input.name = get_tensor_name(tensor);
        input.is_variable = variable.count(input.name) != 0;
        input.is_initializer = tengine_tensor_get_type(tensor) == TENSOR_TYPE_CONST;
        layer.inputs.push_back(input);
    }
    return layer;
}

using Names = std::vector<std::string>;

void set_inputs_and_outputs(graph_t graph, const Names& inputs, const Names& outputs)
{
    const auto pointers = [](const Names& names) {
        std::vector<const char*> list;
        for (const std::string& name : names)
            list.push_back(name.c_str());
        return list;
    };
    std::vector<const char*> from = pointers(inputs), to = pointers(outputs);
    if ((!from.empty() &&
         set_graph_input_node(graph, from.data(), static_cast<int>(from.size())) < 0) ||
        set_graph_output_node(graph, to.data(), static_cast<int>(to.size())) < 0)
        fail_api(outputs[0]);
}

tensor_t find_tensor(graph_t graph, const std::string& name)
{
    tensor_t tensor = get_graph_tensor(graph, name.c_str());
    if (!tensor) fail_api(name);
    return tensor;
}

void add_values(const std::vector<Tensor>& tensors, Values* values)
{
    for (const Tensor& tensor : tensors)
        (*values)[tensor.name] = tensor;
}

ModelOptions options_of(const Target& target)
{
    ModelOptions options;
    options.devices = {target.device};
    options.precision = target.precision;
    options.options = {"split.prune=0", "split.report=none", kStatesAreInputs};
    options.options.insert(options.options.end(), target.options.begin(), target.options.end());
    options.says_guess = false;
    return options;
}

std::vector<tengine_execution_node> list_execution_nodes(graph_t graph)
{
    std::vector<tengine_execution_node> nodes;
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        tengine_execution_node node = {};
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) fail_api("node");
        nodes.push_back(node);
    }
    return nodes;
}

std::string full_op(const tengine_execution_node& node)
{
    const std::string domain = node.domain;
    return domain.empty() ? node.op : domain + "." + node.op;
}

}  // namespace

bool Layer::is_variable() const
{
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const LayerInput& input) { return input.is_variable; });
}

std::vector<Layer> list_layers(graph_t graph)
{
    const std::vector<node_t> nodes = list_nodes(graph);
    std::set<std::string> variable;
    std::vector<Layer> layers;
    for (node_t node : nodes) {
        const bool is_input = std::string(get_node_op(node)) == "InputOp";
        if (!is_input && stands_for_value(node)) continue;
        Layer layer = describe_layer(node, variable);
        if (is_input || layer.is_variable())
            variable.insert(layer.outputs.begin(), layer.outputs.end());
        if (!is_input) layers.push_back(std::move(layer));
    }
    return layers;
}

Values compute_values(const std::string& path, const ModelOptions& inputs)
{
    ModelOptions options = inputs;
    const ModelOptions reference = options_of(reference_target());
    options.devices = reference.devices;
    options.options = reference.options;
    options.precision = reference.precision;
    Model model(path, options);
    model.set_inputs();
    Names names;
    for (node_t node : list_nodes(model.graph()))
        if (!stands_for_value(node)) names.emplace_back(get_node_name(node));
    if (names.empty()) throw Failure(path + ": the model has no nodes");
    set_inputs_and_outputs(model.graph(), {}, names);
    model.prepare(1);
    model.run();
    Values values;
    add_values(model.inputs(), &values);
    add_values(model.outputs(), &values);
    for (int i = 0; i < tengine_graph_get_tensor_number(model.graph()); ++i) {
        tensor_t tensor = tengine_graph_get_tensor(model.graph(), i);
        if (tengine_tensor_get_type(tensor) == TENSOR_TYPE_CONST)
            add_values({copy_tensor(tensor, get_tensor_name(tensor))}, &values);
    }
    return values;
}

LayerGraph::LayerGraph(const std::string& path, const Target& target, const Values& values)
    : path_(path), target_(target), values_(values), model_(path, options_of(target))
{
}

const Tensor& LayerGraph::value_of(const std::string& name, const Values& changed) const
{
    const auto other = changed.find(name);
    if (other != changed.end()) return other->second;
    const auto value = values_.find(name);
    if (value == values_.end()) throw Failure(path_ + ": '" + name + "' has no value");
    return value->second;
}

void LayerGraph::lend(const std::string& name, const Values& changed)
{
    const Tensor& value = value_of(name, changed);
    tensor_t tensor = find_tensor(model_.graph(), name);
    if (set_tensor_data_type(tensor, value.data_type) < 0 ||
        set_tensor_shape(tensor, value.shape.data(), static_cast<int>(value.shape.size())) < 0)
        fail_api(name);
    lend_tensor(tensor, value, name);
}

void LayerGraph::restore()
{
    for (const std::string& name : lent_constants_)
        lend_tensor(find_tensor(model_.graph(), name), value_of(name, {}), name);
    lent_constants_.clear();
}

void LayerGraph::cut(const Layer& layer, const Values& changed)
{
    restore();
    Names producers, fed;
    for (const LayerInput& input : layer.inputs) {
        if (input.is_initializer && changed.count(input.name) != 0) {
            lend_tensor(find_tensor(model_.graph(), input.name), changed.at(input.name),
                        input.name);
            lent_constants_.push_back(input.name);
        }
        if (input.is_initializer || (!input.is_variable && changed.count(input.name) == 0))
            continue;
        node_t producer = tengine_tensor_get_producer(find_tensor(model_.graph(), input.name));
        if (!producer) fail_api(input.name);
        const std::string name = get_node_name(producer);
        if (std::find(producers.begin(), producers.end(), name) != producers.end()) continue;
        producers.push_back(name);
        for (const std::string& output : list_outputs(producer))
            fed.push_back(output);
    }
    set_inputs_and_outputs(model_.graph(), producers, layer.ends);
    for (const std::string& name : fed)
        lend(name, changed);
    model_.prepare(target_.threads);
}

// The reason why the target's device did not get the node, "" if there is none.
std::string LayerGraph::refusal_of(size_t index, const tengine_execution_node& node) const
{
    std::string reason;
    for (int k = 0; k < node.refusal_number; ++k) {
        tengine_refusal refusal = {};
        if (tengine_graph_get_refusal(model_.graph(), static_cast<int>(index), k, &refusal) < 0)
            fail_api(path_);
        if (refusal.device == target_.device) reason = refusal.message;
    }
    return reason;
}

Placement LayerGraph::placement() const
{
    Placement placement;
    placement.is_removed = true;
    placement.is_taken = true;
    const std::vector<tengine_execution_node> nodes = list_execution_nodes(model_.graph());
    for (size_t i = 0; i < nodes.size(); ++i) {
        const tengine_execution_node& node = nodes[i];
        placement.mac_number += node.mac_number;
        // Into and out of the precision of the run.
        if (!node.source && std::string(node.op) == "Cast") {
            placement.is_converted = true;
            continue;
        }
        placement.is_removed = false;
        if (node.device == target_.device) continue;
        placement.is_taken = false;
        placement.reason = refusal_of(i, node);
    }
    placement.is_taken = placement.is_taken && !placement.is_removed;
    return placement;
}

std::string LayerGraph::op(const std::string& layer_op) const
{
    std::string first, rounded;
    for (const tengine_execution_node& node : list_execution_nodes(model_.graph())) {
        if (!node.source) continue;
        const std::string op = full_op(node);
        if (first.empty()) first = op;
        if (rule_of(op) == Rule::kExact && op != "Clip") continue;
        if (!rounded.empty() && rounded != op) return layer_op;
        rounded = op;
    }
    return rounded.empty() ? first : rounded;
}

bool LayerGraph::is_in_integers() const
{
    const auto nodes = list_execution_nodes(model_.graph());
    return std::none_of(nodes.begin(), nodes.end(), [](const tengine_execution_node& node) {
        const std::string op = node.op;
        return op == "QuantizeLinear" || op == "DequantizeLinear";
    });
}

IntegerWork LayerGraph::integer_work() const
{
    IntegerWork work;
    bool has_sum = false;
    work.placement.is_removed = true;
    const std::vector<tengine_execution_node> nodes = list_execution_nodes(model_.graph());
    for (size_t i = 0; i < nodes.size(); ++i) {
        const std::string op = full_op(nodes[i]);
        const bool is_sum = rule_of(op) == Rule::kSteps;
        work.is_rounded = work.is_rounded || is_sum || op == "tengine.Lookup";
        const bool is_better = is_sum ? !has_sum : !has_sum && work.placement.is_taken;
        if (!is_better && !work.placement.is_removed) continue;
        has_sum = has_sum || is_sum;
        work.op = op;
        work.placement.is_removed = false;
        work.placement.is_taken = nodes[i].device == target_.device;
        work.placement.reason = refusal_of(i, nodes[i]);
    }
    return work;
}

std::vector<Tensor> LayerGraph::run()
{
    model_.run();
    for (const tengine_execution_node& node : list_execution_nodes(model_.graph())) {
        tengine_subgraph part = {};
        if (tengine_graph_get_subgraph(model_.graph(), node.subgraph, &part) < 0) fail_api(path_);
        if (part.redo_number > 0) throw Failure("the device failed to run it, and the CPU did");
    }
    return model_.outputs();
}

std::string LayerGraph::save(const std::filesystem::path& folder, const std::string& name) const
{
    const std::string path = (folder / name).string();
    // A file moved out of it replaces a link that other users may have created.
    const TemporaryFolder aside(folder.string(), path);
    if (save_graph(model_.graph(), "onnx", aside.path(name).c_str()) < 0) fail_api(path);
    std::error_code error;
    std::filesystem::rename(aside.path(name), path, error);
    if (error) throw Failure("'" + path + "' cannot be written: " + error.message());
    return path;
}

}  // namespace tengine::tools
