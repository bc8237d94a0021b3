// SPDX-License-Identifier: Apache-2.0
// Random instructions and memories for comparing the machine with reference_machine.h.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

using Random = std::mt19937;

// Returns a small machine: 4 KiB of buffer, 64 accumulator rows, a FIFO of 4.
Config small_config(int rows, int columns);

// Both ends included.
int random_int(Random* random, int low, int high);

// Returns bytes that are also finite bf16 numbers, of moderate size, including zeros.
std::vector<uint8_t> random_bytes(Random* random, size_t number);

// Returns all combinations of flags that the opcode may have.
const std::vector<uint16_t>& legal_flags(Opcode opcode);

// Returns a valid instruction with operands anywhere in the memories: vectors that are read may
// overlap, coincide (pitch 0) and equal those that are written. Host memory has `host_bytes`, of
// which the first half is only read; weight memory has four wide tiles. kReadWeights and kNextTile:
// one tile.
Instruction random_instruction(Random* random, Opcode opcode, uint16_t flags, const Config& config,
                               uint64_t host_bytes);

}  // namespace tengine::tpu
