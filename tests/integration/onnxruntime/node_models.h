// SPDX-License-Identifier: Apache-2.0
// Folders of the ONNX backend suite in ONNX Runtime with the provider.
#pragma once

#include <string>
#include <vector>

#include "runtime.h"
#include "session.h"

namespace tengine::ort_host {

struct NodeModelOptions
{
    Request request;
    bool verbose = false;  // a line for each model, not only for those that differ
    int at_least = 0;      // models that must agree, with nodes on the provider
};

// Runs every model in or below the folders (node_model.h) and prints counts: nodes on the provider
// and in how many parts, models that agree, and nodes that were left to ONNX Runtime. Returns 1
// when a model differs, or when fewer agree than `at_least`.
int run_node_models(Runtime* runtime, const std::vector<std::string>& folders,
                    const NodeModelOptions& options);

}  // namespace tengine::ort_host
