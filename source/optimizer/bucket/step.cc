// SPDX-License-Identifier: Apache-2.0
#include "optimizer/bucket/step.h"

#include "optimizer/bucket/rules.h"

namespace tengine {

bool Pair::differs() const
{
    return find_difference() >= 0;
}

int Pair::find_difference(int first) const
{
    for (int i = first < 0 ? 0 : first; i < rank(); ++i)
        if (differs(i)) return i;
    return -1;
}

String Step::say(const String& what) const
{
    return String("node '") + any().name + "' (" + get_ir_node_op(&any()) + ") " + what;
}

void Step::refuse(const String& what) const
{
    for (Pair* output : outputs)
        if (output && output->fault.empty()) output->fault = say(what);
}

String shape_text(const tensor& tensor)
{
    if (tensor.dim_num == 0) return "a scalar";
    String text;
    for (int i = 0; i < tensor.dim_num; ++i)
        text += (i == 0 ? "" : "x") + to_string(tensor.dims[i]);
    return text;
}

String quoted(const Pair& pair)
{
    return String("'") + pair.bucket->name + "'";
}

void refuse_mixing(const Step& step, const Pair& input, int first)
{
    step.refuse("mixes positions along axis " + to_string(input.find_difference(first)) + " of " +
                quoted(input));
}

void judge_axis(const Step& step, int64_t otherwise)
{
    const Pair& x = *step.input(0);
    const int64_t stated = get_ir_node_int(step.bucket, "axis", otherwise);
    const int axis = static_cast<int>(stated < 0 ? stated + x.rank() : stated);
    if (axis >= 0 && axis < x.rank() && x.differs(axis)) refuse_mixing(step, x, axis);
}

// An axis that differs is that of the output; a size of 1 in the request is not repeated there, for
// it stands for the first of several in the bucket.
void require_broadcast(const Step& step, const Pair& output)
{
    for (const Pair* input : step.inputs) {
        if (!input || !input->differs()) continue;
        const int shift = output.rank() - input->rank();
        for (int i = 0; i < input->rank(); ++i)
            if (input->differs(i) && (shift < 0 || !input->is_like(i, output, i + shift)))
                return step.refuse("repeats axis " + to_string(i) + " of " + quoted(*input) +
                                   " for the request's shape alone");
    }
}

void require_equal_sizes(const Step& step, int first)
{
    for (size_t i = static_cast<size_t>(first); i < step.inputs.size(); ++i)
        if (step.inputs[i] && step.inputs[i]->differs())
            return refuse_mixing(step, *step.inputs[i], 0);
}

bool has_constant_indices(const Pair& indices, int64_t first, int64_t last)
{
    const tensor& value = *indices.bucket;
    if (value.tensor_type != TENSOR_TYPE_CONST || !value.data) return false;
    const bool is_wide = value.data_type == TENGINE_DT_INT64;
    if (!is_wide && value.data_type != TENGINE_DT_INT32) return false;
    for (int64_t i = 0; i < value.elem_num; ++i) {
        const int64_t index = is_wide ? value.i64[i] : value.i32[i];
        if (index < first || index > last) return false;
    }
    return true;
}

bool require_safe_indices(const Step& step, const Pair& indices, int64_t size)
{
    if (!indices.differs() || indices.is_safe) return true;
    if (has_constant_indices(indices, -size, size - 1)) return true;
    const bool is_constant = indices.bucket->tensor_type == TENSOR_TYPE_CONST;
    step.refuse((is_constant ? "has no elements for the indices of the padding, in "
                             : "reads indices in the padding that are computed from it, in ") +
                quoted(indices));
    return false;
}

}  // namespace tengine
