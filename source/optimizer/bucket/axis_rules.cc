// SPDX-License-Identifier: Apache-2.0
// Rules of operators that compute along some axes: sums, reductions, windows, sizes of pictures.
#include <cstring>

#include "operator/infer.h"
#include "operator/onnx/resize_param.h"
#include "optimizer/bucket/rules.h"

namespace tengine {
namespace {

bool has_value(const node& node, const char* name, const char* value)
{
    return std::strcmp(get_ir_node_text(&node, name, ""), value) == 0;
}

// The zeros that a window reads after the end of a spatial axis; -1: as many as the shape needs.
int64_t find_end_padding(const node& node, int axis)
{
    if (has_value(node, "auto_pad", "VALID")) return 0;
    if (!has_value(node, "auto_pad", "NOTSET") && !has_value(node, "auto_pad", "")) return -1;
    if (get_ir_node_int(&node, "ceil_mode", 0) != 0) return -1;
    int number = 0;
    const int64_t* pads = get_ir_node_ints(&node, "pads", &number);
    return number == 0 ? 0 : number > axis ? pads[number / 2 + axis] : -1;
}

// Whether the scales or zero points of a node are those of one value each, or of an axis whose size
// does not differ.
bool has_plain_scales(const Step& step, const Pair& x)
{
    const int64_t stated = get_ir_node_int(step.bucket, "axis", 1);
    const auto axis = static_cast<int>(stated < 0 ? stated + x.rank() : stated);
    const bool is_blocked = get_ir_node_int(step.bucket, "block_size", 0) != 0;
    return !is_blocked || axis < 0 || axis >= x.rank() || !x.differs(axis);
}

}  // namespace

void judge_quantization(const Step& step)
{
    const Pair& x = *step.input(0);
    if (!has_plain_scales(step, x)) return refuse_mixing(step, x, 0);
    require_equal_sizes(step, 1);
}

// A sum of all earlier positions does not read padding, which follows.
void judge_sums(const Step& step)
{
    const Pair& x = *step.input(0);
    int64_t axis = 0;
    int number = 0;
    if (read_int_input(step.bucket, 1, &axis, 1, &number) != TENGINE_OK || number != 1)
        return step.refuse("has an axis that depends on data");
    if (axis < 0) axis += x.rank();
    if (axis < 0 || axis >= x.rank() || !x.differs(static_cast<int>(axis))) return;
    if (get_ir_node_int(step.bucket, "reverse", 0) != 0)
        refuse_mixing(step, x, static_cast<int>(axis));
}

void judge_reduction(const Step& step)
{
    const Pair& x = *step.input(0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int number = 0;
    if (read_int_input(step.bucket, 1, axes, MAX_SHAPE_DIM_NUM, &number) != TENGINE_OK)
        return step.refuse("has axes that depend on data");
    if (number == 0) {
        const bool copies = get_ir_node_int(step.bucket, "noop_with_empty_axes", 0) != 0;
        if (!copies && x.differs()) refuse_mixing(step, x, 0);
        return;
    }
    for (int i = 0; i < number; ++i) {
        const auto axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
        if (x.differs(axis)) return refuse_mixing(step, x, axis);
    }
}

// Windows end within the request's data if no padding follows it.
void judge_window(const Step& step)
{
    const Pair& x = *step.input(0);
    require_equal_sizes(step, 1);
    if (x.rank() < 2) return refuse_mixing(step, x, 0);
    if (x.differs(1)) return refuse_mixing(step, x, 1);
    const int axis = x.find_difference(1);
    if (axis < 0) return;
    // Indices count the elements of the whole picture.
    const bool has_indices = std::strcmp(get_ir_node_op(step.bucket), "MaxPool") == 0 &&
                             step.outputs.size() > 1 && step.outputs[1];
    if (has_indices) return refuse_mixing(step, x, 1);
    if (get_ir_node_int(step.bucket, "channels_last", 0) != 0) return refuse_mixing(step, x, 1);
    for (int i = 2; i < x.rank(); ++i)
        if (x.differs(i) && find_end_padding(*step.bucket, i - 2) != 0)
            return step.refuse("reads zeros after the end of axis " + to_string(i) + " of " +
                               quoted(x));
}

// Samples and channels by themselves. The sizes of the result, an input, are those that it has.
void judge_resize(const Step& step)
{
    const Pair &x = *step.input(0), &y = *step.output(0);
    if (x.find_difference(2) >= 0) return refuse_mixing(step, x, 2);
    resize_axis axes[MAX_SHAPE_DIM_NUM], others[MAX_SHAPE_DIM_NUM];
    if (resolve_resize(step.bucket, axes) != TENGINE_OK ||
        resolve_resize(step.request, others) != TENGINE_OK)
        return step.refuse("takes sizes that depend on data");
    for (int i = 0; i < x.rank(); ++i)
        if ((x.differs(i) || y.differs(i)) && (!axes[i].identity || !others[i].identity))
            return step.refuse("resizes axis " + to_string(i) + " of " + quoted(x));
    const char* policy = get_ir_node_text(step.bucket, "keep_aspect_ratio_policy", "stretch");
    if (x.differs() && std::strcmp(policy, "stretch") != 0) refuse_mixing(step, x, 0);
}

}  // namespace tengine
