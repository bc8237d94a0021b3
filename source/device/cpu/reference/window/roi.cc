// SPDX-License-Identifier: Apache-2.0
// Pools over regions of interest: MaxRoiPool (Girshick, Fast R-CNN, 2015) and RoiAlign (He et al.,
// Mask R-CNN, 2017). Coordinates are computed in double for every type.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_to_index.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/window/roi_samples.h"
#include "device/cpu/shared/roi_image.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/roi_param.h"

namespace tengine::cpu {
namespace {

// One channel of one image.
template <class T>
struct Plane
{
    const T* data;
    int height, width;
};

struct Bounds
{
    int begin, end;
};

int to_pixel(double value, int limit)
{
    return static_cast<int>(float_to_index(value, 0, limit));
}

// Returns the pixels of bin `index` of `bins` over [start, end] (whole pixels, both included),
// clipped.
Bounds bin_pixels(double start, double end, int index, int bins, int limit)
{
    const double size = std::max(end - start + 1, 1.0) / bins;
    return {to_pixel(std::floor(index * size) + start, limit),
            to_pixel(std::ceil((index + 1) * size) + start, limit)};
}

// Returns 0 if the bin is empty.
template <class T>
T max_of_bin(const Plane<T>& plane, const Bounds& rows, const Bounds& columns)
{
    if (rows.begin >= rows.end || columns.begin >= columns.end) return T(0);
    compute_t<T> maximum = plane.data[int64_t{rows.begin} * plane.width + columns.begin];
    for (int y = rows.begin; y < rows.end; ++y)
        for (int x = columns.begin; x < columns.end; ++x)
            maximum = std::max<compute_t<T>>(maximum, plane.data[int64_t{y} * plane.width + x]);
    return static_cast<T>(maximum);
}

template <class T>
int run_roi_pool_of(KernelContext& context)
{
    const roi_pool_param& param = context.param<roi_pool_param>();
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const T* regions = static_cast<const T*>(context.input(1)->data);
    for (int r = 0; r < output->dims[0]; ++r)
        TENGINE_RETURN_IF_ERROR(check_roi_image(context, r, regions[r * int64_t{5}]));

    const int channels = input->dims[1], height = input->dims[2], width = input->dims[3];
    const int bin_rows = output->dims[2], bin_columns = output->dims[3];
    T* results = static_cast<T*>(output->data);
    const auto pool_planes = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            const T* region = regions + i / channels * 5;
            const auto corner = [&](int index) {
                return std::round(double{region[index]} * param.spatial_scale);
            };
            const int64_t image = float_to_index(region[0], 0, input->dims[0] - 1);
            const int64_t plane = image * channels + i % channels;
            const T* data = static_cast<const T*>(input->data) + plane * height * width;
            for (int y = 0; y < bin_rows; ++y) {
                const Bounds rows = bin_pixels(corner(2), corner(4), y, bin_rows, height);
                for (int x = 0; x < bin_columns; ++x)
                    results[(i * bin_rows + y) * bin_columns + x] =
                        max_of_bin(Plane<T>{data, height, width}, rows,
                                   bin_pixels(corner(1), corner(3), x, bin_columns, width));
            }
        }
    };
    parallel_for(context.pool, int64_t{output->dims[0]} * channels, 1, pool_planes);
    return TENGINE_OK;
}

int run_roi_pool(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        return run_roi_pool_of<typename decltype(type)::type>(context);
    });
}

// Channels that are sampled together: the positions of samples are computed once for all of them.
constexpr int kChannels = 16;

// Planes of up to kChannels channels of an image, one after the other.
template <class T>
struct Planes
{
    const T* data;
    int count, height, width;

    int64_t size() const { return int64_t{height} * width; }
};

template <class T>
void add_sample(const Planes<T>& planes, const RoiTaps& taps, double* sums)
{
    for (int c = 0; c < planes.count; ++c) {
        const T* plane = planes.data + c * planes.size();
        sums[c] +=
            taps.weights[0] * plane[taps.offsets[0]] + taps.weights[1] * plane[taps.offsets[1]] +
            taps.weights[2] * plane[taps.offsets[2]] + taps.weights[3] * plane[taps.offsets[3]];
    }
}

