// SPDX-License-Identifier: Apache-2.0
// Networks in SCALE-Sim's topology files: convolutions without padding, a line each.
#pragma once

#include <string>
#include <vector>

#include "device/tpu/simulator/array.h"

namespace tengine::tpu {

struct TopologyLayer
{
    std::string name;
    RepeatedLayer repeated;
};

// Reads the text of a topology as SCALE-Sim v3 does: the first line is a heading; in each further
// one the values before its last comma count: name, height and width of the input, height and width
// of the filter, channels, filters, stride, and optionally "1:1", the ratio of a dense layer. A
// layer with DP in its name is depthwise: it becomes one layer of one channel for each channel.
// TENGINE_EFORMAT with `where` and the line: another count of values, or an invalid layer;
// TENGINE_ELIMIT: a layer too large for a program.
int parse_topology(const std::string& text, const std::string& where,
                   std::vector<TopologyLayer>* out_layers);

}  // namespace tengine::tpu
