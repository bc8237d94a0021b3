// SPDX-License-Identifier: Apache-2.0
// The commands of tengine-tpu. main.cc, the only file that includes CLI11, calls the requested one;
// errors are thrown and end the program there.
#pragma once

#include <stdexcept>
#include <string>

namespace tengine::tpu {

struct Failure : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// Throws this thread's error message for a negative status.
void check(int status);

struct ProgramOptions
{
    std::string input;
    std::string output;
    std::string config;
    std::string topology;
    bool code_only = false;
};

void run_config(const std::string& name);
void run_disasm(const ProgramOptions& options);
void run_asm(const ProgramOptions& options);
void run_validate(const ProgramOptions& options);

}  // namespace tengine::tpu
