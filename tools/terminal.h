// SPDX-License-Identifier: Apache-2.0
// The properties of standard output, for output that is fitted to it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text.h"

namespace tengine::tools {

// Characters of a line of the terminal that standard output is; 0 when it is not a terminal or does
// not report it.
size_t terminal_width();

// The style of a table that fits into its lines; cells of these columns are shortened if needed.
TableStyle terminal_style(const std::vector<std::string>& shortened);

// Whether standard output is a terminal whose user has not disabled colours: NO_COLOR
// (https://no-color.org) is not set, and TERM is not "dumb".
bool wants_colours();

}  // namespace tengine::tools
