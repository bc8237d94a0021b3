// SPDX-License-Identifier: Apache-2.0
// The output of `tengine run` for a tensor: all of a few numbers, the first ones and a summary of
// many, and the largest of one row with their labels.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// "  first 0.1 0.2 ..." and "  min 0  max 1  mean 0.5", a line each; "" for an empty tensor.
std::string summary_text(const Tensor& tensor);

// A line for each row of up to 64 numbers; summary_text() for more.
std::string values_text(const Tensor& tensor);

// Whether the tensor is one row of real numbers: two or more, all along one dimension.
bool is_row(const Tensor& tensor);

// The `number` largest elements of a row, largest first, a line each: index, value and, where there
// are labels, the one of that index. NaN comes last.
std::string top_text(const Tensor& row, int number, const std::vector<std::string>& labels);

// The lines of a file, without their ends. Throws Failure: it cannot be read or is empty.
std::vector<std::string> read_labels(const std::string& path);

}  // namespace tengine::tools
