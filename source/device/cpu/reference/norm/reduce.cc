// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Reduce* (operator/onnx/reduce_ops.c).
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/reduce_param.h"

namespace tengine::cpu {
namespace {

// ---- what is done with the elements: add() each, then result() of `n` elements ----

// Integers are summed modulo 2^64 and keep their low bits.
template <class T>
struct Sum
{
    wide_t<T> value = 0;
    void add(wide_t<T> x) { value = wrap_add(value, x); }
    T result(int64_t) const { return static_cast<T>(value); }
};

template <class T>
struct Mean : Sum<T>
{
    T result(int64_t n) const
    {
        return static_cast<T>(wrap_divide(this->value, static_cast<wide_t<T>>(n)));
    }
};

template <class T>
struct SumSquare : Sum<T>
{
    void add(wide_t<T> x) { Sum<T>::add(wrap_multiply(x, x)); }
};

template <class T>
struct L1 : Sum<T>
{
    void add(wide_t<T> x) { Sum<T>::add(x < 0 ? wrap_negate(x) : x); }
};

template <class T>
struct L2
{
    double value = 0;
    void add(wide_t<T> x) { value += static_cast<double>(x) * static_cast<double>(x); }
    T result(int64_t) const { return from_double<T>(std::sqrt(value)); }
};

template <class T>
struct LogSum
{
    double value = 0;
    void add(wide_t<T> x) { value += static_cast<double>(x); }
    T result(int64_t) const { return from_double<T>(std::log(value)); }
};

// log(sum of e^x) = m + log(sum of e^(x - m)) with m the largest x so far.
template <class T>
struct LogSumExp
{
    double largest = -std::numeric_limits<double>::infinity();
    double sum = 0;
    void add(wide_t<T> element)
    {
        const double x = static_cast<double>(element);
        if (x == largest) {  // both may be infinite
            sum += 1;
        } else if (x < largest) {
            sum += std::exp(x - largest);
        } else {
            sum = sum * std::exp(largest - x) + 1;
            largest = x;
        }
    }
    T result(int64_t) const { return from_double<T>(largest + std::log(sum)); }
};

template <class T>
struct Prod
{
    wide_t<T> value = 1;
    void add(wide_t<T> x) { value = wrap_multiply(value, x); }
    T result(int64_t) const { return static_cast<T>(value); }
};

// Without elements the result is the identity of the operation.
template <class T>
struct Max
{
    using Limits = std::numeric_limits<wide_t<T>>;
    wide_t<T> value = is_float<T> ? -Limits::infinity()
                                  : static_cast<wide_t<T>>(std::numeric_limits<T>::lowest());
    void add(wide_t<T> x) { value = larger(value, x); }
    T result(int64_t) const { return static_cast<T>(value); }
};

template <class T>
struct Min
{
    using Limits = std::numeric_limits<wide_t<T>>;
    wide_t<T> value =
        is_float<T> ? Limits::infinity() : static_cast<wide_t<T>>(std::numeric_limits<T>::max());
    void add(wide_t<T> x) { value = smaller(value, x); }
    T result(int64_t) const { return static_cast<T>(value); }
};

// ---- which elements ----

struct Dimension
{
    int64_t size;
    int64_t stride;
};

// A list of dimensions from the outermost inwards; neighbours are merged.
struct Dimensions
{
    int rank = 0;
    int64_t elements = 1;
    Dimension dims[MAX_SHAPE_DIM_NUM] = {};

    void add_inner(int64_t size, int64_t stride)
    {
        elements *= size;
        if (rank > 0 && dims[rank - 1].stride == size * stride) {
            dims[rank - 1] = {dims[rank - 1].size * size, stride};
        } else {
            dims[rank++] = {size, stride};
        }
    }

