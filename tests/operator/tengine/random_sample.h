// SPDX-License-Identifier: Apache-2.0
// Nodes that are as their operators want them: the start of random_case.h's cases.
#pragma once

#include <string>
#include <vector>

#include "operator/operator.h"

namespace tengine::test {

// A node that is as its operator wants it, so that only one thing need be wrong with a case. Inputs
// after the first are constants; one of integers has an 'i' before its dimensions; after '=' are
// the integers themselves; '-' is absent.
struct Sample
{
    const char* op;
    const char* inputs;
    const char* fields;
};

// The samples of this row's operator; often none.
std::vector<const Sample*> find_samples(const method& row);

// The kinds of an operator's inputs when they fit: x data; s data of the shape of input 0; c one
// value a channel; w weights [any, channels, kernel]; v the same for a transposed convolution; m a
// matrix for the last axis; n its transposed; i a list of integers; k one integer; p positions; b
// booleans; f a list of floats; others repeat the last one.
std::string find_input_kinds(const std::string& op);

}  // namespace tengine::test
