// SPDX-License-Identifier: Apache-2.0
// The kinds of devices, with an example of each kind, and a model of ten nodes for them.
#pragma once

#include <string>
#include <vector>

namespace tengine {

struct Door
{
    std::string device;
    std::vector<std::string> plugins;  // files
};

// Returns the kinds that this build has: a folder of the tree, a plug-in with a device, a compiler
// plug-in, one from LiteRT's source, a delegate, and the simulated TPU in each way.
std::vector<Door> list_doors();

// Returns an ONNX model: x of 1x8, y of 1x8; Mul, Add, Relu, Abs and Tanh, twice each.
std::string make_ten_nodes();

}  // namespace tengine
