// SPDX-License-Identifier: Apache-2.0
// A process, and its processor time.
#pragma once

#include <string>
#include <vector>

namespace tengine {

struct Finished
{
    int status = 0;
    double seconds = 0;  // of the processor
    std::string output;  // and errors
};

// `words`: the program, and its arguments. Its output is redirected to the file at `output`.
Finished run_process(const std::vector<std::string>& words, const std::string& output);

}  // namespace tengine
