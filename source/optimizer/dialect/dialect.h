// SPDX-License-Identifier: Apache-2.0
// The dialects of source graphs: whose operators they have.
#pragma once

#include "tengine/ir.h"

namespace tengine {

enum class Dialect
{
    kOnnx,
    kTengine,
    kTflite
};

// By the name that a format gives it (serializer.h).
Dialect find_dialect(const char* name);

// Whether a graph with these operators is saved as it is, except for ONNX's opset.
bool is_in_dialect(const graph& source, Dialect dialect);

// Whether a tmfile of the graph keeps ONNX's operators: Tengine's have sizes of one shape, those of
// a bucket among several. A quantised graph that computes no shapes becomes one of Tengine's, whose
// tensors have scales.
bool has_onnx_buckets(const graph& source);

}  // namespace tengine
