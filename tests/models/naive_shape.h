// SPDX-License-Identifier: Apache-2.0
// The shape of a Tengine node's first output, worked out again for the operators that the sample
// tmfiles have, from the node's attributes and ../shared/spec/tmfile.md alone.
#pragma once

#include "models/sample_graph.h"

namespace tengine::models {

// Inputs have their shapes. Throws tools::Failure for an operator that is none of them, and for
// DetectionOutput, whose shape depends on data.
Shape naive_shape(node_t node);

}  // namespace tengine::models
