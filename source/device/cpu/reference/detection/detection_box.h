// SPDX-License-Identifier: Apache-2.0
// Boxes with scores, and their greedy suppression, for the detection kernels of this folder.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/sort.hpp"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct ScoredBox
{
    float x0, y0, x1, y1;
    float score;  // never NaN
    int label;
};

// Returns intersection over union; NaN for two boxes without area. `pixel` is 1 if corners are
// pixels that belong to the box, 0 if they are its edges.
inline float overlap(const ScoredBox& a, const ScoredBox& b, float pixel)
{
    const auto area = [=](const ScoredBox& box) {
        return (box.x1 - box.x0 + pixel) * (box.y1 - box.y0 + pixel);
    };
    const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0) + pixel;
    const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0) + pixel;
    const float both = width > 0 && height > 0 ? width * height : 0;
    return both / (area(a) + area(b) - both);
}

// Sorts by falling score; equal scores keep their order.
inline void sort_by_score(Vector<ScoredBox>& boxes)
{
    sort_stably(boxes, [](const ScoredBox& a, const ScoredBox& b) { return a.score > b.score; });
}

// Applies a limit on the number of boxes, as in parameters; negative: none.
inline void keep_first(Vector<ScoredBox>& boxes, int64_t limit)
{
    if (limit >= 0 && static_cast<size_t>(limit) < boxes.size())
        boxes.resize(static_cast<size_t>(limit));
}

// Takes each box that no taken one `suppresses`, up to `limit`; appends to out_taken.
template <class Suppresses>
void take_unsuppressed(const Vector<ScoredBox>& sorted, size_t limit, const Suppresses& suppresses,
                       Vector<ScoredBox>& out_taken)
{
    const size_t first = out_taken.size();
    for (const ScoredBox& box : sorted) {
        if (out_taken.size() - first >= limit) return;
        const bool clear =
            std::none_of(out_taken.begin() + static_cast<ptrdiff_t>(first), out_taken.end(),
                         [&](const ScoredBox& taken) { return suppresses(taken, box); });
        if (clear) out_taken.push_back(box);
    }
}

// Calls a kernel's body that allocates memory for boxes.
template <class Body>
int with_box_memory(const KernelContext& context, const Body& body)
{
    return guarded(body, "%s '%s': out of memory for the boxes", get_ir_node_op(context.node),
                   context.node->name);
}

}  // namespace tengine::cpu
