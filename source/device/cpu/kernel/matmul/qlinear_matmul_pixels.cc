// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul and QGemm with constant scales and zero points: the rows of the first matrix are
// pixels (pixels_s8.h). A second matrix that is not constant is packed in each run, each matrix
// of a stack by the worker that multiplies it. The int32 accumulators are exact, so results are
// bit-identical to the reference's. Limits: multiply-adds, with some rows; with few rows the
// bandwidth of the memory.
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_s8.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/matrix_stack.h"
#include "device/cpu/shared/rounding.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/qlinear_param.h"

namespace tengine::cpu {
namespace {

// Indices of the node's inputs. Input 0 is followed by its scale and zero point, input 3 by those
// of the second matrix.
struct Places
{
    int bias;          // -1: absent
    int output_scale;  // the zero point follows
};
constexpr Places kMatMul = {-1, 6};
constexpr Places kGemm = {6, 7};

Int8Operands find_operands(const node& node, const Places& places)
{
    Int8Operands operands = find_byte_operands(node, places.output_scale, places.bias);
    if (places.bias >= 0)
        operands.alpha = static_cast<const qgemm_param*>(node.op.param_mem)->alpha;
    return operands;
}

bool is_transposed(const node& node, const Places& places)
{
    return places.bias >= 0 && static_cast<const qgemm_param*>(node.op.param_mem)->transB != 0;
}

int prepare(KernelContext& context, const Places& places)
{
    const tensor& a = *context.input(0);
    const tensor& b = *context.input(3);
    const bool transposed = is_transposed(*context.node, places);
    const int64_t depth = b.dims[transposed ? 1 : 0], columns = b.dims[transposed ? 0 : 1];
    const Int8Operands operands = find_operands(*context.node, places);
    Int8Pixels rows = describe_byte_rows(a.elem_num / depth, depth, columns);
    find_byte_format(operands, depth, depth, &rows.format);  // there is one: accepts() has checked
    plan_byte_pixels(rows, operands, get_thread_pool_size(context.pool));
    const WeightSteps steps = transposed ? WeightSteps{depth, 1, 0} : WeightSteps{1, columns, 0};
    return keep_byte_pixels(context, rows, operands, steps);
}

int prepare_matmul(KernelContext& context)
{
    return prepare(context, kMatMul);
}

int prepare_gemm(KernelContext& context)
{
    return prepare(context, kGemm);
}

int run(KernelContext& context)
{
    multiply_byte_pixels(context);
    return TENGINE_OK;
}

// Whether `values` has one value, or one for each column.
bool fits_columns(const tensor* values, int64_t columns)
{
    return !values || values->elem_num == 1 ||
           (values->elem_num == columns && values->dims[values->dim_num - 1] == columns);
}

bool accepts(const node& node, const Places& places)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 3);
    if (!has_byte_constants(node, places.output_scale) || b.tensor_type != TENSOR_TYPE_CONST ||
        a.dim_num < 2 || a.elem_num == 0 || b.dim_num != 2 || b.elem_num == 0)
        return false;
    const bool transposed = is_transposed(node, places);
    const int64_t depth = b.dims[transposed ? 1 : 0], columns = b.dims[transposed ? 0 : 1];
    const Int8Operands operands = find_operands(node, places);
    TileFormat format;
    return fits_columns(operands.weight_scales, columns) &&
           fits_columns(operands.weight_zero_points, columns) &&
           fits_columns(operands.bias, columns) &&
           find_byte_format(operands, depth, depth, &format);
}

// Whether the matrices are int8 or uint8, not 8-bit floats.
bool multiplies_int8(const node& node)
{
    const int type = get_ir_node_input(&node, 0)->data_type;
    return type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8;
}

bool accepts_matmul(const node& node)
{
    return multiplies_int8(node) && accepts(node, kMatMul);
}

bool accepts_gemm(const node& node)
{
    return get_ir_node_input(&node, kGemm.output_scale) &&
           static_cast<const qgemm_param*>(node.op.param_mem)->transA == 0 && accepts(node, kGemm);
}

