// SPDX-License-Identifier: Apache-2.0
// Resize in mode nearest, which copies elements: each axis has a table of source positions,
// computed in each run, as it is small and scratch memory is shared. The other modes are in
// resize.cc.
#include <algorithm>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/wide_element.h"
#include "device/cpu/reference/window/resize_coordinate.h"
#include "device/cpu/reference/window/sample.h"
#include "device/cpu/shared/strided_copy.h"
#include "graph/complex.h"

namespace tengine::cpu {
namespace {

// The least number of elements that is worth a thread.
constexpr int64_t kGrain = 16384;

bool is_nearest(const node& node)
{
    return is(static_cast<const resize_param*>(node.op.param_mem)->mode, "nearest");
}

// Returns the last axis that is resized; axis 0 if none is.
int find_last_resized(const resize_axis axes[], int rank)
{
    for (int i = rank - 1; i > 0; --i)
        if (!axes[i].identity) return i;
    return 0;
}

template <class T>
void copy_nearest(KernelContext& context, const int64_t* const offsets[], int row_axis, T outside)
{
    const tensor* output = context.output(0);
    const T* from = static_cast<const T*>(context.input(0)->data);
    T* to = static_cast<T*>(output->data);
    const int64_t inner = multiply_dims(output, row_axis + 1, output->dim_num);
    const int64_t row = output->dims[row_axis];
    const int64_t row_num = multiply_dims(output, 0, row_axis);
    parallel_for(context.pool, row_num, std::max<int64_t>(kGrain / (row * inner), 1),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t r = begin; r < end; ++r) {
                         int64_t base = 0;
                         bool row_outside = false;
                         for (int64_t axis = row_axis - 1, rest = r; axis >= 0; --axis) {
                             const int64_t offset = offsets[axis][rest % output->dims[axis]];
                             row_outside = row_outside || offset == kOutside;
                             base += offset;
                             rest /= output->dims[axis];
                         }
                         T* target = to + r * row * inner;
                         for (int64_t i = 0; i < row; ++i, target += inner) {
                             const int64_t offset = offsets[row_axis][i];
                             if (row_outside || offset == kOutside)
                                 std::fill_n(target, inner, outside);
                             else if (inner == 1)
                                 *target = from[base + offset];
                             else
                                 std::copy_n(from + base + offset, inner, target);
                         }
                     }
                 });
}

int run_nearest(KernelContext& context)
{
    const auto& param = context.param<resize_param>();
    const tensor* input = context.input(0);
    if (context.output(0)->elem_num == 0) return TENGINE_OK;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_resize(context.node, axes));
    int64_t strides[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, strides);
    const int64_t* offsets[MAX_SHAPE_DIM_NUM];
    int64_t* next = static_cast<int64_t*>(context.scratch);
    for (int i = 0; i < input->dim_num; ++i) {
        fill_nearest_offsets(param, axes[i], input->dims[i], strides[i], next);
        offsets[i] = next;
        next += axes[i].size;
    }
    WideElement outside = {};
    const int part_type = get_ir_part_type(input->data_type);
    TENGINE_RETURN_IF_ERROR(dispatch_type(AllTypes{}, part_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T value = from_sample<T>(param.extrapolation_value);
        std::memcpy(&outside, &value, sizeof(T));
        return TENGINE_OK;
    }));
    return dispatch_moved_size(input->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        T element;
        std::memcpy(&element, &outside, sizeof(T));
        copy_nearest<T>(context, offsets, find_last_resized(axes, input->dim_num), element);
        return TENGINE_OK;
    });
}

int prepare_nearest(KernelContext& context)
{
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_resize(context.node, axes));
    for (int i = 0; i < context.input(0)->dim_num; ++i)
        context.scratch_size += static_cast<uint64_t>(axes[i].size) * sizeof(int64_t);
    return TENGINE_OK;
}

constexpr Kernel resize_nearest_rows[] = {
    {"Resize", "reference.nearest", is_nearest, run_nearest, prepare_nearest},
};

}  // namespace

extern const KernelTable resize_nearest_reference;
const KernelTable resize_nearest_reference = make_table<resize_nearest_rows>();

}  // namespace tengine::cpu
