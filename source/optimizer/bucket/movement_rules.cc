// SPDX-License-Identifier: Apache-2.0
// Rules of operators that move elements: the place of each element must be the same in both graphs,
// as far as the request has it.
#include <climits>
#include <cstring>

#include "operator/onnx/slice_param.h"
#include "optimizer/bucket/rules.h"

namespace tengine {
namespace {

int64_t normalise(int64_t axis, int rank)
{
    return axis < 0 ? axis + rank : axis;
}

// ---- shapes ----

// Neighbouring axes of a pair that have as many elements as those of another one.
struct Group
{
    const Pair& pair;
    int first;
    int end;
    int64_t bucket = 1;  // elements
    int64_t request = 1;

    explicit Group(const Pair& of) : pair(of), first(0), end(0) {}

    bool is_over() const { return end == pair.rank(); }
    void take()
    {
        bucket *= pair.bucket->dims[end];
        request *= pair.request->dims[end];
        ++end;
    }
    void begin()
    {
        first = end;
        bucket = request = 1;
    }

    // The first axis that has several elements, or `end`.
    int find_outer() const
    {
        int axis = first;
        while (axis < end && pair.is_one(axis))
            ++axis;
        return axis;
    }
    bool differs_after(int axis) const
    {
        const int found = pair.find_difference(axis);
        return found >= 0 && found < end;
    }
};

bool have_same_axes(const Group& a, const Group& b)
{
    int i = a.first, k = b.first;
    for (;;) {
        while (i < a.end && a.pair.is_one(i))
            ++i;
        while (k < b.end && b.pair.is_one(k))
            ++k;
        if (i == a.end || k == b.end) return i == a.end && k == b.end;
        if (!a.pair.is_like(i++, b.pair, k++)) return false;
    }
}

// Whether the order of the elements keeps the place of each: the same axes, or padding only behind
// all others.
bool keeps_places(const Group& x, const Group& y)
{
    if (!x.differs_after(x.first) && !y.differs_after(y.first)) return true;
    if (have_same_axes(x, y)) return true;
    return !x.differs_after(x.find_outer() + 1) && !y.differs_after(y.find_outer() + 1);
}

// Takes the smallest groups of equal numbers of elements. False if there are none.
bool take_groups(Group& x, Group& y)
{
    x.begin();
    y.begin();
    if (!x.is_over()) x.take();
    if (!y.is_over()) y.take();
    while (x.bucket != y.bucket || x.request != y.request) {
        const bool x_is_less =
            x.bucket < y.bucket || (x.bucket == y.bucket && x.request < y.request);
        Group& less = x_is_less ? x : y;
        if (less.is_over()) return false;
        less.take();
    }
    return true;
}

// ---- axes ----

// The first place of each output of Split, or input of Concat, along the axis.
template <class Pairs>
bool have_same_places(const Pairs& pairs, size_t number, int axis)
{
    int64_t bucket = 0, request = 0;
    for (size_t i = 0; i < number; ++i) {
        if (!pairs[i]) continue;
        bucket += pairs[i]->bucket->dims[axis];
        request += pairs[i]->request->dims[axis];
    }
    return bucket == request;
}

void judge_indices(const Step& step, int64_t axis)
{
    const Pair &x = *step.input(0), &indices = *step.input(1);
    if (axis < 0 || axis >= x.rank()) return step.refuse("has an axis that does not exist");
    const int place = static_cast<int>(axis);
    if (!require_safe_indices(step, indices, x.bucket->dims[place]) || !x.differs(place)) return;
    if (indices.differs() || !has_constant_indices(indices, 0, INT_MAX))
        refuse_mixing(step, x, place);
}

}  // namespace

void judge_reshape(const Step& step)
{
    const Pair &x = *step.input(0), *y = step.output(0);
    Group from(x), to(*y);
    while (!from.is_over() || !to.is_over())
        if (!take_groups(from, to) || !keeps_places(from, to))
            return step.refuse("puts padding between the elements of " + quoted(x));
}

// Expand and Tile.
void judge_expansion(const Step& step)
{
    const Pair &x = *step.input(0), *y = step.output(0);
    const int shift = y->rank() - x.rank();
    for (int i = 0; i < y->rank(); ++i) {
        if (!y->differs(i) && (i < shift || !x.differs(i - shift))) continue;
        if (i < shift || x.is_one(i - shift) || x.is_like(i - shift, *y, i)) continue;
        return step.refuse("repeats the elements of " + quoted(x) + " along axis " +
                           to_string(i - shift));
    }
}

void judge_slice(const Step& step)
{
    const Pair& x = *step.input(0);
    slice_range ranges[MAX_SHAPE_DIM_NUM], others[MAX_SHAPE_DIM_NUM];
    if (resolve_slice(step.bucket, ranges) != TENGINE_OK ||
        resolve_slice(step.request, others) != TENGINE_OK)
        return step.refuse("takes elements that depend on data");
    for (int i = 0; i < x.rank(); ++i)
        if (ranges[i].start != others[i].start || ranges[i].step != others[i].step)
            return step.refuse("counts from the end of axis " + to_string(i) + " of " + quoted(x));
}

void judge_pad(const Step& step)
{
    const Pair& x = *step.input(0);
    const char* mode = get_ir_node_text(step.bucket, "mode", "constant");
    int64_t before[MAX_SHAPE_DIM_NUM], after[MAX_SHAPE_DIM_NUM], other_before[MAX_SHAPE_DIM_NUM],
        other_after[MAX_SHAPE_DIM_NUM];
    if (resolve_pads(step.bucket, before, after) != TENGINE_OK ||
        resolve_pads(step.request, other_before, other_after) != TENGINE_OK)
        return step.refuse("adds elements whose number depends on data");
    for (int i = 0; i < x.rank(); ++i) {
        const bool is_same = before[i] == other_before[i] && after[i] == other_after[i];
        const bool reads_end = after[i] > 0 || std::strcmp(mode, "wrap") == 0;
        if (!is_same || (x.differs(i) && reads_end))
            return step.refuse("adds elements after the end of axis " + to_string(i) + " of " +
                               quoted(x));
        // A longer reflection turns at the end of the elements that negative padding leaves.
        if (x.differs(i) && std::strcmp(mode, "reflect") == 0 &&
            before[i] >= x.request->dims[i] + after[i])
            return step.refuse("reflects more elements than axis " + to_string(i) + " of " +
                               quoted(x) + " has");
    }
}

void judge_concat(const Step& step)
{
    const auto axis = static_cast<int>(
        normalise(get_ir_node_int(step.bucket, "axis", 0), step.output(0)->rank()));
    for (size_t i = 1; i < step.inputs.size(); ++i)
        if (!have_same_places(step.inputs, i, axis))
            return step.refuse("appends elements after the end of axis " + to_string(axis) +
                               " of " + quoted(*step.inputs[i - 1]));
}

void judge_split(const Step& step)
{
    const Pair& x = *step.input(0);
    const auto axis =
        static_cast<int>(normalise(get_ir_node_int(step.bucket, "axis", 0), x.rank()));
    bool are_known = true;  // an output without readers has an unknown size
    for (size_t i = 0; i < step.outputs.size(); ++i) {
        Pair* output = step.outputs[i];
        const bool is_same =
            are_known ? have_same_places(step.outputs, i, axis)
                      : !x.differs(axis) && (!step.input(1) || step.input(1)->fault.empty());
        if (output && !is_same)
            output->fault =
                step.say("divides axis " + to_string(axis) + " of " + quoted(x) + " by its size");
        are_known = are_known && output;
    }
}

void judge_gather(const Step& step)
{
    judge_indices(step, normalise(get_ir_node_int(step.bucket, "axis", 0), step.input(0)->rank()));
}

}  // namespace tengine
