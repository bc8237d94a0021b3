// SPDX-License-Identifier: Apache-2.0
// The shape of a Tengine node's first output, derived independently for the operators of the sample
// tmfiles, from the node's attributes and ../shared/spec/tmfile.md alone.
#pragma once

#include "models/sample_graph.h"

namespace tengine::models {

// The inputs have shapes. Throws tools::Failure for other operators, and for DetectionOutput, whose
// shape depends on data.
Shape naive_shape(node_t node);

}  // namespace tengine::models
