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
#include "device/cpu/types.h"
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

// Pixels of bin `index` of `bins` over [start, end] (whole pixels, both included), clipped.
Bounds bin_pixels(double start, double end, int index, int bins, int limit)
{
    const double size = std::max(end - start + 1, 1.0) / bins;
    return {to_pixel(std::floor(index * size) + start, limit),
            to_pixel(std::ceil((index + 1) * size) + start, limit)};
}

// 0 when the bin is empty.
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

int check_image(const KernelContext& context, int64_t region, double image)
{
    const int images = context.input(0)->dims[0];
    if (image >= 0 && image < images) return TENGINE_OK;
    return fail_node(context.node, TENGINE_ERANGE,
                     "region %lld is in image %g, expected an index below %d",
                     static_cast<long long>(region), image, images);
}

template <class T>
int run_roi_pool_of(KernelContext& context)
{
    const roi_pool_param& param = context.param<roi_pool_param>();
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const T* regions = static_cast<const T*>(context.input(1)->data);
    for (int r = 0; r < output->dims[0]; ++r)
        TENGINE_RETURN_IF_ERROR(check_image(context, r, regions[r * int64_t{5}]));

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

// The four pixels that a sample is interpolated from, and their weights: both of the upper row,
// then both of the lower one.
struct Taps
{
    int64_t offsets[4];
    double weights[4];
};

// False beyond one pixel outside of the plane, where a sample is 0.
bool find_taps(int height, int width, double y, double x, Taps& out_taps)
{
    if (height == 0 || width == 0) return false;
    if (!(y >= -1 && y <= height && x >= -1 && x <= width)) return false;
    y = std::clamp<double>(y, 0, height - 1);
    x = std::clamp<double>(x, 0, width - 1);
    const int top = static_cast<int>(y), left = static_cast<int>(x);
    const int bottom = std::min(top + 1, height - 1);
    const int right = std::min(left + 1, width - 1);
    const double down = y - top, across = x - left;
    const int64_t upper = int64_t{top} * width, lower = int64_t{bottom} * width;
    out_taps = {
        {upper + left, upper + right, lower + left, lower + right},
        {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
    return true;
}

// Samples begin..end-1 of a bin along one axis.
struct Samples
{
    int64_t begin, end;

    double number() const { return static_cast<double>(end - begin); }
};

// A region cut into bins, and the samples taken of each bin along one axis.
struct Grid
{
    double start, bin_size;
    int64_t samples;

    Grid(double begin, double end, int bins, int sampling_ratio, bool at_least_one) : start(begin)
    {
        const double size = at_least_one ? std::max(end - begin, 1.0) : end - begin;
        bin_size = size / bins;
        samples =
            sampling_ratio > 0 ? sampling_ratio : float_to_index(std::ceil(bin_size), 0, INT32_MAX);
    }

    double position(int bin, int64_t sample_index) const
    {
        return start + (bin + (static_cast<double>(sample_index) + 0.5) / samples) * bin_size;
    }

    // Those of a bin that may lie in a plane of `size` pixels; all others sample 0. Two more at
    // either end, for the rounding of positions.
    Samples find_inside(int bin, int size) const
    {
        if (bin_size == 0) return {0, samples};  // all in one place
        const auto find_index = [&](double at) {
            const double index = ((at - start) / bin_size - bin) * static_cast<double>(samples);
            return float_to_index(index, 0, samples);
        };
        const auto [first, last] = std::minmax({find_index(-1), find_index(size)});
        return {std::max<int64_t>(first - 2, 0), std::min(last + 2, samples)};
    }
};

// Channels that are sampled together: where the samples lie is found once for all of them.
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
void add_sample(const Planes<T>& planes, const Taps& taps, double* sums)
{
    for (int c = 0; c < planes.count; ++c) {
        const T* plane = planes.data + c * planes.size();
        sums[c] +=
            taps.weights[0] * plane[taps.offsets[0]] + taps.weights[1] * plane[taps.offsets[1]] +
            taps.weights[2] * plane[taps.offsets[2]] + taps.weights[3] * plane[taps.offsets[3]];
    }
}

// ONNX takes the maximum of a bin over the weighted pixels, not over their sums.
template <class T>
void raise_to_sample(const Planes<T>& planes, const Taps& taps, double* largest)
{
    for (int c = 0; c < planes.count; ++c)
        for (int i = 0; i < 4; ++i) {
            const double pixel = planes.data[c * planes.size() + taps.offsets[i]];
            largest[c] = std::max(largest[c], taps.weights[i] * pixel);
        }
}

// The maximum or the mean of a bin in each plane. A region may be far larger than the image. Only
// samples in the image are taken, which are about two a pixel at most when their number follows
// from the region's size.
template <class T>
void align_bin(const Planes<T>& planes, const Grid& rows, const Grid& columns, int y, int x,
               bool maximum, double* values)
{
    std::fill_n(values, planes.count, 0.0);
    const double count = static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
    if (count == 0) return;
    const Samples inside_y = rows.find_inside(y, planes.height);
    const Samples inside_x = columns.find_inside(x, planes.width);
    bool has_zero = inside_y.number() * inside_x.number() < count;
    if (maximum) std::fill_n(values, planes.count, -std::numeric_limits<double>::infinity());
    for (int64_t i = inside_y.begin; i < inside_y.end; ++i)
        for (int64_t j = inside_x.begin; j < inside_x.end; ++j) {
            Taps taps;
            if (!find_taps(planes.height, planes.width, rows.position(y, i), columns.position(x, j),
                           taps))
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
    const bool half_pixel = std::strcmp(param.coordinate_transformation_mode, "half_pixel") == 0;
    const tensor* input = context.input(0);
    const T* regions = static_cast<const T*>(context.input(1)->data);
    const int64_t* images = context.input(2)->i64;
    const tensor* output = context.output(0);
    for (int r = 0; r < output->dims[0]; ++r)
        TENGINE_RETURN_IF_ERROR(check_image(context, r, static_cast<double>(images[r])));

    const int channels = input->dims[1], height = input->dims[2], width = input->dims[3];
    const int bin_rows = output->dims[2], bin_columns = output->dims[3];
    const int64_t bins = int64_t{bin_rows} * bin_columns;
    const int groups = (channels + kChannels - 1) / kChannels;
    T* results = static_cast<T*>(output->data);
    const auto align_groups = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t r = i / groups;
            const int channel = static_cast<int>(i % groups) * kChannels;
            const auto edge = [&](int index) {
                return double{regions[r * 4 + index]} * param.spatial_scale -
                       (half_pixel ? 0.5 : 0);
            };
            const Grid columns(edge(0), edge(2), bin_columns, param.sampling_ratio, !half_pixel);
            const Grid rows(edge(1), edge(3), bin_rows, param.sampling_ratio, !half_pixel);
            const T* data = static_cast<const T*>(input->data) +
                            (images[r] * channels + channel) * height * width;
            const Planes<T> planes = {data, std::min(kChannels, channels - channel), height, width};
            for (int64_t bin = 0; bin < bins; ++bin) {
                double values[kChannels];
                align_bin(planes, rows, columns, static_cast<int>(bin / bin_columns),
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

constexpr Kernel rows[] = {
    {"MaxRoiPool", "reference", nullptr, run_roi_pool},
    {"RoiAlign", "reference", nullptr, run_roi_align},
};

}  // namespace

extern const KernelTable roi_reference;
const KernelTable roi_reference = make_table<rows>();

}  // namespace tengine::cpu
