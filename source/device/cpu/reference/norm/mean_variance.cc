// SPDX-License-Identifier: Apache-2.0
// Reference kernel of MeanVarianceNormalization (operator/onnx/reduce_ops.c): (x - mean) /
// deviation.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/reduce_param.h"

namespace tengine::cpu {
namespace {

// Added to the standard deviation, as in the specification's function body.
constexpr double kEpsilon = 1e-9;

// Marks the dimensions along which mean and deviation are computed.
void mark_axes(const KernelContext& context, bool* out_reduced)
{
    constexpr int64_t kDefault[] = {0, 2, 3};
    const op_ints& axes = context.param<mvn_param>().axes;
    const int64_t* values = axes.num > 0 ? axes.values : kDefault;
    const int rank = context.input(0)->dim_num;
    std::fill(out_reduced, out_reduced + rank, false);
    for (int i = 0; i < (axes.num > 0 ? axes.num : 3); ++i) {
        out_reduced[values[i] < 0 ? values[i] + rank : values[i]] = true;
    }
}

// Groups of elements that share a mean; they are not adjacent: `group` maps each element to its
// sums.
struct Groups
{
    int rank;
    int dims[MAX_SHAPE_DIM_NUM];
    int64_t strides[MAX_SHAPE_DIM_NUM];  // 0 along reduced dimensions
    int64_t num;

    int64_t group_of(int64_t position) const
    {
        int64_t group = 0;
        for (int d = rank - 1; d >= 0; --d) {
            group += position % dims[d] * strides[d];
            position /= dims[d];
        }
        return group;
    }
};

Groups make_groups(const KernelContext& context)
{
    const tensor* input = context.input(0);
    bool reduced[MAX_SHAPE_DIM_NUM];
    mark_axes(context, reduced);
    Groups groups = {input->dim_num, {}, {}, 1};
    for (int d = input->dim_num - 1; d >= 0; --d) {
        groups.dims[d] = input->dims[d];
        groups.strides[d] = reduced[d] ? 0 : groups.num;
        if (!reduced[d]) groups.num *= input->dims[d];
    }
    return groups;
}

struct Moments
{
    double mean;
    double deviation;
};

int prepare(KernelContext& context)
{
    context.scratch_size = static_cast<uint64_t>(make_groups(context).num) * sizeof(Moments);
    return TENGINE_OK;
}

template <class T>
void normalize(const KernelContext& context, const Groups& groups, Moments* moments)
{
    const T* in = static_cast<const T*>(context.input(0)->data);
    T* out = static_cast<T*>(context.output(0)->data);
    const int64_t num = context.input(0)->elem_num;
    if (num == 0) return;
    const int64_t group_size = num / groups.num;
    const double per_group = static_cast<double>(group_size);
    std::fill(moments, moments + groups.num, Moments{0, 0});
    for (int64_t i = 0; i < num; ++i) {
        moments[groups.group_of(i)].mean += static_cast<double>(in[i]) / per_group;
    }
    for (int64_t i = 0; i < num; ++i) {
        Moments& group = moments[groups.group_of(i)];
        const double distance = static_cast<double>(in[i]) - group.mean;
        group.deviation += distance * distance / per_group;
    }
    for (int64_t i = 0; i < num; ++i) {
        const Moments& group = moments[groups.group_of(i)];
        out[i] = static_cast<T>((static_cast<double>(in[i]) - group.mean) /
                                (std::sqrt(group.deviation) + kEpsilon));
    }
}

int run(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        normalize<typename decltype(type)::type>(context, make_groups(context),
                                                 static_cast<Moments*>(context.scratch));
        return TENGINE_OK;
    });
}

constexpr Kernel mean_variance_rows[] = {
    {.op = "MeanVarianceNormalization",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable mean_variance_reference;
const KernelTable mean_variance_reference = make_table<mean_variance_rows>();

}  // namespace tengine::cpu
