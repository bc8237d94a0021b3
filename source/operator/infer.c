// SPDX-License-Identifier: Apache-2.0
// Helpers of the infer_shape functions.
#include "operator/infer.h"

#include <limits.h>

#include "base/half.h"
#include "graph/graph.h"
#include "operator/plain_data.h"
#include "operator/type_rule.h"
#include "operator/type_set.h"

static int infer_known_shapes(struct node* node)
{
    if (find_ir_unknown_input(node)) return OP_SHAPE_LATER;
    return node->op.same_shape ? set_node_output_like(node, 0, get_ir_node_input(node, 0), -1)
                               : node->op.infer_shape(node);
}

int infer_node(struct node* node)
{
    const int status = infer_known_shapes(node);
    if (status == OP_SHAPE_LATER) TENGINE_RETURN_IF_ERROR(infer_node_types(node));
    if (status >= 0) TENGINE_RETURN_IF_ERROR(check_small_types(node));
    return status;
}

int set_node_output(struct node* node, int index, int data_type, const int64_t dims[], int dim_num)
{
    struct tensor* tensor = get_ir_node_output(node, index);
    if (!tensor) return TENGINE_OK;
    int narrow[MAX_SHAPE_DIM_NUM];
    if (dim_num > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_ERANGE,
                         "output %d would have %d dimensions, expected at most %d", index, dim_num,
                         MAX_SHAPE_DIM_NUM);
    for (int i = 0; i < dim_num; ++i) {
        if (dims[i] < 0 || dims[i] > INT_MAX)
            return fail_node(node, TENGINE_ERANGE, "dimension %d of output %d would be %lld", i,
                             index, (long long)dims[i]);
        narrow[i] = (int)dims[i];
    }
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, data_type));
    return set_ir_tensor_shape(tensor, narrow, dim_num);
}

int set_node_output_like(struct node* node, int index, const struct tensor* tensor, int data_type)
{
    struct tensor* output = get_ir_node_output(node, index);
    if (!output) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        set_ir_tensor_data_type(output, data_type < 0 ? tensor->data_type : data_type));
    return set_ir_tensor_shape(output, tensor->dims, tensor->dim_num);
}

int normalize_axis(const struct node* node, int64_t axis, int rank, int* out_axis)
{
    if (axis < -rank || axis >= rank)
        return fail_node(node, TENGINE_ERANGE, "axis %lld is out of range: expected %d to %d",
                         (long long)axis, -rank, rank - 1);
    *out_axis = (int)(axis < 0 ? axis + rank : axis);
    return TENGINE_OK;
}

int broadcast_with(const struct node* node, int64_t dims[], int* dim_num,
                   const struct tensor* tensor)
{
    const int rank = *dim_num > tensor->dim_num ? *dim_num : tensor->dim_num;
    for (int i = 0; i < rank; ++i) {  // from the last dimension
        const int64_t left = i < *dim_num ? dims[*dim_num - 1 - i] : 1;
        const int64_t right = i < tensor->dim_num ? tensor->dims[tensor->dim_num - 1 - i] : 1;
        if (left != right && left != 1 && right != 1)
            return fail_node(node, TENGINE_EINVAL,
                             "'%s' does not broadcast: dimension %d from the end is %lld, others "
                             "have %lld",
                             tensor->name, i + 1, (long long)right, (long long)left);
    }
    const int shift = rank - *dim_num;
    for (int i = rank - 1; i >= 0; --i) {
        const int from_end = rank - 1 - i;
        const int64_t left = i >= shift ? dims[i - shift] : 1;
        const int64_t right =
            from_end < tensor->dim_num ? tensor->dims[tensor->dim_num - 1 - from_end] : 1;
        dims[i] = left == 1 ? right : left;
    }
    *dim_num = rank;
    return TENGINE_OK;
}

// Opens input `index` for reading as a list of at most `capacity` values.
static int open_list_input(const struct node* node, int index, int capacity,
                           const struct tensor** out_tensor)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    *out_tensor = NULL;
    if (!tensor) return TENGINE_OK;
    if (!tensor->data && !(is_ir_tensor_shape_known(tensor) && tensor->elem_num == 0))
        return OP_SHAPE_LATER;
    if (tensor->elem_num > capacity)
        return fail_node(node, TENGINE_ERANGE, "input '%s' has %lld values, expected at most %d",
                         tensor->name, (long long)tensor->elem_num, capacity);
    *out_tensor = tensor;
    return TENGINE_OK;
}

// Stores element `index` in a list of values; false when its type is wrong.
typedef bool (*read_value_t)(const struct tensor* tensor, int index, void* out_values);

static int read_list_input(const struct node* node, int list_input, int capacity,
                           read_value_t read_value, const char* accepted, void* out_values,
                           int* out_num)
{
    const struct tensor* tensor;
    *out_num = 0;
    const int status = open_list_input(node, list_input, capacity, &tensor);
    if (status != TENGINE_OK || !tensor) return status;
    for (int i = 0; i < (int)tensor->elem_num; ++i)
        if (!read_value(tensor, i, out_values))
            return fail_node(node, TENGINE_EDTYPE, "input '%s' is %s, expected %s", tensor->name,
                             get_data_type_name(tensor->data_type), accepted);
    *out_num = (int)tensor->elem_num;
    return TENGINE_OK;
}

static bool read_int_value(const struct tensor* tensor, int index, void* out_values)
{
    int64_t* out_value = (int64_t*)out_values + index;
    switch (tensor->data_type) {
        case TENGINE_DT_INT64:
            *out_value = tensor->i64[index];
            return true;
        case TENGINE_DT_INT32:
            *out_value = tensor->i32[index];
            return true;
        default:
            return false;
    }
}

static bool read_float_value(const struct tensor* tensor, int index, void* out_values)
{
    float* out_value = (float*)out_values + index;
    switch (tensor->data_type) {
        case TENGINE_DT_FP32:
            *out_value = tensor->f32[index];
            return true;
        case TENGINE_DT_FP16:
            *out_value = fp16_to_fp32(tensor->f16[index]);
            return true;
        case TENGINE_DT_BF16:
            *out_value = bf16_to_fp32(tensor->f16[index]);
            return true;
        case TENGINE_DT_FP64:
            *out_value = (float)((const double*)tensor->data)[index];
            return true;
        default:
            return false;
    }
}

int read_int_input(const struct node* node, int index, int64_t* out_values, int capacity,
                   int* out_num)
{
    return read_list_input(node, index, capacity, read_int_value, "int32 or int64", out_values,
                           out_num);
}

int read_float_input(const struct node* node, int index, float* out_values, int capacity,
                     int* out_num)
{
    const int most = capacity < OP_MOST_FLOATS ? capacity : OP_MOST_FLOATS;
    return read_list_input(node, index, most, read_float_value, "a float type", out_values,
                           out_num);
}

int require_same_types(const struct node* node, int first_input, int last_input)
{
    const struct tensor* first = get_ir_node_input(node, first_input);
    for (int i = first_input + 1; i <= last_input; ++i) {
        const struct tensor* tensor = get_ir_node_input(node, i);
        if (!first || !tensor || tensor->data_type == first->data_type) continue;
        return fail_node(node, TENGINE_EDTYPE, "'%s' is %s but '%s' is %s", first->name,
                         get_data_type_name(first->data_type), tensor->name,
                         get_data_type_name(tensor->data_type));
    }
    return TENGINE_OK;
}

int64_t multiply_dims(const struct tensor* tensor, int first, int last)
{
    int64_t product = 1;
    for (int i = first; i < last; ++i)
        product *= tensor->dims[i];
    return product;
}
