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

// Whether this build has it; where not, tests skip.
bool has_accelerator();

struct ModelResult
{
    tools::Tensor output;  // the model's first
    nlohmann::json report;

    // The device's share of the multiply-accumulates, from 0 to 1.
    double mac_share(const std::string& device) const;
};

// `more`: input, devices, precision, options. Files go to `folder`. The run must succeed, say
// nothing of float, and no part may be redone.
ModelResult run_model(const std::string& model, const std::string& folder,
                      const std::vector<std::string>& more);

// Both ways, which must give the same bytes, all multiply-accumulates on the accelerator the one
// time; returns that run.
ModelResult run_both_ways(const std::string& model, const std::string& folder,
                          std::vector<std::string> more);

}  // namespace tengine::program
