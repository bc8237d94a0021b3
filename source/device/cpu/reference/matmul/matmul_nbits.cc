// SPDX-License-Identifier: Apache-2.0
// MatMulNBits (operator/onnx/quantized_product_ops.c): a row of weights is dequantised exactly, and
// multiplied by all rows of A. The lower accuracy that accuracy_level permits is not used here.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/matmul/accumulator.h"
#include "device/cpu/reference/matmul/nbits.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/quantized_product_param.h"

namespace tengine::cpu {
namespace {

// Returns the zero point of block `block` of row `row`.
double zero_point_of(const nbits_shape& shape, const tensor* zero_points, int64_t row,
                     int64_t block)
{
    if (!zero_points) return get_nbits_middle(&shape);
    if (zero_points->data_type != TENGINE_DT_UINT8)
        return read_real(zero_points, row * shape.blocks + block);
    return read_nbits(zero_points->u8 + row * shape.zero_point_step, block, shape.bits);
}

void dequantize_row(const KernelContext& context, const nbits_shape& shape, int64_t row,
                    double* weights)
{
    const tensor* scales = context.input(2);
    const tensor* blocks = context.input(4);
    const int64_t row_bytes = int64_t{shape.blocks} * shape.block_bytes;
    const uint8_t* elements = context.input(1)->u8 + row * row_bytes;
    for (int64_t k = 0; k < shape.k; ++k) {
        const int64_t block = blocks ? blocks->i32[k] : k / shape.block_size;
        const double zero_point = zero_point_of(shape, context.input(3), row, block);
        weights[k] = (read_nbits(elements, k, shape.bits) - zero_point) *
                     read_real(scales, row * shape.blocks + block);
    }
}

// Requests a row of weights for each worker.
int prepare(KernelContext& context)
{
    nbits_shape shape;
    resolve_nbits_shape(context.node, &shape);
    context.scratch_size = static_cast<uint64_t>(shape.k) * sizeof(double) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    nbits_shape shape;
    resolve_nbits_shape(context.node, &shape);
    const tensor* bias = context.input(5);
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* a = static_cast<const T*>(context.input(0)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        const int64_t rows = context.output(0)->elem_num / shape.n;
        parallel_for(context.pool, shape.n, 1, [&](int64_t first, int64_t last, int worker) {
            double* weights = static_cast<double*>(context.scratch) + int64_t{worker} * shape.k;
            for (int64_t n = first; n < last; ++n) {
                dequantize_row(context, shape, n, weights);
                for (int64_t m = 0; m < rows; ++m) {
                    double sum = bias ? read_real(bias, n) : 0;
                    for (int64_t k = 0; k < shape.k; ++k)
                        sum += widen(a[m * shape.k + k]) * weights[k];
                    output[m * shape.n + n] = static_cast<T>(sum);
                }
            }
        });
        return TENGINE_OK;
    });
}

constexpr Kernel matmul_nbits_rows[] = {
    {"com.microsoft.MatMulNBits", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable matmul_nbits_reference;
const KernelTable matmul_nbits_reference = make_table<matmul_nbits_rows>();

}  // namespace tengine::cpu
