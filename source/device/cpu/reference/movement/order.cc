// SPDX-License-Identifier: Apache-2.0
// Reference kernels of TopK, CumSum and CumProd (operator/onnx/order_ops.c).
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/order_param.h"

namespace tengine::cpu {
namespace {

// Requests a list of positions along the axis for each worker.
int prepare_top_k(KernelContext& context)
{
    const tensor* input = context.input(0);
    const int axis = context.param<top_k_param>().axis;
    const int64_t n = input->dims[axis < 0 ? axis + input->dim_num : axis];
    context.scratch_size = static_cast<uint64_t>(n) * sizeof(int64_t) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

// A strict order even with NaN, which counts as larger than every number, as in numpy.
template <class C>
bool is_larger(C a, C b)
{
    if constexpr (std::is_floating_point_v<C>) {
        if (a != a || b != b) return a != a && b == b;
    }
    return a > b;
}

// Finds the positions of the k best of n elements, best first; of equal elements, the lower
// position first. Uses a heap, which stays within its list for any result of the comparisons: the
// values may be in a mapped file that changes.
template <class T>
void sort_positions(const T* data, int64_t n, int64_t stride, int64_t k, bool largest,
                    int64_t* out_positions)
{
    using C = compute_t<T>;
    for (int64_t i = 0; i < n; ++i)
        out_positions[i] = i;
    std::partial_sort(out_positions, out_positions + k, out_positions + n,
                      [=](int64_t a, int64_t b) {
                          const C first = static_cast<C>(data[a * stride]);
                          const C second = static_cast<C>(data[b * stride]);
                          if (is_larger(first, second)) return largest;
                          if (is_larger(second, first)) return !largest;
                          return a < b;
                      });
}

// The result is sorted also if `sorted` is 0, which leaves the order open.
template <class T>
void find_top_k(const KernelContext& context)
{
    const auto& param = context.param<top_k_param>();
    const tensor* input = context.input(0);
    const int axis = param.axis < 0 ? param.axis + input->dim_num : param.axis;
    const int64_t n = input->dims[axis];
    const int64_t k = (context.output(0) ? context.output(0) : context.output(1))->dims[axis];
    const int64_t inner = multiply_dims(input, axis + 1, input->dim_num);
    const int64_t lines = multiply_dims(input, 0, axis) * inner;
    const T* data = static_cast<const T*>(input->data);
    T* values = context.output(0) ? static_cast<T*>(context.output(0)->data) : nullptr;
    int64_t* indices = context.output(1) ? context.output(1)->i64 : nullptr;
    parallel_for(context.pool, lines, 1, [&](int64_t begin, int64_t end, int worker) {
        int64_t* positions = static_cast<int64_t*>(context.scratch) + worker * n;
        for (int64_t line = begin; line < end; ++line) {
            const T* from = data + line / inner * n * inner + line % inner;
            const int64_t to = line / inner * k * inner + line % inner;
            sort_positions(from, n, inner, k, param.largest != 0, positions);
            for (int64_t i = 0; i < k; ++i) {
                if (values) values[to + i * inner] = from[positions[i] * inner];
                if (indices) indices[to + i * inner] = positions[i];
            }
        }
    });
}

int run_top_k(KernelContext& context)
{
    return dispatch_type(NumberTypes{}, context.input(0)->data_type, [&](auto type) {
        find_top_k<typename decltype(type)::type>(context);
        return TENGINE_OK;
    });
}

struct Addition
{
    static constexpr int kStart = 0;
    template <class T>
    static T combine(T a, T b)
    {
        return wrap_add(a, b);
    }
};

struct Multiplication
{
    static constexpr int kStart = 1;
    template <class T>
    static T combine(T a, T b)
    {
        return wrap_multiply(a, b);
    }
};

// Computes running sums or products of one line, floats in double; integers wrap.
template <class Operation, class T>
void accumulate_line(const T* in, int64_t n, int64_t stride, bool exclusive, T* out)
{
    using Result = std::conditional_t<is_float<T>, double, T>;
    Result result = Operation::kStart;
    for (int64_t i = 0; i < n; ++i) {
        const Result value = static_cast<Result>(in[i * stride]);
        const Result after = Operation::combine(result, value);
        out[i * stride] = static_cast<T>(exclusive ? result : after);
        result = after;
    }
}

template <class Operation, class T>
void accumulate(const KernelContext& context, int axis)
{
    const auto& param = context.param<cumulation_param>();
    const tensor* input = context.input(0);
    const int64_t n = input->dims[axis];
    const int64_t inner = multiply_dims(input, axis + 1, input->dim_num);
    const int64_t lines = multiply_dims(input, 0, axis) * inner;
    // The reverse direction starts at the last element with a negative stride.
    const int64_t start = param.reverse && n > 0 ? (n - 1) * inner : 0;
    const int64_t stride = param.reverse ? -inner : inner;
    const T* in = static_cast<const T*>(input->data);
    T* out = static_cast<T*>(context.output(0)->data);
    for (int64_t line = 0; line < lines; ++line) {
        const int64_t offset = line / inner * n * inner + line % inner + start;
        accumulate_line<Operation>(in + offset, n, stride, param.exclusive != 0, out + offset);
    }
}

using CumulationTypes =
    TypeList<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;

template <class Operation>
int run_cumulation(KernelContext& context)
{
    int64_t value = 0;
    int num = 0;
    int axis = 0;
    TENGINE_RETURN_IF_ERROR(read_int_input(context.node, 1, &value, 1, &num));
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, value, context.input(0)->dim_num, &axis));
    return dispatch_type(CumulationTypes{}, context.input(0)->data_type, [&](auto type) {
        accumulate<Operation, typename decltype(type)::type>(context, axis);
        return TENGINE_OK;
    });
}

constexpr Kernel order_rows[] = {
    {.op = "CumProd",
     .name = "reference",
     .accepts = accepts_input<CumulationTypes>,
     .run = run_cumulation<Multiplication>,
     .in_place_input = 0},
    {.op = "CumSum",
     .name = "reference",
     .accepts = accepts_input<CumulationTypes>,
     .run = run_cumulation<Addition>,
     .in_place_input = 0},
    {.op = "TopK",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_top_k,
     .prepare = prepare_top_k},
};

}  // namespace

extern const KernelTable order_reference;
const KernelTable order_reference = make_table<order_rows>();

}  // namespace tengine::cpu
