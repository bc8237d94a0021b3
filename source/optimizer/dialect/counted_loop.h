// SPDX-License-Identifier: Apache-2.0
// Loops for formats whose loops have a condition and values alone.
#pragma once

#include "tengine/ir.h"

namespace tengine {

// Turns the number of iterations of a Loop, and the number of the current one, into a value and a
// part of the condition; and the results that it collects into values that each iteration changes
// in one place. These need a constant number of iterations, all of which run: EOPERATOR.
int count_loop(graph& graph, node& loop);

}  // namespace tengine
