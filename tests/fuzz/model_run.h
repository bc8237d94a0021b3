// SPDX-License-Identifier: Apache-2.0
// Prepares and runs a graph that a fuzz target has loaded, within bounds of memory and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tengine/c_api.h"

namespace tengine::test {

// In the units of measure_run(): a millisecond or two.
constexpr int64_t kLargestRun = 1 << 20;

// The LLVMFuzzerInitialize of a target: initialises the library, limits memory to what small models
// need, and writes the target's first inputs to the folder that libFuzzer and replay.cc read: the
// first folder among the arguments, unless inputs are only selected for the corpus.
int start_target(int argument_num, char** arguments,
                 void (*write_seeds)(const std::string& folder));

// Returns a seed for the other choices of a run, so that an input is always the same run.
uint32_t seed_of(const uint8_t* data, size_t size);

// Returns a context with one of the existing devices in front of the CPU, or with none.
context_t make_context(uint32_t seed);

// Sets free dimensions, prepares the graph in one of the precisions, and runs it twice on inputs
// that follow from the seed. Too large graphs are skipped. Every refusal has a message, or the
// program ends as after a crash.
void run_model(graph_t graph, uint32_t seed);

// Runs the graph so, and then the last entry of its model, which shares its states.
void run_entries(graph_t graph, uint32_t seed);

}  // namespace tengine::test
