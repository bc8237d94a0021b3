// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeMatMul, MatMulIntegerToFloat and MatMulInteger with a constant second matrix: the
// rows of the first, of the former as bytes in scratch, are pixels (byte_pixels.h). Limits:
// multiply-adds, with some rows; of few rows the bandwidth of the memory. Accuracy: the sums are
// exact; |error| <= 4 * eps * (|result| + 2 |bias|), for the rounding of the sum, of two scales and
// of the result.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/byte_pixels.h"
#include "device/cpu/kernel/float_bytes.h"
#include "device/cpu/kernel/packed_problem.h"

#ifdef TENGINE_HAVE_HIGHWAY
namespace tengine::cpu {
namespace {

// Where the node has the zero point of the first matrix, the scale of the second, input 1, its zero
// points, and the bias; -1: nowhere.
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

ByteOperands find_operands(const node& node, const Places& places)
{
    ByteOperands operands = {};
    operands.weights = get_ir_node_input(&node, 1);
    operands.weight_scales = find_input(node, places.scale);
    operands.weight_zero_points = find_input(node, places.zero_point);
    operands.input_scale = operands.output_scale = operands.alpha = 1;
    const int type = get_ir_node_input(&node, 0)->data_type;
    operands.input_type = type == TENGINE_DT_FP32 ? TENGINE_DT_UINT8 : type;
    operands.output_type = TENGINE_DT_UINT8;
    return operands;
}

// Scratch has the copies of the workers, then the bytes of input 0.
uint64_t find_copy_bytes(const KernelContext& context, const BytePixels& rows)
{
    return rows.copy_bytes() * static_cast<uint64_t>(get_thread_pool_size(context.pool));
}

int prepare(KernelContext& context, const Places& places)
{
    const tensor &a = *context.input(0), &b = *context.input(1);
    const int64_t depth = b.dims[0], columns = b.dims[1];
    const ByteOperands operands = find_operands(*context.node, places);
    BytePixels rows = describe_byte_rows(a.elem_num / depth, depth, columns);
    find_byte_format(operands, depth, depth, &rows.format);  // there is one, as accepts() has seen
    rows.has_words = true;
    plan_byte_pixels(rows, operands, get_thread_pool_size(context.pool));
    TENGINE_RETURN_IF_ERROR(keep_byte_pixels(context, rows, operands, {1, columns, 0}));
    if (a.data_type == TENGINE_DT_FP32) context.scratch_size += static_cast<uint64_t>(a.elem_num);
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

// With these bytes as input 0, and the zero point that they have in this run.
int multiply(KernelContext& context, const uint8_t* input, int zero_point, const ByteWords& words)
{
    BytePixels rows = packed_problem<BytePixels>(context);
    rows.input_zero_point = zero_point;
    multiply_bytes(context.pool, rows,
                   {input, shared_weights<BytePixels>(context), context.output(0)->data, &words},
                   static_cast<char*>(context.scratch));
    return TENGINE_OK;
}

const float* find_bias(const KernelContext& context, const Places& places)
{
    const tensor* bias = context.input(places.bias);
    return bias ? bias->f32 : nullptr;
}

int run_dynamic(KernelContext& context)
{
    const tensor& a = *context.input(0);
    const auto& rows = packed_problem<BytePixels>(context);
    auto* bytes = static_cast<uint8_t*>(context.scratch) + find_copy_bytes(context, rows);
    const FloatBytes form = find_float_bytes(a.f32, a.elem_num);
    quantize_float_bytes(context.pool, a.f32, a.elem_num, form, bytes);
    return multiply(context, bytes, form.zero_point,
                    {true, form.scale, find_bias(context, kDynamic)});
}

int run_to_float(KernelContext& context)
{
    return multiply(context, context.input(0)->u8,
                    read_zero_point(context.input(kToFloat.input_zero_point), 0),
                    {true, context.input(2)->f32[0], find_bias(context, kToFloat)});
}

int run_integer(KernelContext& context)
{
    return multiply(context, context.input(0)->u8,
                    read_zero_point(context.input(kInteger.input_zero_point), 0),
                    {false, 1, nullptr});
}

bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool accepts(const node& node, const Places& places)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 1);
    const ByteOperands operands = find_operands(node, places);
    const auto fits = [&](const tensor* values) {
        return !values || values->elem_num == 1 || values->elem_num == b.dims[1];
    };
    ByteFormat format;
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

constexpr Kernel rows[] = {
    {"com.microsoft.DynamicQuantizeMatMul", "matmul.dynamic_byte_pixels", accepts_dynamic,
     run_dynamic, prepare_dynamic, -1, nullptr, Layout::kPlanar, false, false, false, 1},
    {"com.microsoft.MatMulIntegerToFloat", "matmul.byte_pixels_to_float", accepts_to_float,
     run_to_float, prepare_to_float, -1, nullptr, Layout::kPlanar, false, false, false, 1},
    {"MatMulInteger", "matmul.byte_pixels_to_sums", accepts_integer, run_integer, prepare_integer,
     -1, nullptr, Layout::kPlanar, false, false, false, 1},
};

}  // namespace

extern const KernelTable dynamic_matmul_pixels_kernels;
const KernelTable dynamic_matmul_pixels_kernels = make_table<rows>();

}  // namespace tengine::cpu
#else
namespace tengine::cpu {
extern const KernelTable dynamic_matmul_pixels_kernels;
const KernelTable dynamic_matmul_pixels_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#endif  // TENGINE_HAVE_HIGHWAY
