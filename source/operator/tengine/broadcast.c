// SPDX-License-Identifier: Apache-2.0
// See broadcast.h.
#include "operator/tengine/broadcast.h"

#include "operator/tengine/raise.h"

// Finds the first dimension of a tensor's planes: dimensions [0, planes) count them, the rest is
// one plane. Three dimensions are channels and a plane, or one image of channels and rows.
static int find_planes(const struct tensor* tensor)
{
    if (tensor->dim_num == 3) return tensor->dims[0] == 1 ? 2 : 1;
    return tensor->dim_num < 2 ? tensor->dim_num : 2;
}

static tm_match_t find_match(const struct tensor* large, const struct tensor* small)
{
    if (large->elem_num == small->elem_num) return TM_MATCH_SAME;
    if (small->elem_num == 1) return TM_MATCH_SCALAR;
    const int planes = find_planes(large);
    if (small->elem_num == multiply_dims(large, 0, planes)) return TM_MATCH_CHANNEL;
    if (small->elem_num == multiply_dims(large, planes, large->dim_num)) return TM_MATCH_PLANE;
    if (planes == 2 && small->elem_num == large->dims[1]) return TM_MATCH_CHANNELS;
    return TM_MATCH_BROADCAST;
}

static void set_matched_shape(tm_operands_t* operands, const struct tensor* large)
{
    const int planes = find_planes(large);
    operands->dim_num = large->dim_num;
    for (int i = 0; i < large->dim_num; ++i) {
        const bool kept = operands->match == TM_MATCH_SAME ||
                          (operands->match == TM_MATCH_CHANNEL && i < planes) ||
                          (operands->match == TM_MATCH_PLANE && i >= planes) ||
                          (operands->match == TM_MATCH_CHANNELS && i == 1);
        operands->dims[i] = kept ? large->dims[i] : 1;
    }
}

tm_operands_t match_tm_operands(const struct tensor* first, const struct tensor* second)
{
    tm_operands_t operands = {.swapped = second->elem_num > first->elem_num};
    const struct tensor* large = operands.swapped ? second : first;
    operands.match = find_match(large, operands.swapped ? first : second);
    set_matched_shape(&operands, large);
    return operands;
}

// Whether the tensor's dimensions are `dims`, except for missing leading ones.
static bool has_matched_shape(const struct tensor* tensor, const tm_operands_t* operands)
{
    const int shift = operands->dim_num - tensor->dim_num;
    if (shift < 0) return false;
    for (int i = 0; i < operands->dim_num; ++i)
        if (operands->dims[i] != (i < shift ? 1 : tensor->dims[i - shift])) return false;
    return true;
}

// Whether numpy's broadcasting leaves the number of elements as it is: equal shapes, except for
// ones.
static bool is_same_but_for_ones(const struct tensor* first, const struct tensor* second)
{
    const struct tensor* longer = first->dim_num >= second->dim_num ? first : second;
    const struct tensor* shorter = longer == first ? second : first;
    const int shift = longer->dim_num - shorter->dim_num;
    for (int i = 0; i < longer->dim_num; ++i)
        if (longer->dims[i] != (i < shift ? 1 : shorter->dims[i - shift])) return false;
    return true;
}

void emit_tm_operands(emitter_t* emit, struct tensor* out_operands[2])
{
    for (int i = 0; i < 2; ++i)
        out_operands[i] = get_ir_node_input(emit->origin, i);
    const tm_operands_t operands = match_tm_operands(out_operands[0], out_operands[1]);
    struct tensor** small = &out_operands[operands.swapped ? 0 : 1];
    const int data_type = out_operands[0]->data_type;
    const bool numpy =
        operands.match == TM_MATCH_BROADCAST || operands.match == TM_MATCH_SCALAR ||
        (operands.match == TM_MATCH_SAME && is_same_but_for_ones(out_operands[0], out_operands[1]));
    if (out_operands[1]->data_type != data_type)
        out_operands[1] = emit_cast(emit, out_operands[1], data_type);
    if (!numpy && *small && !has_matched_shape(*small, &operands))
        *small = emit_reshape(emit, *small, operands.dims, operands.dim_num);
}

bool do_tm_operands_fit(struct node* node, tm_operands_t* out_operands)
{
    const struct tensor* inputs[2] = {get_ir_node_input(node, 0), get_ir_node_input(node, 1)};
    const struct tensor* output = get_ir_node_output(node, 0);
    tm_operands_t operands = match_tm_operands(inputs[0], inputs[1]);
    // The operand of higher rank gives the shape when both have as many elements.
    if (operands.match == TM_MATCH_SAME && inputs[1]->dim_num > inputs[0]->dim_num) {
        operands.swapped = true;
        set_matched_shape(&operands, inputs[1]);
    }
    const bool has_rule =
        operands.match != TM_MATCH_BROADCAST && operands.match != TM_MATCH_CHANNELS;
    *out_operands = operands;
    if (has_rule && have_same_shape(inputs[operands.swapped ? 1 : 0], output) &&
        has_matched_shape(inputs[operands.swapped ? 0 : 1], &operands))
        return true;
    char texts[2][RAISED_SHAPE_SIZE];
    refuse_raising(node, "Tengine does not broadcast operands of shape %s and %s",
                   print_raised_shape(inputs[0], texts[0]),
                   print_raised_shape(inputs[1], texts[1]));
    return false;
}
