// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeMatMul, tengine.RowQuantizeMatMul, MatMulIntegerToFloat and MatMulInteger with a
// constant second matrix: the rows of the first, which the former two quantise to int8 in scratch,
// are pixels (pixels_s8.h). The epilogue is applied to floats before they leave the cache.
// Limits: multiply-adds, with some rows; with few rows the bandwidth of the memory. Accuracy: the
// int32 accumulators are exact; |error| <= 4 * eps * (|result| + 2 |bias|), for the rounding of the
// accumulator, of two scales and of the result, before the activation.
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_s8.h"
#include "device/cpu/kernel/vector/float_bytes.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/constant.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

// Indices of the inputs that have the zero point of the first matrix, the scale and the zero points
// of the second matrix, which is input 1, and the bias; -1: absent.
struct Places
{
    int input_zero_point, scale, zero_point, bias;
};
constexpr Places kDynamic = {-1, 2, 3, 4};
constexpr Places kToFloat = {4, 3, 5, 6};
constexpr Places kInteger = {2, -1, 3, -1};

const tensor* find_input(const node& node, int place)
{
    return place < 0 ? nullptr : get_ir_node_input(&node, place);
}

Int8Operands find_operands(const node& node, const Places& places)
{
    Int8Operands operands = {};
    operands.weights = get_ir_node_input(&node, 1);
    operands.weight_scales = find_input(node, places.scale);
    operands.weight_zero_points = find_input(node, places.zero_point);
    operands.input_scale = operands.output_scale = operands.alpha = 1;
    const int type = get_ir_node_input(&node, 0)->data_type;
    operands.input_type = type == TENGINE_DT_FP32 ? TENGINE_DT_UINT8 : type;
    operands.output_type = TENGINE_DT_UINT8;
    return operands;
}

// The quantised first matrix: its bytes, scales and zero points.
struct Quantized
{
    uint8_t* bytes;
    FloatBytes* rows;
};

// The quantised first matrix follows the workers' copies in scratch.
Quantized find_quantized(const KernelContext& context, const Int8Pixels& rows)
{
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    auto* bytes = static_cast<uint8_t*>(context.scratch) + rows.worker_bytes() * workers;
    const auto number = static_cast<uint64_t>(context.input(0)->elem_num);
    return {bytes, reinterpret_cast<FloatBytes*>(bytes + round_up(number, ALLOC_ALIGNMENT))};
}

int prepare(KernelContext& context, const Places& places)
{
    const tensor &a = *context.input(0), &b = *context.input(1);
    const int64_t depth = b.dims[0], columns = b.dims[1];
    const Int8Operands operands = find_operands(*context.node, places);
    Int8Pixels rows = describe_byte_rows(a.elem_num / depth, depth, columns);
    find_byte_format(operands, depth, depth, &rows.format);  // there is one: accepts() has checked
    rows.has_words = true;
    plan_byte_pixels(rows, operands, get_thread_pool_size(context.pool));
    TENGINE_RETURN_IF_ERROR(keep_byte_pixels(context, rows, operands, {1, columns, 0}));
    if (a.data_type == TENGINE_DT_FP32)
        context.scratch_size += round_up(static_cast<uint64_t>(a.elem_num), ALLOC_ALIGNMENT) +
                                static_cast<uint64_t>(a.elem_num / depth) * sizeof(FloatBytes);
    return TENGINE_OK;
}

int prepare_dynamic(KernelContext& context)
{
    return prepare(context, kDynamic);
}

int prepare_to_float(KernelContext& context)
{
    return prepare(context, kToFloat);
}

int prepare_integer(KernelContext& context)
{
    return prepare(context, kInteger);
}

// Multiplies by `input` in place of input 0, with the zero point that it has in this run.
int multiply(KernelContext& context, const uint8_t* input, int zero_point, const Int8Words& words)
{
    Int8Pixels rows = packed_problem<Int8Pixels>(context);
    rows.input_zero_point = zero_point;
    multiply_bytes(context.pool, rows,
                   {{input, shared_weights<Int8Pixels>(context)}, context.output(0)->data, &words},
                   static_cast<char*>(context.scratch));
    return TENGINE_OK;
}

