// SPDX-License-Identifier: Apache-2.0
// The values of a case's operands: those that it states, or seeded random ones.
#pragma once

#include <random>
#include <vector>

#include "cases/case.h"

namespace tengine::tools {

// The type of an operand of a case that is tried in `case_type`.
int type_of(const Operand& operand, int case_type);

// A value for each element of the operand, in the order of its elements: numbers that its type
// holds or, for floats, that are to be rounded to it.
std::vector<double> make_values(const Operand& operand, const Case& of, int case_type,
                                std::mt19937_64* engine);

}  // namespace tengine::tools
