// SPDX-License-Identifier: Apache-2.0
// ReduceSum, ReduceMean and ReduceL1 of floats, ReduceL2, ReduceSumSquare, ReduceMax and ReduceMin
// of fp32, over any axes, computed in fp32 and rounded once: lines a fixed step apart are reduced
// to one result, or to a line of neighbouring results. Where the last axis is reduced, lines are
// summed along four vectors at a time; where it stays, eight lines at a time are added to the line
// of results. Results are spread over the workers. Tensors may lie with channels last.
// Limits: the bandwidth of the caches; short lines: the work done once for each.
// Accuracy: extremes are exact. A sum is within (d + 3) eps of the sum of its terms' magnitudes,
// where no term passes through more than d additions: along L lines of n, 134 + L (5 + n / 512);
// across L lines in each of P planes, 3 + P (7 + L / 8). Results that are infinite or NaN, and
// roots of sums below 2^-80, are those of sums in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/reduce_param.h"

#ifndef TENGINE_CPU_REDUCE
#define TENGINE_CPU_REDUCE
namespace tengine::cpu {

// `planes` times `lines` lines of n elements, these steps apart.
struct ReducedLines
{
    const void* input;
    int64_t planes, plane_step;
    int64_t lines, line_step;
    int64_t n;
    bool is_across;  // the result is a line, too, else one number
    uint32_t bits;   // of an element: those that count in sums; those that change in extremes
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/reduce.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// The term of an element, and the combination of two terms; kStart is neutral.
struct SumReducer
{
    static constexpr float kStart = 0;
    explicit SumReducer(const ReducedLines& lines) : bits(lines.bits) {}
    template <class D, class V>
    HWY_INLINE V term(D d, V x) const
    {
        return hn::And(x, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), bits)));
    }
    template <class V>
    static HWY_INLINE V combine(V a, V b)
    {
        return hn::Add(a, b);
    }
    static HWY_INLINE Vector combine_lanes(Vector x) { return hn::SumOfLanes(Floats(), x); }
    uint32_t bits;
};

struct SquaresReducer : SumReducer
{
    using SumReducer::SumReducer;
    template <class D, class V>
    HWY_INLINE V term(D, V x) const
    {
        return hn::Mul(x, x);
    }
};

// NaN has precedence.
struct LargestReducer : SumReducer
{
    static constexpr float kStart = -std::numeric_limits<float>::infinity();
    using SumReducer::SumReducer;
    template <class D, class V>
    HWY_INLINE V term(D d, V x) const
    {
        return hn::Xor(x, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), bits)));
    }
    template <class V>
    static HWY_INLINE V combine(V a, V b)
    {
        return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    }
    static HWY_INLINE Vector combine_lanes(Vector x)
    {
        const Floats d;
        const auto is_nan = hn::IsNaN(x);
        if (hn::AllFalse(d, is_nan)) return hn::MaxOfLanes(d, x);
        return hn::SumOfLanes(d, hn::IfThenElseZero(is_nan, x));
    }
};

// Combines a line with `total`.
template <class Reducer, class T>
HWY_INLINE Vector reduce_line(const Reducer& reducer, const T* x, int64_t n, Vector total)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    constexpr int64_t kRun = 128;  // consecutive additions
    const Vector start = hn::Set(d, Reducer::kStart);
    const auto add = [&](Vector sum, int64_t at) {
        return Reducer::combine(sum, reducer.term(d, load_elements(d, x + at)));
    };
    int64_t i = 0;
    while (i + 4 * lanes <= n) {
        const int64_t end = std::min(n, i + kRun * 4 * lanes);
        Vector first = start, second = start, third = start, fourth = start;
        for (; i + 4 * lanes <= end; i += 4 * lanes) {
            first = add(first, i);
            second = add(second, i + lanes);
            third = add(third, i + 2 * lanes);
            fourth = add(fourth, i + 3 * lanes);
        }
        total = Reducer::combine(total, Reducer::combine(Reducer::combine(first, second),
                                                         Reducer::combine(third, fourth)));
    }
    for (; i + lanes <= n; i += lanes)
        total = add(total, i);
    if (i == n) return total;
    const Vector rest = reducer.term(d, load_lanes(x + i, n - i));
    const auto present = hn::FirstN(d, static_cast<size_t>(n - i));
    return Reducer::combine(total, hn::IfThenElse(present, rest, start));
}

