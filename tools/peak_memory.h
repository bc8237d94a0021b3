// SPDX-License-Identifier: Apache-2.0
// The peak of the process's memory in RAM. On Linux.
#pragma once

#include <cstdint>

namespace tengine::tools {

// Restarts the peak from the memory in use now. If the system does not allow that, the peak stays
// that of the process.
void reset_peak_memory();

// Bytes; 0 if the system does not report it.
int64_t peak_memory();

}  // namespace tengine::tools
