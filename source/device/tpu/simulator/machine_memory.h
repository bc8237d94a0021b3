// SPDX-License-Identifier: Apache-2.0
// The memories of the machine, which its units share. Buffer and sums are cleared when a run
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

struct MachineMemory
{
    std::vector<uint8_t> buffer;
    std::vector<int32_t> sums;  // rows of `columns`, and padding for the kernels
    int64_t columns = 0;
};

// Returns the offset of vector (o, i) of an operand.
inline uint64_t vector_offset(const Operand& operand, unsigned o, unsigned i)
{
    return operand.address + uint64_t{o} * operand.pitch_outer + uint64_t{i} * operand.pitch_inner;
}

inline uint16_t load_16(const uint8_t* bytes)
{
    return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

inline void store_16(uint16_t value, uint8_t* bytes)
{
    bytes[0] = static_cast<uint8_t>(value);
    bytes[1] = static_cast<uint8_t>(value >> 8);
}

inline int32_t load_32(const uint8_t* bytes)
{
    return static_cast<int32_t>(load_16(bytes) | static_cast<uint32_t>(load_16(bytes + 2)) << 16);
}

inline float load_bf16(const uint8_t* bytes)
{
    return bf16_to_fp32(load_16(bytes));
}

// Widens an 8-bit element, signed or not.
inline int32_t widen_byte(uint8_t byte, bool is_signed)
{
    return is_signed ? static_cast<int8_t>(byte) : byte;
}

}  // namespace tengine::tpu
