// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear of fp32 to int8 and uint8, DequantizeLinear of these and int32 to fp32, with one
// scale or one for each index of an axis, and DynamicQuantizeLinear. Quotients and products are
// rounded as in the reference, so the results are identical. With one scale tensors may be NHWC.
// With the rounding of LiteRT, a quotient is the product with 1 / scale, as in XNNPACK's vcvt.
// Limits: division; memory bandwidth where there is none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_bytes.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/quant_param.h"
#include "operator/onnx_type.h"

#ifndef TENGINE_CPU_QUANT_BYTES
#define TENGINE_CPU_QUANT_BYTES
namespace tengine::cpu {

struct FloatRange
{
    float lowest, highest;
};

// Not inline, since code for other instruction sets calls them.
void quantize_exactly(const float* x, int64_t count, float scale, const Int8Range& range,
                      uint8_t* y);
FloatRange find_range_exactly(const float* x, int64_t count);

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/quant_s8.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
using IntegerVector = hn::Vec<Integers>;
using Scales = hn::Repartition<float, Integers>;
using ScaleVector = hn::Vec<Scales>;

#if HWY_ARCH_ARM_V7

// NEON of 32 bits has no division, and treats subnormal numbers as 0.
void quantize_floats(const float* x, int64_t count, float scale, const Int8Range& range, uint8_t* y)
{
    quantize_exactly(x, count, scale, range, y);
}

FloatRange find_float_range(const float* x, int64_t count)
{
    return find_range_exactly(x, count);
}

template <class T>
HWY_INLINE void dequantize(const T* x, int64_t count, float scale, int32_t zero, float* y)
{
    for (int64_t i = 0; i < count; ++i)
        y[i] = static_cast<float>(x[i] - zero) * scale;
}

#else

constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// The range of the type less the zero point, which is added to the rounded quotient, since rounding
// a tie to even may depend on it.
struct QuotientBounds
{
    ScaleVector lowest, highest;
    IntegerVector zero_point;

    HWY_INLINE explicit QuotientBounds(const Int8Range& range)
        : lowest(hn::Set(Scales(), static_cast<float>(range.lowest - range.zero_point))),
          highest(hn::Set(Scales(), static_cast<float>(range.highest - range.zero_point))),
          zero_point(hn::Set(Integers(), range.zero_point))
    {
    }
};

// Stores the first `count` elements; all if there are fewer.
HWY_INLINE void store_bytes(IntegerVector values, int64_t count, uint8_t* to)
{
    const hn::Rebind<uint8_t, Integers> d;
    const auto bytes = hn::TruncateTo(d, hn::BitCast(hn::RebindToUnsigned<Integers>(), values));
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(bytes, d, to);
    HWY_ALIGN uint8_t all[kMostLanes];
    hn::Store(bytes, d, all);
    for (int64_t i = 0; i < count; ++i)
        to[i] = all[i];
}

// NaN becomes the lowest value, as in the reference.
HWY_INLINE void quantize_vector(const QuotientBounds& bounds, ScaleVector quotient, int64_t count,
                                uint8_t* y)
{
    const ScaleVector raised =
        hn::IfThenElse(hn::Gt(quotient, bounds.lowest), quotient, bounds.lowest);
    const IntegerVector rounded = hn::NearestInt(hn::Min(raised, bounds.highest));
    store_bytes(hn::Add(rounded, bounds.zero_point), count, y);
}

template <class Divide>
HWY_INLINE void quantize_quotients(const float* x, int64_t count, const Int8Range& range,
                                   const Divide& divide, uint8_t* y)
{
    const Scales d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const QuotientBounds bounds(range);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        quantize_vector(bounds, divide(hn::LoadU(d, x + i)), lanes, y + i);
    if (i == count) return;
    HWY_ALIGN float rest[kMostLanes] = {};
    std::memcpy(rest, x + i, static_cast<size_t>(count - i) * sizeof(float));
    quantize_vector(bounds, divide(hn::Load(d, rest)), count - i, y + i);
}

void quantize_floats(const float* x, int64_t count, float scale, const Int8Range& range, uint8_t* y)
{
    const Scales d;
    const ScaleVector divisor = hn::Set(d, scale), factor = hn::Set(d, 1 / scale);
    if (range.rounding == IR_ROUNDING_FLOAT)
        quantize_quotients(
            x, count, range, [=](ScaleVector each) { return hn::Mul(each, factor); }, y);
    else
        quantize_quotients(
            x, count, range, [=](ScaleVector each) { return hn::Div(each, divisor); }, y);
}

// The range of the values and 0; NaN is ignored.
FloatRange find_float_range(const float* x, int64_t count)
{
    const Scales d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    ScaleVector lowest = hn::Zero(d), highest = hn::Zero(d);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const ScaleVector each = hn::LoadU(d, x + i);
        lowest = hn::IfThenElse(hn::Lt(each, lowest), each, lowest);
        highest = hn::IfThenElse(hn::Gt(each, highest), each, highest);
    }
    const FloatRange rest = find_range_exactly(x + i, count - i);
    return {std::min(rest.lowest, hn::GetLane(hn::MinOfLanes(d, lowest))),
            std::max(rest.highest, hn::GetLane(hn::MaxOfLanes(d, highest)))};
}

