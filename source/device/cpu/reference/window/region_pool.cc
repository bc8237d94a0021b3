// SPDX-License-Identifier: Apache-2.0
// Tengine's pools over regions of one image (operator/tengine/roi_ops.c): RoiPooling (Girshick,
// Fast R-CNN, 2015), Roialign, and Psroipooling (Dai et al., R-FCN, 2016). Arithmetic is in float
// if the rounding to pixels depends on it. ONNX's pools are in roi.cc.
#include <algorithm>
#include <cmath>

#include "base/float_to_index.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "operator/tengine/roi_param.h"

namespace tengine::cpu {
namespace {

struct Plane
{
    const float* data;
    int height, width;
};

// Pixels begin..end-1 of one axis.
struct Range
{
    int begin, end;

    bool empty() const { return begin >= end; }
    int size() const { return end - begin; }
};

// Clamps to 0..limit; 0 for a NaN.
float bound(float value, int limit)
{
    return value > 0 ? std::min(value, static_cast<float>(limit)) : 0;
}

int bound_pixel(float value, int limit)
{
    return static_cast<int>(float_to_index(value, 0, limit));
}

// Calls pool(region, channel, bin row, bin column) for every element of the output.
template <class Pool>
void fill_output(const KernelContext& context, const Pool& pool)
{
    const tensor* output = context.output(0);
    const float* regions = context.input(1)->f32;
    const int channels = output->dims[1], rows = output->dims[2], columns = output->dims[3];
    const auto fill_planes = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            float* out = output->f32 + i * rows * columns;
            for (int y = 0; y < rows; ++y)
                for (int x = 0; x < columns; ++x)
                    *out++ = pool(regions + i / channels * 4, static_cast<int>(i % channels), y, x);
        }
    };
    parallel_for(context.pool, int64_t{output->dims[0]} * channels, 1, fill_planes);
}

Plane plane_of(const KernelContext& context, int64_t channel)
{
    const tensor* input = context.input(0);
    const int height = input->dims[2], width = input->dims[3];
    return {input->f32 + channel * height * width, height, width};
}

// ---- RoiPooling ----

// Returns the pixels of bin `index` of `bins` over first..last, whole pixels, both included.
Range pooled_pixels(float first, float last, int index, int bins, int limit)
{
    const float size = std::max(last - first + 1, 1.f) / static_cast<float>(bins);
    return {bound_pixel(first + std::floor(static_cast<float>(index) * size), limit),
            bound_pixel(first + std::ceil(static_cast<float>(index + 1) * size), limit)};
}

float find_maximum(const Plane& plane, const Range& rows, const Range& columns)
{
    if (rows.empty() || columns.empty()) return 0;
    float maximum = plane.data[int64_t{rows.begin} * plane.width + columns.begin];
    for (int y = rows.begin; y < rows.end; ++y)
        for (int x = columns.begin; x < columns.end; ++x)
            maximum = std::max(maximum, plane.data[int64_t{y} * plane.width + x]);
    return maximum;
}

int run_roi_pooling(KernelContext& context)
{
    const auto& param = context.param<tm_roipooling_param>();
    fill_output(context, [&](const float* region, int channel, int y, int x) {
        const Plane plane = plane_of(context, channel);
        const auto pixel = [&](int i) { return std::round(region[i] * param.spatial_scale); };
        return find_maximum(plane,
                            pooled_pixels(pixel(1), pixel(3), y, param.pooled_h, plane.height),
                            pooled_pixels(pixel(0), pixel(2), x, param.pooled_w, plane.width));
    });
    return TENGINE_OK;
}

// ---- Roialign ----

// One bin on one axis: clipped at the plane's edge, with a sample for each remaining pixel. The
// samples are spread over the size of the unclipped bin.
struct AlignedBin
{
    float start, size;
    int samples;

    AlignedBin(float first, float last, int index, int bins, int limit)
    {
        size = std::max(last - first, 1.f) / static_cast<float>(bins);
        start = bound(first + static_cast<float>(index) * size, limit);
        const float end = bound(first + static_cast<float>(index + 1) * size, limit);
        samples = end > start ? bound_pixel(std::ceil(end - start), limit) : 0;
    }
    float position(int sample) const
    {
        return start + (static_cast<float>(sample) + 0.5f) * size / static_cast<float>(samples);
    }
};

