// SPDX-License-Identifier: Apache-2.0
#include "graph_build.h"

#include <climits>
#include <unordered_set>

#include "attributes.h"
#include "log.h"

namespace tengine::provider {
namespace {

GraphPointer make_graph(context_t context)
{
    const GraphPointer graph(create_graph(context, nullptr, nullptr),
                             [](graph_t owned) { destroy_graph(owned); });
    if (!graph) fail_library("no graph");
    return graph;
}

std::string judge_value(const Value& value)
{
    if (value.data_type == kNoType) return "'" + value.name + "' has type " + value.type;
    if (value.dims.size() > MAX_SHAPE_DIM_NUM)
        return "'" + value.name + "' has " + std::to_string(value.dims.size()) + " dimensions";
    return "";
}

// The host computes Dropout in training, whose random numbers are its own.
bool may_train(const GraphView& view, const ViewedNode& node)
{
    constexpr size_t kTrainingMode = 2;
    if (node.op != "Dropout" || node.inputs.size() <= kTrainingMode) return false;
    const int value = node.inputs[kTrainingMode];
    return value != kAbsent && !view.values[static_cast<size_t>(value)].is_constant;
}

class GraphBuilder
{
  public:
    GraphBuilder(const GraphView& view, const std::vector<bool>& chosen, const Settings& settings,
                 bool lends_constants)
        : view_(view),
          chosen_(chosen),
          lends_constants_(lends_constants),
          tensors_(view.values.size(), nullptr)
    {
        built_.graph = make_graph(settings.context.get());
        built_.node_names.resize(view.nodes.size());
    }

    BuiltGraph build()
    {
        for (size_t i = 0; i < view_.nodes.size(); ++i)
            if (chosen_[i]) add_node(i);
        set_inputs_and_outputs();
        return std::move(built_);
    }

  private:
    graph_t graph() const { return built_.graph.get(); }

    // The name if it is free, else a new one: nodes of the host may have no name, or the same.
    std::string free_name(const std::string& wanted, const std::string& otherwise)
    {
        std::string name = wanted.empty() ? otherwise : wanted;
        while (!taken_.insert(name).second)
            name += "_";
        return name;
    }

    tensor_t make_tensor(const Value& value)
    {
        const tensor_t tensor = create_graph_tensor(graph(), value.name.c_str(), value.data_type);
        if (!tensor) fail_library("tensor '" + value.name + "'");
        return tensor;
    }

    // An unknown dimension is 1 until the host passes a value.
    void set_shape(tensor_t tensor, const Value& value)
    {
        std::vector<int> dims;
        for (const int64_t dim : value.dims) {
            if (dim > INT_MAX)
                throw Failure("'" + value.name + "' has dimension " + std::to_string(dim));
            dims.push_back(dim < 0 ? 1 : static_cast<int>(dim));
        }
        if (set_tensor_shape(tensor, dims.data(), static_cast<int>(dims.size())) < 0)
            fail_library("tensor '" + value.name + "'");
    }

    void set_data(tensor_t tensor, const Value& value)
    {
        const OrtApi& api = *runtime().api;
        const OrtValue* host = nullptr;
        const void* data = nullptr;
        check(api.ValueInfo_GetInitializerValue(value.info, &host));
        if (!host) throw Failure("constant '" + value.name + "' has no value");
        check(api.GetTensorData(host, &data));
        const int size = get_tensor_buffer_size(tensor);
        if (size < 0) fail_library("constant '" + value.name + "'");
        if (size == 0) return;
        // The library only reads a constant.
        const int status = lends_constants_
                               ? set_tensor_buffer(tensor, const_cast<void*>(data), size)
                               : set_tensor_data(tensor, data, size);
        if (status < 0) fail_library("constant '" + value.name + "'");
    }

    // Adds an input: a tensor that no chosen node writes.
    tensor_t add_source(const Value& value)
    {
        const char* op = value.is_constant ? "Const" : "InputOp";
        const std::string name = free_name(value.name, "");
        const node_t node = create_graph_node(graph(), name.c_str(), op);
        const tensor_t tensor = make_tensor(value);
        const int type = value.is_constant ? TENSOR_TYPE_CONST : TENSOR_TYPE_INPUT;
        if (!node || set_node_output_tensor(node, 0, tensor, type) < 0)
            fail_library("'" + value.name + "'");
        set_shape(tensor, value);
        if (value.is_constant)
            set_data(tensor, value);
        else
            inputs_.push_back(name);
        return tensor;
    }