template <class T>
HWY_INLINE void dequantize(const T* x, int64_t count, float scale, int32_t zero, float* y)
{
    const Scales d;
    const Integers integers;
    const hn::Rebind<T, Integers> narrow;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const ScaleVector factor = hn::Set(d, scale);
    const IntegerVector zeros = hn::Set(integers, zero);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        IntegerVector each;
        if constexpr (sizeof(T) == sizeof(int32_t))
            each = hn::LoadU(integers, x + i);
        else
            each = hn::PromoteTo(integers, hn::LoadU(narrow, x + i));
        hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::Sub(each, zeros)), factor), d, y + i);
    }
    for (; i < count; ++i)
        y[i] = static_cast<float>(x[i] - zero) * scale;
}

#endif  // HWY_ARCH_ARM_V7

void dequantize_signed(const void* x, int64_t count, float scale, int32_t zero, float* y)
{
    dequantize(static_cast<const int8_t*>(x), count, scale, zero, y);
}

void dequantize_unsigned(const void* x, int64_t count, float scale, int32_t zero, float* y)
{
    dequantize(static_cast<const uint8_t*>(x), count, scale, zero, y);
}

void dequantize_integers(const void* x, int64_t count, float scale, int32_t zero, float* y)
{
    dequantize(static_cast<const int32_t*>(x), count, scale, zero, y);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(quantize_floats);
HWY_EXPORT(find_float_range);
HWY_EXPORT(dequantize_signed);
HWY_EXPORT(dequantize_unsigned);
HWY_EXPORT(dequantize_integers);

// Smaller tensors are not worth a second thread.
constexpr int64_t kGrain = 16384;
// The reference computes shorter slices.
constexpr int64_t kLeastSlice = 8;

bool is_byte(int data_type)
{
    return data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8;
}

bool has_one_scale(const node& node)
{
    return get_ir_node_input(&node, 1)->elem_num <= 1;
}

// The number of consecutive elements with one scale, if each index of the axis has one.
int64_t find_slice(const node& node)
{
    const auto& param = *static_cast<const quant_param*>(node.op.param_mem);
    const tensor* input = get_ir_node_input(&node, 0);
    int axis;
    if (param.block_size > 0 ||
        normalize_axis(&node, param.axis, input->dim_num, &axis) != TENGINE_OK)
        return 0;
    return multiply_dims(input, axis + 1, input->dim_num);
}

// Calls body(begin, end, index of the scale).
template <class Body>
void for_each_slice(const KernelContext& context, const Body& body)
{
    const int64_t elements = context.input(0)->elem_num;
    if (has_one_scale(*context.node))
        return parallel_for(context.pool, elements, kGrain,
                            [&](int64_t begin, int64_t end, int) { body(begin, end, 0); });
    const int64_t size = find_slice(*context.node), scales = context.input(1)->elem_num;
    parallel_for(context.pool, elements / size, grain_for(size),
                 [&](int64_t first, int64_t last, int) {
                     for (int64_t i = first; i < last; ++i)
                         body(i * size, (i + 1) * size, i % scales);
                 });
}

int run_quantize(KernelContext& context)
{
    const tensor& scale = *context.input(1);
    const tensor* zero_point = context.input(2);
    const float* x = context.input(0)->f32;
    uint8_t* y = context.output(0)->u8;
    const int type = context.output(0)->data_type;
    const ir_rounding_t rounding = rounding_of(*context.node);
    const auto quantize_slice = HWY_DYNAMIC_DISPATCH(quantize_floats);
    for_each_slice(context, [&](int64_t begin, int64_t end, int64_t slice) {
        const Int8Range range = find_byte_range(type, read_zero_point(zero_point, slice), rounding);
        quantize_slice(x + begin, end - begin, scale.f32[slice], range, y + begin);
    });
    return TENGINE_OK;
}

int run_dequantize(KernelContext& context)
{
    const tensor& scale = *context.input(1);
    const tensor* zero_point = context.input(2);
    const tensor& input = *context.input(0);
    float* y = context.output(0)->f32;
    const auto dequantize_slice =
        input.data_type == TENGINE_DT_INT8    ? HWY_DYNAMIC_DISPATCH(dequantize_signed)
        : input.data_type == TENGINE_DT_UINT8 ? HWY_DYNAMIC_DISPATCH(dequantize_unsigned)
                                              : HWY_DYNAMIC_DISPATCH(dequantize_integers);
    for_each_slice(context, [&](int64_t begin, int64_t end, int64_t slice) {
        dequantize_slice(input.u8 + begin * input.elem_size, end - begin, scale.f32[slice],
                         read_zero_point(zero_point, slice), y + begin);
    });
    return TENGINE_OK;
}

int run_dynamic_quantize(KernelContext& context)
{
    const tensor& input = *context.input(0);
    const FloatBytes bytes = find_float_bytes(context.pool, input.f32, input.elem_num);
    *context.output(1)->f32 = bytes.scale;
    *context.output(2)->u8 = static_cast<uint8_t>(bytes.zero_point);
    quantize_float_bytes(context.pool, input.f32, input.elem_num, bytes, context.output(0)->u8);
    return TENGINE_OK;
}

// Whether quotients are fp32.
bool accepts_quantize(const node& node)
{
    const int precision = static_cast<const quant_param*>(node.op.param_mem)->precision;
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32 &&
           get_ir_node_input(&node, 1)->data_type == TENGINE_DT_FP32 &&
           (!precision || get_data_type_of_onnx(precision) == TENGINE_DT_FP32) &&
           is_byte(get_ir_node_output(&node, 0)->data_type);
}

// A zero point of int32 would need 33 bits, so only 0 is accepted.
bool accepts_dequantize(const node& node)
{
    const int type = get_ir_node_input(&node, 0)->data_type;
    return (is_byte(type) || (type == TENGINE_DT_INT32 && !get_ir_node_input(&node, 2))) &&
           get_ir_node_input(&node, 1)->data_type == TENGINE_DT_FP32 &&
           get_ir_node_output(&node, 0)->data_type == TENGINE_DT_FP32;
}

template <bool (*kAccepts)(const node&)>
bool accepts_whole(const node& node)
{
    return kAccepts(node) && has_one_scale(node);
}

template <bool (*kAccepts)(const node&)>
bool accepts_slices(const node& node)
{
    return kAccepts(node) && !has_one_scale(node) && find_slice(node) >= kLeastSlice;
}

bool is_fp32(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32;
}

constexpr Kernel quant_s8_rows[] = {
    {.op = "QuantizeLinear",
     .name = "quantize.s8.tensor",
     .accepts = accepts_whole<accepts_quantize>,
     .run = run_quantize,
     .layout = Layout::kAny},
    {.op = "QuantizeLinear",
     .name = "quantize.s8.axis",
     .accepts = accepts_slices<accepts_quantize>,
     .run = run_quantize},
    {.op = "DequantizeLinear",
     .name = "dequantize.s8.tensor",
     .accepts = accepts_whole<accepts_dequantize>,
     .run = run_dequantize,
     .layout = Layout::kAny},
    {.op = "DequantizeLinear",
     .name = "dequantize.s8.axis",
     .accepts = accepts_slices<accepts_dequantize>,
     .run = run_dequantize},
    {.op = "DynamicQuantizeLinear",
     .name = "dynamic_quantize.s8.tensor",
     .accepts = is_fp32,
     .run = run_dynamic_quantize,
     .layout = Layout::kAny},
};

}  // namespace

