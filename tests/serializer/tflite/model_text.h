// SPDX-License-Identifier: Apache-2.0
// A .tflite as text, a line for each of its records, in which numbers of buffers and of codes are
// replaced by what they stand for: two files with the same text are the same model.
#pragma once

#include <string>

namespace tengine::test {

// `bytes` must be a whole file. Options are those of the operator's row.
std::string print_tflite(const std::string& bytes);

}  // namespace tengine::test
