// SPDX-License-Identifier: Apache-2.0
// PriorBox of operator/tengine/detection_ops.c: the default boxes of SSD around every cell of a
// feature map, relative to the image, then the variances that scale their deltas.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "operator/tengine/detection_param.h"

namespace tengine::cpu {
namespace {

struct Image
{
    float width, height;
    float step_x, step_y;

    Image(const tm_priorbox_param& param, const tensor& feature, const tensor& data)
    {
        const bool given = param.image_w > 0 && param.image_h > 0;
        width = static_cast<float>(given ? param.image_w : data.dims[3]);
        height = static_cast<float>(given ? param.image_h : data.dims[2]);
        const bool stepped = param.step_w != 0 && param.step_h != 0;
        step_x = stepped ? param.step_w : width / static_cast<float>(feature.dims[3]);
        step_y = stepped ? param.step_h : height / static_cast<float>(feature.dims[2]);
    }
};

class Writer
{
  public:
    Writer(const tm_priorbox_param& param, const Image& image, float* out)
        : param_(param), image_(image), out_(out)
    {
    }

    // Writes the boxes of the cell at (x, y): per size the square, the square between this size and
    // the next, the ratios, each upright and flipped. Sizes are whole pixels, as in Caffe.
    void write_cell(int x, int y)
    {
        center_x_ = (static_cast<float>(x) + param_.offset) * image_.step_x;
        center_y_ = (static_cast<float>(y) + param_.offset) * image_.step_y;
        for (int s = 0; s < param_.min_size.num; ++s) {
            const double size = std::trunc(param_.min_size.values[s]);
            write_box(size, size);
            if (param_.max_size.num > 0) {
                const double between = std::sqrt(size * std::trunc(param_.max_size.values[s]));
                write_box(between, between);
            }
            for (int r = 0; r < param_.aspect_ratio.num; ++r) {
                const double root = std::sqrt(static_cast<double>(param_.aspect_ratio.values[r]));
                write_box(size * root, size / root);
                if (param_.flip) write_box(size / root, size * root);
            }
        }
    }

  private:
    void write_box(double width, double height)
    {
        const float half_width = static_cast<float>(width) * 0.5f;
        const float half_height = static_cast<float>(height) * 0.5f;
        *out_++ = bound((center_x_ - half_width) / image_.width);
        *out_++ = bound((center_y_ - half_height) / image_.height);
        *out_++ = bound((center_x_ + half_width) / image_.width);
        *out_++ = bound((center_y_ + half_height) / image_.height);
    }

    float bound(float value) const
    {
        return param_.clip ? std::min(std::max(value, 0.f), 1.f) : value;
    }

    const tm_priorbox_param& param_;
    const Image& image_;
    float* out_;
    float center_x_ = 0, center_y_ = 0;
};

// Caffe's default is 0.1; one value applies to all four coordinates.
float variance_of(const op_floats& variance, int coordinate)
{
    if (variance.num == 0) return 0.1f;
    return variance.values[variance.num == 4 ? coordinate : 0];
}

int run_prior_box(KernelContext& context)
{
    const auto& param = context.param<tm_priorbox_param>();
    const tensor& feature = *context.input(0);
    const tensor& output = *context.output(0);
    const int64_t numbers = output.dims[2];
    const Image image(param, feature, *context.input(1));
    for (int n = 0; n < output.dims[0]; ++n) {
        float* boxes = output.f32 + n * 2 * numbers;
        Writer writer(param, image, boxes);
        for (int y = 0; y < feature.dims[2]; ++y)
            for (int x = 0; x < feature.dims[3]; ++x)
                writer.write_cell(x, y);
        for (int64_t i = 0; i < numbers; ++i)
            boxes[numbers + i] = variance_of(param.variance, static_cast<int>(i % 4));
    }
    return TENGINE_OK;
}

constexpr Kernel prior_box_rows[] = {
    {"tengine.PriorBox", "reference", nullptr, run_prior_box},
};

}  // namespace

extern const KernelTable prior_box_reference;
const KernelTable prior_box_reference = make_table<prior_box_rows>();

}  // namespace tengine::cpu
