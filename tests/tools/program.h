// SPDX-License-Identifier: Apache-2.0
// Starts the program `tengine` and captures its output, for the tests of this folder.
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

// Runs the program. Standard input, which has this content, standard output and standard error are
// files, not terminals.
Finished run(const std::vector<std::string>& arguments, const std::string& input = "");

// Returns the path of a file of the shipped network ("digits.onnx").
std::string data_file(const std::string& name);

// Returns a folder of the running test, emptied by each call.
std::string scratch_folder();

}  // namespace tengine::program