// ONNX defines the maximum of a bin over the weighted pixels, not over their sums.
template <class T>
void raise_to_sample(const Planes<T>& planes, const RoiTaps& taps, double* largest)
{
    for (int c = 0; c < planes.count; ++c)
        for (int i = 0; i < 4; ++i) {
            const double pixel = planes.data[c * planes.size() + taps.offsets[i]];
            largest[c] = std::max(largest[c], taps.weights[i] * pixel);
        }
}

// Computes the maximum or the mean of a bin in each plane. A region may be far larger than the
// image. Only samples in the image are taken, at most about two a pixel if their number follows
// from the region's size.
template <class T>
void align_bin(const Planes<T>& planes, const RoiGrids& grids, int y, int x, bool maximum,
               double* values)
{
    std::fill_n(values, planes.count, 0.0);
    const double count = grids.count();
    if (count == 0) return;
    const RoiSamples inside_y = grids.rows.find_inside(y, planes.height);
    const RoiSamples inside_x = grids.columns.find_inside(x, planes.width);
    bool has_zero = inside_y.number() * inside_x.number() < count;
    if (maximum) std::fill_n(values, planes.count, -std::numeric_limits<double>::infinity());
    for (int64_t i = inside_y.begin; i < inside_y.end; ++i)
        for (int64_t j = inside_x.begin; j < inside_x.end; ++j) {
            RoiTaps taps;
            if (!find_roi_taps(planes.height, planes.width, grids.rows.position(y, i),
                               grids.columns.position(x, j), taps))
                has_zero = true;
            else if (maximum)
                raise_to_sample(planes, taps, values);
            else
                add_sample(planes, taps, values);
        }
    for (int c = 0; c < planes.count; ++c)
        if (!maximum)
            values[c] /= count;
        else if (has_zero)
            values[c] = std::max(values[c], 0.0);
}

template <class T>
int run_roi_align_of(KernelContext& context)
{
    const roi_align_param& param = context.param<roi_align_param>();
    const bool maximum = std::strcmp(param.mode, "max") == 0;
    const tensor* input = context.input(0);
    const T* regions = static_cast<const T*>(context.input(1)->data);
    const int64_t* images = context.input(2)->i64;
    const tensor* output = context.output(0);
    for (int r = 0; r < output->dims[0]; ++r)
        TENGINE_RETURN_IF_ERROR(check_roi_image(context, r, static_cast<double>(images[r])));

    const int channels = input->dims[1], height = input->dims[2], width = input->dims[3];
    const int bin_rows = output->dims[2], bin_columns = output->dims[3];
    const int64_t bins = int64_t{bin_rows} * bin_columns;
    const int groups = (channels + kChannels - 1) / kChannels;
    T* results = static_cast<T*>(output->data);
    const auto align_groups = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t r = i / groups;
            const int channel = static_cast<int>(i % groups) * kChannels;
            const T* region = regions + r * 4;
            const double edges[] = {double{region[0]}, double{region[1]}, double{region[2]},
                                    double{region[3]}};
            const RoiGrids grids = find_roi_grids(param, edges, bin_rows, bin_columns);
            const T* data = static_cast<const T*>(input->data) +
                            (images[r] * channels + channel) * height * width;
            const Planes<T> planes = {data, std::min(kChannels, channels - channel), height, width};
            for (int64_t bin = 0; bin < bins; ++bin) {
                double values[kChannels];
                align_bin(planes, grids, static_cast<int>(bin / bin_columns),
                          static_cast<int>(bin % bin_columns), maximum, values);
                for (int c = 0; c < planes.count; ++c)
                    results[(r * channels + channel + c) * bins + bin] = static_cast<T>(values[c]);
            }
        }
    };
    parallel_for(context.pool, int64_t{output->dims[0]} * groups, 1, align_groups);
    return TENGINE_OK;
}

int run_roi_align(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        return run_roi_align_of<typename decltype(type)::type>(context);
    });
}

constexpr Kernel roi_rows[] = {
    {"MaxRoiPool", "reference", nullptr, run_roi_pool},
    {"RoiAlign", "reference", nullptr, run_roi_align},
};

}  // namespace

extern const KernelTable roi_reference;
const KernelTable roi_reference = make_table<roi_rows>();

}  // namespace tengine::cpu
