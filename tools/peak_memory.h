// SPDX-License-Identifier: Apache-2.0
// The most memory the process has had in RAM at once. On Linux.
#pragma once

#include <cstdint>

namespace tengine::tools {

// Restarts from the memory in use now. Where the system does not allow it the peak stays that of
// the process so far.
void reset_peak_memory();

// Bytes; 0 if the system does not tell.
int64_t peak_memory();

}  // namespace tengine::tools
