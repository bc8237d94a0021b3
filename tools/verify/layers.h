// SPDX-License-Identifier: Apache-2.0
// A model layer by layer: each node alone on the device, with the values that the plain kernels of
// the CPU give it in the model. An error in one layer does not affect later ones.
#pragma once

#include <string>

#include "model.h"
#include "verify/finding.h"
#include "verify/manifest.h"
#include "verify/target.h"

namespace tengine::tools {

struct LayerOptions
{
    std::string model;  // a file
    // Its inputs and their shapes; its devices and options are not used.
    ModelOptions inputs;
    // Gets the first layer that exceeds its bound: a model of one node, and a file .npy for each of
    // its inputs.
    std::string folder = ".";
};

// Adds a finding "layers" for each node: passed or failed where the device runs it, skipped where
// it does not. In the precision int8 or uint8 float nodes between DequantizeLinear and
// QuantizeLinear that become integer nodes are one finding "integer layers" instead. The first that
// failed, with the command that repeats it. Throws Failure when the model cannot be read or run by
// the CPU, or the files not be written.
void check_layers(const Target& target, const LayerOptions& options, Verification* report,
                  const ShowProgress& show);

// The command line that repeats it.
std::string layers_text(const Target& target, const LayerOptions& options);

}  // namespace tengine::tools
