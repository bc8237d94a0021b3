// SPDX-License-Identifier: Apache-2.0
// Runs the float model on all samples and counts the values of its tensors.
#pragma once

#include <functional>
#include <map>
#include <onnx/onnx.pb.h>
#include <string>
#include <vector>

#include "quantize/histogram.h"
#include "quantize/samples.h"

namespace tengine::tools {

using ShowProgress = std::function<void(int done, int total)>;

// The histograms of those of `tensors`, inputs of the model or results of its nodes, that are fp32
// and not empty. Throws Failure: the model does not run, or computes what is not finite.
std::map<std::string, Histogram> calibrate(const ::onnx::ModelProto& model,
                                           const std::vector<std::string>& tensors,
                                           const SampleSet& samples, int threads,
                                           const ShowProgress& show);

}  // namespace tengine::tools
