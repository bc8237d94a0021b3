// SPDX-License-Identifier: Apache-2.0
// One folder of the ONNX backend suite: model.onnx and test_data_set_<n>/{input,output}_<n>.pb, run
// through the public C API.
#pragma once

#include <string>

namespace tengine::conformance {

enum class Verdict : char
{
    kPassed,
    kNotSupported,  // the library said that it cannot do this, and with which part of it
    kFailed,        // a wrong result, or an error that is none of the above
};

struct Outcome
{
    Verdict verdict = Verdict::kPassed;
    std::string reason;  // one line; "" if passed
};

// `through`: "", or the format that each model is first written to with save_graph() and read from
// again. The library must be initialised.
Outcome run_test_folder(const std::string& folder, const std::string& through);

// "node/test_abs" of "/usr/share/libonnx-testdata/data/node/test_abs/".
std::string test_name(const std::string& folder);

}  // namespace tengine::conformance
