// SPDX-License-Identifier: Apache-2.0
// Prepares and runs a graph that a fuzz target has loaded, within bounds of memory and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tengine/c_api.h"

namespace tengine::test {

// As measure_run() counts: a millisecond or two.
constexpr int64_t kLargestRun = 1 << 20;

// LLVMFuzzerInitialize of a target: starts the library, has the system refuse memory beyond what
// any small model needs, and has the target's first inputs written where libFuzzer and replay.cc
// take them: into the first folder among the arguments, unless inputs are only chosen, for the
// corpus.
int start_target(int argument_num, char** arguments,
                 void (*write_seeds)(const std::string& folder));

// A seed for the other choices of a run, so that an input is the same run every time.
uint32_t seed_of(const uint8_t* data, size_t size);

// A context with one of the devices there are in front of the CPU, or with none.
context_t make_context(uint32_t seed);

// Gives free dimensions an extent, prepares the graph in one of the precisions, and runs it twice
// on inputs of the seed's. Too large a graph is left alone. Every refusal has a reason, or the
// program ends as after a crash.
void run_model(graph_t graph, uint32_t seed);

}  // namespace tengine::test
