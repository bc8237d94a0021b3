// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/reference_random.h"

#include <algorithm>
#include <array>

#include "device/tpu/machine/access.h"
#include "device/tpu/machine/isa_table.h"

namespace tengine::tpu {
namespace {

bool is_product(const Instruction& in)
{
    return in.opcode == Opcode::kMatrixMultiply;
}

// Chooses operands for an instruction with known opcode, flags and extents.
class OperandChooser
{
  public:
    OperandChooser(Random* random, const Instruction& instruction, uint64_t memory_bytes)
        : random_(random), in_(instruction), memory_(static_cast<int64_t>(memory_bytes))
    {
        const bool is_wide = in_.flags & (kFloat | kWide | (is_product(in_) ? kWideA : 0));
        element_ = is_wide ? 2 : 1;
        step_ = in_.flags & kFloat ? 2 : 1;
        bytes_ = static_cast<int>(in_.length) * element_;
    }

    // Returns disjoint vectors, row by row or column by column.
    Operand written()
    {
        const bool inner_first = random_int(random_, 0, 1) == 1;
        const int near = bytes_ + slack();
        const int far = (inner_first ? in_.inner : in_.outer) * near + slack();
        Operand operand;
        operand.pitch_inner = static_cast<uint32_t>(inner_first ? near : far);
        operand.pitch_outer = static_cast<uint32_t>(inner_first ? far : near);
        return place(operand, bytes_);
    }

    // Returns any operand; `extent` bytes from each vector's beginning.
    Operand read(int64_t extent)
    {
        Operand operand;
        operand.pitch_outer = static_cast<uint32_t>(random_int(random_, 0, 30) * step_);
        operand.pitch_inner = static_cast<uint32_t>(random_int(random_, 0, 30) * step_);
        return place(operand, extent);
    }

    int bytes() const { return bytes_; }

    uint32_t address(int64_t extent)
    {
        const int last = static_cast<int>((memory_ - extent) / step_);
        return static_cast<uint32_t>(random_int(random_, 0, last) * step_);
    }

  private:
    int slack() { return random_int(random_, 0, 3) * step_; }
    Operand place(Operand operand, int64_t extent)
    {
        const int64_t span = int64_t{in_.outer - 1} * operand.pitch_outer +
                             int64_t{in_.inner - 1} * operand.pitch_inner + extent;
        operand.address = address(span);
        return operand;
    }

