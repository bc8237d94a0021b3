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
    kAgreesOnly,  // with ONNX Runtime alone, whose results are not the suite's
    kLoose,       // of the right types and shapes; the suite's numbers are random or noise
    kDiffers,     // or only ONNX Runtime alone opens or runs it
    kNotOpened,   // by ONNX Runtime alone neither
    kNotRun,      // nor run by it
    kNotTensors,  // inputs or results are sequences, strings and other things Tensor does not hold
    kNumber,
};

struct Outcome
{
    Verdict verdict = Verdict::kAgrees;
    std::string reason;  // one line; "" if it agrees
    Placement placement;
};

// Runs model.onnx with the folder's first data set, of which the suite has one for each of its node
// models, and then again with the elements of all inputs in the opposite order: values that do not
// depend on shapes alone must not stay from the run before. `is_loose`: the suite's numbers are
// random or noise.
Outcome run_node_model(Runtime* runtime, const std::filesystem::path& folder,
                       const Request& request, bool is_loose);

}  // namespace tengine::ort_host
