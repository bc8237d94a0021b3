// SPDX-License-Identifier: Apache-2.0
// Inverse of com.microsoft (operator/onnx/gemm_ops.c): Gauss-Jordan elimination with partial
// pivoting, in double. A matrix without an inverse gives infinities and NaN.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/types.h"

namespace tengine::cpu {
namespace {

int64_t order_of(const KernelContext& context)
{
    const tensor* input = context.input(0);
    return input->dims[input->dim_num - 1];
}

// The matrix, then its inverse.
int prepare(KernelContext& context)
{
    const auto order = static_cast<uint64_t>(order_of(context));
    context.scratch_size = 2 * order * order * sizeof(double);
    return TENGINE_OK;
}

// `inverse` begins as the identity; `matrix` is destroyed.
void invert(double* matrix, double* inverse, int64_t n)
{
    for (int64_t k = 0; k < n; ++k) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; ++i)
            if (std::fabs(matrix[i * n + k]) > std::fabs(matrix[pivot * n + k])) pivot = i;
        if (pivot != k) {
            std::swap_ranges(matrix + k * n, matrix + (k + 1) * n, matrix + pivot * n);
            std::swap_ranges(inverse + k * n, inverse + (k + 1) * n, inverse + pivot * n);
        }
        const double divisor = matrix[k * n + k];
        for (int64_t j = 0; j < n; ++j) {
            matrix[k * n + j] /= divisor;
            inverse[k * n + j] /= divisor;
        }
        for (int64_t i = 0; i < n; ++i) {
            const double factor = matrix[i * n + k];
            for (int64_t j = 0; i != k && j < n; ++j) {
                matrix[i * n + j] -= factor * matrix[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
}

int run(KernelContext& context)
{
    const int64_t order = order_of(context), count = order * order;
    auto* matrix = static_cast<double*>(context.scratch);
    double* inverse = matrix + count;
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(context.input(0)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        for (int64_t at = 0; at < context.output(0)->elem_num; at += count) {
            for (int64_t i = 0; i < count; ++i) {
                matrix[i] = static_cast<double>(input[at + i]);
                inverse[i] = i % (order + 1) == 0;
            }
            invert(matrix, inverse, order);
            for (int64_t i = 0; i < count; ++i)
                output[at + i] = static_cast<T>(inverse[i]);
        }
        return TENGINE_OK;
    });
}

constexpr Kernel rows[] = {
    {"com.microsoft.Inverse", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable inverse_reference;
const KernelTable inverse_reference = make_table<rows>();

}  // namespace tengine::cpu