// The product of two stacks of matrices.
struct Stacks
{
    matmul_shape shape;
    Int8Pixels matrix;  // the product of one matrix of each stack

    // A worker's scratch: a packed matrix, then a copy.
    uint64_t worker_bytes() const
    {
        return round_up(matrix.packed_bytes() + matrix.worker_bytes(), ALLOC_ALIGNMENT);
    }
};

int describe_stacks(const node& node, Stacks* out_stacks)
{
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(&node, 0, 3, &out_stacks->shape));
    const matmul_shape& shape = out_stacks->shape;
    const Int8Operands operands = find_operands(node, kMatMul);
    Int8Pixels& matrix = out_stacks->matrix;
    matrix = describe_byte_rows(shape.m, shape.k, shape.n);
    if (find_byte_format(operands, shape.k, shape.k, &matrix.format))
        plan_byte_pixels(matrix, operands, 1);
    return TENGINE_OK;
}

int prepare_stacks(KernelContext& context)
{
    Stacks stacks = {};
    TENGINE_RETURN_IF_ERROR(describe_stacks(*context.node, &stacks));
    context.scratch_size =
        stacks.worker_bytes() * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return keep_problem(context, stacks);
}

int run_stacks(KernelContext& context)
{
    const auto& stacks = kept_problem<Stacks>(context);
    const matmul_shape& shape = stacks.shape;
    const Int8Operands operands = find_operands(*context.node, kMatMul);
    const uint8_t *a = context.input(0)->u8, *b = context.input(3)->u8;
    uint8_t* y = context.output(0)->u8;
    const int64_t m = shape.m, n = shape.n, k = shape.k;
    parallel_for(context.pool, shape.batch, 1, [&](int64_t begin, int64_t end, int worker) {
        char* packed = static_cast<char*>(context.scratch) +
                       stacks.worker_bytes() * static_cast<uint64_t>(worker);
        for (int64_t i = begin; i < end; ++i) {
            const StackPosition from(shape, i);
            pack_byte_weights(stacks.matrix, operands, {1, n, 0}, b + from.b * k * n, packed);
            multiply_bytes_here(stacks.matrix,
                                {{a + from.a * m * k, packed}, y + i * m * n, nullptr},
                                packed + stacks.matrix.group_bytes);
        }
    });
    return TENGINE_OK;
}

bool accepts_stacks(const node& node)
{
    const tensor* b = get_ir_node_input(&node, 3);
    const tensor* zero_point = get_ir_node_input(&node, 5);
    Stacks stacks = {};
    return multiplies_int8(node) && has_byte_constants(node, kMatMul.output_scale) &&
           b->tensor_type != TENSOR_TYPE_CONST && get_ir_node_input(&node, 4)->elem_num == 1 &&
           (!zero_point || zero_point->elem_num == 1) &&
           get_ir_node_input(&node, 0)->elem_num > 0 && b->elem_num > 0 &&
           describe_stacks(node, &stacks) == TENGINE_OK && stacks.matrix.format.multiply;
}

constexpr Kernel qlinear_matmul_pixels_rows[] = {
    {.op = "QLinearMatMul",
     .name = "matmul.s8.packed",
     .accepts = accepts_matmul,
     .run = run,
     .prepare = prepare_matmul,
     .unaligned_input = 3},
    {.op = "QLinearMatMul",
     .name = "matmul.s8.batched",
     .accepts = accepts_stacks,
     .run = run_stacks,
     .prepare = prepare_stacks},
    {.op = "com.microsoft.QGemm",
     .name = "gemm.s8.packed",
     .accepts = accepts_gemm,
     .run = run,
     .prepare = prepare_gemm,
     .unaligned_input = 3},
};

}  // namespace

extern const KernelTable qlinear_matmul_pixels_kernels;
const KernelTable qlinear_matmul_pixels_kernels = make_table<qlinear_matmul_pixels_rows>();

}  // namespace tengine::cpu
