// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm in fp32 with a constant second matrix, as in linear layers: the rows of the first
// are pixels (pixels_f32.h), the constant is packed once. The epilogue and a bias are applied to
// the accumulators before they are stored. A single row, and one for each picture of a small batch,
// is left to gemm.cc, which reads the matrix where it is.
// Limits: multiply-adds, with some rows; with few rows the bandwidth of the memory.
// Accuracy: |error| <= (k + 2) * eps * (sum |a| |b| + |bias|), before the activation.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {
namespace {

int prepare(KernelContext& context, bool is_transposed)
{
    const tensor* matrix = context.input(1);
    const tensor* bias = context.input(2);
    const int64_t depth = matrix->dims[is_transposed ? 1 : 0];
    const int64_t columns = matrix->dims[is_transposed ? 0 : 1];
    FloatPixels conv = describe_rows(context.input(0)->elem_num / depth, depth, columns);
    plan_pixels(conv, get_thread_pool_size(context.pool));
    static const char kind = 0;
    return keep_packed_problem(
        context, conv, &kind, matrix, {bias}, {conv.format.columns, depth, columns, is_transposed},
        conv.packed_bytes(), [&](void* memory, const void* values) {
            pack_float_weights(
                conv, static_cast<const float*>(values), bias ? bias->f32 : nullptr,
                is_transposed ? WeightSteps{depth, 1, 0} : WeightSteps{1, columns, 0}, memory);
        });
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
    multiply_pixels(context, packed_problem<FloatPixels>(context),
                    shared_weights<FloatPixels>(context));
    return TENGINE_OK;
}

int find_in_place(const KernelContext& context, int)
{
    return find_addend_in_place(context, packed_problem<FloatPixels>(context));
}

bool is_constant_matrix(const tensor& tensor)
{
    return tensor.tensor_type == TENSOR_TYPE_CONST && tensor.data_type == TENGINE_DT_FP32 &&
           tensor.dim_num == 2 && tensor.elem_num > 0;
}

bool accepts(const node& node)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 1);
    return a.data_type == TENGINE_DT_FP32 && a.dim_num >= 2 && is_constant_matrix(b) &&
           a.elem_num > a.dims[a.dim_num - 1] && (IS_MINIMAL || !has_vectors(a));
}

bool accepts_gemm(const node& node)
{
    return is_product_of_rows(node) && accepts(node);
}

constexpr Kernel matmul_pixels_rows[] = {
    {.op = "MatMul",
     .name = "matmul.f32.packed",
     .accepts = accepts,
     .run = run,
     .prepare = prepare_matmul,
     .find_in_place = find_in_place,
     .fuses = true,
     .unaligned_input = 1},
    {.op = "Gemm",
     .name = "gemm.f32.packed",
     .accepts = accepts_gemm,
     .run = run,
     .prepare = prepare_gemm,
     .find_in_place = find_in_place,
     .fuses = true,
     .unaligned_input = 1},
};

}  // namespace

extern const KernelTable matmul_pixels_kernels;
const KernelTable matmul_pixels_kernels = make_table<matmul_pixels_rows>();

}  // namespace tengine::cpu
