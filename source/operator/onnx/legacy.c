// SPDX-License-Identifier: Apache-2.0
// Helpers of lower functions, see legacy.h.
#include "operator/onnx/legacy.h"

#include <string.h>

#include "operator/infer.h"
#include "operator/param.h"
#include "tengine/device.h"

struct tensor* create_int_constant(struct graph* graph, const int64_t* values, int num)
{
    struct tensor* tensor = create_ir_tensor(graph, NULL, TENGINE_DT_INT64);
    if (!tensor || set_ir_tensor_shape(tensor, &num, 1) < 0 || allocate_ir_tensor(tensor) < 0) {
        return NULL;
    }
    tensor->tensor_type = TENSOR_TYPE_CONST;
    if (num > 0) memcpy(tensor->data, values, (size_t)num * sizeof(int64_t));
    return tensor;
}

struct node* append_lowered_node(struct graph* graph, const struct node* origin, const char* op,
                                 struct tensor* inputs[], int input_num)
{
    struct node* node = create_op_node(graph, NULL, op, origin->name);
    if (!node) return NULL;
    for (int i = 0; i < input_num; ++i) {
        if (!inputs[i] || set_ir_node_input_tensor(node, i, inputs[i]) < 0) return NULL;
    }
    struct tensor* output = create_ir_tensor(graph, NULL, TENGINE_DT_UNKNOWN);
    if (!output || set_ir_node_output_tensor(node, 0, output) < 0) return NULL;
    return node;
}

int align_second_input(struct graph* graph, struct node* node, int axis)
{
    const struct tensor* first = get_ir_node_input(node, 0);
    struct tensor* second = get_ir_node_input(node, 1);
    if (!first || !second || !first->shape_set || !second->shape_set) {
        return fail_node(node, TENGINE_ENOTSUP,
                         "broadcasting along axis %d needs the ranks of both inputs in the model "
                         "(opset 7 and newer do not)",
                         axis);
    }
    const int missing = first->dim_num - axis - second->dim_num;
    if (missing < 0) {
        return fail_node(node, TENGINE_EINVAL,
                         "input 1 of rank %d at axis %d does not broadcast to input 0 of rank %d",
                         second->dim_num, axis, first->dim_num);
    }
    if (missing == 0) return TENGINE_OK;
    int64_t axes[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < missing; ++i)
        axes[i] = second->dim_num + i;
    struct tensor* inputs[] = {second, create_int_constant(graph, axes, missing)};
    struct node* unsqueeze = append_lowered_node(graph, node, "Unsqueeze", inputs, 2);
    if (!unsqueeze) return tengine_error_code();
    return set_ir_node_input_tensor(node, 1, get_ir_node_output(unsqueeze, 0));
}

int move_channels_first(struct graph* graph, struct node* node, int rank)
{
    int64_t to_first[MAX_SHAPE_DIM_NUM] = {0};
    int64_t to_last[MAX_SHAPE_DIM_NUM] = {0};
    for (int i = 1; i < rank; ++i) {
        to_first[i] = i == 1 ? rank - 1 : i - 1;
        to_last[i] = i == rank - 1 ? 1 : i + 1;
    }
    struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* output = get_ir_node_output(node, 0);
    struct node* before = append_lowered_node(graph, node, "Transpose", &input, 1);
    struct tensor* inner = create_ir_tensor(graph, NULL, TENGINE_DT_UNKNOWN);
    if (!before || !inner) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_node_ints(before, "perm", to_first, rank));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, get_ir_node_output(before, 0)));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, NULL));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, inner));
    struct node* after = create_op_node(graph, NULL, "Transpose", node->name);
    if (!after) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_node_ints(after, "perm", to_last, rank));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(after, 0, inner));
    return set_ir_node_output_tensor(after, 0, output);
}