void quantize_exactly(const float* x, int64_t count, float scale, const Int8Range& range,
                      uint8_t* y)
{
    const auto lowest = static_cast<float>(range.lowest - range.zero_point);
    const auto highest = static_cast<float>(range.highest - range.zero_point);
    const bool is_product = range.rounding == IR_ROUNDING_FLOAT;
    const float factor = 1 / scale;
    for (int64_t i = 0; i < count; ++i) {
        const float quotient = is_product ? x[i] * factor : x[i] / scale;
        const float bounded = quotient > lowest ? std::min(quotient, highest) : lowest;
        y[i] = static_cast<uint8_t>(std::lrintf(bounded) + range.zero_point);
    }
}

FloatRange find_range_exactly(const float* x, int64_t count)
{
    FloatRange range = {0, 0};
    for (int64_t i = 0; i < count; ++i) {
        range.lowest = std::min(range.lowest, x[i]);
        range.highest = std::max(range.highest, x[i]);
    }
    return range;
}

namespace {

FloatBytes cover_float_range(const FloatRange& range)
{
    const float scale =
        range.highest == range.lowest ? 1.0f : (range.highest - range.lowest) / 255.0f;
    const float zero_point = -range.lowest / scale;
    return {scale,
            zero_point > 0 ? static_cast<int>(std::lrintf(std::min(zero_point, 255.0f))) : 0};
}

}  // namespace

