// SPDX-License-Identifier: Apache-2.0
// Starts the program `tengine` on a terminal, for the tests of its output there.
#pragma once

#include <string>
#include <vector>

#include "tools/program.h"

namespace tengine::program {

struct TerminalRun
{
    int columns = 80;
    // Ctrl-C is pressed as soon as the terminal has shown this string; "": never.
    std::string interrupt_at;
};

// Both streams are the terminal's: `output` has everything that it shows, with "\n" at line ends;
// `status` is that of the process, negative for the signal that ended it.
Finished run_on_terminal(const std::vector<std::string>& arguments, const TerminalRun& terminal);

// Returns the string without the codes for colours.
std::string without_colours(const std::string& text);

}  // namespace tengine::program
