// SPDX-License-Identifier: Apache-2.0
// Rpn of operator/tengine/detection_ops.c: the proposal layer of Faster R-CNN (Ren et al., 2015).
// Its output has a fixed number of rows; those after the found boxes repeat the last one, which any
// later suppression drops. If there is no box, all are 0.
#include <algorithm>
#include <cmath>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/detection/detection_box.h"
#include "operator/tengine/detection_param.h"

namespace tengine::cpu {
namespace {

struct ImageInfo
{
    float height, width;  // whole pixels
    float scale;          // from the model's image size to that of the fed image

    explicit ImageInfo(const float* values)
        : height(std::trunc(values[0])), width(std::trunc(values[1])), scale(values[2])
    {
    }
};

float bound(float value, float maximum)
{
    return std::min(std::max(value, 0.f), maximum);
}

class Decoder
{
  public:
    explicit Decoder(const KernelContext& context)
        : param_(context.param<tm_rpn_param>()),
          image_(context.input(2)->f32),
          minimum_(static_cast<float>(param_.min_size) * image_.scale),
          columns_(context.input(1)->dims[3]),
          cells_(int64_t{context.input(1)->dims[2]} * columns_),
          anchor_num_(count_anchors(&param_)),
          scores_(context.input(0)->f32),
          deltas_(context.input(1)->f32)
    {
    }

    // Returns the boxes of all cells and anchors that are large enough, clipped to the image.
    Vector<ScoredBox> decode_all() const
    {
        Vector<ScoredBox> boxes;
        for (int64_t cell = 0; cell < cells_; ++cell)
            for (int64_t anchor = 0; anchor < anchor_num_; ++anchor)
                decode(cell, anchor, boxes);
        return boxes;
    }

  private:
    void decode(int64_t cell, int64_t anchor, Vector<ScoredBox>& boxes) const
    {
        // The first `anchor_num_` channels of the scores are the background's.
        const float score = scores_[(anchor_num_ + anchor) * cells_ + cell];
        const float* delta = deltas_ + anchor * 4 * cells_ + cell;
        float corners[4];
        make_anchor(&param_, anchor, corners);
        const float x_shift = static_cast<float>(cell % columns_ * param_.feat_stride);
        const float y_shift = static_cast<float>(cell / columns_ * param_.feat_stride);
        const float anchor_width = corners[2] - corners[0] + 1;
        const float anchor_height = corners[3] - corners[1] + 1;
        const float x = delta[0] * anchor_width + (corners[0] + x_shift + anchor_width * 0.5f);
        const float y =
            delta[cells_] * anchor_height + (corners[1] + y_shift + anchor_height * 0.5f);
        const float width = std::exp(delta[2 * cells_]) * anchor_width;
        const float height = std::exp(delta[3 * cells_]) * anchor_height;
        if (!(width >= minimum_ && height >= minimum_) || std::isnan(score)) return;
        boxes.push_back({bound(x - 0.5f * width, image_.width),
                         bound(y - 0.5f * height, image_.height),
                         bound(x + 0.5f * width, image_.width),
                         bound(y + 0.5f * height, image_.height), score, 0});
    }

    const tm_rpn_param& param_;
    const ImageInfo image_;
    const float minimum_;
    const int64_t columns_, cells_, anchor_num_;
    const float* scores_;
    const float* deltas_;
};

int run_proposal(KernelContext& context)
{
    const auto& param = context.param<tm_rpn_param>();
    const auto room = static_cast<size_t>(context.output(0)->dims[1]);
    return with_box_memory(context, [&] {
        Vector<ScoredBox> candidates = Decoder(context).decode_all();
        sort_by_score(candidates);
        keep_first(candidates, param.per_nms_topn > 0 ? param.per_nms_topn : -1);
        Vector<ScoredBox> taken;
        const auto suppresses = [&](const ScoredBox& better, const ScoredBox& box) {
            return overlap(better, box, 1) >= param.nms_thresh;
        };
        take_unsuppressed(candidates, room, suppresses, taken);
        taken.resize(room, taken.empty() ? ScoredBox{} : ScoredBox(taken.back()));
        float* out = context.output(0)->f32;
        for (const ScoredBox& box : taken)
            for (const float corner : {box.x0, box.y0, box.x1, box.y1})
                *out++ = corner;
        return static_cast<int>(TENGINE_OK);
    });
}

constexpr Kernel proposal_rows[] = {
    {"tengine.Rpn", "reference", nullptr, run_proposal},
};

}  // namespace

extern const KernelTable proposal_reference;
const KernelTable proposal_reference = make_table<proposal_rows>();

}  // namespace tengine::cpu
