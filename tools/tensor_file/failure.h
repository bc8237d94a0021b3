// SPDX-License-Identifier: Apache-2.0
// The failures of the programs of this folder: the code throws, main() prints one line. The library
// itself never throws.
#pragma once

#include <stdexcept>

namespace tengine::tools {

// what() is one line: the object, the fault, the values, and the values that are expected.
struct Failure : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

}  // namespace tengine::tools
