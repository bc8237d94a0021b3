// SPDX-License-Identifier: Apache-2.0
// Operators with an output shape that depends on values: Compress, NonZero, Unique,
// NonMaxSuppression, OneHot. Parameters are in select_param.h.
#include <math.h>

#include "base/half.h"
#include "operator/infer.h"
#include "operator/onnx/select_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

// ---- Compress ----

static int infer_compress(struct node* node)
{
    const struct compress_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* condition = get_ir_node_input(node, 1);
    const bool flat = param->axis == SELECT_AXIS_ABSENT;
    int axis = 0;
    if (!flat) TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    const int64_t length = flat ? input->elem_num : input->dims[axis];
    if (condition->dim_num != 1 || condition->data_type != TENGINE_DT_BOOL ||
        condition->elem_num > length)
        return fail_node(node, TENGINE_EINVAL, "condition must be a list of at most %lld bool",
                         (long long)length);
    if (!condition->data && condition->elem_num > 0) return OP_SHAPE_LATER;
    int64_t kept = 0;
    for (int64_t i = 0; i < condition->elem_num; ++i)
        kept += condition->u8[i] != 0;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = input->dims[i];
    dims[axis] = kept;
    return set_node_output(node, 0, input->data_type, dims, flat ? 1 : input->dim_num);
}

static const op_field_t compress_fields[] = {
    OP_FIELD(struct compress_param, INT, axis, .number = SELECT_AXIS_ABSENT),
};

// ---- NonZero, Unique, NonMaxSuppression: the kernel finds the shape ----

static int set_output_type(struct node* node, int index, int data_type)
{
    struct tensor* output = get_ir_node_output(node, index);
    return output ? set_ir_tensor_data_type(output, data_type) : TENGINE_OK;
}

static int infer_non_zero(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(set_output_type(node, 0, TENGINE_DT_INT64));
    return OP_SHAPE_LATER;
}

static int infer_unique(struct node* node)
{
    const struct unique_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    if (param->axis != SELECT_AXIS_ABSENT)
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    TENGINE_RETURN_IF_ERROR(set_output_type(node, 0, input->data_type));
    for (int i = 1; i < 4; ++i)
        TENGINE_RETURN_IF_ERROR(set_output_type(node, i, TENGINE_DT_INT64));
    return OP_SHAPE_LATER;
}

static const op_field_t unique_fields[] = {
    OP_FIELD(struct unique_param, INT, axis, .number = SELECT_AXIS_ABSENT),
    OP_FIELD(struct unique_param, INT, sorted, .number = 1, .maximum = 1),
};

static int require_single_number(const struct node* node, int index, int data_type)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || (tensor->data_type == data_type && tensor->elem_num == 1)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d has %lld elements of %s, expected one %s",
                     index, (long long)tensor->elem_num, get_data_type_name(tensor->data_type),
                     get_data_type_name(data_type));
}

static int infer_non_max_suppression(struct node* node)
{
    const struct tensor* boxes = get_ir_node_input(node, 0);
    const struct tensor* scores = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    if (boxes->data_type != TENGINE_DT_FP32)
        return fail_node(node, TENGINE_EDTYPE, "boxes are %s, expected fp32",
                         get_data_type_name(boxes->data_type));
    if (boxes->dim_num != 3 || boxes->dims[2] != 4)
        return fail_node(node, TENGINE_EINVAL, "boxes must have shape [batches, boxes, 4]");
    if (scores->dim_num != 3 || scores->dims[0] != boxes->dims[0] ||
        scores->dims[2] != boxes->dims[1])
        return fail_node(node, TENGINE_EINVAL, "scores must have shape [%d, classes, %d]",
                         boxes->dims[0], boxes->dims[1]);
    TENGINE_RETURN_IF_ERROR(require_single_number(node, 2, TENGINE_DT_INT64));
    TENGINE_RETURN_IF_ERROR(require_single_number(node, 3, TENGINE_DT_FP32));
    TENGINE_RETURN_IF_ERROR(require_single_number(node, 4, TENGINE_DT_FP32));
    TENGINE_RETURN_IF_ERROR(set_output_type(node, 0, TENGINE_DT_INT64));
    return OP_SHAPE_LATER;
}

