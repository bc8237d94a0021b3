// SPDX-License-Identifier: Apache-2.0
// FlexAttention of ai.onnx.preview, whose graphs score_mod and prob_mod change its scores and
// probabilities. Before the graph is built, each is replaced by the operators that the standard
// defines it by, with the nodes of its graphs among them; without graphs it is replaced by an
// Attention. Later steps and saved files have no FlexAttention.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// Expands the nodes of version 1, unless the operator is a custom one of `context` or the process;
// to be called after functions have been expanded. TENGINE_EGRAPH, TENGINE_EFORMAT: inputs,
// attributes or graphs that the operator does not have. TENGINE_ENOTSUP: the model imports an opset
// of ONNX that lacks operators of the expansion.
TENGINE_MUST_USE int expand_flex_attention(OnnxModel* model, const struct context* context);

}  // namespace tengine
