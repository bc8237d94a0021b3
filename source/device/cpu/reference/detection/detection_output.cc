// SPDX-License-Identifier: Apache-2.0
// DetectionOutput of operator/tengine/detection_ops.c: decoding, suppression per class and
// selection of the best, as in SSD (Liu et al., 2016). The number of detections is found here.
#include <cmath>
#include <limits>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/detection/detection_box.h"
#include "operator/tengine/detection_param.h"

namespace tengine::cpu {
namespace {

// Moves a prior box by its deltas: centres relative to the prior's size, sizes as logarithms, both
// scaled by the variances.
ScoredBox decode(const float* delta, const float* prior, const float* variance)
{
    const float width = prior[2] - prior[0], height = prior[3] - prior[1];
    const float x = variance[0] * delta[0] * width + (prior[0] + prior[2]) * 0.5f;
    const float y = variance[1] * delta[1] * height + (prior[1] + prior[3]) * 0.5f;
    const float half_width = width * std::exp(variance[2] * delta[2]) * 0.5f;
    const float half_height = height * std::exp(variance[3] * delta[3]) * 0.5f;
    return {x - half_width, y - half_height, x + half_width, y + half_height, 0, 0};
}

Vector<ScoredBox> decode_all(const KernelContext& context)
{
    const tensor* priors = context.input(2);
    const int64_t numbers = priors->dims[2];
    Vector<ScoredBox> boxes;
    boxes.reserve(static_cast<size_t>(numbers / 4));
    for (int64_t i = 0; i < numbers; i += 4)
        boxes.push_back(
            decode(context.input(0)->f32 + i, priors->f32 + i, priors->f32 + numbers + i));
    return boxes;
}

// Class 0 is the background.
Vector<ScoredBox> detect(const KernelContext& context)
{
    const auto& param = context.param<tm_detection_output_param>();
    const float* scores = context.input(1)->f32;
    const Vector<ScoredBox> boxes = decode_all(context);
    const auto suppresses = [&](const ScoredBox& taken, const ScoredBox& box) {
        return overlap(taken, box, 0) > param.nms_threshold;
    };
    Vector<ScoredBox> detections, candidates;
    for (int label = 1; label < param.num_classes; ++label) {
        candidates.clear();
        for (size_t i = 0; i < boxes.size(); ++i) {
            const float score =
                scores[i * static_cast<size_t>(param.num_classes) + static_cast<size_t>(label)];
            if (!(score > param.confidence_threshold)) continue;
            candidates.push_back(boxes[i]);
            candidates.back().score = score;
            candidates.back().label = label;
        }
        sort_by_score(candidates);
        keep_first(candidates, param.nms_top_k);
        take_unsuppressed(candidates, std::numeric_limits<size_t>::max(), suppresses, detections);
    }
    sort_by_score(detections);
    keep_first(detections, param.keep_top_k);
    return detections;
}

int run_detection_output(KernelContext& context)
{
    return with_box_memory(context, [&] {
        const Vector<ScoredBox> detections = detect(context);
        const int64_t dims[] = {1, static_cast<int64_t>(detections.size()), 6, 1};
        TENGINE_RETURN_IF_ERROR(set_node_output(context.node, 0, TENGINE_DT_FP32, dims, 4));
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(context.output(0)));
        float* out = context.output(0)->f32;
        for (const ScoredBox& box : detections) {
            *out++ = static_cast<float>(box.label);
            for (const float value : {box.score, box.x0, box.y0, box.x1, box.y1})
                *out++ = value;
        }
        return static_cast<int>(TENGINE_OK);
    });
}

constexpr Kernel detection_output_rows[] = {
    {"tengine.DetectionOutput", "reference", nullptr, run_detection_output},
};

}  // namespace

extern const KernelTable detection_output_reference;
const KernelTable detection_output_reference = make_table<detection_output_rows>();

}  // namespace tengine::cpu