static const op_field_t non_max_suppression_fields[] = {
    OP_FIELD(struct non_max_suppression_param, INT, center_point_box, .maximum = 1),
};

// ---- OneHot ----

// Reads a scalar of any number type; NaN if it is not one.
static double read_number(const struct tensor* tensor)
{
    const void* data = tensor->data;
    switch (tensor->data_type) {
        case TENGINE_DT_FP32:
            return *(const float*)data;
        case TENGINE_DT_FP64:
            return *(const double*)data;
        case TENGINE_DT_INT8:
            return *(const int8_t*)data;
        case TENGINE_DT_UINT8:
            return *(const uint8_t*)data;
        case TENGINE_DT_INT16:
            return *(const int16_t*)data;
        case TENGINE_DT_UINT16:
            return *(const uint16_t*)data;
        case TENGINE_DT_INT32:
            return *(const int32_t*)data;
        case TENGINE_DT_UINT32:
            return *(const uint32_t*)data;
        case TENGINE_DT_INT64:
            return (double)*(const int64_t*)data;
        case TENGINE_DT_UINT64:
            return (double)*(const uint64_t*)data;
        case TENGINE_DT_FP16:
            return fp16_to_fp32(*(const uint16_t*)data);
        case TENGINE_DT_BF16:
            return bf16_to_fp32(*(const uint16_t*)data);
        default:
            return NAN;
    }
}

static int infer_one_hot(struct node* node)
{
    const struct one_hot_param* param = node->op.param_mem;
    const struct tensor* indices = get_ir_node_input(node, 0);
    const struct tensor* depth = get_ir_node_input(node, 1);
    const struct tensor* values = get_ir_node_input(node, 2);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, indices->dim_num + 1, &axis));
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_NUMBER));
    if (depth->elem_num != 1)
        return fail_node(node, TENGINE_EINVAL, "depth has %lld elements, expected a scalar",
                         (long long)depth->elem_num);
    if (values->dim_num != 1 || values->dims[0] != 2)
        return fail_node(node, TENGINE_EINVAL, "values must be a list of two, [off, on]");
    if (!depth->data) return OP_SHAPE_LATER;
    const double length = read_number(depth);
    if (!(length >= 0 && length <= INT_MAX))
        return fail_node(node, TENGINE_ERANGE, "depth is %g (%s)", length,
                         get_data_type_name(depth->data_type));
    int64_t dims[MAX_SHAPE_DIM_NUM + 1];
    for (int i = 0, from = 0; i <= indices->dim_num; ++i)
        dims[i] = i == axis ? (int64_t)length : indices->dims[from++];
    return set_node_output(node, 0, values->data_type, dims, indices->dim_num + 1);
}

static const op_field_t one_hot_fields[] = {
    OP_FIELD(struct one_hot_param, INT, axis, .number = -1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(Compress, .version = 9, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(compress_fields), .param_size = sizeof(struct compress_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_compress),
    OP_ROW(NonZero, .version = 9, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           .traits = OP_SELF_SHAPED | OP_TAKES_COMPLEX, .infer_shape = infer_non_zero,
           .types = "int64"),
    OP_ROW(Unique, .version = 11, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 4,
           OP_FIELDS(unique_fields), .param_size = sizeof(struct unique_param),
           .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_unique, .types = "0 int64"),
    OP_ROW(NonMaxSuppression, .version = 10, .min_input = 2, .max_input = 5, .min_output = 1,
           .max_output = 1, OP_FIELDS(non_max_suppression_fields),
           .param_size = sizeof(struct non_max_suppression_param), .traits = OP_SELF_SHAPED,
           .infer_shape = infer_non_max_suppression, .types = "int64"),
    OP_ROW(OneHot, .version = 9, .min_input = 3, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(one_hot_fields), .param_size = sizeof(struct one_hot_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_one_hot,
           .types = "2"),
};

OPERATOR_TABLE(select_ops, rows);
