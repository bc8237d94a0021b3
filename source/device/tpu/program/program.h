// SPDX-License-Identifier: Apache-2.0
// A compiled part: the compiler makes it, a file stores it and the simulator runs it. The container
// is in program.cc, the validator in validate.cc, text in assembler.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

// An input or output of the part in host memory.
struct Binding
{
    std::string name;
    bool is_output = false;
    uint8_t data_type = 0;  // TENGINE_DT_*: int8, uint8 or bf16
    // The layout in host memory: that of the graph, or channels-last (axis 1 moves to the end): the
    // driver transposes before and after.
    bool channels_last = false;
    std::vector<int> dims;  // in the graph's order
    uint64_t address = 0;   // dense
};

// The memory of a program's tiles: read-only, since several programs may share it.
class WeightMemory
{
  public:
    WeightMemory() = default;
    WeightMemory(std::vector<uint8_t> bytes)
        : WeightMemory(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)))
    {
    }
    WeightMemory(std::shared_ptr<const uint8_t> data, size_t size)
        : data_(std::move(data)), size_(size)
    {
    }

    const std::shared_ptr<const uint8_t>& shared() const { return data_; }
    const uint8_t* data() const { return data_.get(); }
    size_t size() const { return size_; }
    const uint8_t* begin() const { return data(); }
    const uint8_t* end() const { return data() + size_; }

  private:
    explicit WeightMemory(const std::shared_ptr<const std::vector<uint8_t>>& bytes)
        : data_(bytes, bytes->data()), size_(bytes->size())
    {
    }

    std::shared_ptr<const uint8_t> data_;
    size_t size_ = 0;
};

struct Program
{
    uint64_t fingerprint = 0;  // of the configuration that it is for
    std::vector<Instruction> instructions;
    WeightMemory weights;
    std::vector<uint8_t> constants;  // the beginning of host memory
    uint64_t host_bytes = 0;         // size of host memory, constants included
    std::vector<Binding> bindings;
    std::vector<std::string> nodes;  // the names that kTag refers to
};

// Convert a program to and from bytes: magic "TGTPU", version, fingerprint, sizes, sections,
// SHA-256 of everything before it. TENGINE_EFORMAT: not a program, truncated or altered;
// TENGINE_ENOTSUP: another version. Nothing is read beyond `size`, and nothing larger than the file
// is allocated.
std::vector<uint8_t> save_program(const Program& program);
int load_program(const uint8_t* data, size_t size, Program* out_program);
// Like load_program(), for bytes that outlive the program, which uses the weights in place. The
// caller knows that they are unaltered: their SHA-256 is not checked.
int borrow_program(const uint8_t* data, size_t size, Program* out_program);

// Checks that the machine can run the program: fingerprint, every address of every instruction in
// range, written grids whose vectors do not overlap, tiles in the FIFO when taken and of the right
// width, bindings and tags in range, kHalt at the end. TENGINE_EINVAL names instruction, member and
// value.
int validate_program(const Program& program, const Config& config);

// Convert a program to text, one instruction a line, and back; bindings, weights and constants are
// directives, so that assemble(disassemble(p)) == p. Errors name the line.
std::string disassemble(const Program& program);
int assemble(const std::string& text, Program* out_program);

}  // namespace tengine::tpu
