// SPDX-License-Identifier: Apache-2.0
// How finely kernels cut their parallel loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tengine::cpu {

// Iterations that are worth handing to a thread, when each takes `work` operations.
inline int64_t grain_for(int64_t work)
{
    return 1 + 32768 / std::max<int64_t>(work, 1);
}

}  // namespace tengine::cpu