// Interpolates bilinearly; beyond the last pixel the value is that of the last pixel.
float sample(const Plane& plane, float y, float x)
{
    const int top = std::min(bound_pixel(y, plane.height), plane.height - 1);
    const int left = std::min(bound_pixel(x, plane.width), plane.width - 1);
    const bool last_row = top + 1 >= plane.height, last_column = left + 1 >= plane.width;
    const float down = last_row ? 0 : y - static_cast<float>(top);
    const float across = last_column ? 0 : x - static_cast<float>(left);
    const float* upper = plane.data + int64_t{top} * plane.width + left;
    const float* lower = last_row ? upper : upper + plane.width;
    const int next = last_column ? 0 : 1;
    return (upper[0] * (1 - across) + upper[next] * across) * (1 - down) +
           (lower[0] * (1 - across) + lower[next] * across) * down;
}

float find_aligned_mean(const Plane& plane, const AlignedBin& rows, const AlignedBin& columns)
{
    float sum = 0;
    for (int y = 0; y < rows.samples; ++y)
        for (int x = 0; x < columns.samples; ++x)
            sum += sample(plane, rows.position(y), columns.position(x));
    const float count = static_cast<float>(rows.samples) * static_cast<float>(columns.samples);
    return count > 0 ? sum / count : 0;
}

int run_roi_align(KernelContext& context)
{
    const auto& param = context.param<tm_roialign_param>();
    fill_output(context, [&](const float* region, int channel, int y, int x) {
        const Plane plane = plane_of(context, channel);
        const auto edge = [&](int i) { return region[i] * param.spatial_scale; };
        return find_aligned_mean(plane,
                                 AlignedBin(edge(1), edge(3), y, param.pooled_height, plane.height),
                                 AlignedBin(edge(0), edge(2), x, param.pooled_width, plane.width));
    });
    return TENGINE_OK;
}

// ---- Psroipooling ----

// Returns the pixels that bin `index` touches; `first` and `last` are whole pixels of the image.
Range scored_pixels(float first, float last, float scale, int index, int bins, int limit)
{
    const float start = std::round(first) * scale;
    const float end = (std::round(last) + 1) * scale;
    const float size = std::max(end - start, 0.1f) / static_cast<float>(bins);
    return {bound_pixel(std::floor(start + static_cast<float>(index) * size), limit),
            bound_pixel(std::ceil(start + static_cast<float>(index + 1) * size), limit)};
}

float find_mean(const Plane& plane, const Range& rows, const Range& columns)
{
    if (rows.empty() || columns.empty()) return 0;
    float sum = 0;
    for (int y = rows.begin; y < rows.end; ++y)
        for (int x = columns.begin; x < columns.end; ++x)
            sum += plane.data[int64_t{y} * plane.width + x];
    return sum / (static_cast<float>(rows.size()) * static_cast<float>(columns.size()));
}

// Each bin of an output channel has its own input channel.
int run_psroi_pooling(KernelContext& context)
{
    const auto& param = context.param<tm_psroipooling_param>();
    fill_output(context, [&](const float* region, int channel, int y, int x) {
        const int64_t place = (int64_t{channel} * param.pooled_h + y) * param.pooled_w + x;
        const Plane plane = plane_of(context, place);
        const float scale = param.spatial_scale;
        return find_mean(
            plane, scored_pixels(region[1], region[3], scale, y, param.pooled_h, plane.height),
            scored_pixels(region[0], region[2], scale, x, param.pooled_w, plane.width));
    });
    return TENGINE_OK;
}

constexpr Kernel region_pool_rows[] = {
    {"tengine.RoiPooling", "reference", nullptr, run_roi_pooling},
    {"tengine.Roialign", "reference", nullptr, run_roi_align},
    {"tengine.Psroipooling", "reference", nullptr, run_psroi_pooling},
};

}  // namespace

extern const KernelTable region_pool_reference;
const KernelTable region_pool_reference = make_table<region_pool_rows>();

}  // namespace tengine::cpu