// Combines columns [i, n) of kLines lines with the line of results; columns beyond the last whole
// vector are left.
template <int kLines, class Reducer, class D, class T>
HWY_INLINE int64_t add_columns(const Reducer& reducer, D d, const T* x, int64_t step, int64_t i,
                               int64_t n, float* y)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
        const auto term = [&](int line) {
            return reducer.term(d, load_elements(d, x + line * step + i));
        };
        auto sum = term(0);
        if constexpr (kLines == 8) {
            const auto half = Reducer::combine(Reducer::combine(sum, term(1)),
                                               Reducer::combine(term(2), term(3)));
            sum = Reducer::combine(half, Reducer::combine(Reducer::combine(term(4), term(5)),
                                                          Reducer::combine(term(6), term(7))));
        }
        hn::StoreU(Reducer::combine(hn::LoadU(d, y + i), sum), d, y + i);
    }
    return i;
}

template <int kLines, class Reducer, class T>
HWY_INLINE int64_t add_lines(const Reducer& reducer, const ReducedLines& from, const T* x,
                             int64_t line, float* y)
{
    const hn::CappedTag<float, 1> one;
    for (; line + kLines <= from.lines; line += kLines) {
        const T* first = x + line * from.line_step;
        const int64_t i =
            add_columns<kLines>(reducer, Floats(), first, from.line_step, 0, from.n, y);
        add_columns<kLines>(reducer, one, first, from.line_step, i, from.n, y);
    }
    return line;
}

template <class Reducer, class T>
HWY_INLINE void reduce_lines(const ReducedLines& from, float* y)
{
    const Reducer reducer(from);
    Vector total = hn::Set(Floats(), Reducer::kStart);
    if (from.is_across) std::fill_n(y, from.n, Reducer::kStart);
    for (int64_t plane = 0; plane < from.planes; ++plane) {
        const T* x = static_cast<const T*>(from.input) + plane * from.plane_step;
        if (from.is_across) {
            const int64_t line = add_lines<8>(reducer, from, x, 0, y);
            add_lines<1>(reducer, from, x, line, y);
            continue;
        }
        for (int64_t line = 0; line < from.lines; ++line)
            total = reduce_line(reducer, x + line * from.line_step, from.n, total);
    }
    if (!from.is_across) *y = hn::GetLane(Reducer::combine_lanes(total));
}

#define TENGINE_REDUCE(name, Reducer, T)          \
    void name(const ReducedLines& from, float* y) \
    {                                             \
        reduce_lines<Reducer, T>(from, y);        \
    }
TENGINE_REDUCE(sum_lines, SumReducer, float)
TENGINE_REDUCE(sum_squares, SquaresReducer, float)
TENGINE_REDUCE(find_largest, LargestReducer, float)
TENGINE_REDUCE(sum_fp16_lines, SumReducer, Half)
TENGINE_REDUCE(sum_bf16_lines, SumReducer, BFloat16)
#undef TENGINE_REDUCE

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(sum_lines);
HWY_EXPORT(sum_squares);
HWY_EXPORT(find_largest);
HWY_EXPORT(sum_fp16_lines);
HWY_EXPORT(sum_bf16_lines);

// ---- results of lines ----

enum class Result
{
    kSum,
    kMean,
    kMagnitudes,
    kSquares,
    kRoot,
    kLargest,
    kSmallest,  // the largest with the sign changed
};

