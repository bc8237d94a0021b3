// SPDX-License-Identifier: Apache-2.0
// Inverse of com.microsoft (operator/onnx/gemm_ops.c): Gauss-Jordan elimination (elimination.h) of
// the matrix, extended by the identity. A singular matrix gives infinities and NaN.
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

// The scratch has the matrix and, to its right, the inverse.
int prepare(KernelContext& context)
{
    const auto order = static_cast<uint64_t>(order_of(context));
    context.scratch_size = 2 * order * order * sizeof(double);
    return TENGINE_OK;
}

// Turns the left part into the identity, and the right part, the identity before, into the inverse.
void invert(const EliminationRows& rows)
{
    for (int64_t k = 0; k < rows.num; ++k) {
        rows.bring_pivot(k);
        const double pivot = rows[k][k];
        for (int64_t j = 0; j < rows.width; ++j)
            rows[k][j] /= pivot;
        for (int64_t i = 0; i < rows.num; ++i)
            if (i != k) rows.subtract(i, k, rows[i][k], 0);
    }
}

int run(KernelContext& context)
{
    const int64_t order = order_of(context), count = order * order;
    const EliminationRows rows = {static_cast<double*>(context.scratch), order, 2 * order};
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(context.input(0)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        for (int64_t at = 0; at < context.output(0)->elem_num; at += count) {
            for (int64_t i = 0; i < count; ++i) {
                double* row = rows[i / order];
                row[i % order] = static_cast<double>(input[at + i]);
                row[order + i % order] = i % (order + 1) == 0;
            }
            invert(rows);
            for (int64_t i = 0; i < count; ++i)
                output[at + i] = static_cast<T>(rows[i / order][order + i % order]);
        }
        return TENGINE_OK;
    });
}

constexpr Kernel inverse_rows[] = {
    {"com.microsoft.Inverse", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable inverse_reference;
const KernelTable inverse_reference = make_table<inverse_rows>();

}  // namespace tengine::cpu
