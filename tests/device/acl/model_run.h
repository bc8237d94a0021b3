// SPDX-License-Identifier: Apache-2.0
// A whole model on a list of devices through the public C API.
#pragma once

#include <string>
#include <vector>

#include "tengine/c_api.h"

namespace tengine::acl {

struct ModelSettings
{
    std::string devices;  // "ACL,TPU"; the default device takes the rest
    std::vector<int> shape;
    int threads = 1;
};

struct ModelResult
{
    std::vector<float> output;
    int nodes = 0;
    std::vector<std::string> nodes_on;  // the device of each node
    int64_t redone = 0;

    int count(const std::string& device) const;
};

// Feeds every input with a ramp and returns output 0. Failures are the test's.
ModelResult run_model(const std::string& path, const ModelSettings& settings);

}  // namespace tengine::acl
