// SPDX-License-Identifier: Apache-2.0
// ZipMap of ai.onnx.ml turns each row of probabilities into a map from labels, which tensors cannot
// hold. Exporters add it to the end of classifiers.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// Removes each ZipMap whose output is only an output of the graph: its input becomes the output,
// and a line is logged.
void drop_zip_maps(OnnxModel* model);

}  // namespace tengine
