// SPDX-License-Identifier: Apache-2.0
// Writes the graph of a quantised model: QuantizeLinear and DequantizeLinear pairs around the nodes
// that selection.h has chosen.
#pragma once

#include "optimizer/pass.h"
#include "optimizer/precision/selection.h"

namespace tengine {

// A new source graph: `base`, whose nodes are ONNX's, with pairs. A tensor that units read goes
// through a pair after its producer; float nodes read the tensors of other float nodes directly. An
// output of the model that a unit writes is quantised, too, and keeps its name. Weights and biases
// become int8 and int32 constants with a DequantizeLinear: symmetric, weights with values from -127
// to 127 and one scale or, per channel, one for each output channel; the scale of biases is that of
// the input times the weights'.
int create_qdq_graph(const graph& base, const Vector<QuantizedUnit>& units,
                     const Vector<TensorQuantization>& quantizations,
                     const tengine_quantization& how, graph** out_graph);

}  // namespace tengine
