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
    bool verbose = false;  // a line for each model, not only for differing ones
    int at_least = 0;      // required number of models that agree, with nodes on the provider
};

// Runs every model in or below the folders (node_model.h) and prints counts: nodes and parts of the
// provider, models that agree, and nodes that were left to ONNX Runtime. Returns 1 if a model
// differs, or if fewer agree than `at_least`.
int run_node_models(Runtime* runtime, const std::vector<std::string>& folders,
                    const NodeModelOptions& options);

}  // namespace tengine::ort_host