constexpr bool is_extreme(Result result)
{
    return result == Result::kLargest || result == Result::kSmallest;
}

constexpr bool has_squares(Result result)
{
    return result == Result::kSquares || result == Result::kRoot;
}

constexpr uint32_t bits_of(Result result)
{
    constexpr uint32_t kSign = 0x80000000;
    if (is_extreme(result)) return result == Result::kSmallest ? kSign : 0;
    return result == Result::kMagnitudes ? ~kSign : ~uint32_t{0};
}

using Function = void (*)(const ReducedLines&, float*);

// Sums of all float types, the others of fp32.
Function find_function(Result result, const tensor& input)
{
    if (has_float16(input))
        return input.data_type == TENGINE_DT_FP16 ? HWY_DYNAMIC_DISPATCH(sum_fp16_lines)
                                                  : HWY_DYNAMIC_DISPATCH(sum_bf16_lines);
    if (is_extreme(result)) return HWY_DYNAMIC_DISPATCH(find_largest);
    return has_squares(result) ? HWY_DYNAMIC_DISPATCH(sum_squares)
                               : HWY_DYNAMIC_DISPATCH(sum_lines);
}

double finish(Result result, double sum, int64_t count)
{
    if (result == Result::kMean) return sum / static_cast<double>(count);
    if (result == Result::kSmallest) return -sum;
    return result == Result::kRoot ? std::sqrt(sum) : sum;
}

// The result of the first element of each line, or of whole lines, in double. The first line begins
// at element `first` of the input.
float sum_again(Result result, const ReducedLines& from, const tensor& input, int64_t first,
                int64_t count)
{
    double sum = 0;
    for (int64_t plane = 0; plane < from.planes; ++plane)
        for (int64_t line = 0; line < from.lines; ++line) {
            const int64_t begin = first + plane * from.plane_step + line * from.line_step;
            for (int64_t i = 0; i < (from.is_across ? 1 : from.n); ++i) {
                const double each = read_float(input, begin + i);
                sum += has_squares(result)             ? each * each
                       : result == Result::kMagnitudes ? std::fabs(each)
                                                       : each;
            }
        }
    return static_cast<float>(finish(result, sum, count));
}

// Computes results from the reduced lines.
void finish_results(Result result, const ReducedLines& from, const tensor& input, int64_t first,
                    int64_t count, float* y)
{
    if (result == Result::kLargest) return;
    for (int64_t i = 0; i < (from.is_across ? from.n : 1); ++i) {
        const bool is_small = result == Result::kRoot && y[i] < 0x1p-80f;  // squares were lost
        y[i] = static_cast<float>(finish(result, y[i], count));
        if (is_extreme(result) || (std::isfinite(y[i]) && !is_small)) continue;
        y[i] = sum_again(result, from, input, first + i, count);
    }
}

// ---- the choice of lines ----

struct Axis
{
    int64_t size, step;
    bool is_reduced;
};

// Axes in their order in memory, without those of one element; neighbours that are both reduced or
// both kept are merged.
struct Axes
{
    int num = 0;
    Axis list[MAX_SHAPE_DIM_NUM] = {};

    void add_inner(int64_t size, bool is_reduced)
    {
        if (size == 1) return;
        for (int i = 0; i < num; ++i)
            list[i].step *= size;
        if (num > 0 && list[num - 1].is_reduced == is_reduced) {
            list[num - 1].size *= size;
            list[num - 1].step = 1;
        } else {
            list[num++] = {size, 1, is_reduced};
        }
    }
};

