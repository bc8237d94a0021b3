// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/machine_vector.h"

#include <algorithm>

#include "device/tpu/machine/access.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

// Whether the instruction writes to memory that it reads.
bool overwrites_operands(const Instruction& in)
{
    Access accesses[kMaxAccesses];
    const int number = list_accesses(in, accesses);
    for (int w = 0; w < number; ++w)
        for (int r = 0; r < number; ++r)
            if (accesses[w].is_write && !accesses[r].is_write &&
                accesses_overlap(accesses[w], accesses[r]))
                return true;
    return false;
}

// The members for requantisation, widened.
struct Requantisation
{
    explicit Requantisation(const Instruction& in)
        : multiplier{in.factor_a, in.shift},
          zero_point(widen_byte(in.zero_d, in.flags & kSignedD)),
          lowest(widen_byte(in.lowest, in.flags & kSignedD)),
          highest(widen_byte(in.highest, in.flags & kSignedD))
    {
    }
    uint8_t operator()(int32_t sum) const
    {
        return static_cast<uint8_t>(
            requantize_ir_sum(sum, multiplier, zero_point, lowest, highest));
    }

    ir_multiplier_t multiplier = {};
    int32_t zero_point, lowest, highest;
};

float clamp_real(float value, const Instruction& in)
{
    if (value < in.low_real) return in.low_real;
    return value > in.high_real ? in.high_real : value;
}

// Applies `operate` to each pair of bf16 elements, and clamps.
template <class Operate>
void combine_floats(const Instruction& in, const uint8_t* a, const uint8_t* b, uint8_t* d,
                    Operate operate)
{
    for (uint32_t e = 0; e < in.length; ++e) {
        const float value = operate(load_bf16(a + 2 * e), load_bf16(b + 2 * e));
        store_16(fp32_to_bf16(clamp_real(value, in)), d + 2 * e);
    }
}

// Calls function(vector) for each vector of the window at `a`, in window order.
template <class Function>
void for_window(const Instruction& in, const uint8_t* a, Function function)
{
    for (unsigned p = 0; p < in.window_outer; ++p)
        for (unsigned q = 0; q < in.window_inner; ++q)
            function(a + uint64_t{p} * in.window_pitch_outer + uint64_t{q} * in.window_pitch_inner);
}

// The maximum of elements of type T: begins with the first vector of the window, a larger element
// replaces.
template <class T>
void find_maximum(const Instruction& in, const uint8_t* a, uint8_t* d)
{
    std::copy_n(a, in.length, d);
    for_window(in, a, [&](const uint8_t* vector) {
        for (uint32_t e = 0; e < in.length; ++e)
            d[e] = static_cast<T>(vector[e]) > static_cast<T>(d[e]) ? vector[e] : d[e];
    });
}

void find_float_maximum(const Instruction& in, const uint8_t* a, uint8_t* d)
{
    std::copy_n(a, size_t{in.length} * 2, d);
    for_window(in, a, [&](const uint8_t* vector) {
        for (uint32_t e = 0; e < in.length; ++e)
            if (load_bf16(vector + 2 * e) > load_bf16(d + 2 * e))
                std::copy_n(vector + 2 * e, 2, d + 2 * e);
    });
}

}  // namespace

// Calls compute(o, i, d) for each vector of d, into a separate buffer if that would change later
// reads.
template <class Function>
void VectorUnit::write_vectors(const Instruction& in, MachineMemory* memory, Function compute)
{
    uint8_t* buffer = memory->buffer.data();
    if (!overwrites_operands(in)) {
        for (unsigned o = 0; o < in.outer; ++o)
            for (unsigned i = 0; i < in.inner; ++i)
                compute(o, i, buffer + vector_offset(in.d, o, i));
        return;
    }
    const size_t bytes = size_t{in.length} * static_cast<size_t>(element_bytes(in));
    const size_t needed = bytes * in.outer * in.inner;
    if (staged_.size() < needed) staged_.resize(needed);
    uint8_t* staged = staged_.data();
    for (unsigned o = 0; o < in.outer; ++o)
        for (unsigned i = 0; i < in.inner; ++i, staged += bytes)
            compute(o, i, staged);
    staged = staged_.data();
    for (unsigned o = 0; o < in.outer; ++o)
        for (unsigned i = 0; i < in.inner; ++i, staged += bytes)
            std::copy_n(staged, bytes, buffer + vector_offset(in.d, o, i));
}

