// SPDX-License-Identifier: Apache-2.0
#include "verify/layer_group.h"

#include <algorithm>
#include <map>

namespace tengine::tools {
namespace {

bool is_quantisation(const Layer& layer)
{
    return layer.op == "QuantizeLinear";
}

using NameSet = std::set<std::string>;

// The model as a graph of layers, which are known by their indices.
class Groups
{
  public:
    Groups(const std::vector<Layer>& layers, const NameSet& floats, const NameSet& results)
        : layers_(layers), floats_(floats), results_(results)
    {
        for (size_t i = 0; i < layers.size(); ++i) {
            for (const std::string& output : layers[i].outputs)
                producers_[output] = i;
            for (const LayerInput& input : layers[i].inputs)
                readers_[input.name].insert(i);
        }
    }

    std::vector<LayerGroup> list()
    {
        std::vector<LayerGroup> groups;
        for (size_t i = 0; i < layers_.size(); ++i) {
            const Layer& layer = layers_[i];
            if (seen_.count(i) != 0 || !layer.is_variable() || is_quantisation(layer) ||
                is_dequantisation(layer))
                continue;
            collect(i);
            if (is_closed_) groups.push_back(describe());
        }
        return groups;
    }

  private:
    // The float nodes that are joined with this one.
    void collect(size_t first)
    {
        floating_ = {first};
        sources_.clear();
        ends_.clear();
        is_closed_ = true;
        std::vector<size_t> open = {first};
        while (!open.empty()) {
            const size_t index = open.back();
            open.pop_back();
            seen_.insert(index);
            std::vector<size_t> found;
            for (const LayerInput& input : layers_[index].inputs)
                follow_input(input, &found);
            for (const std::string& output : layers_[index].outputs)
                follow_output(output, &found);
            for (const size_t next : found)
                if (floating_.insert(next).second) open.push_back(next);
        }
        is_closed_ = is_closed_ && !sources_.empty() && !ends_.empty();
    }

    void follow_input(const LayerInput& input, std::vector<size_t>* found)
    {
        if (!input.is_variable || floats_.count(input.name) == 0) return;
        const auto producer = producers_.find(input.name);
        // An input of the model has none.
        if (producer == producers_.end())
            is_closed_ = false;
        else if (is_dequantisation(layers_[producer->second]))
            sources_.insert(producer->second);
        else if (is_quantised(input.name))
            is_closed_ = false;
        else
            found->push_back(producer->second);
    }

    void follow_output(const std::string& output, std::vector<size_t>* found)
    {
        const bool is_float = floats_.count(output) != 0;
        const bool is_boundary = is_float && is_quantised(output);
        if (results_.count(output) != 0 && !is_boundary) is_closed_ = false;
        const auto readers = readers_.find(output);
        if (readers == readers_.end()) return;
        is_closed_ = is_closed_ && is_float;
        for (const size_t reader : readers->second) {
            if (is_quantisation(layers_[reader]))
                ends_.insert(reader);
            else if (!is_boundary)
                found->push_back(reader);
        }
    }

    bool is_quantised(const std::string& name) const
    {
        const auto readers = readers_.find(name);
        return readers != readers_.end() &&
               std::any_of(readers->second.begin(), readers->second.end(),
                           [&](size_t reader) { return is_quantisation(layers_[reader]); });
    }

    void add_inputs(size_t index, bool with_floats, Layer* layer) const
    {
        for (const LayerInput& input : layers_[index].inputs) {
            const bool is_inner = floats_.count(input.name) != 0 && !with_floats;
            const auto is_same = [&](const LayerInput& other) { return other.name == input.name; };
            if (!is_inner && std::none_of(layer->inputs.begin(), layer->inputs.end(), is_same))
                layer->inputs.push_back(input);
        }
    }

    LayerGroup describe() const
    {
        LayerGroup group;
        group.layer.name = layers_[*floating_.begin()].name;
        group.layer.op = layers_[*floating_.begin()].op;
        for (const size_t source : sources_)
            add_inputs(source, true, &group.layer);
        for (const size_t index : floating_)
            add_inputs(index, false, &group.layer);
        group.layer.ends.clear();
        for (const size_t end : ends_) {
            group.layer.ends.push_back(layers_[end].name);
            group.layer.outputs.push_back(layers_[end].outputs[0]);
        }
        group.nodes.assign(floating_.begin(), floating_.end());
        group.nodes.insert(group.nodes.end(), ends_.begin(), ends_.end());
        return group;
    }

    const std::vector<Layer>& layers_;
    const NameSet& floats_;
    const NameSet& results_;
    std::map<std::string, size_t> producers_;
    std::map<std::string, std::set<size_t>> readers_;
    std::set<size_t> seen_;
    // The present group: its float nodes, the DequantizeLinear nodes before them, the
    // QuantizeLinear nodes behind them, and whether nothing else is at its boundary.
    std::set<size_t> floating_, sources_, ends_;
    bool is_closed_ = false;
};

}  // namespace

bool is_dequantisation(const Layer& layer)
{
    return layer.op == "DequantizeLinear";
}

std::vector<LayerGroup> list_groups(const std::vector<Layer>& layers, const NameSet& floats,
                                    const NameSet& results)
{
    return Groups(layers, floats, results).list();
}

}  // namespace tengine::tools
