// SPDX-License-Identifier: Apache-2.0
// The bytes, products and energy of an instruction, for the counters; they do not depend on time.
// timing.cc computes when it runs.
#pragma once

#include <cstdint>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"
#include "device/tpu/simulator/simulator.h"

namespace tengine::tpu {

// Returns the number of vectors of the instruction's grid.
int64_t vector_number(const Instruction& instruction);
// Returns the cycles of the array for a vector: 1 for 8-bit products, 2 for 8 x 16 bits, 4 for 16 x
// 16 and bf16.
int64_t cycles_per_vector(const Instruction& product);
// Returns the cycles of the vector unit.
int64_t vector_cycles(const Instruction& instruction, const Config& config);
// Returns the bytes of a weight tile of this kReadWeights.
int64_t tile_bytes(const Instruction& instruction, const Config& config);

class Account
{
  public:
    Account(const Config& config, Counters* counters);
    // Adds the instruction's products, bytes and energy.
    void add(const Instruction& instruction);

  private:
    void add_product(const Instruction& in);
    void add_vector(const Instruction& in);
    void add_buffer(int64_t read, int64_t written);
    void add_sums(int64_t read, int64_t written);

    const Config& config_;
    Counters* counters_;
    double buffer_byte_, sum_byte_;  // pJ
};

}  // namespace tengine::tpu
