// SPDX-License-Identifier: Apache-2.0
// A model in ONNX Runtime: the placement of its nodes, its inputs, its results.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "owned.h"
#include "runtime.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor.h"

namespace tengine::ort_host {

// Thrown for values that tools::Tensor cannot represent: sequences, strings, types of 4 bits.
struct NotTensor : tools::Failure
{
    using tools::Failure::Failure;
};

struct Request
{
    // The provider's devices by the metadata `device`; empty: ONNX Runtime alone.
    std::vector<std::string> devices;
    std::vector<std::pair<std::string, std::string>> options;  // of the provider
    std::vector<std::pair<std::string, std::string>> config;   // entries of the session
    std::vector<std::pair<std::string, int64_t>> fixed_dims;   // free ones that get a size
    GraphOptimizationLevel level = ORT_ENABLE_ALL;
};

struct Placement
{
    int nodes = 0;
    int own_nodes = 0;                // on kProvider
    int own_parts = 0;                // parts that these form
    std::map<std::string, int> left;  // operators of the others
};

struct Input
{
    std::string name;
    int data_type = 0;
    std::vector<int64_t> dims;         // -1: free
    std::vector<std::string> symbols;  // names of free dimensions, "" elsewhere
};

class Session
{
  public:
    // The runtime and its devices must outlive the session. Throws Failure.
    Session(Runtime* runtime, const std::string& model, const Request& request);

    // Throws NotTensor.
    std::vector<Input> inputs() const;

    // Returns the placement by the runtime's report.
    Placement placement() const;

    // Returns all outputs, in the model's order. The inputs may be in any order: they are matched
    // by name. Any number of threads may call this. Throws Failure, for an output NotTensor.
    std::vector<tools::Tensor> run(const std::vector<tools::Tensor>& inputs) const;

  private:
    Runtime* runtime_;
    Owned<OrtSession> session_;
    std::vector<std::string> output_names_;
};

}  // namespace tengine::ort_host
