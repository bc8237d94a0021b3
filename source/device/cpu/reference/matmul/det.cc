// SPDX-License-Identifier: Apache-2.0
// Det: the product of the pivots of an elimination (elimination.h).
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/matmul/elimination.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

int64_t order_of(const KernelContext& context)
{
    const tensor* input = context.input(0);
    return input->dims[input->dim_num - 1];
}

int prepare_det(KernelContext& context)
{
    const auto order = static_cast<uint64_t>(order_of(context));
    context.scratch_size = order * order * sizeof(double);
    return TENGINE_OK;
}

// Returns the determinant of an n x n matrix, which is destroyed; 1 if n is 0.
double eliminate(double* matrix, int64_t n)
{
    const EliminationRows rows = {matrix, n, n};
    double determinant = 1;
    for (int64_t k = 0; k < n; ++k) {
        if (rows.bring_pivot(k)) determinant = -determinant;
        const double pivot = rows[k][k];
        determinant *= pivot;
        if (pivot == 0) return 0;
        for (int64_t i = k + 1; i < n; ++i)
            rows.subtract(i, k, rows[i][k] / pivot, k);
    }
    return determinant;
}

int run_det(KernelContext& context)
{
    const int64_t order = order_of(context);
    auto* matrix = static_cast<double*>(context.scratch);
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(context.input(0)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        for (int64_t i = 0; i < context.output(0)->elem_num; ++i) {
            std::copy_n(input + i * order * order, order * order, matrix);
            output[i] = static_cast<T>(eliminate(matrix, order));
        }
        return TENGINE_OK;
    });
}

constexpr Kernel det_rows[] = {
    {"Det", "reference", nullptr, run_det, prepare_det},
};

}  // namespace

extern const KernelTable det_reference;
const KernelTable det_reference = make_table<det_rows>();

}  // namespace tengine::cpu