    Random* random_;
    const Instruction& in_;
    const int64_t memory_;
    int element_ = 1, step_ = 1, bytes_ = 0;
};

void choose_arithmetic(Random* random, Instruction* in)
{
    const bool is_signed = in->flags & kSignedD;
    in->factor_a = static_cast<int32_t>((*random)());
    in->factor_b = static_cast<int32_t>((*random)());
    in->shift = static_cast<uint8_t>(random_int(random, 0, 3) == 0 ? random_int(random, 0, 62)
                                                                   : random_int(random, 28, 44));
    in->zero_a = static_cast<uint8_t>((*random)());
    in->zero_b = static_cast<uint8_t>((*random)());
    in->zero_d = static_cast<uint8_t>((*random)());
    int low = random_int(random, 0, 255), high = random_int(random, 0, 255);
    if (random_int(random, 0, 1) == 0) {
        low = 0;
        high = 255;
    }
    if (low > high) std::swap(low, high);
    in->lowest = static_cast<uint8_t>(is_signed ? low - 128 : low);
    in->highest = static_cast<uint8_t>(is_signed ? high - 128 : high);
    in->low_real = static_cast<float>(-random_int(random, 0, 100));
    in->high_real = static_cast<float>(random_int(random, 0, 100));
    if (in->opcode == Opcode::kAveragePool) in->low_real = 1.0f / 9.0f;
}

void choose_product(Random* random, const Config& config, OperandChooser* operands, Instruction* in)
{
    in->columns = static_cast<uint16_t>(random_int(random, 1, config.columns));
    in->a = operands->read(operands->bytes());
    in->d.address = static_cast<uint32_t>(
        random_int(random, 0, config.accumulator_rows - in->outer * in->inner));
}

void choose_pool(Random* random, OperandChooser* operands, Instruction* in)
{
    in->window_outer = static_cast<uint16_t>(random_int(random, 1, 3));
    in->window_inner = static_cast<uint16_t>(random_int(random, 1, 3));
    in->window_pitch_outer = static_cast<uint32_t>(random_int(random, 0, 40) * 2);
    in->window_pitch_inner = static_cast<uint32_t>(random_int(random, 0, 20) * 2);
    in->a =
        operands->read(int64_t{in->window_outer - 1} * in->window_pitch_outer +
                       int64_t{in->window_inner - 1} * in->window_pitch_inner + operands->bytes());
}

void choose_operands(Random* random, const Config& config, Instruction* in)
{
    OperandChooser operands(random, *in, static_cast<uint64_t>(config.unified_buffer_bytes));
    if (is_product(*in)) return choose_product(random, config, &operands, in);
    choose_arithmetic(random, in);
    in->value = (*random)() & 0x3fff3fff;  // not NaN as bf16
    if (in->flags & kTable || in->opcode == Opcode::kLookup) in->table = operands.address(256);
    in->d = operands.written();
    switch (in->opcode) {
        case Opcode::kActivate:
            in->a.address = static_cast<uint32_t>(
                random_int(random, 0, config.accumulator_rows - in->outer * in->inner));
            in->b.address = operands.address(int64_t{in->length} * kParameterBytes);
            return;
        case Opcode::kMaxPool:
        case Opcode::kAveragePool:
            return choose_pool(random, &operands, in);
        default:
            break;
    }
    in->b = operands.read(operands.bytes());
    in->a = operands.read(operands.bytes());
    if (random_int(random, 0, 3) == 0) in->a = in->d;  // in place
}

void choose_transfer(Random* random, const Config& config, uint64_t host_bytes, Instruction* in)
{
    const bool is_read = in->opcode == Opcode::kReadHost;
    OperandChooser buffer(random, *in, static_cast<uint64_t>(config.unified_buffer_bytes));
    OperandChooser host(random, *in, host_bytes / 2);
    Operand outside = is_read ? host.read(host.bytes()) : host.written();
    in->host_address = outside.address + (is_read ? 0 : host_bytes / 2);
    outside.address = 0;
    in->a = is_read ? outside : buffer.read(buffer.bytes());
    in->d = is_read ? buffer.written() : outside;
}

}  // namespace

Config small_config(int rows, int columns)
{
    Config config;
    config.name = "small";
    config.rows = rows;
    config.columns = columns;
    config.clock_mhz = 1000;
    config.unified_buffer_bytes = 4096;
    config.accumulator_rows = 64;
    config.weight_fifo_tiles = 4;
    config.weight_gbps = config.host_gbps = 8;
    config.vector_lanes = 8;
    return config;
}

int random_int(Random* random, int low, int high)
{
    return std::uniform_int_distribution<int>(low, high)(*random);
}

std::vector<uint8_t> random_bytes(Random* random, size_t number)
{
    std::vector<uint8_t> bytes(number);
    for (size_t i = 0; i < number; ++i) {
        bytes[i] = static_cast<uint8_t>((*random)());
        // High bytes of bf16: exponents from 2^-30 to 2^33, both signs.
        if (i % 2 == 1)
            bytes[i] = static_cast<uint8_t>((bytes[i] & 0x80) + 0x30 + random_int(random, 0, 31));
    }
    for (size_t i = 0; i + 1 < number; i += 2)
        if (random_int(random, 0, 7) == 0) bytes[i] = bytes[i + 1] = 0;
    return bytes;
}

const std::vector<uint16_t>& legal_flags(Opcode opcode)
{
    static std::array<std::vector<uint16_t>, kOpcodeNum> all;
    std::vector<uint16_t>& legal = all.at(static_cast<size_t>(opcode));
    if (!legal.empty()) return legal;
    for (unsigned flags = 0; flags < 1u << kFlagNum; ++flags) {
        const uint16_t bits = static_cast<uint16_t>(flags);
        if (check_flags(*find_form(opcode, bits), bits) == 0) legal.push_back(bits);
    }
    return legal;
}

Instruction random_instruction(Random* random, Opcode opcode, uint16_t flags, const Config& config,
                               uint64_t host_bytes)
{
    Instruction in;
    in.opcode = opcode;
    in.flags = flags;
    if (opcode == Opcode::kReadWeights) {
        in.tiles = 1;
        in.host_address =
            static_cast<uint64_t>(random_int(random, 0, 3) * config.rows * config.columns * 2);
        return in;
    }
    in.outer = static_cast<uint16_t>(random_int(random, 1, 4));
    in.inner = static_cast<uint16_t>(random_int(random, 1, 6));
    int longest = 20;
    if (is_product(in)) longest = config.rows;
    if (opcode == Opcode::kActivate) longest = config.columns;
    in.length = static_cast<uint32_t>(random_int(random, 1, longest));
    if (opcode == Opcode::kReadHost || opcode == Opcode::kWriteHost) {
        choose_transfer(random, config, host_bytes, &in);
    } else {
        choose_operands(random, config, &in);
    }
    return in;
}

}  // namespace tengine::tpu
