// SPDX-License-Identifier: Apache-2.0
// Collects a program: instructions and constants. An instruction that takes a tile gives the tile's
// address, and finish() inserts the fetches, as early as the FIFO has room.
#pragma once

#include <vector>

#include "device/tpu/compiler/grid.h"
#include "device/tpu/program/program.h"

namespace tengine::tpu {

class Emitter
{
  public:
    Emitter(const Config& config, Program* program) : config_(config), program_(program) {}

    const Config& config() const { return config_; }

    // Adds a constant and returns its address.
    uint64_t add_constant(const void* data, size_t size);

    void add(const Instruction& instruction) { program_->instructions.push_back(instruction); }
    // Adds products with one tile, which the first of them takes unless the array has it already.
    void add_products(const Instruction& instruction, const std::vector<Loop>& loops,
                      uint64_t tile);
    // Assigns the following instructions to this node.
    void tag(int node);

    // Adds one instruction for each grid of the loops; operands' addresses are those of the first
    // vector.
    void add_grids(const Instruction& instruction, const std::vector<Loop>& loops);
    // The same with the longest possible vectors; for instructions on single elements.
    void add_elements(Instruction instruction, std::vector<Loop> loops, int element_bytes);
    // Copies from host memory to the buffer (a to d) and back; addresses and pitches as in
    // add_grids().
    void read_host(uint64_t host, uint32_t address, std::vector<Loop> loops, int64_t bytes);
    void write_host(uint64_t host, uint32_t address, std::vector<Loop> loops, int64_t bytes);
    void fill(uint32_t address, std::vector<Loop> loops, int64_t bytes, uint8_t value);

    // Inserts the fetches and the end.
    void finish();

  private:
    struct Take
    {
        size_t instruction;
        uint64_t tile;
        bool wide;
    };

    Config config_;
    Program* program_;
    std::vector<Take> takes_;
    bool has_tile_ = false;
    uint64_t tile_ = 0;  // in the array
    int tag_ = -1;
};

}  // namespace tengine::tpu
