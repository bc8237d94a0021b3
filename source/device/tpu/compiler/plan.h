// SPDX-License-Identifier: Apache-2.0
// The values that stay in the unified buffer between stages, and their places; the rest of the
// buffer is for the stages themselves.
#pragma once

#include "device/tpu/compiler/stage.h"

namespace tengine::tpu {

struct Plan
{
    std::vector<Stage> stages;
    std::vector<Home> homes;             // by value
    std::vector<int64_t> scratch_begin;  // by stage: the first address of its scratch
    std::vector<int64_t> scratch_bytes;  // by stage: the size of its scratch
    std::vector<Cut> cuts;               // by stage
};

// TENGINE_ERANGE when the buffer is too small for some layer.
int make_plan(const Network& network, const Config& config, Plan* out_plan);

}  // namespace tengine::tpu