    int64_t offset_of(int64_t position) const
    {
        int64_t offset = 0;
        for (int d = rank - 1; d >= 0; --d) {
            offset += position % dims[d].size * dims[d].stride;
            position /= dims[d].size;
        }
        return offset;
    }
};

struct Reduction
{
    Dimensions kept;
    Dimensions reduced;
};

// Without axes all dimensions are reduced or, with noop_with_empty_axes, none: each element is
// reduced alone, which still computes a magnitude, a square or a logarithm.
int read_reduction(const KernelContext& context, Reduction* out_reduction)
{
    const tensor* input = context.input(0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const int status = read_int_input(context.node, 1, axes, MAX_SHAPE_DIM_NUM, &axis_num);
    if (status != TENGINE_OK) return status;
    bool reduced[MAX_SHAPE_DIM_NUM];
    const bool is_all = axis_num == 0 && !context.param<reduce_param>().noop_with_empty_axes;
    std::fill(reduced, reduced + MAX_SHAPE_DIM_NUM, is_all);
    for (int i = 0; i < axis_num; ++i) {
        reduced[axes[i] < 0 ? axes[i] + input->dim_num : axes[i]] = true;
    }
    for (int d = 0; d < input->dim_num; ++d) {
        Dimensions& list = reduced[d] ? out_reduction->reduced : out_reduction->kept;
        list.add_inner(input->dims[d], multiply_dims(input, d + 1, input->dim_num));
    }
    return TENGINE_OK;
}

template <class Reducer, class T>
T reduce_elements(const T* data, const Dimensions& reduced)
{
    Reducer reducer;
    const int last = reduced.rank - 1;
    const Dimension inner = last < 0 ? Dimension{1, 0} : reduced.dims[last];
    const int64_t outer = reduced.elements == 0 ? 0 : reduced.elements / inner.size;
    for (int64_t i = 0; i < outer; ++i) {
        const T* from = data + reduced.offset_of(i * inner.size);
        for (int64_t k = 0; k < inner.size; ++k) {
            reducer.add(static_cast<wide_t<T>>(from[k * inner.stride]));
        }
    }
    return reducer.result(reduced.elements);
}

template <class Reducer, class T>
void reduce_tensor(const KernelContext& context, const Reduction& reduction)
{
    const T* data = static_cast<const T*>(context.input(0)->data);
    T* output = static_cast<T*>(context.output(0)->data);
    const int64_t per_output = std::max<int64_t>(1, reduction.reduced.elements);
    const int64_t grain = std::max<int64_t>(1, kElementGrain / per_output);
    parallel_for(context.pool, context.output(0)->elem_num, grain,
                 [&, data, output](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                         output[i] = reduce_elements<Reducer>(data + reduction.kept.offset_of(i),
                                                              reduction.reduced);
                     }
                 });
}

template <template <class> class Reducer, class Types>
int run_reduce(KernelContext& context)
{
    const tensor* input = context.input(0);
    Reduction reduction;
    TENGINE_RETURN_IF_ERROR(read_reduction(context, &reduction));
    // Extremes of bool are computed as uint8.
    const int data_type = input->data_type == TENGINE_DT_BOOL ? TENGINE_DT_UINT8 : input->data_type;
    return dispatch_type(Types{}, data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        reduce_tensor<Reducer<T>, T>(context, reduction);
        return TENGINE_OK;
    });
}

using SumTypes = TypeList<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;

bool accepts_extreme(const node& node)
{
    return accepts_input<NumberTypes>(node) || accepts_input<TypeList<bool>>(node);
}

#define REDUCE(name)                                                                     \
    {                                                                                    \
        "Reduce" #name, "reference", accepts_input<SumTypes>, run_reduce<name, SumTypes> \
    }

constexpr Kernel reduce_rows[] = {
    REDUCE(L1),
    REDUCE(L2),
    REDUCE(LogSum),
    REDUCE(LogSumExp),
    REDUCE(Mean),
    REDUCE(Prod),
    REDUCE(Sum),
    REDUCE(SumSquare),
    {"ReduceMax", "reference", accepts_extreme, run_reduce<Max, NumberTypes>},
    {"ReduceMin", "reference", accepts_extreme, run_reduce<Min, NumberTypes>},
};

}  // namespace

extern const KernelTable reduce_reference;
const KernelTable reduce_reference = make_table<reduce_rows>();

}  // namespace tengine::cpu
