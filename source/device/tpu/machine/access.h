// SPDX-License-Identifier: Apache-2.0
// The parts of the memories that an instruction reads and writes: the machine checks whether an
// instruction overwrites its own operands, the timing which instructions wait for others. Operands:
// isa.h.
#pragma once

#include <cstdint>

#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

enum class Memory : uint8_t
{
    kBuffer = 0,
    kSums = 1,  // in rows
    kHost = 2,
};
constexpr int kMemoryNum = 3;

// Bytes [begin, end) or rows of a memory. If `period` is not 0, only `length` of each `period`
// bytes are accessed, from those whose address modulo the period is `residue`.
struct Access
{
    Memory memory = Memory::kBuffer;
    bool is_write = false;
    uint64_t begin = 0, end = 0;
    uint64_t period = 0, residue = 0, length = 0;
};
constexpr int kMaxAccesses = 5;

// Lists the accesses of a valid instruction; returns their number.
int list_accesses(const Instruction& instruction, Access out[kMaxAccesses]);

// Whether two accesses share a byte. Exact for dense ranges and for grids of one common pitch, such
// as channel slices of one tensor; otherwise true if the ranges around them overlap.
bool accesses_overlap(const Access& a, const Access& b);

// Returns the bytes of an element of the vectors of `d`, and of `a` for vector instructions.
int element_bytes(const Instruction& instruction);

}  // namespace tengine::tpu
