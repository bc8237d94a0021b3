// SPDX-License-Identifier: Apache-2.0
// The commands of tengine-tpu. Each adds itself to the parser and runs when it was called; what
// goes wrong is thrown and ends the program in main.cc.
#pragma once

#include <stdexcept>

namespace CLI {
class App;
}

namespace tengine::tpu {

struct Failure : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// Throws this thread's error sentence for a negative status.
void check(int status);

void add_config_command(CLI::App* app);
void add_disasm_command(CLI::App* app);
void add_asm_command(CLI::App* app);
void add_validate_command(CLI::App* app);

}  // namespace tengine::tpu
