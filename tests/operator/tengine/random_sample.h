// SPDX-License-Identifier: Apache-2.0
// Valid nodes, from which random_case.h's cases start.
#pragma once

#include <string>
#include <vector>

#include "operator/operator.h"

namespace tengine::test {

// A valid node, of which a case can change one thing. Inputs after the first are constants; one of
// integers has an 'i' before its dimensions; after '=' are the integers themselves; '-' is absent.
struct Sample
{
    const char* op;
    const char* inputs;
    const char* fields;
};

// Returns the samples of this row's operator; often none.
std::vector<const Sample*> find_samples(const method& row);

// Returns the kinds of an operator's valid inputs: x data; s data of the shape of input 0; c one
// value a channel; w weights [any, channels, kernel]; v the same for a transposed convolution; m a
// matrix for the last axis; n its transpose; i a list of integers; k one integer; p positions; b
// booleans; f a list of floats; further inputs repeat the last one.
std::string find_input_kinds(const std::string& op);

}  // namespace tengine::test
