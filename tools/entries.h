// SPDX-License-Identifier: Apache-2.0
// The entries of a model file (tengine/entry.h): named graphs, such as prefill and decode.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model.h"

namespace tengine::tools {

// The names of the entries of a graph's model; none for a model that is one graph.
std::vector<std::string> entry_names(graph_t graph);

using Models = std::vector<std::unique_ptr<Model>>;

// Models that belong together: those of NAME=FILE, which become entries of one model. A file with
// several entries gives the one of that name. Throws Failure.
Models join_models(const std::vector<std::string>& files, ModelOptions options);

// The model of the file, and its other entries behind it, if it has any.
Models load_entries(const std::string& path, ModelOptions options);

// Throws Failure for a name of --shape or --keep-state that no model has; each passes those of the
// others over.
void check_names(const Models& models, const ModelOptions& options);

}  // namespace tengine::tools