// Reads which axes are reduced, in their order in memory.
int read_axes(const node& node, bool is_channels_last, bool* is_reduced, Axes* out_axes)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    int64_t listed[MAX_SHAPE_DIM_NUM];
    int listed_num = 0;
    TENGINE_RETURN_IF_ERROR(read_int_input(&node, 1, listed, MAX_SHAPE_DIM_NUM, &listed_num));
    std::fill(is_reduced, is_reduced + MAX_SHAPE_DIM_NUM, listed_num == 0);
    for (int i = 0; i < listed_num; ++i)
        is_reduced[listed[i] < 0 ? listed[i] + input.dim_num : listed[i]] = true;
    constexpr int kInMemory[] = {0, 2, 3, 1};
    for (int i = 0; i < input.dim_num; ++i) {
        const int axis = is_channels_last ? kInMemory[i] : i;
        out_axes->add_inner(input.dims[axis], is_reduced[axis]);
    }
    return TENGINE_OK;
}

// The positions of the results, and of the lines of each.
struct Plan
{
    ReducedLines lines = {nullptr, 1, 0, 1, 0, 1, true, 0};
    int64_t count = 1;  // elements of one result
    int kept_num = 0;   // axes of results or of lines of them, from the innermost
    Axis kept[MAX_SHAPE_DIM_NUM] = {};

    int64_t offset_of(int64_t position) const
    {
        int64_t offset = 0;
        for (int i = 0; i < kept_num; ++i) {
            offset += position % kept[i].size * kept[i].step;
            position /= kept[i].size;
        }
        return offset;
    }
};

// False if more than two axes are reduced beside that of the lines.
bool make_plan(const Axes& axes, Plan* out_plan)
{
    int reduced_num = 0;
    for (int i = axes.num - 1; i >= 0; --i) {
        const Axis& axis = axes.list[i];
        if (axis.is_reduced) out_plan->count *= axis.size;
        if (i == axes.num - 1) {
            out_plan->lines.n = axis.size;
            out_plan->lines.is_across = !axis.is_reduced;
        } else if (!axis.is_reduced) {
            out_plan->kept[out_plan->kept_num++] = axis;
        } else if (reduced_num++ == 0) {
            out_plan->lines.lines = axis.size;
            out_plan->lines.line_step = axis.step;
        } else {
            out_plan->lines.planes = axis.size;
            out_plan->lines.plane_step = axis.step;
        }
    }
    return reduced_num <= 2;
}

int reduce(KernelContext& context, Result result, bool is_channels_last)
{
    bool is_reduced[MAX_SHAPE_DIM_NUM];
    Axes axes;
    Plan plan;
    TENGINE_RETURN_IF_ERROR(read_axes(*context.node, is_channels_last, is_reduced, &axes));
    make_plan(axes, &plan);
    plan.lines.bits = bits_of(result);
    const tensor &input = *context.input(0), &output = *context.output(0);
    const Function function = find_function(result, input);
    // Lines of results are split into units, whose accumulators stay in L1.
    constexpr int64_t kUnit = 64, kMostUnits = 16;
    const int64_t width = plan.lines.is_across ? plan.lines.n : 1;
    const int64_t units = (width + kUnit - 1) / kUnit;
    const auto work = [&](int64_t begin, int64_t end, int) {
        alignas(64) float block[kUnit * kMostUnits];
        while (begin < end) {
            const int64_t item = begin / units, unit = begin % units;
            const int64_t last = std::min({units, end - item * units, unit + kMostUnits});
            const int64_t from = plan.offset_of(item) + unit * kUnit;
            const int64_t to = item * width + unit * kUnit;
            ReducedLines lines = plan.lines;
            lines.input = input.u8 + from * input.elem_size;
            if (lines.is_across) lines.n = std::min(last * kUnit, width) - unit * kUnit;
            float* results = has_float16(input) ? block : output.f32 + to;
            function(lines, results);
            finish_results(result, lines, input, from, plan.count, results);
            if (has_float16(input))
                find_float_rows(input.data_type)
                    .narrow(block, lines.is_across ? lines.n : 1, output.f16 + to);
            begin = item * units + last;
        }
    };
    parallel_for(context.pool, output.elem_num / width * units,
                 grain_for(plan.count * std::min(kUnit, width)), work);
    return TENGINE_OK;
}

