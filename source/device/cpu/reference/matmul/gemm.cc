// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul as sums of products. Products of quantised matrices are in qlinear_gemm.cc.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/matmul/accumulator.h"
#include "device/cpu/reference/matmul/product.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {
namespace {

template <class T>
const T* data_of(const tensor* tensor)
{
    return static_cast<const T*>(tensor->data);
}

template <class T>
T* data_of(tensor* tensor)
{
    return static_cast<T*>(tensor->data);
}

#ifdef TENGINE_FP32_ONLY
using ProductTypes = TypeList<float>;
#else
using ProductTypes = TypeList<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;
#endif

// Returns alpha * sum + beta * addend. Integers stay exact if both factors are 1.
template <class T>
T scale_sum(accumulator_t<T> sum, accumulator_t<T> addend, float alpha, float beta)
{
    if constexpr (is_float<T>) {
        return static_cast<T>(alpha * sum + beta * addend);
    } else {
        if (alpha == 1 && beta == 1) return static_cast<T>(sum + addend);
        return saturate<T>(alpha * static_cast<double>(static_cast<T>(sum)) +
                           beta * static_cast<double>(static_cast<T>(addend)));
    }
}

int run_gemm(KernelContext& context)
{
    const gemm_param& param = context.param<gemm_param>();
    const tensor* a = context.input(0);
    const tensor* b = context.input(1);
    // If beta is 0, C is ignored, NaN included.
    const tensor* addend = param.beta != 0 ? context.input(2) : nullptr;
    const float beta = addend ? param.beta : 1;
    matmul_shape shape = {};
    shape.m = context.output(0)->dims[0];
    shape.n = context.output(0)->dims[1];
    shape.k = a->dims[param.transA ? 0 : 1];
    shape.batch = 1;
    return dispatch_type(ProductTypes{}, a->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const Matrix<T> left = {data_of<T>(a), param.transA ? 1 : shape.k,
                                param.transA ? shape.m : 1};
        const Matrix<T> right = {data_of<T>(b), param.transB ? 1 : shape.n,
                                 param.transB ? shape.k : 1};
        T* output = data_of<T>(context.output(0));
        multiply<accumulator_t<T>>(
            context, shape, left, right, [&](const Element& at, accumulator_t<T> sum) {
                accumulator_t<T> added = 0;
                if (addend)
                    added = widen(data_of<T>(addend)[find_addend(addend, at.row, at.column)]);
                output[at.row * shape.n + at.column] = scale_sum<T>(sum, added, param.alpha, beta);
            });
        return TENGINE_OK;
    });
}

int run_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    return dispatch_type(ProductTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* output = data_of<T>(context.output(0));
        multiply<accumulator_t<T>>(
            context, shape, Matrix<T>{data_of<T>(context.input(0)), shape.k, 1},
            Matrix<T>{data_of<T>(context.input(1)), shape.n, 1},
            [&](const Element& at, accumulator_t<T> sum) {
                output[(at.matrix * shape.m + at.row) * shape.n + at.column] = static_cast<T>(sum);
            });
        return TENGINE_OK;
    });
}

constexpr Kernel gemm_rows[] = {
    {"Gemm", "reference", nullptr, run_gemm},
    {"MatMul", "reference", nullptr, run_matmul},
};

}  // namespace

extern const KernelTable gemm_reference;
const KernelTable gemm_reference = make_table<gemm_rows>();

}  // namespace tengine::cpu