void VectorUnit::run(const Instruction& in, MachineMemory* memory)
{
    switch (in.opcode) {
        case Opcode::kActivate:
            return activate(in, memory);
        case Opcode::kCopy:
            return copy(in, memory);
        case Opcode::kFill:
            return fill(in, memory);
        case Opcode::kLookup:
            return look_up(in, memory);
        case Opcode::kAdd:
            return add(in, memory);
        case Opcode::kMultiply:
            return multiply(in, memory);
        case Opcode::kMaxPool:
            return max_pool(in, memory);
        case Opcode::kAveragePool:
            return average_pool(in, memory);
        default:
            return;
    }
}

// The parameters are read before anything is written. A shift is data, which no validator has
// checked.
void VectorUnit::activate(const Instruction& in, MachineMemory* memory)
{
    parameters_.resize(in.length);
    const uint8_t* from = memory->buffer.data() + in.b.address;
    for (Parameter& parameter : parameters_) {
        const int32_t shift = std::clamp(load_32(from + 8), 0, IR_MULTIPLIER_MAX_SHIFT);
        parameter = {load_32(from), load_32(from + 4), shift};
        from += kParameterBytes;
    }
    if (in.flags & kFloat) {
        activate_floats(in, memory);
    } else {
        activate_integers(in, memory);
    }
}

void VectorUnit::activate_integers(const Instruction& in, MachineMemory* memory)
{
    const Requantisation range(in);
    const uint8_t* table = in.flags & kTable ? memory->buffer.data() + in.table : nullptr;
    const int32_t* sums = memory->sums.data() + in.a.address * memory->columns;
    write_vectors(in, memory, [&](unsigned, unsigned, uint8_t* d) {
        for (uint32_t c = 0; c < in.length; ++c) {
            const Parameter& parameter = parameters_[c];
            const uint32_t sum =
                static_cast<uint32_t>(sums[c]) + static_cast<uint32_t>(parameter.bias);
            d[c] = static_cast<uint8_t>(
                requantize_ir_sum(static_cast<int32_t>(sum), {parameter.factor, parameter.shift},
                                  range.zero_point, range.lowest, range.highest));
        }
        if (table)
            for (uint32_t c = 0; c < in.length; ++c)
                d[c] = table[d[c]];
        sums += memory->columns;
    });
}

void VectorUnit::activate_floats(const Instruction& in, MachineMemory* memory)
{
    const int32_t* sums = memory->sums.data() + in.a.address * memory->columns;
    write_vectors(in, memory, [&](unsigned, unsigned, uint8_t* d) {
        for (uint32_t c = 0; c < in.length; ++c) {
            const float value = bits_to_fp32(static_cast<uint32_t>(sums[c])) +
                                bits_to_fp32(static_cast<uint32_t>(parameters_[c].bias));
            store_16(fp32_to_bf16(clamp_real(value, in)), d + 2 * c);
        }
        sums += memory->columns;
    });
}

void VectorUnit::copy(const Instruction& in, MachineMemory* memory)
{
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        std::copy_n(memory->buffer.data() + vector_offset(in.a, o, i), in.length, d);
    });
}

void VectorUnit::fill(const Instruction& in, MachineMemory* memory)
{
    write_vectors(in, memory, [&](unsigned, unsigned, uint8_t* d) {
        if (!(in.flags & kWide)) {
            std::fill_n(d, in.length, static_cast<uint8_t>(in.value));
            return;
        }
        for (uint32_t e = 0; e < in.length; ++e)
            store_16(static_cast<uint16_t>(in.value), d + 2 * e);
    });
}

