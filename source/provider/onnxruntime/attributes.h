// SPDX-License-Identifier: Apache-2.0
// Attributes of a node, from ONNX Runtime to the library.
#pragma once

#include <string>

#include "graph_view.h"
#include "tengine/c_api.h"

namespace tengine::provider {

// Gives `made` the attributes of `viewed`. 0, or -1 when the operator has no such attribute or the
// library does not take its value: get_tengine_error() says why. Throws Failure where the host
// fails.
int set_attributes(const ViewedNode& viewed, node_t made);

// An attribute that is a string, or an integer; `otherwise` when the node does not have it.
std::string read_text(const OrtNode* node, const char* name, const std::string& otherwise);
int64_t read_number(const OrtNode* node, const char* name, int64_t otherwise);

}  // namespace tengine::provider
