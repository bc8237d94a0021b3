// SPDX-License-Identifier: Apache-2.0
// Batch normalisation behind a convolution becomes part of its weights and bias.
#pragma once

#include <onnx/onnx.pb.h>

namespace tengine::tools {

// Folds every BatchNormalization whose input is a Conv's result that nothing else reads. Quantised
// apart, the normalisation would cost a rounding of its own and hide the ranges that count. Returns
// how many were folded.
int fold_batch_norms(::onnx::GraphProto* graph);

}  // namespace tengine::tools
