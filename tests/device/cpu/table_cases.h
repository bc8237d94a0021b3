// SPDX-License-Identifier: Apache-2.0
// Cases of the table (tools/cases) as parameters of kernel tests.
#pragma once

#include <gtest/gtest.h>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cases/case.h"

namespace tengine::tools {

// Prints the name by which GoogleTest shows a parameter.
void PrintTo(const Case& of, std::ostream* stream);

}  // namespace tengine::tools

namespace tengine::cpu {

using OperatorNames = std::set<std::string>;

// Returns the cases of these operators that exist in the type and have no convolution before them.
std::vector<tools::Case> choose_cases(const std::vector<tools::Case>& all,
                                      const OperatorNames& operators, int data_type);

// Returns the name in letters, digits and underscores: "Conv_1x3x7x7_c4x3x3x3_pads_1_1_1_1".
std::string test_name(const testing::TestParamInfo<tools::Case>& info);

// Expects of each operator that a fast kernel takes one of its cases in the type.
void expect_fast_kernels(const std::vector<tools::Case>& all, const OperatorNames& operators,
                         int data_type);

}  // namespace tengine::cpu
