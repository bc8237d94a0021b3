// SPDX-License-Identifier: Apache-2.0
// FlexAttention of ai.onnx.preview, whose graphs score_mod and prob_mod change its scores and
// probabilities: before the graph is built each becomes the operators that the standard defines it
// by, with those of its graphs among them; without graphs it is an Attention. So nothing after it
// knows of it, and saved files have none.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// Expands the nodes of version 1, unless the operator is a custom one of `context` or the process;
// to be called after functions have been expanded. TENGINE_EGRAPH, TENGINE_EFORMAT: inputs,
// attributes or graphs that the operator does not have. TENGINE_ENOTSUP: the model imports older
// operators of ONNX than it stands for.
TENGINE_MUST_USE int expand_flex_attention(OnnxModel* model, const struct context* context);

}  // namespace tengine
