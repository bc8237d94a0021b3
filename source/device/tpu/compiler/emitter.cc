// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/emitter.h"

#include <algorithm>
#include <cstring>

namespace tengine::tpu {
namespace {

constexpr size_t kAlignment = 64;  // for constants in host memory

uint32_t advance(uint32_t address, int64_t offset)
{
    return static_cast<uint32_t>(address + offset);
}

void set_grid(Instruction* instruction, const Grid& grid)
{
    instruction->outer = static_cast<uint16_t>(grid.outer.count);
    instruction->inner = static_cast<uint16_t>(grid.inner.count);
    Operand* operands[] = {&instruction->a, &instruction->b, &instruction->d};
    for (size_t i = 0; i < 3; ++i) {
        operands[i]->pitch_outer = static_cast<uint32_t>(grid.outer.pitch[i]);
        operands[i]->pitch_inner = static_cast<uint32_t>(grid.inner.pitch[i]);
    }
}

bool uses_b(Opcode opcode)
{
    return opcode == Opcode::kAdd || opcode == Opcode::kMultiply;
}

// Whether the instruction writes accumulators, which have no pitch: their rows are in the order of
// the grid.
bool writes_sums(Opcode opcode)
{
    return opcode == Opcode::kMatrixMultiply;
}

bool reads_sums(Opcode opcode)
{
    return opcode == Opcode::kActivate;
}

void clear_pitches(Operand* operand)
{
    operand->pitch_outer = operand->pitch_inner = 0;
}

}  // namespace

uint64_t Emitter::add_constant(const void* data, size_t size)
{
    std::vector<uint8_t>& constants = program_->constants;
    constants.resize((constants.size() + kAlignment - 1) / kAlignment * kAlignment);
    const uint64_t address = constants.size();
    constants.resize(constants.size() + size);
    if (size > 0) std::memcpy(constants.data() + address, data, size);
    return address;
}

void Emitter::add_products(const Instruction& instruction, const std::vector<Loop>& loops,
                           uint64_t tile)
{
    const size_t first = program_->instructions.size();
    add_grids(instruction, loops);
    if (has_tile_ && tile == tile_) return;
    has_tile_ = true;
    tile_ = tile;
    takes_.push_back({first, tile, (instruction.flags & kWideWeights) != 0});
    program_->instructions[first].flags |= kNextTile;
}

void Emitter::tag(int node)
{
    if (node == tag_) return;
    tag_ = node;
    Instruction instruction;
    instruction.opcode = Opcode::kTag;
    instruction.value = static_cast<uint32_t>(node);
    add(instruction);
}

void Emitter::add_grids(const Instruction& instruction, const std::vector<Loop>& loops)
{
    for_each_grid(loops, [&](const Grid& grid) {
        Instruction made = instruction;
        set_grid(&made, grid);
        made.a.address = advance(instruction.a.address, grid.offset[0]);
        if (uses_b(made.opcode)) made.b.address = advance(instruction.b.address, grid.offset[1]);
        made.d.address = advance(instruction.d.address, grid.offset[2]);
        if (!uses_b(made.opcode)) clear_pitches(&made.b);
        if (reads_sums(made.opcode)) clear_pitches(&made.a);
        if (writes_sums(made.opcode)) clear_pitches(&made.d);
        add(made);
    });
}

void Emitter::add_elements(Instruction instruction, std::vector<Loop> loops, int element_bytes)
{
    const bool reads_a = instruction.opcode != Opcode::kFill;
    instruction.length = static_cast<uint32_t>(fold_into_vector(
        loops, instruction.length, element_bytes, {reads_a, uses_b(instruction.opcode), true}));
    add_grids(instruction, loops);
}

void Emitter::read_host(uint64_t host, uint32_t address, std::vector<Loop> loops, int64_t bytes)
{
    Instruction instruction;
    instruction.opcode = Opcode::kReadHost;
    instruction.length =
        static_cast<uint32_t>(fold_into_vector(loops, bytes, 1, {true, false, true}));
    for_each_grid(loops, [&](const Grid& grid) {
        set_grid(&instruction, grid);
        instruction.host_address = host + static_cast<uint64_t>(grid.offset[0]);
        instruction.d.address = advance(address, grid.offset[2]);
        clear_pitches(&instruction.b);
        add(instruction);
    });
}

void Emitter::write_host(uint64_t host, uint32_t address, std::vector<Loop> loops, int64_t bytes)
{
    Instruction instruction;
    instruction.opcode = Opcode::kWriteHost;
    instruction.length =
        static_cast<uint32_t>(fold_into_vector(loops, bytes, 1, {true, false, true}));
    for_each_grid(loops, [&](const Grid& grid) {
        set_grid(&instruction, grid);
        instruction.host_address = host + static_cast<uint64_t>(grid.offset[2]);
        instruction.a.address = advance(address, grid.offset[0]);
        clear_pitches(&instruction.b);
        add(instruction);
    });
}

void Emitter::fill(uint32_t address, std::vector<Loop> loops, int64_t bytes, uint8_t value)
{
    if (bytes == 0) return;
    for (const Loop& loop : loops)
        if (loop.count == 0) return;
    for (Loop& loop : loops)
        loop.pitch[0] = loop.pitch[1] = 0;
    Instruction instruction;
    instruction.opcode = Opcode::kFill;
    instruction.length = static_cast<uint32_t>(bytes);
    instruction.value = value;
    instruction.d.address = address;
    add_elements(instruction, std::move(loops), 1);
}

void Emitter::finish()
{
    const size_t tile_bytes =
        static_cast<size_t>(config_.rows) * static_cast<size_t>(config_.columns);
    std::vector<Instruction> made;
    made.reserve(program_->instructions.size() + takes_.size() + 1);
    const auto capacity = static_cast<size_t>(config_.weight_fifo_tiles);
    size_t fetched = 0, taken = 0;
    // Fetches consecutive tiles, up to half of the FIFO at a time.
    const auto top_up = [&] {
        while (fetched < takes_.size() && fetched - taken < capacity) {
            Instruction fetch;
            fetch.opcode = Opcode::kReadWeights;
            fetch.host_address = takes_[fetched].tile;
            const bool wide = takes_[fetched].wide;
            fetch.flags = wide ? kWideWeights : 0;
            const size_t most =
                std::min(std::max<size_t>(1, capacity / 2), capacity - (fetched - taken));
            uint64_t next = fetch.host_address;
            while (fetch.tiles < most && fetched < takes_.size() && takes_[fetched].tile == next &&
                   takes_[fetched].wide == wide) {
                next += tile_bytes * (wide ? 2 : 1);
                ++fetch.tiles;
                ++fetched;
            }
            made.push_back(fetch);
        }
    };
    for (size_t i = 0; i < program_->instructions.size(); ++i) {
        const bool takes = taken < takes_.size() && takes_[taken].instruction == i;
        if (takes && fetched - taken <= capacity / 2) top_up();
        made.push_back(program_->instructions[i]);
        if (takes) ++taken;
    }
    Instruction halt;
    halt.opcode = Opcode::kHalt;
    made.push_back(halt);
    program_->instructions = std::move(made);
}

}  // namespace tengine::tpu
