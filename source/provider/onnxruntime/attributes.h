// SPDX-License-Identifier: Apache-2.0
// Translates attributes of nodes from ONNX Runtime to the library.
#pragma once

#include <string>

#include "graph_view.h"
#include "tengine/c_api.h"

namespace tengine::provider {

// Gives `made` the attributes of `viewed`. -1 when the operator has no such attribute or the
// library refuses its value: get_tengine_error() gives the reason. Throws Failure where the host
// fails.
int set_attributes(const ViewedNode& viewed, node_t made);

// The value of an attribute that is a string or an integer; `otherwise` when the node does not have
// it.
std::string read_text(const OrtNode* node, const char* name, const std::string& otherwise);
int64_t read_number(const OrtNode* node, const char* name, int64_t otherwise);

}  // namespace tengine::provider
