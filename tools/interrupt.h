// SPDX-License-Identifier: Apache-2.0
// Ctrl-C in a command that can report partial results.
#pragma once

namespace tengine::tools {

// Afterwards the first Ctrl-C makes was_interrupted() true, and the second ends the program.
void catch_interrupt();
bool was_interrupted();

// Ends the program by the signal, so that a loop of the shell ends, too. Buffered output is written
// first.
void end_interrupted();

}  // namespace tengine::tools
