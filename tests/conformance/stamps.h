// SPDX-License-Identifier: Apache-2.0
// The tests of the suite with other stamps than their own.
#pragma once

#include <string>
#include <vector>

#include "conformance/not_supported.h"

namespace tengine::conformance {

// Runs the tests in or below `folders` that are not listed, once for every opset from 7 on in which
// their operators have the same meaning: none changed its form between it and the test's own.
// `history` is a file like ../shared/data/onnx_history.json. Prints and returns as run_all(); also
// throws tools::Failure if the file cannot be read.
int run_stamps(const std::string& history, const std::vector<std::string>& folders,
               const NotSupportedList& list);

}  // namespace tengine::conformance
