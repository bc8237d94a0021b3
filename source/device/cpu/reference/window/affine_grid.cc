// SPDX-License-Identifier: Apache-2.0
// Reference kernel of AffineGrid (operator/onnx/grid_ops.c). Coordinates are in double.
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/resize_param.h"

namespace tengine::cpu {
namespace {

// Returns the coordinate, -1 to 1, of element `i` of `size`: the range ends at the centres of the
// first and the last element, or at their outer edges.
double place_element(int64_t i, int64_t size, bool align_corners)
{
    const auto position = static_cast<double>(i), count = static_cast<double>(size);
    if (!align_corners) return (2 * position + 1) / count - 1;
    return size == 1 ? -1 : -1 + 2 * position / (count - 1);
}

template <class T>
void fill_grid(const KernelContext& context)
{
    const bool align_corners = context.param<affine_grid_param>().align_corners != 0;
    const tensor* grid = context.output(0);
    const int axes = grid->dim_num - 2;
    const T* theta = static_cast<const T*>(context.input(0)->data);
    T* to = static_cast<T*>(grid->data);
    const auto fill = [&](int64_t begin, int64_t end, int) {
        for (int64_t point = begin; point < end; ++point) {
            double place[3];  // the innermost axis first
            int64_t rest = point;
            for (int i = 0; i < axes; ++i) {
                const int64_t size = grid->dims[axes - i];
                place[i] = place_element(rest % size, size, align_corners);
                rest /= size;
            }
            for (int i = 0; i < axes; ++i) {
                const T* row = theta + (rest * axes + i) * (axes + 1);
                auto sum = static_cast<double>(row[axes]);
                for (int j = 0; j < axes; ++j)
                    sum += static_cast<double>(row[j]) * place[j];
                to[point * axes + i] = static_cast<T>(sum);
            }
        }
    };
    parallel_for(context.pool, grid->elem_num / axes, grain_for(axes * (axes + 4)), fill);
}

int run(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.output(0)->data_type, [&](auto type) {
        fill_grid<typename decltype(type)::type>(context);
        return TENGINE_OK;
    });
}

constexpr Kernel affine_grid_rows[] = {
    {"AffineGrid", "reference", nullptr, run},
};

}  // namespace

extern const KernelTable affine_grid_reference;
const KernelTable affine_grid_reference = make_table<affine_grid_rows>();

}  // namespace tengine::cpu
