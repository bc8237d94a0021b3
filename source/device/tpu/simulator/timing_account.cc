// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/timing_account.h"

#include <algorithm>

#include "device/tpu/machine/access.h"
#include "device/tpu/simulator/energy.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kSumBytes = 4;

bool has_wide_a(const Instruction& in)
{
    return (in.flags & (kWideA | kFloat)) != 0;
}

int64_t window_of(const Instruction& in)
{
    const bool is_pool = in.opcode == Opcode::kMaxPool || in.opcode == Opcode::kAveragePool;
    return is_pool ? int64_t{in.window_outer} * in.window_inner : 1;
}

double mac_energy(const Instruction& in)
{
    if (in.flags & kFloat) return kEnergyMacBf16;
    const bool wide_a = in.flags & kWideA, wide_weights = in.flags & kWideWeights;
    if (wide_a && wide_weights) return kEnergyMac16;
    return wide_a || wide_weights ? kEnergyMac8x16 : kEnergyMac8;
}

// Returns the number of buffer vectors that an element of d is computed from.
int64_t operand_number(const Instruction& in)
{
    switch (in.opcode) {
        case Opcode::kCopy:
            return 1;
        case Opcode::kLookup:  // and a byte of the table each
        case Opcode::kAdd:
        case Opcode::kMultiply:
            return 2;
        case Opcode::kMaxPool:
        case Opcode::kAveragePool:
            return window_of(in);
        default:
            return 0;
    }
}

bool computes_elements(Opcode opcode)
{
    return opcode == Opcode::kActivate || opcode == Opcode::kAdd || opcode == Opcode::kMultiply ||
           opcode == Opcode::kMaxPool || opcode == Opcode::kAveragePool;
}

}  // namespace

int64_t vector_number(const Instruction& in)
{
    return int64_t{in.outer} * in.inner;
}

int64_t cycles_per_vector(const Instruction& in)
{
    if (in.flags & kFloat) return 4;
    return (in.flags & kWideA ? 2 : 1) * (in.flags & kWideWeights ? 2 : 1);
}

int64_t vector_cycles(const Instruction& in, const Config& config)
{
    if (in.opcode == Opcode::kActivate) return vector_number(in);
    const int64_t bytes = int64_t{in.length} * element_bytes(in);
    const int64_t beats = (bytes + config.vector_lanes - 1) / config.vector_lanes;
    return vector_number(in) * window_of(in) * beats;
}

int64_t tile_bytes(const Instruction& in, const Config& config)
{
    return int64_t{config.rows} * config.columns * (in.flags & kWideWeights ? 2 : 1);
}

Account::Account(const Config& config, Counters* counters)
    : config_(config),
      counters_(counters),
      buffer_byte_(energy_of_sram_byte(static_cast<double>(config.unified_buffer_bytes))),
      sum_byte_(energy_of_sram_byte(
          static_cast<double>(int64_t{config.accumulator_rows} * config.columns * kSumBytes)))
{
}

void Account::add_buffer(int64_t read, int64_t written)
{
    counters_->buffer_read_bytes += read;
    counters_->buffer_write_bytes += written;
    counters_->energy_pj += static_cast<double>(read + written) * buffer_byte_;
}

void Account::add_sums(int64_t read, int64_t written)
{
    counters_->sum_read_bytes += read;
    counters_->sum_write_bytes += written;
    counters_->energy_pj += static_cast<double>(read + written) * sum_byte_;
}

void Account::add_product(const Instruction& in)
{
    const int64_t vectors = vector_number(in);
    const int64_t macs = vectors * in.length * in.columns;
    const int64_t sums = vectors * in.columns * kSumBytes;
    counters_->macs += macs;
    counters_->mac_slots += vectors * config_.rows * config_.columns;
    counters_->energy_pj += static_cast<double>(macs) * mac_energy(in);
    add_buffer(vectors * in.length * (has_wide_a(in) ? 2 : 1), 0);
    add_sums(in.flags & kAccumulate ? sums : 0, sums);
}

void Account::add_vector(const Instruction& in)
{
    const int64_t elements = vector_number(in) * in.length;
    const int64_t bytes = elements * element_bytes(in);
    int64_t read = bytes * operand_number(in);
    if (in.opcode == Opcode::kActivate) {
        add_sums(elements * kSumBytes, 0);
        read = int64_t{in.length} * kParameterBytes + (in.flags & kTable ? elements : 0);
    }
    add_buffer(read, bytes);
    if (computes_elements(in.opcode))
        counters_->energy_pj += static_cast<double>(elements * window_of(in)) *
                                (in.flags & kFloat ? kEnergyElementBf16 : kEnergyElement);
}

void Account::add(const Instruction& in)
{
    const int64_t bytes = vector_number(in) * in.length;
    ++counters_->instructions[static_cast<size_t>(in.opcode)];
    switch (in.opcode) {
        case Opcode::kReadWeights: {
            const int64_t weights = in.tiles * tile_bytes(in, config_);
            counters_->weight_bytes += weights;
            counters_->energy_pj += static_cast<double>(weights) * kEnergyDramByte;
            return;
        }
        case Opcode::kReadHost:
            counters_->host_read_bytes += bytes;
            counters_->energy_pj += static_cast<double>(bytes) * kEnergyDramByte;
            return add_buffer(0, bytes);
        case Opcode::kWriteHost:
            counters_->host_write_bytes += bytes;
            counters_->energy_pj += static_cast<double>(bytes) * kEnergyDramByte;
            return add_buffer(bytes, 0);
        case Opcode::kMatrixMultiply:
            return add_product(in);
        case Opcode::kNop:
        case Opcode::kSync:
        case Opcode::kTag:
        case Opcode::kHalt:
            return;
        default:
            return add_vector(in);
    }
}

}  // namespace tengine::tpu
