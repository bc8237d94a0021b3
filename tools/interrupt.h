// SPDX-License-Identifier: Apache-2.0
// Ctrl-C in a command that has something to show for the time it took so far.
#pragma once

namespace tengine::tools {

// From now on the first Ctrl-C only makes was_interrupted() true; the second ends the program.
void catch_interrupt();
bool was_interrupted();

// Ends the program as Ctrl-C would have, so that a shell's loop around it ends too. The output
// printed so far is written first.
void end_interrupted();

}  // namespace tengine::tools
