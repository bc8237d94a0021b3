// SPDX-License-Identifier: Apache-2.0
// Compares the shapes that the program gives the inputs of a model with those that the model
// declares.
#pragma once

#include "tengine/ir.h"

namespace tengine {

// EINVAL names an input of the execution graph with an incomplete shape, and its declaration.
int require_input_shapes(const graph& graph);

// After a failure to infer shapes, whose status is also returned: explain_ir_inputs(), and if that
// adds nothing, the sizes of the named dimensions.
int explain_inference(const graph& graph, int status);

}  // namespace tengine
