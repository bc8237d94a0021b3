// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/reference_machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tengine::tpu {
namespace {

float float_of(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Rounds once: the double has the exact product of two bf16, and enough bits of a sum.
float product_of(float a, float b)
{
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    return static_cast<float>(exact);
}

float sum_of(float a, float b)
{
    const double exact = static_cast<double>(a) + static_cast<double>(b);
    return static_cast<float>(exact);
}

// Executes one instruction; reads from `before`, writes to `after`.
class Step
{
  public:
    Step(const Instruction& instruction, const ReferenceMachine& old, ReferenceMachine* now)
        : in(instruction), before(old), after(now)
    {
    }

    void multiply();
    void vectors();
    void transfer();

  private:
    bool has(int flag) const { return (in.flags & flag) != 0; }
    uint64_t place(const Operand& x, int o, int i) const
    {
        return x.address + static_cast<uint64_t>(o) * x.pitch_outer +
               static_cast<uint64_t>(i) * x.pitch_inner;
    }
    int byte_at(uint64_t address, bool is_signed) const
    {
        return extend(before.buffer.at(address), is_signed);
    }
    static int extend(uint8_t byte, bool is_signed)
    {
        return is_signed && byte >= 128 ? byte - 256 : byte;
    }
    uint16_t half_at(uint64_t address) const
    {
        return static_cast<uint16_t>(before.buffer.at(address) +
                                     256 * before.buffer.at(address + 1));
    }
    int wide_at(uint64_t address) const
    {
        const int half = half_at(address);
        return half >= 32768 ? half - 65536 : half;
    }
    float real_at(uint64_t address) const
    {
        return float_of(static_cast<uint32_t>(half_at(address)) << 16);
    }
    int32_t word_at(uint64_t address) const
    {
        return static_cast<int32_t>(half_at(address) +
                                    (static_cast<uint32_t>(half_at(address + 2)) << 16));
    }
    int weight_at(int k, int c) const;
    int element_at(uint64_t address, int k) const;
    int64_t clamp(int64_t value) const
    {
        return std::max<int64_t>(extend(in.lowest, has(kSignedD)),
                                 std::min<int64_t>(extend(in.highest, has(kSignedD)), value));
    }
    int64_t requantise(int32_t sum, int32_t factor, int shift) const
    {
        return clamp(extend(in.zero_d, has(kSignedD)) +
                     reference_round(static_cast<int64_t>(sum) * factor, shift));
    }
    float clamp_real(float value) const
    {
        // A zero that equals a limit keeps its sign.
        if (value < in.low_real) return in.low_real;
        return in.high_real < value ? in.high_real : value;
    }
    int64_t integer_element(int o, int i, int e) const;
    float real_element(int o, int i, int e) const;
    int64_t activated(int row, int c) const;
    float activated_real(int row, int c) const;
    void put(uint64_t address, int64_t byte)
    {
        after->buffer.at(address) = static_cast<uint8_t>(byte);
    }

    const Instruction& in;
    const ReferenceMachine& before;
    ReferenceMachine* after;
};

int Step::weight_at(int k, int c) const
{
    const ReferenceMachine::Tile& tile = after->tile;
    const uint64_t index = static_cast<uint64_t>(k * before.config.columns + c);
    if (!tile.is_wide) return extend(before.weights.at(tile.address + index), true);
    const int half = before.weights.at(tile.address + 2 * index) +
                     256 * before.weights.at(tile.address + 2 * index + 1);
    return half >= 32768 ? half - 65536 : half;
}

int Step::element_at(uint64_t address, int k) const
{
    const uint64_t index = static_cast<uint64_t>(k);
    if (has(kWideA)) return wide_at(address + 2 * index);
    return byte_at(address + index, has(kSignedA));
}

void Step::multiply()
{
    if (has(kNextTile)) {
        after->tile = after->fifo.front();
        after->fifo.pop_front();
    }
    for (int v = 0; v < in.outer * in.inner; ++v) {
        const uint64_t a = place(in.a, v / in.inner, v % in.inner);
        for (int c = 0; c < in.columns; ++c) {
            int32_t& sum = after->sums.at((in.d.address + static_cast<size_t>(v)) *
                                              static_cast<size_t>(before.config.columns) +
                                          static_cast<size_t>(c));
            if (has(kFloat)) {
                float total = 0;
                for (int k = 0; k < static_cast<int>(in.length); ++k) {
                    const float w = float_of(static_cast<uint32_t>(weight_at(k, c)) << 16);
                    total = sum_of(total, product_of(real_at(a + 2 * static_cast<uint64_t>(k)), w));
                }
                if (has(kAccumulate)) total = sum_of(float_of(static_cast<uint32_t>(sum)), total);
                sum = static_cast<int32_t>(bits_of(total));
                continue;
            }
            int64_t total = has(kAccumulate) ? sum : 0;
            for (int k = 0; k < static_cast<int>(in.length); ++k)
                total += static_cast<int64_t>(element_at(a, k)) * weight_at(k, c);
            sum = static_cast<int32_t>(static_cast<uint32_t>(total));
        }
    }
}

int64_t Step::activated(int row, int c) const
{
    const uint64_t parameter = in.b.address + static_cast<uint64_t>(12 * c);
    const int64_t sum = before.sums.at((in.a.address + static_cast<size_t>(row)) *
                                           static_cast<size_t>(before.config.columns) +
                                       static_cast<size_t>(c));
    const int64_t biased = sum + word_at(parameter);
    int shift = word_at(parameter + 8);
    if (shift < 0) shift = 0;
    if (shift > 62) shift = 62;
    const int64_t value = requantise(static_cast<int32_t>(static_cast<uint32_t>(biased)),
                                     word_at(parameter + 4), shift);
    if (!has(kTable)) return value;
    return before.buffer.at(in.table + static_cast<uint8_t>(value));
}

float Step::activated_real(int row, int c) const
{
    const uint64_t parameter = in.b.address + static_cast<uint64_t>(12 * c);
    const int32_t sum = before.sums.at((in.a.address + static_cast<size_t>(row)) *
                                           static_cast<size_t>(before.config.columns) +
                                       static_cast<size_t>(c));
    return clamp_real(sum_of(float_of(static_cast<uint32_t>(sum)),
                             float_of(static_cast<uint32_t>(word_at(parameter)))));
}

int64_t Step::integer_element(int o, int i, int e) const
{
    const uint64_t a = place(in.a, o, i) + static_cast<uint64_t>(e);
    const uint64_t b = place(in.b, o, i) + static_cast<uint64_t>(e);
    const int64_t zero_a = extend(in.zero_a, has(kSignedA));
    const int64_t zero_b = extend(in.zero_b, has(kSignedB));
    int64_t best = -1000, sum = 0;
    switch (in.opcode) {
        case Opcode::kActivate:
            return activated(o * in.inner + i, e);
        case Opcode::kCopy:
            return byte_at(a, false);
        case Opcode::kFill:
            return in.value & 255;
        case Opcode::kLookup:
            return before.buffer.at(in.table + before.buffer.at(a));
        case Opcode::kAdd:
            return clamp(extend(in.zero_d, has(kSignedD)) +
                         reference_round((byte_at(a, has(kSignedA)) - zero_a) * in.factor_a +
                                             (byte_at(b, has(kSignedB)) - zero_b) * in.factor_b,
                                         in.shift));
        case Opcode::kMultiply:
            sum = (byte_at(a, has(kSignedA)) - zero_a) * (byte_at(b, has(kSignedB)) - zero_b);
            return requantise(static_cast<int32_t>(sum), in.factor_a, in.shift);
        default:
            break;
    }
    for (int p = 0; p < in.window_outer; ++p)
        for (int q = 0; q < in.window_inner; ++q) {
            const int64_t value = byte_at(a + static_cast<uint64_t>(p) * in.window_pitch_outer +
                                              static_cast<uint64_t>(q) * in.window_pitch_inner,
                                          has(kSignedA));
            best = std::max(best, value);
            sum += value - zero_a;
        }
    if (in.opcode == Opcode::kMaxPool) return best;
    return requantise(static_cast<int32_t>(sum), in.factor_a, in.shift);
}

float Step::real_element(int o, int i, int e) const
{
    const uint64_t a = place(in.a, o, i) + static_cast<uint64_t>(2 * e);
    const uint64_t b = place(in.b, o, i) + static_cast<uint64_t>(2 * e);
    switch (in.opcode) {
        case Opcode::kActivate:
            return activated_real(o * in.inner + i, e);
        case Opcode::kFill:
            return float_of(in.value << 16);
        case Opcode::kAdd:
            return clamp_real(sum_of(real_at(a), real_at(b)));
        case Opcode::kMultiply:
            return clamp_real(product_of(real_at(a), real_at(b)));
        default:
            break;
    }
    float best = -INFINITY, sum = 0;
    for (int p = 0; p < in.window_outer; ++p)
        for (int q = 0; q < in.window_inner; ++q) {
            const float value = real_at(a + static_cast<uint64_t>(p) * in.window_pitch_outer +
                                        static_cast<uint64_t>(q) * in.window_pitch_inner);
            best = std::max(best, value);
            sum = sum_of(sum, value);
        }
    return in.opcode == Opcode::kMaxPool ? best : product_of(sum, in.low_real);
}

void Step::vectors()
{
    for (int o = 0; o < in.outer; ++o)
        for (int i = 0; i < in.inner; ++i)
            for (int e = 0; e < static_cast<int>(in.length); ++e) {
                if (!has(kFloat | kWide)) {
                    put(place(in.d, o, i) + static_cast<uint64_t>(e), integer_element(o, i, e));
                    continue;
                }
                const uint64_t to = place(in.d, o, i) + static_cast<uint64_t>(2 * e);
                const uint16_t half = reference_bf16(real_element(o, i, e));
                put(to, half & 255);
                put(to + 1, half >> 8);
            }
}

void Step::transfer()
{
    const bool is_read = in.opcode == Opcode::kReadHost;
    for (int o = 0; o < in.outer; ++o)
        for (int i = 0; i < in.inner; ++i)
            for (uint32_t e = 0; e < in.length; ++e) {
                const uint64_t host = in.host_address + place(is_read ? in.a : in.d, o, i) -
                                      (is_read ? in.a : in.d).address + e;
                const uint64_t buffer = place(is_read ? in.d : in.a, o, i) + e;
                if (is_read) {
                    after->buffer.at(buffer) = before.host.at(host);
                } else {
                    after->host.at(host) = before.buffer.at(buffer);
                }
            }
}

}  // namespace

int64_t reference_round(int64_t product, int shift)
{
    const int64_t unit = int64_t{1} << shift;
    int64_t floor = product / unit;
    if (floor * unit > product) --floor;
    const int64_t rest = product - floor * unit;
    if (rest > unit - rest) return floor + 1;
    if (rest == unit - rest) return floor + (floor % 2 != 0);
    return floor;
}

uint16_t reference_bf16(float value)
{
    const uint32_t bits = bits_of(value);
    const uint32_t down = bits & 0xffff0000u;
    const uint32_t up = down + 0x10000u;  // away from zero
    const double to_down = std::fabs(static_cast<double>(value) - float_of(down));
    // Beyond the largest number the next step would be 2^128.
    const double above = std::isinf(float_of(up)) ? std::ldexp(1.0, 128) : std::fabs(float_of(up));
    const double to_up = above - std::fabs(static_cast<double>(value));
    const bool is_up = to_up < to_down || (to_up == to_down && (down >> 16) % 2 != 0);
    return static_cast<uint16_t>((is_up && !std::isinf(value) ? up : down) >> 16);
}

ReferenceMachine::ReferenceMachine(const Config& machine)
    : config(machine),
      buffer(static_cast<size_t>(machine.unified_buffer_bytes)),
      sums(static_cast<size_t>(machine.accumulator_rows) * static_cast<size_t>(machine.columns))
{
}

void ReferenceMachine::execute(const Instruction& instruction)
{
    const ReferenceMachine before = *this;
    Step step(instruction, before, this);
    switch (instruction.opcode) {
        case Opcode::kReadWeights: {
            const bool is_wide = instruction.flags & kWideWeights;
            const uint64_t bytes =
                static_cast<uint64_t>(config.rows * config.columns * (is_wide ? 2 : 1));
            for (uint64_t t = 0; t < instruction.tiles; ++t)
                fifo.push_back({instruction.host_address + t * bytes, is_wide});
            return;
        }
        case Opcode::kMatrixMultiply:
            return step.multiply();
        case Opcode::kReadHost:
        case Opcode::kWriteHost:
            return step.transfer();
        case Opcode::kNop:
        case Opcode::kSync:
        case Opcode::kTag:
        case Opcode::kHalt:
            return;
        default:
            return step.vectors();
    }
}

}  // namespace tengine::tpu
