// SPDX-License-Identifier: Apache-2.0
// The vector unit of the machine: activate and all instructions on the buffer alone.
#pragma once

#include <cstdint>
#include <vector>

#include "device/tpu/machine/isa.h"
#include "device/tpu/simulator/machine_memory.h"

namespace tengine::tpu {

class VectorUnit
{
  public:
    // Runs kActivate, kCopy, kFill, kLookup, kAdd, kMultiply, kMaxPool, kAveragePool; does nothing
    // for others.
    void run(const Instruction& instruction, MachineMemory* memory);

  private:
    template <class Function>
    void write_vectors(const Instruction& in, MachineMemory* memory, Function compute);
    void activate(const Instruction& in, MachineMemory* memory);
    void activate_integers(const Instruction& in, MachineMemory* memory);
    void activate_floats(const Instruction& in, MachineMemory* memory);
    void copy(const Instruction& in, MachineMemory* memory);
    void fill(const Instruction& in, MachineMemory* memory);
    void look_up(const Instruction& in, MachineMemory* memory);
    void add(const Instruction& in, MachineMemory* memory);
    void multiply(const Instruction& in, MachineMemory* memory);
    void max_pool(const Instruction& in, MachineMemory* memory);
    void average_pool(const Instruction& in, MachineMemory* memory);

    std::vector<uint8_t> staged_;        // results of an instruction that overwrites its operands
    std::vector<Parameter> parameters_;  // of the instruction, decoded
    std::vector<int32_t> sums_;          // of a pool's vector
    std::vector<float> float_sums_;
};

}  // namespace tengine::tpu
