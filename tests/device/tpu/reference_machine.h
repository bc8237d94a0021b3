// SPDX-License-Identifier: Apache-2.0
// A second implementation of the TPU's instruction set, element by element and as plain as
// possible, for comparison with the machine.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

struct ReferenceMachine
{
    explicit ReferenceMachine(const Config& machine);

    // Executes one valid instruction.
    void execute(const Instruction& instruction);

    Config config;
    std::vector<uint8_t> buffer, host, weights;
    std::vector<int32_t> sums;  // fp32 bits in bf16 mode

    struct Tile
    {
        uint64_t address;
        bool is_wide;
    };
    std::deque<Tile> fifo;
    Tile tile{0, false};
};

// Rounds value * factor / 2^shift, halves to even, by division.
int64_t reference_round(int64_t product, int shift);

// Returns the nearest bf16 of a finite value, the even one of two equally near ones.
uint16_t reference_bf16(float value);

}  // namespace tengine::tpu
