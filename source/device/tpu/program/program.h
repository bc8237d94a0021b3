// SPDX-License-Identifier: Apache-2.0
// A compiled part: what the compiler makes, the file holds and the simulator runs. The container
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
    // The order of the bytes in host memory: as the graph has them, or with the channels (axis 1)
    // last: the driver transposes before and after.
    bool channels_last = false;
    std::vector<int> dims;  // as the graph has them
    uint64_t address = 0;   // dense
};

// The memory that the tiles of a program lie in: read only, since several programs may share it.
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
    uint64_t fingerprint = 0;  // that of the configuration it is for
    std::vector<Instruction> instructions;
    WeightMemory weights;
    std::vector<uint8_t> constants;  // host memory from address 0
    uint64_t host_bytes = 0;         // size of host memory, constants included
    std::vector<Binding> bindings;
    std::vector<std::string> nodes;  // names that kTag refers to
};

// To and from bytes: magic "TGTPU", version, fingerprint, sizes, sections, SHA-256 of all before
// it. TENGINE_EFORMAT for what is not a program, is truncated or altered; TENGINE_ENOTSUP for
// another version. Nothing is read beyond `size`, and nothing larger than the file is allocated.
std::vector<uint8_t> save_program(const Program& program);
int load_program(const uint8_t* data, size_t size, Program* out_program);
// The same for bytes that outlive the program, which uses the weights in place, and whose owner
// knows that they are unaltered: their SHA-256 is not looked at.
int borrow_program(const uint8_t* data, size_t size, Program* out_program);

// Whether the machine can run it: fingerprint, every address of every instruction in range, grids
// whose vectors do not overlap where written, tiles in the FIFO when taken and of the right width,
// bindings and tags in range, kHalt at the end. TENGINE_EINVAL names instruction, member and value.
int validate_program(const Program& program, const Config& config);

// Text, one instruction a line, and back; bindings, weights and constants as directives, so that
// assemble(disassemble(p)) == p. Errors name the line.
std::string disassemble(const Program& program);
int assemble(const std::string& text, Program* out_program);

}  // namespace tengine::tpu
