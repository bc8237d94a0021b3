// SPDX-License-Identifier: Apache-2.0
// GridSample: every output position reads the input where the grid points to. The taps of a
// position are found once and used for all channels.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_to_index.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/sample.h"
#include "device/cpu/strided_copy.h"
#include "device/cpu/types.h"
#include "operator/onnx/resize_param.h"

namespace tengine::cpu {
namespace {

constexpr int kMostTaps = 4;  // of one dimension, in mode cubic
constexpr int kMostDims = MAX_SHAPE_DIM_NUM - 2;
// PyTorch's and ONNX's choice for GridSample.
constexpr double kCubicSlope = -0.75;

enum class Mode
{
    kNearest,
    kLinear,
    kCubic
};
enum class Padding
{
    kZeros,
    kBorder,
    kReflection
};

struct Settings
{
    Mode mode;
    Padding padding;
    bool align_corners;

    explicit Settings(const grid_sample_param& param)
        : mode(std::strcmp(param.mode, "cubic") == 0    ? Mode::kCubic
               : std::strcmp(param.mode, "linear") == 0 ? Mode::kLinear
                                                        : Mode::kNearest),
          padding(std::strcmp(param.padding_mode, "border") == 0       ? Padding::kBorder
                  : std::strcmp(param.padding_mode, "reflection") == 0 ? Padding::kReflection
                                                                       : Padding::kZeros),
          align_corners(param.align_corners != 0)
    {
    }

    // The image's edges in elements: centres or outer sides of the border elements.
    double low() const { return align_corners ? 0.0 : -0.5; }
    double high(int size) const { return align_corners ? size - 1.0 : size - 0.5; }
};

// Folds x into [low, high] as between two mirrors.
double reflect(double x, double low, double high)
{
    const double range = high - low;
    if (range <= 0) return low;
    const double folded = std::fmod(std::fabs(x - low), 2 * range);
    return low + std::min(folded, 2 * range - folded);
}

// The grid's value, -1 to 1 between the edges, as a coordinate of an axis. Never a NaN or
// too large for an integer.
double find_coordinate(const Settings& settings, double value, int size)
{
    const double low = settings.low();
    const double high = settings.high(size);
    double x = (value + 1) / 2 * (high - low) + low;
    if (settings.mode == Mode::kNearest) x = std::nearbyint(x);
    if (x < low || x > high) {
        if (settings.padding == Padding::kBorder) x = std::clamp(x, 0.0, size - 1.0);
        if (settings.padding == Padding::kReflection) x = reflect(x, low, high);
    }
    const double far = 2.0 * size + 8;
    return x > -far ? std::min(x, far) : -far;
}

// The taps of one axis; position -1 reads as 0.
struct AxisTaps
{
    int num;
    int64_t positions[kMostTaps];
    double weights[kMostTaps];
};

int64_t find_position(const Settings& settings, double x, int size)
{
    if (x >= 0 && x < size) return float_to_index(x, 0, size - 1);
    if (settings.padding == Padding::kZeros) return -1;
    if (settings.padding == Padding::kReflection)
        x = reflect(x, settings.low(), settings.high(size));
    return float_to_index(x, 0, size - 1);
}

AxisTaps find_taps(const Settings& settings, double value, int size)
{
    const double x = find_coordinate(settings, value, size);
    AxisTaps taps;
    if (settings.mode == Mode::kNearest) {
        taps.num = 1;
        taps.positions[0] = find_position(settings, std::nearbyint(x), size);
        taps.weights[0] = 1;
        return taps;
    }
    const bool cubic = settings.mode == Mode::kCubic;
    taps.num = cubic ? 4 : 2;
    const double first = std::floor(x) - (cubic ? 1 : 0);
    for (int t = 0; t < taps.num; ++t) {
        const double distance = std::fabs(first + t - x);
        taps.positions[t] = find_position(settings, first + t, size);
        taps.weights[t] = cubic ? cubic_weight(distance, kCubicSlope) : 1 - distance;
    }
    return taps;
}

double read_grid(const tensor* grid, int64_t position)
{
    switch (grid->data_type) {
        case TENGINE_DT_FP16:
            return static_cast<const Half*>(grid->data)[position];
        case TENGINE_DT_BF16:
            return static_cast<const BFloat16*>(grid->data)[position];
        case TENGINE_DT_FP64:
            return static_cast<const double*>(grid->data)[position];
        default:
            return grid->f32[position];
    }
}

// The taps of one output position in all dimensions: their product.
class Sampler
{
  public:
    // `position` counts the points of the grid.
    Sampler(const Settings& settings, const tensor* input, const tensor* grid, int64_t position)
        : dim_num_(input->dim_num - 2)
    {
        fill_dense_strides(input->dims + 2, dim_num_, strides_);
        for (int i = 0; i < dim_num_; ++i) {
            // The grid's last value is for the first spatial dimension.
            const double value = read_grid(grid, position * dim_num_ + dim_num_ - 1 - i);
            axes_[i] = find_taps(settings, value, input->dims[i + 2]);
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
                const AxisTaps& axis = axes_[i];
                const int chosen = rest % axis.num;
                rest /= axis.num;
                if (axis.positions[chosen] < 0) weight = 0;
                offset += std::max<int64_t>(axis.positions[chosen], 0) * strides_[i];
                weight *= axis.weights[chosen];
            }
            // Not multiplied, so that an unused infinity does not become a NaN.
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
    AxisTaps axes_[kMostDims];
    int64_t strides_[kMostDims];
};

template <class T>
void sample_all(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* grid = context.input(1);
    const tensor* output = context.output(0);
    const Settings settings(context.param<grid_sample_param>());
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

constexpr Kernel rows[] = {
    {"GridSample", "reference", nullptr, run_grid_sample},
};

}  // namespace

extern const KernelTable grid_sample_reference;
const KernelTable grid_sample_reference = make_table<rows>();

}  // namespace tengine::cpu
