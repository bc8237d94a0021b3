// SPDX-License-Identifier: Apache-2.0
// One model in ONNX Runtime with the provider and without, on generated inputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime.h"
#include "session.h"

namespace tengine::ort_host {

struct NetworkOptions
{
    Request request;
    // Sizes of free dimensions by their names: the first for the first run, and so on, cyclically.
    // Others are 1.
    std::map<std::string, std::vector<int64_t>> free_dims;
    uint64_t seed = 1;
    double tolerance = 0;  // of the largest magnitude in an output; 0: by its type
    std::string write;     // folder for inputs and results of the last run, as .npy; "": none
    std::string expect;    // folder of that kind, to compare with; "": with ONNX Runtime alone
};

// Opens the model once and runs it once for each of the sizes of a free dimension. Prints the
// number of the provider's nodes and the distance of its results from those expected. Returns 1 if
// it has no nodes, or an output differs.
int run_network(Runtime* runtime, const std::string& model, const NetworkOptions& options);

// Runs one session from several threads, `rounds` times each: threads differ in their inputs and in
// the sizes of free dimensions. Returns 1 if a result is not bit-identical to that of the same
// inputs alone.
int run_threads(Runtime* runtime, const std::string& model, const NetworkOptions& options,
                int thread_num, int rounds);

}  // namespace tengine::ort_host
