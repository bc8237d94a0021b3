// SPDX-License-Identifier: Apache-2.0
// Starts the program `tengine` and catches its output, for the tests of this folder.
#pragma once

#include <string>
#include <vector>

namespace tengine::program {

struct Finished
{
    int status = 0;
    std::string output;
    std::string errors;
};

// Standard input, which has this content, standard output and standard error are files, not
// terminals.
Finished run(const std::vector<std::string>& arguments, const std::string& input = "");

// A file of the shipped network ("digits.onnx").
std::string data_file(const std::string& name);

// A folder of the running test's own, emptied by each call.
std::string scratch_folder();

}  // namespace tengine::program
