// SPDX-License-Identifier: Apache-2.0
// See quantized.h.
#include "operator/onnx/quantized.h"

#include <math.h>

#include "operator/infer.h"
#include "operator/type_set.h"

static int require_presence(const struct node* node, int index)
{
    if (get_ir_node_input(node, index)) return TENGINE_OK;
    return fail_node(node, TENGINE_EGRAPH, "input %d is missing", index);
}

int require_quantized(const struct node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(require_presence(node, index));
    TENGINE_RETURN_IF_ERROR(require_presence(node, index + 1));
    TENGINE_RETURN_IF_ERROR(require_type(node, index, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, index + 1, TYPE_BIT(FP32)));
    return require_type(node, index + 2, UINT32_C(1) << get_ir_node_input(node, index)->data_type);
}

static int check_number(const struct node* node, int index, int slices)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || (tensor->dim_num <= 1 && tensor->elem_num == 1) ||
        (tensor->dim_num == 1 && tensor->dims[0] == slices))
        return TENGINE_OK;
    if (slices == 1)
        return fail_node(node, TENGINE_EINVAL,
                         "input %d '%s' has rank %d and %lld values, expected 1 value", index,
                         tensor->name, tensor->dim_num, (long long)tensor->elem_num);
    return fail_node(node, TENGINE_EINVAL,
                     "input %d '%s' has rank %d and %lld values, expected 1 value or a list of %d",
                     index, tensor->name, tensor->dim_num, (long long)tensor->elem_num, slices);
}

int check_scale_values(const struct node* node, int index, bool divides)
{
    const struct tensor* scale = get_ir_node_input(node, index);
    for (int64_t i = 0; scale->data && i < scale->elem_num; ++i) {
        const float value = scale->f32[i];
        if (isfinite(value) && (divides ? value > 0 : value >= 0)) continue;
        return fail_node(node, TENGINE_ERANGE, "value %lld of scale '%s' is %g, expected %s",
                         (long long)i, scale->name, (double)value,
                         divides ? "a positive number" : "a number of 0 or more");
    }
    return TENGINE_OK;
}

int check_quantization(const struct node* node, int index, int slices)
{
    TENGINE_RETURN_IF_ERROR(check_number(node, index, slices));
    TENGINE_RETURN_IF_ERROR(check_number(node, index + 1, slices));
    return check_scale_values(node, index, false);
}

int check_result_quantization(const struct node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(require_presence(node, index));
    TENGINE_RETURN_IF_ERROR(require_type(node, index, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, index + 1, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(check_number(node, index, 1));
    TENGINE_RETURN_IF_ERROR(check_number(node, index + 1, 1));
    return check_scale_values(node, index, true);
}

int result_type(const struct node* node, int index)
{
    const struct tensor* zero_point = get_ir_node_input(node, index);
    return (zero_point ? zero_point : get_ir_node_input(node, 0))->data_type;
}
