// SPDX-License-Identifier: Apache-2.0
// Small ONNX models from which fuzz targets start, for code that a single operator does not
// execute, such as functions, bodies, sequences, strings and packed weights.
#pragma once

#include <string>
#include <vector>

namespace tengine::test {

struct OnnxSeed
{
    const char* name;
    std::string bytes;
};

// Returns models that can all be run.
std::vector<OnnxSeed> make_onnx_seeds();

}  // namespace tengine::test
