// SPDX-License-Identifier: Apache-2.0
// Shapes of a model's inputs as the model declares them, with dimensions that it leaves free, and
// as the command line gives them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tengine/c_api.h"

namespace tengine::tools {

struct DeclaredShape
{
    std::string input;
    bool has_rank = false;           // false: the model declares no shape
    std::vector<int> dims;           // -1: free
    std::vector<std::string> names;  // of the dimensions, "" for one without a name
};

// The shape that the model declares for an output. Throws Failure.
DeclaredShape declared_output(tensor_t output);

// The same for an input; its present shape where the model declares none. Throws Failure.
DeclaredShape model_shape(tensor_t input);

// The declared shape of a graph's input. After the shape has been set, only the names show the free
// dimensions. Throws Failure.
DeclaredShape declared_shape(tensor_t input);

// Whether a dimension, or all, are free.
bool is_free(const DeclaredShape& shape);

// "batch x 3 x ? x ?", "1x3x8x8" without free dimensions, or "any shape".
std::string declared_text(const DeclaredShape& shape);

// The --shape argument that the input needs: "image=1x3x?x?". A free first dimension is usually the
// batch.
std::string wanted_shape_text(const DeclaredShape& shape);

// "1x3x224x224" or "scalar". Throws Failure: not of that form, or a number too large for an int.
std::vector<int> parse_shape(const std::string& text);

}  // namespace tengine::tools
