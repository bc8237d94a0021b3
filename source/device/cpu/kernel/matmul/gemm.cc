// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul in fp32 (matrix_product.h); constant operands are used as they are.
//
// Gemm writes beta * C, broadcast, to the output and adds the product to it. MatMul of a stack with
// one matrix, as in linear layers, is one product of all rows; in other stacks the matrices are the
// tiles that workers share (tile.h).
// Limits: a constant operand is packed again in each run. Products with vectors are bound by
// memory. Accuracy: |error| <= (k + 2) * eps * (|alpha| * sum |a| |b| + |beta * c|).
#include <algorithm>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/product/tile/tile.h"
#include "device/cpu/kernel_table.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {
namespace {

bool accepts(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32 &&
           get_ir_node_input(&node, 1)->data_type == TENGINE_DT_FP32;
}

// Every worker has a workspace of its own, whether it computes a strip of a product or a whole
// product.
void prepare_product(KernelContext& context, const Product& product)
{
    prepare_products();
    context.scratch_size = find_product_workspace(product) * sizeof(float) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
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

Product make_gemm(const KernelContext& context)
{
    const gemm_param& param = context.param<gemm_param>();
    const tensor& a = *context.input(0);
    const tensor& b = *context.input(1);
    const tensor& output = *context.output(0);
    Product product = {output.dims[0], output.dims[1], a.dims[param.transA ? 0 : 1], {}, {},
                       output.f32,     output.dims[1]};
    product.a = {a.f32, a.dims[1], param.transA != 0};
    product.b = {b.f32, b.dims[1], param.transB != 0};
    product.alpha = param.alpha;
    product.has_vectors = !product.a.transposed && has_vectors(a);
    return product;
}

int prepare_gemm(KernelContext& context)
{
    prepare_product(context, make_gemm(context));
    return TENGINE_OK;
}

int run_gemm(KernelContext& context)
{
    const float beta = context.param<gemm_param>().beta;
    const tensor* addend = context.input(2);
    Product product = make_gemm(context);
    if (addend && beta != 0) {
        broadcast_addend(*addend, beta, product.m, product.n, product.c);
        product.beta = 1;
    }
    multiply(context.pool, product, static_cast<float*>(context.scratch));
    return TENGINE_OK;
}

// With alpha 0, libraries do not read a and b, so that their NaN and infinities would be lost.
bool accepts_gemm(const node& node)
{
    const tensor& a = *get_ir_node_input(&node, 0);
    const tensor& b = *get_ir_node_input(&node, 1);
    return accepts(node) && a.dim_num == 2 && b.dim_num == 2 &&
           static_cast<const gemm_param*>(node.op.param_mem)->alpha != 0;
}

// Whether b is one matrix and a is dense: the rows of all matrices of a are then the rows of one
// product.
bool is_one_product(const matmul_shape& shape)
{
    int64_t dense = 1;
    for (int i = shape.batch_rank - 1; i >= 0; --i) {
        if (shape.batch_dims[i] == 1) continue;
        if (shape.b_strides[i] != 0 || shape.a_strides[i] != dense) return false;
        dense *= shape.batch_dims[i];
    }
    return fits_product(shape.batch * shape.m, shape.n, shape.k);
}

// Makes the product of the first `m` rows of an operand's matrices.
Product make_product(const KernelContext& context, const matmul_shape& shape, int64_t m)
{
    Product product = {m, shape.n, shape.k, {}, {}, context.output(0)->f32, shape.n};
    product.a = {context.input(0)->f32, shape.k};
    product.b = {context.input(1)->f32, shape.n};
    product.has_vectors = has_vectors(*context.input(0));
    return product;
}

// Computes matrix `index` of the output's stack.
void multiply_matrix(const KernelContext& context, const matmul_shape& shape, thread_pool_t* pool,
                     int64_t index, float* workspace)
{
    int64_t a = 0, b = 0, rest = index;
    for (int i = shape.batch_rank - 1; i >= 0; --i) {
        a += rest % shape.batch_dims[i] * shape.a_strides[i];
        b += rest % shape.batch_dims[i] * shape.b_strides[i];
        rest /= shape.batch_dims[i];
    }
    Product product = make_product(context, shape, shape.m);
    product.a.data += a * shape.m * shape.k;
    product.b.data += b * shape.k * shape.n;
    product.c += index * shape.m * shape.n;
    multiply(pool, product, workspace);
}

struct MatrixStack
{
    matmul_shape shape;
    bool is_one;         // one product has all rows
    uint64_t workspace;  // floats of one product
};

int prepare_matmul(KernelContext& context)
{
    MatrixStack stack = {};
    matmul_shape& shape = stack.shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    stack.is_one = is_one_product(shape);
    const int64_t m = stack.is_one ? shape.batch * shape.m : shape.m;
    const Product product = make_product(context, shape, m);
    stack.workspace = find_product_workspace(product);
    prepare_product(context, product);
    return keep_problem(context, stack);
}

int run_matmul(KernelContext& context)
{
    const auto& stack = kept_problem<MatrixStack>(context);
    const matmul_shape& shape = stack.shape;
    if (stack.is_one) {
        multiply(context.pool, make_product(context, shape, shape.batch * shape.m),
                 static_cast<float*>(context.scratch));
        return TENGINE_OK;
    }
    run_tiles(context, shape.batch, stack.workspace,
              [&](thread_pool_t* pool, int64_t index, float* workspace) {
                  multiply_matrix(context, shape, pool, index, workspace);
              });
    return TENGINE_OK;
}

constexpr Kernel gemm_rows[] = {
    {.op = "Gemm",
     .name = "gemm.f32.blocked",
     .accepts = accepts_gemm,
     .run = run_gemm,
     .prepare = prepare_gemm},
    {.op = "MatMul",
     .name = "matmul.f32.blocked",
     .accepts = accepts,
     .run = run_matmul,
     .prepare = prepare_matmul},
};

}  // namespace

extern const KernelTable gemm_kernels;
const KernelTable gemm_kernels = make_table<gemm_rows>();

}  // namespace tengine::cpu
