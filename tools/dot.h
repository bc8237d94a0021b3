// SPDX-License-Identifier: Apache-2.0
// A report as a picture: the source that Graphviz's `dot` renders as SVG or PNG.
#pragma once

#include <string>

#include "report.h"

namespace tengine::tools {

// Nodes have the colour of their device, which the legend on top explains; each part is a frame.
// Consecutive nodes of a part without a branch are one box, the first on top. A tensor that moves
// from one device to another is a thick line with shape and bytes; inputs and outputs of the model
// are ovals. Constants are not drawn.
std::string to_dot(const Report& report);

}  // namespace tengine::tools
