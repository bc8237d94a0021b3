// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm in fp16 and bf16: the rows of the first matrix are pixels (pixels_f16.h). A
// constant second matrix is packed once; another is packed in each run, each matrix of a stack by
// the worker that multiplies it. Limits: multiply-adds of the format, with some rows; with few rows
// the bandwidth of the memory. Accuracy: |error| <= 2 (k + 2) * eps32 * (sum |a| |b| + |bias|),
// before the activation, and half a unit in the last place of the result's type.
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f16.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/matrix_stack.h"
#include "device/cpu/shared/rounding.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {
namespace {

int prepare(KernelContext& context, bool is_transposed)
{
    const tensor& a = *context.input(0);
    const tensor& matrix = *context.input(1);
    const int64_t depth = matrix.dims[is_transposed ? 1 : 0];
    const int64_t columns = matrix.dims[is_transposed ? 0 : 1];
    Float16Pixels rows = describe_half_rows(a.data_type, a.elem_num / depth, depth, columns);
    plan_half_pixels(rows, get_thread_pool_size(context.pool));
    return keep_half_pixels(context, rows,
                            is_transposed ? WeightSteps{depth, 1, 0} : WeightSteps{1, columns, 0});
}

int prepare_matmul(KernelContext& context)
{
    return prepare(context, false);
}

int prepare_gemm(KernelContext& context)
{
    return prepare(context, context.param<gemm_param>().transB != 0);
}

int run(KernelContext& context)
{
    multiply_half_pixels(context);
    return TENGINE_OK;
}

bool has_float16(const node& node)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    return (a.data_type == TENGINE_DT_FP16 || a.data_type == TENGINE_DT_BF16) && a.elem_num > 0 &&
           get_ir_node_input(&node, 1)->elem_num > 0;
}

bool accepts(const node& node)
{
    const tensor& b = *get_ir_node_input(&node, 1);
    return has_float16(node) && get_ir_node_input(&node, 0)->dim_num >= 2 && b.dim_num == 2 &&
           b.tensor_type == TENSOR_TYPE_CONST;
}

bool accepts_gemm(const node& node)
{
    return is_product_of_rows(node) && accepts(node);
}

// The product of two stacks of matrices.
struct Stacks
{
    matmul_shape shape;
    Float16Pixels matrix;  // the product of one matrix of each stack

    // A worker's scratch: a packed matrix, then the scratch of its product.
    uint64_t packed_bytes() const { return round_up(matrix.packed_bytes(), ALLOC_ALIGNMENT); }
    uint64_t worker_bytes() const { return packed_bytes() + matrix.worker_bytes(); }
};

int prepare_stacks(KernelContext& context)
{
    Stacks stacks = {};
    matmul_shape& shape = stacks.shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    stacks.matrix = describe_half_rows(context.input(0)->data_type, shape.m, shape.k, shape.n);
    plan_half_pixels(stacks.matrix, 1);
    context.scratch_size =
        stacks.worker_bytes() * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return keep_problem(context, stacks);
}

int run_stacks(KernelContext& context)
{
    static const Fusion kNothing;
    const auto& stacks = kept_problem<Stacks>(context);
    const matmul_shape& shape = stacks.shape;
    const uint16_t *a = context.input(0)->f16, *b = context.input(1)->f16;
    uint16_t* y = context.output(0)->f16;
    const int64_t m = shape.m, n = shape.n, k = shape.k;
    parallel_for(context.pool, shape.batch, 1, [&](int64_t begin, int64_t end, int worker) {
        char* packed = static_cast<char*>(context.scratch) +
                       stacks.worker_bytes() * static_cast<uint64_t>(worker);
        for (int64_t i = begin; i < end; ++i) {
            const StackPosition from(shape, i);
            pack_half_weights(stacks.matrix, b + from.b * k * n, nullptr, {1, n, 0}, packed);
            multiply_halves_here(stacks.matrix,
                                 {{a + from.a * m * k, packed}, nullptr, y + i * m * n, &kNothing},
                                 packed + stacks.packed_bytes());
        }
    });
    return TENGINE_OK;
}

constexpr Kernel matmul_f16_rows[] = {
    {.op = "MatMul",
     .name = "matmul.f16.packed",
     .accepts = accepts,
     .run = run,
     .prepare = prepare_matmul,
     .find_in_place = take_addend,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "Gemm",
     .name = "gemm.f16.packed",
     .accepts = accepts_gemm,
     .run = run,
     .prepare = prepare_gemm,
     .find_in_place = take_addend,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "MatMul",
     .name = "matmul.f16.batched",
     .accepts = has_float16,
     .run = run_stacks,
     .prepare = prepare_stacks},
};

}  // namespace

extern const KernelTable matmul_f16_kernels;
const KernelTable matmul_f16_kernels = make_table<matmul_f16_rows>();

}  // namespace tengine::cpu
