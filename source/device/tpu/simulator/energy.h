// SPDX-License-Identifier: Apache-2.0
// Energy of operations in picojoules: M. Horowitz, Computing's Energy Problem (and what we can do
// about it), ISSCC 2014, figure 1.1.9: 45 nm, 0.9 V. Leakage, clock and control are not included.
#pragma once

#include <cmath>

namespace tengine::tpu {

// From the table: multiplication of 8 bits 0.2, addition of 32 bits 0.1, fp16 multiplication 1.1,
// fp32 addition 0.9. Products of 8 x 16 and 16 x 16 bits: twice and four times that of 8 bits,
// since a multiplier's energy is proportional to the product of the widths (32 bits: 3.1). bf16
// counts as fp16.
constexpr double kEnergyMac8 = 0.2 + 0.1;
constexpr double kEnergyMac8x16 = 0.4 + 0.1;
constexpr double kEnergyMac16 = 0.8 + 0.1;
constexpr double kEnergyMacBf16 = 1.1 + 0.9;

// An element in the vector unit: a 32-bit multiplication (3.1) and two 32-bit additions; with bf16
// an fp32 multiplication (3.7) and addition.
constexpr double kEnergyElement = 3.1 + 2 * 0.1;
constexpr double kEnergyElementBf16 = 3.7 + 0.9;

// A byte of DRAM: 1.3 nJ for 64 bits, the lower end of 1.3 to 2.6, as weights and transfers are
// sequential. Bytes to and from the host count the same.
constexpr double kEnergyDramByte = 1300.0 / 8;

// Returns the energy of a byte of SRAM in a memory of this size: the power law through 10 pJ for 64
// bits of 8 KiB and 100 pJ of 1 MiB; it gives 19 for 32 KiB, for which the table has 20.
inline double energy_of_sram_byte(double memory_bytes)
{
    return 10.0 / 8 * std::pow(memory_bytes / 8192, std::log(10.0) / std::log(128.0));
}

}  // namespace tengine::tpu
