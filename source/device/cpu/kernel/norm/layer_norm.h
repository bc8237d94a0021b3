// SPDX-License-Identifier: Apache-2.0
// LayerNormalization that a step computes in place of the nodes that an exporter wrote.
#pragma once

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct Kernel;

// Input 0 along its last axis, times input 1, plus input 2; fusion.parameters[0] is epsilon. Null
// in a build without vectors.
const Kernel* find_fused_layer_norm();

}  // namespace tengine::cpu
