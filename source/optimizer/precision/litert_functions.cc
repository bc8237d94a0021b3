// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's LEAKY_RELU and HARD_SWISH of bytes, as tables of their integers: XNNPACK's
// vlrelu, whose factors have 8 bits after the point, and the built-in kernels for what XNNPACK does
// not take.
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/containers.hpp"
#include "optimizer/pass.h"
#include "optimizer/precision/litert_integers.h"

namespace tengine {
namespace {

struct Bytes
{
    Operand x;
    Result y;
};

bool find_bytes(Fuser& fuser, const node& node, Bytes* out_bytes)
{
    return has_litert_integers(fuser) && fuser.find_result(node, 0, &out_bytes->y) &&
           fuser.find_operand(get_ir_node_input(&node, 0), &out_bytes->x) &&
           out_bytes->x.by.data_type == out_bytes->y.by.data_type &&
           out_bytes->x.bytes->tensor_type != TENSOR_TYPE_CONST;
}

template <class Function>
bool replace(Fuser& fuser, node& node, Bytes& bytes, const Function& function)
{
    const Int8Table table = make_distance_table(bytes.x.by, bytes.y.by, function);
    return fuser.finish(node, bytes.y,
                        fuser.add_table(bytes.x, bytes.y.by, table, node.name, node));
}

// ---- LEAKY_RELU ----

// The factors that XNNPACK takes.
bool is_short_factor(float factor)
{
    return factor >= -(0x1p7f - 0x1p-8f) && factor <= 0x1p7f && std::abs(factor) >= 0x1p-8f;
}

bool fuse_litert_leak(Fuser& fuser, node& node)
{
    Bytes bytes;
    const float alpha = get_ir_node_float(&node, "alpha", 0.01f);
    if (!find_bytes(fuser, node, &bytes) || !std::isnormal(alpha)) return false;
    const float ratio = bytes.x.by.scale / bytes.y.by.scale;
    const float leak = ratio * alpha;
    const double exact = double{bytes.x.by.scale} / bytes.y.by.scale;
    const bool is_short =
        rounding_of(fuser) == IR_ROUNDING_FLOAT && is_short_factor(ratio) && is_short_factor(leak);
    return replace(fuser, node, bytes, [&](int distance) -> int64_t {
        // The shift rounds towards minus infinity.
        if (is_short)
            return (distance * int64_t{std::lrint(256 * (distance < 0 ? leak : ratio))} + 128) >> 8;
        if (distance >= 0) return scale_twice(distance, exact);
        const int64_t size = scale_twice(distance, exact * std::abs(double{alpha}));
        return alpha < 0 ? -size : size;
    });
}

// ---- HARD_SWISH: gemmlowp's numbers of 16 bits ----

int saturate_16(int64_t value)
{
    using Limits = std::numeric_limits<int16_t>;
    return static_cast<int>(std::clamp(value, int64_t{Limits::lowest()}, int64_t{Limits::max()}));
}

// The high half of twice the product, halves up.
int multiply_rounded(int64_t a, int64_t b)
{
    const int64_t product = a * b;
    return saturate_16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

// Halves away from 0.
int divide_by_power(int value, int exponent)
{
    if (exponent > 30) return 0;
    const int half = exponent > 0 ? 1 << (exponent - 1) : 0;
    return value < 0 ? -((-value + half) >> exponent) : (value + half) >> exponent;
}

// factor * 2^(exponent - 15), where the factor has 15 bits.
struct Factor16
{
    int factor = 0;
    int exponent = 0;
};

Factor16 make_factor_16(float ratio)
{
    Factor16 made;
    const double fraction = std::frexp(double{ratio}, &made.exponent);
    int64_t factor = std::llround(fraction * 0x1p31);
    if (factor == int64_t{1} << 31) {
        factor /= 2;
        ++made.exponent;
    }
    if (made.exponent < -31) return {};
    made.factor = saturate_16((factor + (1 << 15)) >> 16);
    return made;
}

// (min(max(x, -3), 3) + 3) / 6 of a distance in units of 1/128 step, as a number of 15 bits.
int find_gate(int fine, const Factor16& to_gate)
{
    int64_t gate = fine;
    if (to_gate.exponent > 0) gate = saturate_16(gate * (int64_t{1} << (to_gate.exponent - 1)));
    gate = multiply_rounded(gate, to_gate.factor);
    if (to_gate.exponent > 0) gate = saturate_16(gate * 2);
    if (to_gate.exponent < 0) gate = divide_by_power(static_cast<int>(gate), -to_gate.exponent);
    return static_cast<int>(gate + (1 << 15)) >> 1;
}

bool fuse_litert_swish(Fuser& fuser, node& node)
{
    Bytes bytes;
    // The kernel takes results whose steps are not smaller than these.
    if (!find_bytes(fuser, node, &bytes) || !(bytes.x.by.scale < 128)) return false;
    const Factor16 to_output = make_factor_16(0x1p-7f * bytes.x.by.scale / bytes.y.by.scale);
    const Factor16 to_gate = make_factor_16(0x1p-7f * bytes.x.by.scale / (3.0f / 32768));
    if (to_output.exponent > 0) return false;
    return replace(fuser, node, bytes, [&](int distance) -> int64_t {
        const int fine = saturate_16(int64_t{distance} * 128);
        const int scaled = multiply_rounded(fine, to_output.factor);
        const int gated = saturate_16(int64_t{find_gate(fine, to_gate)} * scaled / (1 << 15));
        return divide_by_power(gated, -to_output.exponent);
    });
}

}  // namespace

bool fuse_leaky_relu(Fuser& fuser, node& node)
{
    return fuse_by_first(fuser, node, {fuse_litert_leak, fuse_unary});
}

bool fuse_hard_swish(Fuser& fuser, node& node)
{
    return fuse_by_first(fuser, node, {fuse_litert_swish, fuse_unary});
}

}  // namespace tengine
