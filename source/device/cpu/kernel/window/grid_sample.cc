// SPDX-License-Identifier: Apache-2.0
// GridSample (linear, two dimensions) in fp32: the four taps of some points at a time are computed
// once, as offsets and weights, and used for all channels. Inputs are read in place. Limits: four
// loads from any place in a plane for each result. Accuracy: |error| <= 5 * eps * sum |weight|
// |pixel|; points are those of the reference.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/window/grid_axis.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"

namespace tengine::cpu {
namespace {

constexpr int kTaps = 4;

// The taps of a point in a plane. A tap beyond the edge has the weight 0.
struct PointTaps
{
    int64_t offsets[kTaps];
    float weights[kTaps];
};

PointTaps find_point_taps(const GridAxis& lines, const GridAxis& columns, int64_t width,
                          const float* point)
{
    const GridTap x = columns.find_tap(double{point[0]});
    const GridTap y = lines.find_tap(double{point[1]});
    PointTaps taps;
    for (int i = 0; i < kTaps; ++i) {
        const int64_t row = y.pixels[i / 2], column = x.pixels[i % 2];
        const bool is_inside = row >= 0 && column >= 0;
        taps.offsets[i] = is_inside ? row * width + column : 0;
        taps.weights[i] = is_inside ? static_cast<float>(y.weights[i / 2] * x.weights[i % 2]) : 0;
    }
    return taps;
}

// Leaves out taps with the weight 0: an infinity there would give NaN.
float sample_carefully(const PointTaps& taps, const float* plane)
{
    float sum = 0;
    for (int i = 0; i < kTaps; ++i)
        if (taps.weights[i] != 0) sum += taps.weights[i] * plane[taps.offsets[i]];
    return sum;
}

void sample_plane(const PointTaps* points, int64_t number, const float* plane, float* output)
{
    for (int64_t i = 0; i < number; ++i) {
        const PointTaps& taps = points[i];
        const float sum =
            (taps.weights[0] * plane[taps.offsets[0]] + taps.weights[1] * plane[taps.offsets[1]]) +
            (taps.weights[2] * plane[taps.offsets[2]] + taps.weights[3] * plane[taps.offsets[3]]);
        output[i] = sum == sum ? sum : sample_carefully(taps, plane);
    }
}

int run(KernelContext& context)
{
    constexpr int64_t kMost = 64;
    const tensor &input = *context.input(0), &output = *context.output(0);
    const float* grid = context.input(1)->f32;
    const auto& param = context.param<grid_sample_param>();
    const GridAxis lines(param, input.dims[2]), columns(param, input.dims[3]);
    const int64_t channels = input.dims[1], plane = int64_t{input.dims[2]} * input.dims[3];
    const int64_t points = int64_t{output.dims[2]} * output.dims[3];
    const int64_t blocks = (points + kMost - 1) / kMost;
    parallel_for(context.pool, input.dims[0] * blocks, 4, [&](int64_t begin, int64_t end, int) {
        PointTaps taps[kMost];
        for (; begin < end; ++begin) {
            const int64_t image = begin / blocks, first = begin % blocks * kMost;
            const int64_t number = std::min(kMost, points - first);
            for (int64_t i = 0; i < number; ++i)
                taps[i] = find_point_taps(lines, columns, input.dims[3],
                                          grid + (image * points + first + i) * 2);
            for (int64_t c = image * channels; c < (image + 1) * channels; ++c)
                sample_plane(taps, number, input.f32 + c * plane, output.f32 + c * points + first);
        }
    });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor &input = *get_ir_node_input(&node, 0), &grid = *get_ir_node_input(&node, 1);
    const auto& param = *static_cast<const grid_sample_param*>(node.op.param_mem);
    return input.data_type == TENGINE_DT_FP32 && grid.data_type == TENGINE_DT_FP32 &&
           input.dim_num == 4 && std::strcmp(param.mode, "linear") == 0;
}

constexpr Kernel grid_sample_rows[] = {{"GridSample", "grid_sample.f32.gather", accepts, run}};

}  // namespace

extern const KernelTable grid_sample_kernels;
const KernelTable grid_sample_kernels = make_table<grid_sample_rows>();

}  // namespace tengine::cpu
