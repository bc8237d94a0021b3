// SPDX-License-Identifier: Apache-2.0
// One folder of the ONNX backend suite in ONNX Runtime with the provider.
#pragma once

#include <filesystem>
#include <string>

#include "runtime.h"
#include "session.h"

namespace tengine::ort_host {

enum class Verdict : char
{
    kAgrees,      // with the suite's results, and in a second run with those of ONNX Runtime alone
    kAgreesOnly,  // with ONNX Runtime alone, whose results differ from the suite's
    kLoose,       // in types and shapes; the suite's numbers are random or noise
    kDiffers,     // or only ONNX Runtime alone opens or runs it
    kNotOpened,   // not by ONNX Runtime alone either
    kNotRun,      // not by it either
    // inputs or results are sequences, strings or other values that Tensor cannot represent
    kNotTensors,
    kNumber,
};

struct Outcome
{
    Verdict verdict = Verdict::kAgrees;
    std::string reason;  // one line; "" if it agrees
    Placement placement;
};

// Runs model.onnx with the folder's first data set, of which the suite has one for each of its node
// models, and then again with the elements of all inputs in reverse order: values that do not only
// depend on shapes must not stay from the run before. `is_loose`: the suite's numbers are random or
// noise.
Outcome run_node_model(Runtime* runtime, const std::filesystem::path& folder,
                       const Request& request, bool is_loose);

}  // namespace tengine::ort_host
