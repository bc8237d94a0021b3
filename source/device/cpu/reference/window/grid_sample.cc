// SPDX-License-Identifier: Apache-2.0
// GridSample: every output position reads the input at the grid's position. The taps of a position
// are found once and used for all channels.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/window/grid_taps.h"
#include "device/cpu/shared/strided_copy.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/resize_param.h"

namespace tengine::cpu {
namespace {

constexpr int kMostDims = MAX_SHAPE_DIM_NUM - 2;

// The taps of one output position in all dimensions: their product.
class Sampler
{
  public:
    // `position` counts the points of the grid.
    Sampler(const GridSettings& settings, const tensor* input, const tensor* grid, int64_t position)
        : dim_num_(input->dim_num - 2)
    {
        fill_dense_strides(input->dims + 2, dim_num_, strides_);
        for (int i = 0; i < dim_num_; ++i) {
            // The grid's last value belongs to the first spatial dimension.
            const double value = read_grid(grid, position * dim_num_ + dim_num_ - 1 - i);
            axes_[i] = find_grid_taps(settings, value, input->dims[i + 2]);
            tap_num_ *= axes_[i].num;
        }
    }
    // `image`: one channel.
    template <class T>
    T sample(const T* image) const
    {
        if (tap_num_ == 1) return read_single(image);
        double sum = 0;
        for (int tap = 0; tap < tap_num_; ++tap) {
            int64_t offset = 0;
            double weight = 1;
            for (int i = dim_num_ - 1, rest = tap; i >= 0; --i) {
                const GridTaps& axis = axes_[i];
                const int chosen = rest % axis.num;
                rest /= axis.num;
                if (axis.positions[chosen] < 0) weight = 0;
                offset += std::max<int64_t>(axis.positions[chosen], 0) * strides_[i];
                weight *= axis.weights[chosen];
            }
            // Weights of 0 are skipped, so that an unused infinity does not become NaN.
            if (weight != 0) sum += weight * static_cast<double>(image[offset]);
        }
        return from_sample<T>(static_cast<sample_t<T>>(sum));
    }

  private:
    template <class T>
    T read_single(const T* image) const
    {
        int64_t offset = 0;
        for (int i = 0; i < dim_num_; ++i) {
            if (axes_[i].positions[0] < 0) return T{};
            offset += axes_[i].positions[0] * strides_[i];
        }
        return image[offset];
    }

    int dim_num_;
    int tap_num_ = 1;
    GridTaps axes_[kMostDims];
    int64_t strides_[kMostDims];
};

template <class T>
void sample_all(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* grid = context.input(1);
    const tensor* output = context.output(0);
    const GridSettings settings(context.param<grid_sample_param>());
    const int64_t channel_num = input->dims[1];
    const int64_t image_size = multiply_dims(input, 2, input->dim_num);
    const int64_t point_num = multiply_dims(output, 2, output->dim_num);
    const T* from = static_cast<const T*>(input->data);
    T* to = static_cast<T*>(output->data);
    parallel_for(
        context.pool, input->dims[0] * point_num, 256, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
                const Sampler sampler(settings, input, grid, i);
                const int64_t first = i / point_num * channel_num;
                for (int64_t c = first; c < first + channel_num; ++c)
                    to[c * point_num + i % point_num] = sampler.sample(from + c * image_size);
            }
        });
}

int run_grid_sample(KernelContext& context)
{
    if (context.output(0)->elem_num == 0) return TENGINE_OK;
    return dispatch_type(AllTypes{}, context.input(0)->data_type, [&](auto type) {
        sample_all<typename decltype(type)::type>(context);
        return TENGINE_OK;
    });
}

constexpr Kernel grid_sample_rows[] = {
    {"GridSample", "reference", nullptr, run_grid_sample},
};

}  // namespace

extern const KernelTable grid_sample_reference;
const KernelTable grid_sample_reference = make_table<grid_sample_rows>();

}  // namespace tengine::cpu
