// SPDX-License-Identifier: Apache-2.0
// Models in which operators are written as several nodes, between two products with constant
// matrices: for tests of whole programs.
#pragma once

#include <string>
#include <vector>

namespace tengine::program {

struct RecognisedModel
{
    const char* name;
    const char* op;     // that the nodes compute, of which the last is z
    const char* inner;  // one of them
    // "d = Div h 1.5; s,t = Split d [4,4] axis=-1": numbers and lists are constants, and so are
    // "#8x4a", made-up numbers of this shape, and "cos6x4", "sin6x8", tables of a rotation whose
    // rows have the angles of up to four pairs once, or of four twice, one half behind the other.
    const char* nodes;
};

extern const std::vector<RecognisedModel> kRecognisedModels;

// Writes the model with the input x and the output y, both 2x6x8; returns its path.
std::string write_recognised(const RecognisedModel& model, const std::string& folder);

}  // namespace tengine::program
