// SPDX-License-Identifier: Apache-2.0
// Region of operator/tengine/detection_ops.c, the last layer of YOLO v2 (Redmon and Farhadi, 2017):
// every cell has for each box x, y, the other coordinates, objectness and classes, a channel each.
// x, y and objectness become logistic, the classes a softmax; the program decodes them.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "operator/tengine/detection_param.h"

namespace tengine::cpu {
namespace {

void apply_logistic(const float* from, float* to, int64_t num)
{
    std::transform(from, from + num, to,
                   [](float x) { return static_cast<float>(1 / (1 + std::exp(-double{x}))); });
}

// Applies a softmax to `num` values that are `stride` apart.
void apply_softmax(const float* from, float* to, int num, int64_t stride)
{
    float largest = from[0];
    for (int i = 1; i < num; ++i)
        largest = std::max(largest, from[i * stride]);
    float sum = 0;
    for (int i = 0; i < num; ++i)
        sum += to[i * stride] = std::exp(from[i * stride] - largest);
    for (int i = 0; i < num; ++i)
        to[i * stride] /= sum;
}

int run_region(KernelContext& context)
{
    const auto& param = context.param<tm_region_param>();
    const tensor* input = context.input(0);
    const int64_t cells = int64_t{input->dims[2]} * input->dims[3];
    const int64_t objectness = param.coords * cells;
    const int64_t classes = objectness + cells;
    const int64_t box_size = classes + param.num_classes * cells;
    const float* from = input->f32;
    float* to = context.output(0)->f32;
    const auto activate = [&](int64_t begin, int64_t end, int) {
        for (int64_t start = begin * box_size; start < end * box_size; start += box_size) {
            const float* in = from + start;
            float* out = to + start;
            apply_logistic(in, out, 2 * cells);
            std::copy(in + 2 * cells, in + objectness, out + 2 * cells);
            apply_logistic(in + objectness, out + objectness, cells);
            for (int64_t cell = 0; cell < cells; ++cell)
                apply_softmax(in + classes + cell, out + classes + cell, param.num_classes, cells);
        }
    };
    if (cells > 0) parallel_for(context.pool, int64_t{input->dims[0]} * param.num_box, 1, activate);
    return TENGINE_OK;
}

constexpr Kernel region_rows[] = {
    {"tengine.Region", "reference", nullptr, run_region},
};

}  // namespace

extern const KernelTable region_reference;
const KernelTable region_reference = make_table<region_rows>();

}  // namespace tengine::cpu