template <Result kResult, bool kIsChannelsLast>
int run(KernelContext& context)
{
    return reduce(context, kResult, kIsChannelsLast);
}

// Whether there are elements to reduce, and no more axes than a plan has.
bool accepts(const node& node, bool is_channels_last, bool* is_reduced)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    const tensor* given = get_ir_node_input(&node, 1);
    const auto& param = *static_cast<const reduce_param*>(node.op.param_mem);
    if (!is_fast_float(input.data_type) || input.elem_num == 0 ||
        (param.noop_with_empty_axes && (!given || given->elem_num == 0)))
        return false;
    Axes axes;
    Plan plan;
    return read_axes(node, is_channels_last, is_reduced, &axes) == TENGINE_OK &&
           make_plan(axes, &plan);
}

bool has_type_for(const node& node, Result result)
{
    const bool is_sum = !is_extreme(result) && !has_squares(result);
    return is_sum || get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32;
}

template <Result kResult>
bool accepts_planar(const node& node)
{
    bool is_reduced[MAX_SHAPE_DIM_NUM];
    return has_type_for(node, kResult) && accepts(node, false, is_reduced);
}

// Results of rank four have their channels last, too. Other results have the graph's layout, which
// must be identical.
template <Result kResult>
bool accepts_pixels(const node& node)
{
    bool is_reduced[MAX_SHAPE_DIM_NUM];
    const tensor& input = *get_ir_node_input(&node, 0);
    if (input.dim_num != 4 || !has_type_for(node, kResult) || !accepts(node, true, is_reduced))
        return false;
    const auto stays = [&](int axis) { return !is_reduced[axis] && input.dims[axis] > 1; };
    return get_ir_node_output(&node, 0)->dim_num == 4 || !stays(1) || (!stays(2) && !stays(3));
}

template <Result kResult>
constexpr Kernel planar(const char* op, const char* name)
{
    return {.op = op, .name = name, .accepts = accepts_planar<kResult>, .run = run<kResult, false>};
}

template <Result kResult>
constexpr Kernel channels_last(const char* op, const char* name)
{
    return {.op = op,
            .name = name,
            .accepts = accepts_pixels<kResult>,
            .run = run<kResult, true>,
            .layout = Layout::kChannelsLast};
}

constexpr Kernel reduce_rows[] = {
    channels_last<Result::kSum>("ReduceSum", "reduce_sum.fp.nhwc"),
    planar<Result::kSum>("ReduceSum", "reduce_sum.fp.vector"),
    channels_last<Result::kMean>("ReduceMean", "reduce_mean.fp.nhwc"),
    planar<Result::kMean>("ReduceMean", "reduce_mean.fp.vector"),
    channels_last<Result::kMagnitudes>("ReduceL1", "reduce_l1.fp.nhwc"),
    planar<Result::kMagnitudes>("ReduceL1", "reduce_l1.fp.vector"),
    channels_last<Result::kSquares>("ReduceSumSquare", "reduce_sum_square.f32.nhwc"),
    planar<Result::kSquares>("ReduceSumSquare", "reduce_sum_square.f32.vector"),
    channels_last<Result::kRoot>("ReduceL2", "reduce_l2.f32.nhwc"),
    planar<Result::kRoot>("ReduceL2", "reduce_l2.f32.vector"),
    channels_last<Result::kLargest>("ReduceMax", "reduce_max.f32.nhwc"),
    planar<Result::kLargest>("ReduceMax", "reduce_max.f32.vector"),
    channels_last<Result::kSmallest>("ReduceMin", "reduce_min.f32.nhwc"),
    planar<Result::kSmallest>("ReduceMin", "reduce_min.f32.vector"),
};

}  // namespace

extern const KernelTable reduce_kernels;
const KernelTable reduce_kernels = make_table<reduce_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
