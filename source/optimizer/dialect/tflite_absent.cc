// SPDX-License-Identifier: Apache-2.0
// In a build without the part `tflite`: graphs do not get TensorFlow Lite's operators.
#include "graph/graph.h"
#include "optimizer/pass.h"

namespace tengine {
int raise_pictures_to_tflite(graph& graph)
{
    return tengine_error_set(TENGINE_ENOTSUP, "graph '%s': this build writes no .tflite",
                             graph.name);
}

int raise_rest_to_tflite(graph& graph)
{
    return raise_pictures_to_tflite(graph);
}
}  // namespace tengine
