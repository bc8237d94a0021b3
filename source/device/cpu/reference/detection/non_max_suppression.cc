// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression of operator/onnx/select_ops.c: per batch and class, boxes are taken by falling
// score, and boxes that overlap a taken one by more than a limit are dropped. The shape is found
// here.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "device/cpu/kernel_table.h"
#include "operator/onnx/select_param.h"

namespace tengine::cpu {
namespace {

struct Box
{
    float x0, y0, x1, y1;  // x0 <= x1, y0 <= y1

    float area() const { return (x1 - x0) * (y1 - y0); }
};

Box read_box(const float* values, bool center)
{
    if (center) {
        const float half_width = values[2] / 2, half_height = values[3] / 2;
        return {values[0] - half_width, values[1] - half_height, values[0] + half_width,
                values[1] + half_height};
    }
    // The box has any two opposite corners, y before x.
    const auto [y0, y1] = std::minmax({values[0], values[2]});
    const auto [x0, x1] = std::minmax({values[1], values[3]});
    return {x0, y0, x1, y1};
}

// Returns the area of the intersection over that of the union.
float overlap(const Box& a, const Box& b)
{
    const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
    const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
    if (width <= 0 || height <= 0) return 0;
    const float both = width * height;
    return both / (a.area() + b.area() - both);
}

// The boxes that were taken. Most are apart from a given one: a block of them is checked for that
// together, in loops that compilers vectorise.
class TakenBoxes
{
  public:
    void clear()
    {
        blocks_.clear();
        size_ = 0;
    }
    void push_back(const Box& box);
    // Whether one of them overlaps the box by more than the limit.
    bool overlap_more(const Box& box, float limit) const;

  private:
    static constexpr size_t kBlock = 16;
    // Elements behind the last box are empty.
    struct Block
    {
        float x0[kBlock], y0[kBlock], x1[kBlock], y1[kBlock];

        bool touches(const Box& box) const;
        Box at(size_t i) const { return {x0[i], y0[i], x1[i], y1[i]}; }
    };

    Vector<Block> blocks_;
    size_t size_ = 0;
};

void TakenBoxes::push_back(const Box& box)
{
    const size_t index = size_ % kBlock;
    if (index == 0) blocks_.push_back(Block());
    Block& block = blocks_.back();
    block.x0[index] = box.x0;
    block.y0[index] = box.y0;
    block.x1[index] = box.x1;
    block.y1[index] = box.y1;
    ++size_;
}

bool TakenBoxes::Block::touches(const Box& box) const
{
    int touching = 0;
    for (size_t i = 0; i < kBlock; ++i) {
        const float width = std::min(box.x1, x1[i]) - std::max(box.x0, x0[i]);
        const float height = std::min(box.y1, y1[i]) - std::max(box.y0, y0[i]);
        touching |= (width > 0) & (height > 0);
    }
    return touching != 0;
}

bool TakenBoxes::overlap_more(const Box& box, float limit) const
{
    for (size_t begin = 0; begin < size_; begin += kBlock) {
        const Block& block = blocks_[begin / kBlock];
        if (limit >= 0 && !block.touches(box)) continue;  // boxes that are apart overlap by 0
        for (size_t i = 0; i < std::min(kBlock, size_ - begin); ++i)
            if (overlap(box, block.at(i)) > limit) return true;
    }
    return false;
}

struct Limits
{
    int64_t boxes_per_class = 0;
    float overlap = 0;
    float score = -std::numeric_limits<float>::infinity();
    bool has_score = false;

    explicit Limits(const KernelContext& context)
    {
        if (const tensor* input = context.input(2)) boxes_per_class = input->i64[0];
        if (const tensor* input = context.input(3)) overlap = input->f32[0];
        if (const tensor* input = context.input(4)) {
            score = input->f32[0];
            has_score = true;
        }
    }
    // False for a NaN.
    bool admits(float value) const { return has_score ? value > score : value >= score; }
};

// Finds the boxes with an admitted score, by falling score. Sorts with a heap, which stays within
// its list for any result of the comparisons, unlike std::sort: the scores may be in a mapped file
// that changes.
void find_candidates(const float* scores, int64_t box_num, const Limits& limits,
                     Vector<int64_t>& out_candidates)
{
    out_candidates.clear();
    for (int64_t i = 0; i < box_num; ++i)
        if (limits.admits(scores[i])) out_candidates.push_back(i);
    const auto is_better = [&](int64_t left, int64_t right) {
        return scores[left] != scores[right] ? scores[left] > scores[right] : left < right;
    };
    const auto end = out_candidates.end();
    std::partial_sort(out_candidates.begin(), end, end, is_better);
}

// Selects the boxes of one class.
void suppress(const float* boxes, bool center, const Vector<int64_t>& candidates,
              const Limits& limits, TakenBoxes& taken_boxes, Vector<int64_t>& out_taken)
{
    taken_boxes.clear();
    out_taken.clear();
    for (const int64_t candidate : candidates) {
        if (static_cast<int64_t>(out_taken.size()) >= limits.boxes_per_class) return;
        const Box box = read_box(boxes + candidate * 4, center);
        if (taken_boxes.overlap_more(box, limits.overlap)) continue;
        taken_boxes.push_back(box);
        out_taken.push_back(candidate);
    }
}

// Returns rows of batch, class, box.
Vector<int64_t> select_boxes(const KernelContext& context)
{
    const tensor* boxes = context.input(0);
    const tensor* scores = context.input(1);
    const bool center = context.param<non_max_suppression_param>().center_point_box != 0;
    const int64_t class_num = scores->dims[1];
    const int64_t box_num = scores->dims[2];
    const Limits limits(context);
    Vector<int64_t> selected, candidates, taken;
    TakenBoxes taken_boxes;
    for (int64_t i = 0; i < scores->dims[0] * class_num; ++i) {
        const int64_t batch = i / class_num;
        find_candidates(scores->f32 + i * box_num, box_num, limits, candidates);
        suppress(boxes->f32 + batch * box_num * 4, center, candidates, limits, taken_boxes, taken);
        for (const int64_t box : taken)
            selected.insert(selected.end(), {batch, i % class_num, box});
    }
    return selected;
}

int run_non_max_suppression(KernelContext& context)
{
    return guarded(
        [&]() -> int {
            const Vector<int64_t> selected = select_boxes(context);
            const int64_t dims[] = {static_cast<int64_t>(selected.size() / 3), 3};
            TENGINE_RETURN_IF_ERROR(set_node_output(context.node, 0, TENGINE_DT_INT64, dims, 2));
            TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(context.output(0)));
            std::copy(selected.begin(), selected.end(), context.output(0)->i64);
            return TENGINE_OK;
        },
        "NonMaxSuppression '%s': out of memory for the selected boxes", context.node->name);
}

constexpr Kernel non_max_suppression_rows[] = {
    {"NonMaxSuppression", "reference", nullptr, run_non_max_suppression},
};

}  // namespace

extern const KernelTable non_max_suppression_reference;
const KernelTable non_max_suppression_reference = make_table<non_max_suppression_rows>();

}  // namespace tengine::cpu
