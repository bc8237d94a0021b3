// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess of operator/tengine/detection_ops.c: decoding around anchors and suppression
// per class of SSD models from TensorFlow Lite. Corners are x0 y0 x1 y1, classes count from 1 (0 is
// the background), unused rows are 0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/detection/detection_box.h"
#include "operator/tengine/detection_param.h"

namespace tengine::cpu {
namespace {

// A box x numbers matrix, stored in either order.
struct BoxMatrix
{
    const float* data;
    int64_t box_stride, number_stride;

    BoxMatrix(const tensor& values, const postprocess_layout& layout, int64_t numbers)
        : data(values.f32),
          box_stride(layout.planar ? 1 : numbers),
          number_stride(layout.planar ? layout.box_num : 1)
    {
    }
    float at(int64_t box, int64_t number) const
    {
        return data[box * box_stride + number * number_stride];
    }
};

// Decodes a box. Deltas and anchors are centres: y, x, height, width.
ScoredBox decode(const BoxMatrix& deltas, int64_t box, const float* anchor, const float* scales)
{
    const float y = deltas.at(box, 0) / scales[0] * anchor[2] + anchor[0];
    const float x = deltas.at(box, 1) / scales[1] * anchor[3] + anchor[1];
    const float half_height = 0.5f * std::exp(deltas.at(box, 2) / scales[2]) * anchor[2];
    const float half_width = 0.5f * std::exp(deltas.at(box, 3) / scales[3]) * anchor[3];
    return {x - half_width, y - half_height, x + half_width, y + half_height, 0, 0};
}

Vector<ScoredBox> decode_all(const KernelContext& context, const postprocess_layout& layout)
{
    const BoxMatrix deltas(*context.input(0), layout, 4);
    const float* anchors = context.input(2)->f32;
    const float* scales = context.param<tm_detection_postprocess_param>().scales.values;
    Vector<ScoredBox> boxes;
    boxes.reserve(static_cast<size_t>(layout.box_num));
    for (int64_t i = 0; i < layout.box_num; ++i)
        boxes.push_back(decode(deltas, i, anchors + i * 4, scales));
    return boxes;
}

Vector<ScoredBox> detect(const KernelContext& context)
{
    const auto& param = context.param<tm_detection_postprocess_param>();
    postprocess_layout layout;
    if (resolve_postprocess_layout(context.node, &layout) < 0) return {};
    const int64_t class_num = int64_t{param.num_classes} + 1;
    const BoxMatrix scores(*context.input(1), layout, class_num);
    const Vector<ScoredBox> boxes = decode_all(context, layout);
    const auto suppresses = [&](const ScoredBox& taken, const ScoredBox& box) {
        return overlap(taken, box, 0) > param.nms_iou_threshold;
    };
    Vector<ScoredBox> detections, candidates;
    for (int64_t label = 1; label < class_num; ++label) {
        candidates.clear();
        for (size_t i = 0; i < boxes.size(); ++i) {
            const float score = scores.at(static_cast<int64_t>(i), label);
            if (!(score >= param.nms_score_threshold)) continue;
            candidates.push_back(boxes[i]);
            candidates.back().score = score;
            candidates.back().label = static_cast<int>(label);
        }
        sort_by_score(candidates);
        keep_first(candidates, int64_t{2} * param.max_detections);
        take_unsuppressed(candidates, std::numeric_limits<size_t>::max(), suppresses, detections);
    }
    sort_by_score(detections);
    keep_first(detections, param.max_detections);
    return detections;
}

// Returns output `index`, filled with zeros; null if it is not read.
float* clear_output(const KernelContext& context, int index)
{
    const tensor* output = index < context.output_num() ? context.output(index) : nullptr;
    if (!output) return nullptr;
    std::fill_n(output->f32, output->elem_num, 0.f);
    return output->f32;
}

int run_detection_postprocess(KernelContext& context)
{
    return with_box_memory(context, [&] {
        const Vector<ScoredBox> detections = detect(context);
        float* corners = clear_output(context, 0);
        float* labels = clear_output(context, 1);
        float* scores = clear_output(context, 2);
        float* count = clear_output(context, 3);
        for (size_t i = 0; i < detections.size(); ++i) {
            const ScoredBox& box = detections[i];
            const float values[] = {box.x0, box.y0, box.x1, box.y1};
            if (corners) std::copy_n(values, 4, corners + i * 4);
            if (labels) labels[i] = static_cast<float>(box.label);
            if (scores) scores[i] = box.score;
        }
        if (count) *count = static_cast<float>(detections.size());
        return static_cast<int>(TENGINE_OK);
    });
}

constexpr Kernel detection_postprocess_rows[] = {
    {"tengine.DetectionPostProcess", "reference", nullptr, run_detection_postprocess},
};

}  // namespace

extern const KernelTable detection_postprocess_reference;
const KernelTable detection_postprocess_reference = make_table<detection_postprocess_rows>();

}  // namespace tengine::cpu
