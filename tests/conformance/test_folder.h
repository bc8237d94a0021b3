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
    kNotSupported,  // the library said that it cannot do this, and with which part of it
    kFailed,        // a wrong result, or an error that is none of the above
    kNotInOpset,    // the opset that the model was to be written for does not have it
};

struct Outcome
{
    Verdict verdict = Verdict::kPassed;
    std::string reason;  // one line; "" if passed
    // Counts for the first data set, once it is prepared: nodes that run, and those on
    // RunSettings::device.
    int nodes = 0;
    int device_nodes = 0;
};

// How the models are run.
struct RunSettings
{
    // The format that each model is first written to with save_graph() and read from again; "":
    // none.
    std::string through = {};
    int opset = 0;  // of that file, if it is an ONNX one; 0: the usual one
    // Asked for every node before the CPU is; "": none.
    std::string device = {};
    std::vector<std::string> options = {};  // KEY=VALUE, of the context with the device
    // Called once the results are right, with a function that throws where they are not.
    std::function<void(graph_t, const std::function<void()>& compare)> also = {};
};

// The library must be initialised.
Outcome run_test_folder(const std::string& folder, const RunSettings& settings);

// The tensors of a data set: <stem>_0.pb, <stem>_1.pb ... as far as they go.
std::vector<tools::Tensor> read_tensors(const std::filesystem::path& folder,
                                        const std::string& stem);

// "node/test_abs" of "/usr/share/libonnx-testdata/data/node/test_abs/".
std::string test_name(const std::string& folder);

}  // namespace tengine::conformance
