// SPDX-License-Identifier: Apache-2.0
// Reads the proc file system, see proc(5): VmHWM is the peak, and writing 5 to clear_refs resets
// it.
#include "peak_memory.h"

#include <fstream>
#include <string>

namespace tengine::tools {

void reset_peak_memory()
{
    std::ofstream("/proc/self/clear_refs") << "5";
}

int64_t peak_memory()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        int64_t kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

}  // namespace tengine::tools
