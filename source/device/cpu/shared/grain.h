// SPDX-License-Identifier: Apache-2.0
// The size of pieces of parallel loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tengine::cpu {

// The number of iterations that are worth a thread, when each takes `work` operations.
inline int64_t grain_for(int64_t work)
{
    return 1 + 32768 / std::max<int64_t>(work, 1);
}

}  // namespace tengine::cpu
