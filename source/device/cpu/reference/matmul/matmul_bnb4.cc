// SPDX-License-Identifier: Apache-2.0
// MatMulBnb4 (operator/onnx/quantized_product_ops.c): each element of B is a number from a table
// times the largest magnitude of its block. Accumulators are double.
#include <cstdint>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/quantized_product_param.h"

namespace tengine::cpu {
namespace {

constexpr int kSteps = 16;

// FP4: a sign, and 0, 1/192 or one of 1, 2/3, 1/2, 1/3, 1/4 and 1/6.
// NF4: the quantiles of the normal distribution (arXiv 2305.14314, appendix E).
constexpr float kTables[2][kSteps] = {
    {0.0f, 5.208333333e-3f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f,
     -5.208333333e-3f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
     0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f}};

// Returns element `index` of the N x K matrix; the high bits of a byte come first.
double weight_at(const KernelContext& context, int64_t index)
{
    const auto& param = context.param<matmul_bnb4_param>();
    const int code = context.input(1)->u8[index / 2] >> (index % 2 == 0 ? 4 : 0) & (kSteps - 1);
    return double{kTables[param.quant_type][code]} *
           read_real(context.input(2), index / param.block_size);
}

// Multiplies a row of B, or a column if B is not transposed, by each row of A.
template <class T>
void multiply(const KernelContext& context, double* weights, int64_t column)
{
    const auto& param = context.param<matmul_bnb4_param>();
    const bool is_transposed = param.transB != 0;
    const int64_t depth = is_transposed ? param.K : param.N;
    const int64_t columns = is_transposed ? param.N : param.K;
    for (int64_t i = 0; i < depth; ++i)
        weights[i] =
            weight_at(context, is_transposed ? column * param.K + i : i * param.K + column);
    const T* a = static_cast<const T*>(context.input(0)->data);
    T* output = static_cast<T*>(context.output(0)->data);
    for (int64_t row = 0; row < context.output(0)->elem_num / columns; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < depth; ++i)
            sum += static_cast<double>(a[row * depth + i]) * weights[i];
        output[row * columns + column] = static_cast<T>(sum);
    }
}

int64_t depth_of(const KernelContext& context)
{
    const auto& param = context.param<matmul_bnb4_param>();
    return param.transB != 0 ? param.K : param.N;
}

int prepare(KernelContext& context)
{
    context.scratch_size = sizeof(double) * static_cast<uint64_t>(depth_of(context)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const tensor& output = *context.output(0);
    const int64_t columns = output.dims[output.dim_num - 1], depth = depth_of(context);
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        parallel_for(context.pool, columns, grain_for(depth),
                     [&](int64_t begin, int64_t end, int worker) {
                         double* weights = static_cast<double*>(context.scratch) + worker * depth;
                         for (int64_t column = begin; column < end; ++column)
                             multiply<T>(context, weights, column);
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel matmul_bnb4_rows[] = {
    {"com.microsoft.MatMulBnb4", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable matmul_bnb4_reference;
const KernelTable matmul_bnb4_reference = make_table<matmul_bnb4_rows>();

}  // namespace tengine::cpu
