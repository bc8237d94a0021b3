// SPDX-License-Identifier: Apache-2.0
// RoiAlign (average) in fp32, with vectors along the channels: images are copied to NHWC, and the
// four elements of each sample of a bin are added with their weights, which are computed once for
// all channels. A region's results are copied back to NCHW. Samples are those of the reference.
// Limits: a load for each multiply-add, from the L1 or L2 cache; the copies, if there are few
// regions or bins have few samples. Accuracy: |error| <= (4 * samples + 3) * eps * mean (sum
// |weight| |pixel|).
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/vector/layout_copy.h"
#include "device/cpu/kernel/window/roi_axis.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/roi_image.h"

#ifndef TENGINE_CPU_ROI_ALIGN
#define TENGINE_CPU_ROI_ALIGN
namespace tengine::cpu {

// A position of an image in NHWC, and its weight.
struct WeightedPixel
{
    const float* from;
    float weight;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/window/roi_align.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Adds the weighted positions to the accumulators of all channels.
void add_pixels(const WeightedPixel* pixels, int64_t number, int64_t channels, float* sums)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t c = 0;
    for (; c + 4 * lanes <= channels; c += 4 * lanes) {
        Vector sum0 = hn::LoadU(d, sums + c), sum1 = hn::LoadU(d, sums + c + lanes);
        Vector sum2 = hn::LoadU(d, sums + c + 2 * lanes);
        Vector sum3 = hn::LoadU(d, sums + c + 3 * lanes);
        for (int64_t i = 0; i < number; ++i) {
            const float* from = pixels[i].from + c;
            const Vector weight = hn::Set(d, pixels[i].weight);
            sum0 = hn::MulAdd(weight, hn::LoadU(d, from), sum0);
            sum1 = hn::MulAdd(weight, hn::LoadU(d, from + lanes), sum1);
            sum2 = hn::MulAdd(weight, hn::LoadU(d, from + 2 * lanes), sum2);
            sum3 = hn::MulAdd(weight, hn::LoadU(d, from + 3 * lanes), sum3);
        }
        hn::StoreU(sum0, d, sums + c);
        hn::StoreU(sum1, d, sums + c + lanes);
        hn::StoreU(sum2, d, sums + c + 2 * lanes);
        hn::StoreU(sum3, d, sums + c + 3 * lanes);
    }
    for (; c < channels; c += lanes) {
        const int64_t count = channels - c;
        Vector sum = load_lanes(sums + c, count);
        for (int64_t i = 0; i < number; ++i)
            sum = hn::MulAdd(hn::Set(d, pixels[i].weight), load_lanes(pixels[i].from + c, count),
                             sum);
        store_lanes(sum, sums + c, count);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(add_pixels);

// An image in NHWC.
struct Image
{
    const float* pixels;
    int64_t channels;
    int height, width;
};

// The positions of a bin's samples, with their weights, some at a time; `count` is the number of
// samples.
class BinSum
{
  public:
    BinSum(const Image& image, double count, float* sums)
        : image_(image), count_(count), sums_(sums)
    {
        std::fill_n(sums, image.channels, 0.0f);
    }

    void add(const RoiTap& row, const RoiTap& column)
    {
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) {
                const int64_t pixel = row.pixels[i] * image_.width + column.pixels[j];
                pixels_[number_++] = {
                    image_.pixels + pixel * image_.channels,
                    static_cast<float>(row.weights[i] * column.weights[j] / count_)};
            }
        if (number_ == kMost) flush();
    }
    void flush()
    {
        HWY_DYNAMIC_DISPATCH(add_pixels)(pixels_, number_, image_.channels, sums_);
        number_ = 0;
    }

  private:
    static constexpr int64_t kMost = 256;

    const Image& image_;
    double count_;
    float* sums_;
    int64_t number_ = 0;
    WeightedPixel pixels_[kMost];
};

// Divides the sum of a bin's samples by their count, in all channels. A bin may have any number of
// samples.
void add_bin(const Image& image, const RoiAxis& rows, const RoiAxis& columns, int y, int x,
             float* sums)
{
    BinSum sum(image,
               static_cast<double>(rows.sample_num()) * static_cast<double>(columns.sample_num()),
               sums);
    int64_t first_row, end_row, first_column, end_column;
    rows.find_inside(y, &first_row, &end_row);
    columns.find_inside(x, &first_column, &end_column);
    RoiTap row, column;
    for (int64_t i = first_row; i < end_row; ++i) {
        if (!rows.find_tap(y, i, &row)) continue;
        for (int64_t j = first_column; j < end_column; ++j)
            if (columns.find_tap(x, j, &column)) sum.add(row, column);
    }
    sum.flush();
}

// Scratch: images in NHWC, then for each worker the results of a region in NHWC.
uint64_t region_floats(const KernelContext& context)
{
    const tensor& output = *context.output(0);
    const int64_t floats = int64_t{output.dims[1]} * output.dims[2] * output.dims[3];
    return static_cast<uint64_t>((floats + 15) / 16 * 16);
}

uint64_t image_floats(const KernelContext& context)
{
    return static_cast<uint64_t>((context.input(0)->elem_num + 15) / 16 * 16);
}

int prepare(KernelContext& context)
{
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    context.scratch_size =
        (image_floats(context) + workers * region_floats(context)) * sizeof(float);
    return TENGINE_OK;
}

// Computes the region's results in NHWC, then copies them to the output.
void align_region(const roi_align_param& param, const Image& image, const float* region,
                  const tensor& output, float* results, float* to)
{
    const int rows = output.dims[2], columns = output.dims[3];
    const RoiAxis row_axis(param, double{region[1]}, double{region[3]}, rows, image.height);
    const RoiAxis column_axis(param, double{region[0]}, double{region[2]}, columns, image.width);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            add_bin(image, row_axis, column_axis, y, x,
                    results + (int64_t{y} * columns + x) * image.channels);
    const int64_t bins = int64_t{rows} * columns;
    copy_pixels_planar(results, bins, image.channels, 0, bins, to);
}

int run(KernelContext& context)
{
    const auto& param = context.param<roi_align_param>();
    const tensor &input = *context.input(0), &output = *context.output(0);
    const int64_t channels = input.dims[1], plane = int64_t{input.dims[2]} * input.dims[3];
    auto* const images = static_cast<float*>(context.scratch);
    for (int r = 0; r < output.dims[0]; ++r)
        TENGINE_RETURN_IF_ERROR(
            check_roi_image(context, r, static_cast<double>(context.input(2)->i64[r])));
    parallel_for(context.pool, input.dims[0] * plane, 256, [&](int64_t begin, int64_t end, int) {
        for (int64_t last = begin; begin < end; begin = last) {
            const int64_t image = begin / plane, first = begin % plane;
            last = std::min(end, begin + plane - first);
            copy_pixels_last(input.f32 + image * plane * channels, plane, channels, first,
                             first + last - begin, images + image * plane * channels);
        }
    });
    const int64_t floats = channels * output.dims[2] * output.dims[3];
    float* const results = images + image_floats(context);
    parallel_for(context.pool, output.dims[0], 1, [&](int64_t begin, int64_t end, int worker) {
        for (int64_t r = begin; r < end; ++r) {
            const float* pixels = images + context.input(2)->i64[r] * plane * channels;
            align_region(param, {pixels, channels, input.dims[2], input.dims[3]},
                         context.input(1)->f32 + r * 4, output,
                         results + region_floats(context) * static_cast<uint64_t>(worker),
                         output.f32 + r * floats);
        }
    });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const auto& param = *static_cast<const roi_align_param*>(node.op.param_mem);
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32 &&
           std::strcmp(param.mode, "avg") == 0;
}

// Whether copies of the images take less time than the reference's samples of planes: an eighth of
// a result for each of their positions, and channels for half of a vector.
bool pays(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return input.dims[1] >= 8 && get_ir_node_output(&node, 0)->elem_num >= input.elem_num / 8;
}

constexpr Kernel roi_align_rows[] = {
    {.op = "RoiAlign",
     .name = "roi_align.f32.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .pays = pays},
};

}  // namespace

extern const KernelTable roi_align_kernels;
const KernelTable roi_align_kernels = make_table<roi_align_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
