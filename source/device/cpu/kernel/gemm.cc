// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul in fp32 on OpenBLAS (blas.h); constant operands are used as they are.
//
// Gemm writes beta * C, broadcast, to the output and adds the product to it. MatMul of a stack with
// one matrix, as in linear layers, is one product of all rows; in other stacks the matrices are the
// tiles that workers share (tile.h).
// Limits: OpenBLAS packs a constant operand again in each run. Products with vectors are bound by
// memory.
// Accuracy: |error| <= (k + 2) * eps * (|alpha| * sum |a| |b| + |beta * c|).
#include <algorithm>
#include <iterator>

#include "device/cpu/kernel/blas.h"
#include "device/cpu/kernel/tile.h"
#include "device/cpu/kernel_table.h"
#include "operator/gemm_param.h"

namespace tengine::cpu {
#ifdef TENGINE_HAVE_OPENBLAS
namespace {

bool are_fp32(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32 &&
           get_ir_node_input(&node, 1)->data_type == TENGINE_DT_FP32;
}

int prepare(KernelContext&)
{
    prepare_blas();
    return TENGINE_OK;
}

// output = factor * addend, a scalar, list or matrix that broadcasts.
void broadcast_addend(const tensor& addend, float factor, int64_t m, int64_t n, float* output)
{
    const int rank = addend.dim_num;
    const int64_t columns = rank >= 1 ? addend.dims[rank - 1] : 1;
    const int64_t rows = rank >= 2 ? addend.dims[rank - 2] : 1;
    for (int64_t i = 0; i < m; ++i) {
        const float* row = addend.f32 + (rows == 1 ? 0 : i) * columns;
        if (columns == 1) {
            std::fill_n(output + i * n, n, factor * row[0]);
            continue;
        }
        for (int64_t j = 0; j < n; ++j)
            output[i * n + j] = factor * row[j];
    }
}

int run_gemm(KernelContext& context)
{
    const gemm_param& param = context.param<gemm_param>();
    const tensor& a = *context.input(0);
    const tensor& b = *context.input(1);
    const tensor* addend = context.input(2);
    tensor& output = *context.output(0);
    Product product = {output.dims[0], output.dims[1], a.dims[param.transA ? 0 : 1], {}, {},
                       output.f32,     output.dims[1]};
    product.a = {a.f32, a.dims[1], param.transA != 0};
    product.b = {b.f32, b.dims[1], param.transB != 0};
    product.alpha = param.alpha;
    if (addend && param.beta != 0) {
        broadcast_addend(*addend, param.beta, product.m, product.n, output.f32);
        product.beta = 1;
    }
    multiply(context.pool, product);
    return TENGINE_OK;
}

bool accepts_gemm(const node& node)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 1);
    return are_fp32(node) && a.dim_num == 2 && b.dim_num == 2;
}

// b is one matrix and a is dense: the rows of all matrices of a are the rows of one.
bool is_one_product(const matmul_shape& shape)
{
    int64_t dense = 1;
    for (int i = shape.batch_rank - 1; i >= 0; --i) {
        if (shape.batch_dims[i] == 1) continue;
        if (shape.b_strides[i] != 0 || shape.a_strides[i] != dense) return false;
        dense *= shape.batch_dims[i];
    }
    return fits_blas(shape.batch * shape.m, shape.n, shape.k);
}

// Matrix `index` of the output's stack.
void multiply_matrix(const KernelContext& context, const matmul_shape& shape, thread_pool_t* pool,
                     int64_t index)
{
    int64_t a = 0, b = 0, rest = index;
    for (int i = shape.batch_rank - 1; i >= 0; --i) {
        a += rest % shape.batch_dims[i] * shape.a_strides[i];
        b += rest % shape.batch_dims[i] * shape.b_strides[i];
        rest /= shape.batch_dims[i];
    }
    const int64_t m = shape.m, n = shape.n, k = shape.k;
    Product product = {m, n, k, {}, {}, context.output(0)->f32 + index * m * n, n};
    product.a = {context.input(0)->f32 + a * m * k, k};
    product.b = {context.input(1)->f32 + b * k * n, n};
    multiply(pool, product);
}

int run_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    if (is_one_product(shape)) {
        Product product = {shape.batch * shape.m,  shape.n, shape.k, {}, {},
                           context.output(0)->f32, shape.n};
        product.a = {context.input(0)->f32, shape.k};
        product.b = {context.input(1)->f32, shape.n};
        multiply(context.pool, product);
        return TENGINE_OK;
    }
    run_tiles(context, shape.batch, 0, [&](thread_pool_t* pool, int64_t index, float*) {
        multiply_matrix(context, shape, pool, index);
    });
    return TENGINE_OK;
}

const Kernel rows[] = {
    {"Gemm", "gemm.blas", accepts_gemm, run_gemm, prepare},
    {"MatMul", "matmul.blas", are_fp32, run_matmul, prepare},
};

}  // namespace

extern const KernelTable gemm_kernels;
const KernelTable gemm_kernels = {rows, std::size(rows)};
#else
extern const KernelTable gemm_kernels;
const KernelTable gemm_kernels = {nullptr, 0};
#endif
}  // namespace tengine::cpu
