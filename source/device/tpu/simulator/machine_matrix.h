// SPDX-License-Identifier: Apache-2.0
// The matrix unit of the machine: weight FIFO, the tile in the array, products. The inner loops are
// in machine_product.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"
#include "device/tpu/simulator/machine_memory.h"

namespace tengine::tpu {

class MatrixUnit
{
  public:
    explicit MatrixUnit(const Config& config);

    // Drops tiles of an earlier run; `weights` is this run's weight memory.
    void reset(const uint8_t* weights);
    void read_weights(const Instruction& instruction);
    // TENGINE_EDEVICE: no tile, which cannot happen in a valid program.
    int multiply(const Instruction& instruction, MachineMemory* memory);

    // Returns the bytes of the tile in the array and of the vectors that stream through it.
    size_t memory_bytes() const;

  private:
    struct Tile
    {
        const uint8_t* data;
        bool is_wide;
    };

    void load_integer_tile();
    void load_float_tile();
    void multiply_integers(const Instruction& in, MachineMemory* memory);
    void multiply_floats(const Instruction& in, MachineMemory* memory);

    const int64_t rows_, columns_;
    const uint8_t* weights_ = nullptr;
    // Tiles from next_ on are in the FIFO. A vector, since its memory is kept from run to run.
    std::vector<Tile> fifo_;
    size_t next_ = 0;
    Tile tile_{nullptr, false};  // in the array
    // The tile in the kernels' layout; made at the first product that uses it.
    bool has_integer_tile_ = false, has_float_tile_ = false;
    std::vector<int16_t> integer_tile_, integer_vectors_;
    std::vector<float> float_tile_, float_vectors_;
};

}  // namespace tengine::tpu
