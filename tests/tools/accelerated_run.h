// SPDX-License-Identifier: Apache-2.0
// A model run with the accelerator in front of the CPU and on the CPU alone, by the program
// `tengine`, for the tests of precisions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tensor_file/tensor_file.h"

namespace tengine::program {

constexpr const char* kAccelerator = "TPU";

// Whether this build has it; if not, tests skip.
bool has_accelerator();

struct ModelResult
{
    tools::Tensor output;  // the model's first
    nlohmann::json report;

    // Returns the device's share of the multiply-accumulates, from 0 to 1.
    double mac_share(const std::string& device) const;
};

// Runs the model. `more`: input, devices, precision, options. Files are in `folder`. The run must
// succeed, without a message about float, and no part may be compiled again.
ModelResult run_model(const std::string& model, const std::string& folder,
                      const std::vector<std::string>& more);

// Runs in both ways, which must give the same bytes, with all multiply-accumulates on the
// accelerator in one of them; returns that run.
ModelResult run_both_ways(const std::string& model, const std::string& folder,
                          std::vector<std::string> more);

}  // namespace tengine::program
