// SPDX-License-Identifier: Apache-2.0
// The integers of TensorFlow Lite's kernels, for the roundings litert and litert-micro: sums of two
// tensors, averages and changes of the quantisation. For litert, sums are those of XNNPACK's vadd:
// both operands are multiplied by integers of 21 bits with one shift, and the sum is rounded once.
// For litert-micro, both operands are scaled to twice the larger of their scales, and then the sum
// to that of the result.
#include <algorithm>
#include <cmath>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/precision/litert_integers.h"

namespace tengine {
namespace {

// ---- sums ----

// a + b, or a - b if factor_b is negative.
struct Sum
{
    Operand a, b;
    Quantization y;
    ir_rounding_t rounding = IR_ROUNDING_FLOAT;
    int shift = 0;
    int factor_a = 0;
    int factor_b = 0;
};

// The ratios of scales that XNNPACK takes.
bool is_ratio(float ratio)
{
    return ratio >= 0x1p-10f && ratio < 0x1p8f;
}

bool choose_factors(int sign, Sum* sum)
{
    if (sum->a.by.data_type != sum->y.data_type || sum->b.by.data_type != sum->y.data_type)
        return false;
    const float ratio_a = sum->a.by.scale / sum->y.scale, ratio_b = sum->b.by.scale / sum->y.scale;
    if (!is_ratio(ratio_a) || !is_ratio(ratio_b)) return false;
    int exponent = 0;
    std::frexp(std::max(ratio_a, ratio_b), &exponent);
    sum->shift = 21 - exponent;
    sum->factor_a = static_cast<int>(std::lrint(std::ldexp(ratio_a, sum->shift)));
    sum->factor_b = sign * static_cast<int>(std::lrint(std::ldexp(ratio_b, sum->shift)));
    return true;
}

// The distance of the result from its zero point; ties are rounded up.
int64_t add_distances(const Sum& sum, int a, int b)
{
    if (sum.rounding == IR_ROUNDING_FLOAT) {
        const int64_t value = int64_t{sum.factor_a} * a + int64_t{sum.factor_b} * b;
        // The shift rounds towards minus infinity.
        return (value + (int64_t{1} << (sum.shift - 1))) >> sum.shift;
    }
    constexpr int32_t kUnit = 1 << 20;
    const double scale_a = sum.a.by.scale, scale_b = sum.b.by.scale;
    const double both = 2 * std::max(scale_a, scale_b);
    const int64_t left = scale_twice(a * kUnit, scale_a / both);
    const int64_t right = scale_twice((sum.factor_b < 0 ? -b : b) * kUnit, scale_b / both);
    return scale_twice(static_cast<int32_t>(left + right), both / (kUnit * double{sum.y.scale}));
}

bool is_number(const tensor& bytes)
{
    return bytes.tensor_type == TENSOR_TYPE_CONST && bytes.data && bytes.elem_num == 1 &&
           bytes.dim_num <= 1;
}

// With a constant of one element the sum is a function of a byte.
tensor* add_table(Fuser& fuser, const node& node, const Sum& sum, bool is_a_fixed)
{
    const Operand& fixed = is_a_fixed ? sum.a : sum.b;
    const Operand& free = is_a_fixed ? sum.b : sum.a;
    const int constant = distance_of(fixed.bytes->u8[0], fixed.by);
    const Int8Table table = make_distance_table(free.by, sum.y, [&](int value) {
        return is_a_fixed ? add_distances(sum, constant, value)
                          : add_distances(sum, value, constant);
    });
    return fuser.add_table(free, sum.y, table, node.name, node);
}

// -1 - b, whose distance from -1 - zero point is that of b, negated.
bool complement(Fuser& fuser, const node& node, Operand* operand)
{
    Int8Table table;
    for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<uint8_t>(~i);
    Quantization to = operand->by;
    to.zero_point_tensor = nullptr;
    to.zero_point = (to.data_type == TENGINE_DT_INT8 ? -1 : 255) - to.zero_point;
    const String name = String(node.name) + "_complement";
    *operand = {fuser.add_table(*operand, to, table, name, node), to};
    return operand->bytes;
}

void set_scale(float scale, Quantization* by)
{
    by->scale = scale;
    by->scale_tensor = nullptr;
}

// QLinearAdd with the factors for scales, which it multiplies exactly. It rounds ties to even,
// which are rare with factors of 21 bits. litert-micro is the kernel's own rounding.
tensor* add_sum(Fuser& fuser, const node& node, Sum sum, Result y)
{
    if (sum.factor_b < 0 && !complement(fuser, node, &sum.b)) return nullptr;
    if (sum.rounding == IR_ROUNDING_FLOAT) {
        set_scale(static_cast<float>(sum.factor_a), &sum.a.by);
        set_scale(std::abs(static_cast<float>(sum.factor_b)), &sum.b.by);
        set_scale(std::ldexp(1.0f, sum.shift), &y.by);
    }
    Vector<tensor*> inputs;
    fuser.append(sum.a, &inputs);
    fuser.append(sum.b, &inputs);
    fuser.append(y, &inputs);
    return fuser.add("com.microsoft", "QLinearAdd", node, inputs, y);
}

bool fuse_litert_sum(Fuser& fuser, node& node, int sign)
{
    Sum sum;
    Result y;
    if (!has_litert_integers(fuser) || !fuser.find_result(node, 0, &y) ||
        !fuser.find_operand(get_ir_node_input(&node, 0), &sum.a) ||
        !fuser.find_operand(get_ir_node_input(&node, 1), &sum.b))
        return false;
    sum.y = y.by;
    sum.rounding = rounding_of(fuser);
    if (!choose_factors(sign, &sum)) return false;
    const bool is_a_fixed = is_number(*sum.a.bytes), is_b_fixed = is_number(*sum.b.bytes);
    const tensor& free = is_a_fixed ? *sum.b.bytes : *sum.a.bytes;
    const bool is_function = is_a_fixed != is_b_fixed && free.dim_num == y.value->dim_num;
    return fuser.finish(
        node, y,
        is_function ? add_table(fuser, node, sum, is_a_fixed) : add_sum(fuser, node, sum, y));
}

}  // namespace

bool fuse_litert_add(Fuser& fuser, node& node)
{
    return fuse_litert_sum(fuser, node, 1);
}

bool fuse_litert_sub(Fuser& fuser, node& node)
{
    return fuse_litert_sum(fuser, node, -1);
}

// ---- averages ----

// TensorFlow Lite rounds the mean of the integers themselves, ties away from zero. The integer
// pools round to nearest even, in a multiplier of 31 bits. Without zero points their sums are those
// of the integers; the result's scale is the next one below 1, which moves a tie away from zero,
// and nothing else over a tie: the mean of n bytes is at least 1 / 2n from the next tie.
void take_litert_average(Operand* x, Result* y)
{
    if (!is_same(x->by, y->by)) return;
    for (Quantization* by : {&x->by, &y->by}) {
        by->zero_point = 0;
        by->zero_point_tensor = nullptr;
    }
    set_scale(1, &x->by);
    set_scale(std::nextafter(1.0f, 0.0f), &y->by);
}

// ---- changes of the quantisation ----

// LiteRT multiplies by the ratio of the scales in 8 bits, if it is in this range, tflite-micro by
// one of 31.
bool make_litert_requantization(const Fuser& fuser, const Quantization& from,
                                const Quantization& to, Int8Table* out_table)
{
    const float ratio = from.scale / to.scale;
    if (!has_litert_integers(fuser) || !(ratio >= 1.0f / 256 && ratio <= 128)) return false;
    const auto factor = static_cast<int>(std::lrint(256 * ratio));
    const double exact = double{from.scale} / double{to.scale};
    *out_table = make_distance_table(from, to, [&](int value) -> int64_t {
        // The shift rounds towards minus infinity.
        return rounding_of(fuser) == IR_ROUNDING_TWICE ? scale_twice(value, exact)
                                                       : (value * factor + 128) >> 8;
    });
    return true;
}

// A product with a float, rounded before the sum, also where one instruction makes both; ties away
// from zero.
bool make_litert_part(const Fuser& fuser, const Quantization& from, const Quantization& to,
                      Int8Table* out_table)
{
    const bool is_unsigned = from.data_type == TENGINE_DT_UINT8 && to.data_type == TENGINE_DT_UINT8;
    if (!has_litert_integers(fuser) || !is_unsigned || is_same(from, to)) return false;
    const float inverse = 1.0f / to.scale;
    const float scale = from.scale * inverse;
    const float bias = static_cast<float>(-from.zero_point) * scale;
    *out_table = make_distance_table(from, to, [&](int value) -> int64_t {
        const volatile float product = static_cast<float>(value + from.zero_point) * scale;
        return std::lround(product + bias);
    });
    return true;
}

}  // namespace tengine
