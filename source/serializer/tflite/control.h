// SPDX-License-Identifier: Apache-2.0
// Operators that call subgraphs. CALL and STABLEHLO_COMPOSITE are replaced by the operators of
// their subgraph; IF and WHILE become ONNX's If and Loop, whose bodies are the subgraphs
// (graph/body.h).
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

bool calls_subgraphs(int code);

// The subgraph whose number is this field of the operator's options. `index` is the operator's, for
// messages.
TENGINE_MUST_USE int find_called_subgraph(const Reading& reading, uint32_t index,
                                          const file::Operator& record, uint16_t field,
                                          const file::Subgraph** out_subgraph);

TENGINE_MUST_USE int add_call(Reading& reading, uint32_t index, int code,
                              const file::Operator& record);

}  // namespace tengine::tflite
