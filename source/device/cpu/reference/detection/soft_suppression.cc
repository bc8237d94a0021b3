// SPDX-License-Identifier: Apache-2.0
// Kernel of tengine.SoftNonMaxSuppression (operator/onnx/soft_suppression_ops.c).
#include <algorithm>
#include <cmath>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

// A box that may be chosen.
struct Candidate
{
    int32_t box;
    float score;
    size_t compared;  // the first of the chosen boxes, with which it was compared
};

// The first box is the better one when two have one score. A heap keeps within its list for any
// scores.
bool is_worse(const Candidate& a, const Candidate& b)
{
    return a.score != b.score ? a.score < b.score : a.box > b.box;
}

// The area of the intersection over that of the union; 0 for a box without an area.
float find_share(const float* a, const float* b)
{
    const float a_y0 = std::min(a[0], a[2]), a_y1 = std::max(a[0], a[2]);
    const float a_x0 = std::min(a[1], a[3]), a_x1 = std::max(a[1], a[3]);
    const float b_y0 = std::min(b[0], b[2]), b_y1 = std::max(b[0], b[2]);
    const float b_x0 = std::min(b[1], b[3]), b_x1 = std::max(b[1], b[3]);
    const float a_area = (a_y1 - a_y0) * (a_x1 - a_x0), b_area = (b_y1 - b_y0) * (b_x1 - b_x0);
    if (a_area <= 0 || b_area <= 0) return 0;
    const float height = std::max(std::min(a_y1, b_y1) - std::max(a_y0, b_y0), 0.0f);
    const float width = std::max(std::min(a_x1, b_x1) - std::max(a_x0, b_x0), 0.0f);
    const float both = height * width;
    return both / (a_area + b_area - both);
}

class SoftSuppression
{
  public:
    explicit SoftSuppression(const KernelContext& context)
        : boxes_(context.input(0)->f32),
          most_overlap_(context.input(3)->f32[0]),
          least_score_(context.input(4)->f32[0]),
          sigma_(context.input(5)->f32[0])
    {
        const float* scores = context.input(1)->f32;
        for (int32_t i = 0; i < context.input(1)->dims[0]; ++i)
            if (scores[i] > least_score_) waiting_.push_back({i, scores[i], 0});
        std::make_heap(waiting_.begin(), waiting_.end(), is_worse);
    }

    // Chooses `most` boxes or fewer.
    void run(size_t most)
    {
        while (chosen_.size() < most && !waiting_.empty()) {
            std::pop_heap(waiting_.begin(), waiting_.end(), is_worse);
            Candidate next = waiting_.back();
            waiting_.pop_back();
            const float before = next.score;
            if (is_dropped(&next)) continue;
            if (next.score == before) {
                chosen_.push_back(next);
            } else if (next.score > least_score_) {
                waiting_.push_back(next);
                std::push_heap(waiting_.begin(), waiting_.end(), is_worse);
            }
        }
    }
    const Vector<Candidate>& chosen() const { return chosen_; }

  private:
    // Lowers the score by the boxes that were chosen since it was last compared.
    bool is_dropped(Candidate* candidate) const
    {
        const size_t compared = candidate->compared;
        candidate->compared = chosen_.size();
        for (size_t i = chosen_.size(); i-- > compared;) {
            const float share =
                find_share(boxes_ + size_t{4} * static_cast<size_t>(candidate->box),
                           boxes_ + size_t{4} * static_cast<size_t>(chosen_[i].box));
            if (share >= most_overlap_) return true;
            if (sigma_ > 0) candidate->score *= std::exp(-0.5f / sigma_ * share * share);
            if (!(candidate->score > least_score_)) return true;
        }
        return false;
    }

    const float* boxes_;
    float most_overlap_;
    float least_score_;
    float sigma_;
    Vector<Candidate> waiting_;  // a heap
    Vector<Candidate> chosen_;
};

int run_soft_suppression(KernelContext& context)
{
    return guarded(
        [&]() -> int {
            SoftSuppression suppression(context);
            const auto size = static_cast<size_t>(context.output(0)->dims[0]);
            suppression.run(size);
            const Vector<Candidate>& chosen = suppression.chosen();
            for (size_t i = 0; i < size; ++i) {
                const bool is_there = i < chosen.size();
                context.output(0)->i32[i] = is_there ? chosen[i].box : 0;
                if (context.output(1)) context.output(1)->f32[i] = is_there ? chosen[i].score : 0;
            }
            if (context.output(2)) *context.output(2)->i32 = static_cast<int32_t>(chosen.size());
            return TENGINE_OK;
        },
        "SoftNonMaxSuppression '%s': out of memory for the chosen boxes", context.node->name);
}

constexpr Kernel soft_suppression_rows[] = {
    {"tengine.SoftNonMaxSuppression", "reference", nullptr, run_soft_suppression},
};

}  // namespace

extern const KernelTable soft_suppression_reference;
const KernelTable soft_suppression_reference = make_table<soft_suppression_rows>();

}  // namespace tengine::cpu
