// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Softmax, LogSoftmax and Hardmax (operator/onnx/softmax_ops.c).
//
// The tensor is [outer, n, inner] with the softmax along n. If inner is 1, rows are computed one
// after the other; else columns in blocks, so that the innermost loop always runs along consecutive
// elements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/norm/exponential.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/softmax_param.h"

namespace tengine::cpu {
namespace {

struct Extent
{
    int64_t outer;
    int64_t n;
    int64_t inner;
};

Extent get_extent(const KernelContext& context)
{
    const tensor* input = context.input(0);
    const int axis = context.param<softmax_param>().axis;
    const int at = axis < 0 ? axis + input->dim_num : axis;
    return {multiply_dims(input, 0, at), input->dims[at],
            multiply_dims(input, at + 1, input->dim_num)};
}

// The number of accumulators of a loop along consecutive elements: the compiler must not reorder
// float arithmetic, so that one accumulator would not vectorise.
constexpr int kLanes = 16;

template <class T>
compute_t<T> find_largest(const T* row, int64_t n)
{
    using C = compute_t<T>;
    C lanes[kLanes];
    std::fill(lanes, lanes + kLanes, -std::numeric_limits<C>::infinity());
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            const C value = static_cast<C>(row[i + k]);
            lanes[k] = lanes[k] < value ? value : lanes[k];
        }
    }
    for (; i < n; ++i)
        lanes[0] = std::max(lanes[0], static_cast<C>(row[i]));
    return *std::max_element(lanes, lanes + kLanes);
}

template <class T>
double sum_exponentials(const T* row, int64_t n, compute_t<T> largest)
{
    using C = compute_t<T>;
    double sum = 0;
    C lanes[kLanes];
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            lanes[k] = exponential(static_cast<C>(row[i + k]) - largest);
        }
        for (int k = 0; k < kLanes; ++k)
            sum += static_cast<double>(lanes[k]);
    }
    for (; i < n; ++i)
        sum += static_cast<double>(exponential(static_cast<C>(row[i]) - largest));
    return sum;
}

// The result for x when the largest value and the sum of exponentials are known.
struct Softmax
{
    template <class C>
    static C finish(C x, C largest, C reciprocal, C)
    {
        return exponential(x - largest) * reciprocal;
    }
};
struct LogSoftmax
{
    template <class C>
    static C finish(C x, C largest, C, C logarithm)
    {
        return x - largest - logarithm;
    }
};

template <class Function, class T>
void transform_row(const T* row, int64_t n, T* out)
{
    using C = compute_t<T>;
    const C largest = find_largest(row, n);
    const double sum = sum_exponentials(row, n, largest);
    const C reciprocal = static_cast<C>(1 / sum);
    const C logarithm = static_cast<C>(std::log(sum));
    TENGINE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(
            Function::finish(static_cast<C>(row[i]), largest, reciprocal, logarithm));
    }
}

constexpr int kColumns = 64;

// Computes `width` columns with `stride` elements between rows.
template <class Function, class T>
void transform_columns(const T* in, int64_t n, int64_t stride, int width, T* out)
{
    using C = compute_t<T>;
    C largest[kColumns];
    double sum[kColumns] = {};
    std::fill(largest, largest + width, -std::numeric_limits<C>::infinity());
    for (int64_t i = 0; i < n; ++i) {
        for (int k = 0; k < width; ++k) {
            const C value = static_cast<C>(in[i * stride + k]);
            largest[k] = largest[k] < value ? value : largest[k];
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int k = 0; k < width; ++k) {
            sum[k] +=
                static_cast<double>(exponential(static_cast<C>(in[i * stride + k]) - largest[k]));
        }
    }
    C reciprocal[kColumns];
    C logarithm[kColumns];
    for (int k = 0; k < width; ++k) {
        reciprocal[k] = static_cast<C>(1 / sum[k]);
        logarithm[k] = static_cast<C>(std::log(sum[k]));
    }
    for (int64_t i = 0; i < n; ++i) {
        TENGINE_INDEPENDENT
        for (int k = 0; k < width; ++k) {
            out[i * stride + k] = static_cast<T>(Function::finish(
                static_cast<C>(in[i * stride + k]), largest[k], reciprocal[k], logarithm[k]));
        }
    }
}

template <class Function, class T>
void transform_rows(const KernelContext& context, const Extent& extent)
{
    const T* in = static_cast<const T*>(context.input(0)->data);
    T* out = static_cast<T*>(context.output(0)->data);
    const int64_t n = extent.n;
    const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, n));
    parallel_for(context.pool, extent.outer, grain, [=](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
            transform_row<Function>(in + row * n, n, out + row * n);
        }
    });
}

template <class Function, class T>
void transform_blocks(const KernelContext& context, const Extent& extent)
{
    const T* in = static_cast<const T*>(context.input(0)->data);
    T* out = static_cast<T*>(context.output(0)->data);
    const auto [outer, n, inner] = extent;
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    parallel_for(context.pool, outer * blocks, 1,
                 [=, n = n, inner = inner](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                         const int64_t column = i % blocks * kColumns;
                         const int64_t offset = i / blocks * n * inner + column;
                         const int width =
                             static_cast<int>(std::min<int64_t>(kColumns, inner - column));
                         transform_columns<Function>(in + offset, n, inner, width, out + offset);
                     }
                 });
}

template <class Function>
int run_softmax(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const Extent extent = get_extent(context);
        if (extent.inner == 1) {
            transform_rows<Function, T>(context, extent);
        } else {
            transform_blocks<Function, T>(context, extent);
        }
        return TENGINE_OK;
    });
}

// Writes 1 at the first of the largest elements, 0 elsewhere.
template <class T>
void mark_largest(const T* in, int64_t n, int64_t stride, T* out)
{
    using C = compute_t<T>;
    int64_t best = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (static_cast<C>(in[i * stride]) > static_cast<C>(in[best * stride])) best = i;
    }
    for (int64_t i = 0; i < n; ++i)
        out[i * stride] = static_cast<T>(C(i == best));
}

int run_hardmax(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* in = static_cast<const T*>(context.input(0)->data);
        T* out = static_cast<T*>(context.output(0)->data);
        const auto [outer, n, inner] = get_extent(context);
        for (int64_t i = 0; i < outer * inner; ++i) {
            const int64_t offset = i / inner * n * inner + i % inner;
            mark_largest(in + offset, n, inner, out + offset);
        }
        return TENGINE_OK;
    });
}

constexpr Kernel softmax_rows[] = {
    {.op = "Hardmax",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_hardmax,
     .in_place_input = 0},
    {.op = "LogSoftmax",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_softmax<LogSoftmax>,
     .in_place_input = 0},
    {.op = "Softmax",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_softmax<Softmax>,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable softmax_reference;
const KernelTable softmax_reference = make_table<softmax_rows>();

}  // namespace tengine::cpu
