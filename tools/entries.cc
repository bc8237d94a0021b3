// SPDX-License-Identifier: Apache-2.0
#include "entries.h"

#include <algorithm>

#include "buckets.h"
#include "state.h"
#include "tengine/entry.h"
#include "tengine/graph.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

bool has_entry(graph_t graph, const std::string& name)
{
    const std::vector<std::string> names = entry_names(graph);
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<Model> load_part(const std::string& name, const std::string& path,
                                 ModelOptions options)
{
    auto model = std::make_unique<Model>(path, options);
    if (entry_names(model->graph()).size() < 2) return model;
    if (!has_entry(model->graph(), name))
        throw Failure("--entry " + name + "=" + path +
                      ": the file has several entries, none of "
                      "this name");
    options.entry = name;
    return std::make_unique<Model>(path, options);
}

bool has_tensor(graph_t graph, const std::string& name)
{
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
        if (name == get_tensor_name(tengine_graph_get_input(graph, i))) return true;
    const std::vector<std::string> states = state_names(graph);
    return std::find(states.begin(), states.end(), name) != states.end();
}

void require_tensor(const Models& models, const std::string& option, const std::string& name)
{
    for (const auto& model : models)
        if (has_tensor(model->graph(), name)) return;
    throw Failure(option + ": no entry of the model has an input '" + name + "'");
}

}  // namespace

std::vector<std::string> entry_names(graph_t graph)
{
    std::vector<std::string> names;
    for (int i = 0; i < tengine_graph_get_entry_number(graph); ++i)
        names.emplace_back(tengine_graph_get_entry_name(graph, i));
    return names;
}

Models join_models(const std::vector<std::string>& files, ModelOptions options)
{
    options.is_of_several = files.size() > 1;
    Models models;
    std::vector<std::string> names;
    for (const std::string& file : files) {
        const size_t equals = file.find('=');
        names.push_back(file.substr(0, equals));
        models.push_back(load_part(names.back(), file.substr(equals + 1), options));
    }
    std::vector<graph_t> graphs;
    std::vector<const char*> texts;
    for (size_t i = 0; i < models.size(); ++i) {
        graphs.push_back(models[i]->graph());
        texts.push_back(names[i].c_str());
    }
    if (tengine_graph_join_entries(graphs.data(), texts.data(), static_cast<int>(graphs.size())) <
        0)
        fail_api("--entry");
    return models;
}

Models load_entries(const std::string& path, ModelOptions options)
{
    options.has_all_entries = true;
    Models models;
    models.push_back(std::make_unique<Model>(path, options));
    const std::vector<std::string> names = entry_names(models[0]->graph());
    for (size_t i = 1; i < names.size(); ++i)
        models.push_back(models[0]->open_entry(names[i]));
    return models;
}

void check_names(const Models& models, const ModelOptions& options)
{
    const auto require_shape = [&](const char* option, const std::string& shape) {
        if (shape.find('=') != std::string::npos)
            require_tensor(models, option, shape.substr(0, shape.rfind('=')));
    };
    for (const std::string& shape : options.shapes)
        require_shape("--shape", shape);
    for (const std::string& bucket : options.buckets)
        for (const std::string& shape : split_bucket(bucket))
            require_shape("--bucket", shape);
    for (const std::string& state : options.states)
        require_tensor(models, "--keep-state", state.substr(0, state.find('=')));
}

}  // namespace tengine::tools
