// SPDX-License-Identifier: Apache-2.0
// Cycles of single operations, for the compiler's decisions and for estimates.
#pragma once

#include "device/tpu/machine/config.h"

namespace tengine::tpu {

// The cycles of fetching one tile of 8 bits.
inline double tile_cycles(const Config& config)
{
    const double gbps = config.shared_memory ? config.host_gbps : config.weight_gbps;
    return static_cast<double>(config.rows) * config.columns * config.clock_mhz / (gbps * 1000);
}

// The cycles of moving bytes between host memory and buffer.
inline double host_cycles(const Config& config, double bytes)
{
    return bytes * config.clock_mhz / (config.host_gbps * 1000);
}

}  // namespace tengine::tpu
