// SPDX-License-Identifier: Apache-2.0
// The target of a graph of `tengine verify`: a device and how it is used.
#pragma once

#include <string>
#include <vector>

#include "tengine/defines.h"

namespace tengine::tools {

struct Target
{
    std::string device;
    std::vector<std::string> options;  // KEY=VALUE, of the context
    int threads = 1;                   // 0: one for each core
    int precision = TENGINE_MODE_FP32;
};

// The type in which nodes of fp32 are computed, TENGINE_DT_*: in int8 and uint8 those that are no
// part of a quantised layer are.
inline int type_of_precision(int precision)
{
    return precision == TENGINE_MODE_FP16   ? TENGINE_DT_FP16
           : precision == TENGINE_MODE_BF16 ? TENGINE_DT_BF16
                                            : TENGINE_DT_FP32;
}

// The CPU with plain kernels, with which devices are compared. The library must be initialised.
Target reference_target();

}  // namespace tengine::tools
