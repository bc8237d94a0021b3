// SPDX-License-Identifier: Apache-2.0
// A node of two execution graphs of one model: that of a bucket, and that of a request whose inputs
// are not larger in any axis.
//
// A pair is a tensor of the bucket's graph and the one of the request's graph that stands for the
// same value. It holds if the elements of the first whose indices exist in the second are, in every
// run, computed from the same elements of the program's inputs by the same operators. Rules
// (rules.cc) tell from the pairs that a node reads which of those that it writes hold.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

struct Pair
{
    const tensor* bucket = nullptr;
    const tensor* request = nullptr;
    String fault;  // the reason why it does not hold; "": it holds
    // The elements that the request lacks are zeros: as indices they are as good as the program's.
    bool is_safe = false;

    int rank() const { return bucket->dim_num; }
    bool differs(int axis) const { return bucket->dims[axis] != request->dims[axis]; }
    bool differs() const;
    // The first axis from `first` on that differs, or -1.
    int find_difference(int first = 0) const;
    bool is_one(int axis) const { return bucket->dims[axis] == 1 && request->dims[axis] == 1; }
    // Whether an axis has the same two sizes as one of another pair.
    bool is_like(int axis, const Pair& other, int other_axis) const
    {
        return bucket->dims[axis] == other.bucket->dims[other_axis] &&
               request->dims[axis] == other.request->dims[other_axis];
    }
};

struct Step
{
    const node* bucket = nullptr;  // null: the request's graph alone has a node that changes shapes
    const node* request = nullptr;  // null: the bucket's graph alone has
    Vector<const Pair*> inputs;     // null: absent
    Vector<Pair*> outputs;          // null: absent

    const Pair* input(int index) const
    {
        return index < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(index)]
                                                       : nullptr;
    }
    Pair* output(int index) const
    {
        return index < static_cast<int>(outputs.size()) ? outputs[static_cast<size_t>(index)]
                                                        : nullptr;
    }
    const node& any() const { return bucket ? *bucket : *request; }

    // "node 'pool' (AveragePool) <what>"
    String say(const String& what) const;
    // Says it of all outputs.
    void refuse(const String& what) const;
};

// "4x3x224x224"; "a scalar".
String shape_text(const tensor& tensor);

// Sets the faults of the outputs, and whether they are safe, by the operator's rule.
void judge_step(const Step& step);

}  // namespace tengine
