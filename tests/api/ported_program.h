// SPDX-License-Identifier: Apache-2.0
// Programs in the style of those written for Tengine Lite, in C99, called as tests. Each returns
// NULL, or the first expression that was not as expected; they initialise and release the library
// themselves.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Runs a tmfile, or its bytes, with an image of ones: the largest output and its index.
const char* run_file_program(const char* path, float* out_value, int* out_index);
const char* run_memory_program(void* bytes, int size, float* out_value, int* out_index);

// Convolution, ReLU, Pooling and FullyConnected, built node by node as test programs did.
const char* run_hand_built_program(void);

// A uint8 network: the program converts input and output with the tensors' scales.
const char* run_quantised_program(void);

// Requests an accelerator that does not exist, with and without options; the CPU runs it.
const char* run_accelerator_program(void);

// Calls dump_graph with a log hook; the number of lines and their greatest length.
const char* run_dump_program(int* out_lines, int* out_length);

// Runs the same graph from the middle, and up to the middle.
const char* run_cut_program(void);

TENGINE_EXTERN_C_END