    void add_node(size_t index)
    {
        const ViewedNode& viewed = view_.nodes[index];
        const std::string name = free_name(viewed.name, viewed.op + "_" + std::to_string(index));
        const node_t node = tengine_graph_add_node(graph(), name.c_str(), viewed.domain.c_str(),
                                                   viewed.op.c_str(), viewed.version);
        if (!node || set_attributes(viewed, node) < 0) fail_library("node '" + name + "'");
        for (size_t i = 0; i < viewed.inputs.size(); ++i) {
            const int value = viewed.inputs[i];
            if (value == kAbsent) continue;
            tensor_t& tensor = tensors_[static_cast<size_t>(value)];
            if (!tensor) tensor = add_source(view_.values[static_cast<size_t>(value)]);
            if (set_node_input_tensor(node, static_cast<int>(i), tensor) < 0)
                fail_library("node '" + name + "'");
        }
        for (size_t i = 0; i < viewed.outputs.size(); ++i) {
            const int value = viewed.outputs[i];
            if (value == kAbsent) continue;
            const tensor_t tensor = make_tensor(view_.values[static_cast<size_t>(value)]);
            tensors_[static_cast<size_t>(value)] = tensor;
            if (set_node_output_tensor(node, static_cast<int>(i), tensor, TENSOR_TYPE_VAR) < 0)
                fail_library("node '" + name + "'");
        }
        built_.node_names[index] = name;
    }

    // For each value of chosen nodes: whether other nodes read it.
    std::vector<bool> find_read_values() const
    {
        std::vector<bool> is_read(view_.values.size());
        const auto mark = [&](const std::vector<int>& list) {
            for (const int value : list)
                if (value != kAbsent) is_read[static_cast<size_t>(value)] = true;
        };
        for (size_t i = 0; i < view_.nodes.size(); ++i) {
            if (!chosen_[i]) mark(view_.nodes[i].inputs);
            mark(view_.nodes[i].captured);
        }
        return is_read;
    }

    void set_inputs_and_outputs()
    {
        const std::vector<bool> is_read = find_read_values();
        std::vector<const char*> outputs, inputs;
        for (size_t i = 0; i < view_.nodes.size(); ++i) {
            if (!chosen_[i]) continue;
            for (const int value : view_.nodes[i].outputs) {
                if (value == kAbsent) continue;
                if (!is_read[static_cast<size_t>(value)] &&
                    !view_.values[static_cast<size_t>(value)].is_output)
                    continue;
                outputs.push_back(built_.node_names[i].c_str());
                break;
            }
        }
        for (const std::string& name : inputs_)
            inputs.push_back(name.c_str());
        if (set_graph_output_node(graph(), outputs.data(), static_cast<int>(outputs.size())) < 0)
            fail_library("outputs");
        if (!inputs.empty() &&
            set_graph_input_node(graph(), inputs.data(), static_cast<int>(inputs.size())) < 0)
            fail_library("inputs");
    }

    const GraphView& view_;
    const std::vector<bool>& chosen_;
    const bool lends_constants_;
    std::vector<tensor_t> tensors_;  // the view's values
    std::vector<std::string> inputs_;
    std::unordered_set<std::string> taken_;
    BuiltGraph built_;
};

}  // namespace

std::string judge_node(const GraphView& view, const ViewedNode& node)
{
    if (may_train(view, node)) return "its training_mode is not constant";
    if (node.has_subgraphs) return "it has subgraphs, which stay the host's";
    for (const std::vector<int>* list : {&node.inputs, &node.outputs})
        for (const int value : *list) {
            if (value == kAbsent) continue;
            const std::string reason = judge_value(view.values[static_cast<size_t>(value)]);
            if (!reason.empty()) return reason;
        }
    const QuietScope quiet;
    const GraphPointer scratch = make_graph(nullptr);
    const node_t made = tengine_graph_add_node(scratch.get(), "node", node.domain.c_str(),
                                               node.op.c_str(), node.version);
    return made && set_attributes(node, made) == 0 ? "" : get_tengine_error();
}

BuiltGraph build_graph(const GraphView& view, const std::vector<bool>& chosen,
                       const Settings& settings, bool lends_constants)
{
    return GraphBuilder(view, chosen, settings, lends_constants).build();
}

}  // namespace tengine::provider