FloatBytes find_float_bytes(thread_pool_t* pool, const float* values, int64_t count)
{
    const int workers = get_thread_pool_size(pool);
    FloatRange ranges[THREAD_POOL_LIMIT];  // of the values that each worker has read, and 0
    std::fill_n(ranges, workers, FloatRange{0, 0});
    const auto find_range = HWY_DYNAMIC_DISPATCH(find_float_range);
    parallel_for(pool, count, kGrain, [&](int64_t begin, int64_t end, int worker) {
        const FloatRange seen = find_range(values + begin, end - begin);
        FloatRange& range = ranges[worker];
        range = {std::min(range.lowest, seen.lowest), std::max(range.highest, seen.highest)};
    });
    FloatRange whole = {0, 0};
    for (int i = 0; i < workers; ++i)
        whole = {std::min(whole.lowest, ranges[i].lowest),
                 std::max(whole.highest, ranges[i].highest)};
    return cover_float_range(whole);
}

void quantize_float_bytes(thread_pool_t* pool, const float* values, int64_t count, FloatBytes bytes,
                          uint8_t* output)
{
    const Int8Range range = find_byte_range(TENGINE_DT_UINT8, bytes.zero_point);
    const auto quantize_slice = HWY_DYNAMIC_DISPATCH(quantize_floats);
    parallel_for(pool, count, kGrain, [&](int64_t begin, int64_t end, int) {
        quantize_slice(values + begin, end - begin, bytes.scale, range, output + begin);
    });
}

void quantize_float_rows(thread_pool_t* pool, const float* values, int64_t rows, int64_t depth,
                         FloatBytes* forms, uint8_t* output)
{
    const auto find_range = HWY_DYNAMIC_DISPATCH(find_float_range);
    const auto quantize_slice = HWY_DYNAMIC_DISPATCH(quantize_floats);
    parallel_for(pool, rows, std::max<int64_t>(kGrain / depth, 1),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row) {
                         const float* from = values + row * depth;
                         forms[row] = cover_float_range(find_range(from, depth));
                         quantize_slice(from, depth, forms[row].scale,
                                        find_byte_range(TENGINE_DT_UINT8, forms[row].zero_point),
                                        output + row * depth);
                     }
                 });
}

extern const KernelTable quant_s8_kernels;
const KernelTable quant_s8_kernels = make_table<quant_s8_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