// Describes results in float with the operators that are fused into the step.
Int8Words describe_floats(const KernelContext& context, const Places& places, float scale)
{
    const auto find = [&](int index) {
        const tensor* values = index < 0 ? nullptr : context.input(index);
        return values ? values->f32 : nullptr;
    };
    const Fusion& fusion = context.fusion;
    return {true,
            scale,
            find(places.bias),
            nullptr,
            find(fusion.addend),
            fusion.activation == Activation::kNone ? nullptr : &fusion};
}

int find_in_place(const KernelContext& context, int)
{
    return context.fusion.addend;
}

int run_dynamic(KernelContext& context)
{
    const tensor& a = *context.input(0);
    uint8_t* bytes = find_quantized(context, packed_problem<Int8Pixels>(context)).bytes;
    const FloatBytes form = find_float_bytes(context.pool, a.f32, a.elem_num);
    quantize_float_bytes(context.pool, a.f32, a.elem_num, form, bytes);
    return multiply(context, bytes, form.zero_point,
                    describe_floats(context, kDynamic, form.scale));
}

int run_rows(KernelContext& context)
{
    const tensor& a = *context.input(0);
    const auto& rows = packed_problem<Int8Pixels>(context);
    const Quantized quantized = find_quantized(context, rows);
    quantize_float_rows(context.pool, a.f32, rows.line_pixels, rows.segment_length, quantized.rows,
                        quantized.bytes);
    Int8Words words = describe_floats(context, kDynamic, 1);
    words.rows = quantized.rows;
    return multiply(context, quantized.bytes, 0, words);
}

int run_to_float(KernelContext& context)
{
    return multiply(context, context.input(0)->u8,
                    read_zero_point(context.input(kToFloat.input_zero_point), 0),
                    describe_floats(context, kToFloat, context.input(2)->f32[0]));
}

int run_integer(KernelContext& context)
{
    return multiply(context, context.input(0)->u8,
                    read_zero_point(context.input(kInteger.input_zero_point), 0),
                    {false, 1, nullptr});
}

bool accepts(const node& node, const Places& places)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 1);
    const Int8Operands operands = find_operands(node, places);
    const auto fits = [&](const tensor* values) {
        return !values || values->elem_num == 1 || values->elem_num == b.dims[1];
    };
    TileFormat format;
    return a.dim_num >= 2 && a.elem_num > 0 && b.dim_num == 2 && b.elem_num > 0 &&
           is_constant(&b) && is_constant(operands.weight_scales) &&
           is_constant(operands.weight_zero_points) && fits(operands.weight_scales) &&
           fits(operands.weight_zero_points) &&
           find_byte_format(operands, b.dims[0], b.dims[0], &format);
}

bool accepts_dynamic(const node& node)
{
    return accepts(node, kDynamic);
}

bool has_one_zero_point(const node& node, const Places& places)
{
    const tensor* zero_point = find_input(node, places.input_zero_point);
    return !zero_point || zero_point->elem_num == 1;
}

bool accepts_to_float(const node& node)
{
    return get_ir_node_input(&node, 2)->elem_num == 1 && has_one_zero_point(node, kToFloat) &&
           accepts(node, kToFloat);
}

bool accepts_integer(const node& node)
{
    return has_one_zero_point(node, kInteger) && accepts(node, kInteger);
}

constexpr Kernel dynamic_matmul_pixels_rows[] = {
    {.op = "com.microsoft.DynamicQuantizeMatMul",
     .name = "dynamic_quantize_matmul.s8.packed",
     .accepts = accepts_dynamic,
     .run = run_dynamic,
     .prepare = prepare_dynamic,
     .find_in_place = find_in_place,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "tengine.RowQuantizeMatMul",
     .name = "row_quantize_matmul.s8.packed",
     .accepts = accepts_dynamic,
     .run = run_rows,
     .prepare = prepare_dynamic,
     .find_in_place = find_in_place,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "com.microsoft.MatMulIntegerToFloat",
     .name = "matmul_integer_to_float.s8.packed",
     .accepts = accepts_to_float,
     .run = run_to_float,
     .prepare = prepare_to_float,
     .find_in_place = find_in_place,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "MatMulInteger",
     .name = "matmul_integer.s8.packed",
     .accepts = accepts_integer,
     .run = run_integer,
     .prepare = prepare_integer,
     .unaligned_input = 1},
};

}  // namespace

extern const KernelTable dynamic_matmul_pixels_kernels;
const KernelTable dynamic_matmul_pixels_kernels = make_table<dynamic_matmul_pixels_rows>();

}  // namespace tengine::cpu
