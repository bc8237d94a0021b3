// SPDX-License-Identifier: Apache-2.0
// ZipMap of ai.onnx.ml gives each row of probabilities as a map from labels, which no tensor holds.
// Exporters put it at the end of classifiers.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// Leaves out those whose output is only an output of the graph: their input becomes the
// output in its place, and a notice says so.
void drop_zip_maps(OnnxModel* model);

}  // namespace tengine