void VectorUnit::look_up(const Instruction& in, MachineMemory* memory)
{
    const uint8_t* table = memory->buffer.data() + in.table;
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        const uint8_t* a = memory->buffer.data() + vector_offset(in.a, o, i);
        for (uint32_t e = 0; e < in.length; ++e)
            d[e] = table[a[e]];
    });
}

void VectorUnit::add(const Instruction& in, MachineMemory* memory)
{
    const Requantisation range(in);
    const bool signed_a = in.flags & kSignedA, signed_b = in.flags & kSignedB;
    const int32_t zero_a = widen_byte(in.zero_a, signed_a);
    const int32_t zero_b = widen_byte(in.zero_b, signed_b);
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        const uint8_t* a = memory->buffer.data() + vector_offset(in.a, o, i);
        const uint8_t* b = memory->buffer.data() + vector_offset(in.b, o, i);
        if (in.flags & kFloat)
            return combine_floats(in, a, b, d, [](float x, float y) { return x + y; });
        for (uint32_t e = 0; e < in.length; ++e) {
            const int64_t sum = int64_t{widen_byte(a[e], signed_a) - zero_a} * in.factor_a +
                                int64_t{widen_byte(b[e], signed_b) - zero_b} * in.factor_b;
            d[e] = static_cast<uint8_t>(clamp_ir_integer(
                round_ir_shift(sum, in.shift) + range.zero_point, range.lowest, range.highest));
        }
    });
}

void VectorUnit::multiply(const Instruction& in, MachineMemory* memory)
{
    const Requantisation requantise(in);
    const bool signed_a = in.flags & kSignedA, signed_b = in.flags & kSignedB;
    const int32_t zero_a = widen_byte(in.zero_a, signed_a);
    const int32_t zero_b = widen_byte(in.zero_b, signed_b);
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        const uint8_t* a = memory->buffer.data() + vector_offset(in.a, o, i);
        const uint8_t* b = memory->buffer.data() + vector_offset(in.b, o, i);
        if (in.flags & kFloat)
            return combine_floats(in, a, b, d, [](float x, float y) { return x * y; });
        for (uint32_t e = 0; e < in.length; ++e)
            d[e] = requantise((widen_byte(a[e], signed_a) - zero_a) *
                              (widen_byte(b[e], signed_b) - zero_b));
    });
}

void VectorUnit::max_pool(const Instruction& in, MachineMemory* memory)
{
    const auto find = in.flags & kFloat     ? find_float_maximum
                      : in.flags & kSignedA ? find_maximum<int8_t>
                                            : find_maximum<uint8_t>;
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        find(in, memory->buffer.data() + vector_offset(in.a, o, i), d);
    });
}

void VectorUnit::average_pool(const Instruction& in, MachineMemory* memory)
{
    const Requantisation requantise(in);
    const bool is_signed = in.flags & kSignedA;
    const int32_t zero = widen_byte(in.zero_a, is_signed);
    write_vectors(in, memory, [&](unsigned o, unsigned i, uint8_t* d) {
        const uint8_t* a = memory->buffer.data() + vector_offset(in.a, o, i);
        if (in.flags & kFloat) {
            float_sums_.assign(in.length, 0.0f);
            for_window(in, a, [&](const uint8_t* vector) {
                for (uint32_t e = 0; e < in.length; ++e)
                    float_sums_[e] += load_bf16(vector + 2 * e);
            });
            for (uint32_t e = 0; e < in.length; ++e)
                store_16(fp32_to_bf16(float_sums_[e] * in.low_real), d + 2 * e);
            return;
        }
        sums_.assign(in.length, 0);
        for_window(in, a, [&](const uint8_t* vector) {
            for (uint32_t e = 0; e < in.length; ++e)
                sums_[e] = static_cast<int32_t>(
                    static_cast<uint32_t>(sums_[e]) +
                    static_cast<uint32_t>(widen_byte(vector[e], is_signed) - zero));
        });
        for (uint32_t e = 0; e < in.length; ++e)
            d[e] = requantise(sums_[e]);
    });
}

}  // namespace tengine::tpu
