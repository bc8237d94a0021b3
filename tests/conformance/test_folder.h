// SPDX-License-Identifier: Apache-2.0
// One folder of the ONNX backend suite: model.onnx and test_data_set_<n>/{input,output}_<n>.pb, run
// through the public C API.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tengine/c_api.h"
#include "tensor_file/tensor.h"

namespace tengine::conformance {

enum class Verdict : char
{
    kPassed,
    kNotSupported,  // the library refused it, naming the unsupported part
    kFailed,        // a wrong result, or another error
    kNotInOpset,    // the opset or format that the model was to be written for lacks an operator
};

struct Outcome
{
    Verdict verdict = Verdict::kPassed;
    std::string reason;  // one line; "" if passed
    // Counts for the first data set, after its preparation: nodes that run, and those on
    // RunSettings::device.
    int nodes = 0;
    int device_nodes = 0;
};

// The way in which models are run.
struct RunSettings
{
    // The format that each model is first saved to with save_graph() and loaded from; "": none.
    std::string through = {};
    int opset = 0;  // of that file, if it is an ONNX one; 0: the default
    // The device that is asked for every node before the CPU; "": none.
    std::string device = {};
    std::vector<std::string> options = {};  // KEY=VALUE, of the context with the device
    // Called after correct results, with a function that throws for wrong ones.
    std::function<void(graph_t, const std::function<void()>& compare)> also = {};
};

// The library must be initialised.
Outcome run_test_folder(const std::string& folder, const RunSettings& settings);

// Reads the tensors of a data set: <stem>_0.pb, <stem>_1.pb ... up to the first missing one.
std::vector<tools::Tensor> read_tensors(const std::filesystem::path& folder,
                                        const std::string& stem);

// "node/test_abs" of "/usr/share/libonnx-testdata/data/node/test_abs/".
std::string test_name(const std::string& folder);

}  // namespace tengine::conformance
