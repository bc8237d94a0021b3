// SPDX-License-Identifier: Apache-2.0
// The compiler: a part of a graph to a program. Its parts: network.h (layers and values), stage.h
// and plan.h (what is computed together, what stays in the buffer), emitter.h (instructions).
// docs/tpu-compiler.md explains it.
#pragma once

#include <vector>

#include "device/tpu/program/program.h"
#include "tengine/device.h"

namespace tengine::tpu {

// The operators that the compiler supports, with the domain unless it is ONNX's:
// "com.microsoft.QGemm".
const std::vector<const char*>& operator_names();

// Whether the node can be compiled by itself; the verdict gives the reason. Throws std::bad_alloc,
// as predict_cycles() does.
void judge_node(const node& node, const Config& config, ir_verdict_t* out_verdict);

// The approximate cycles of the node when its tensors are read from host memory and written there.
int64_t predict_cycles(const node& node, const Config& config);

// Compiles a part. Nodes of the program are those of the part, in its order; bindings are its
// inputs and outputs. TENGINE_EOPERATOR for a node that cannot be compiled, TENGINE_ERANGE when the
// buffer is too small, TENGINE_ENOMEM.
int compile_part(const subgraph& part, const Config& config, Program* out_program);

}  // namespace tengine::tpu
