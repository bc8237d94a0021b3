// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors out of parameters: Constant, ConstantOfShape, Range, EyeLike.
// Parameters are in shape_param.h.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "graph/string_pool.h"
#include "operator/infer.h"
#include "operator/onnx/shape_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"
#include "operator/type_set.h"

// ---- Constant ----

static struct op_tensor make_list(int data_type, int num, void* data)
{
    const size_t size = (size_t)num * (size_t)get_data_type_size(data_type);
    return (struct op_tensor){
        .data_type = data_type, .dim_num = 1, .dims = {num}, .size = size, .data = data};
}

int read_constant(const struct node* node, struct op_tensor* out_value, int64_t* out_scalar)
{
    struct constant_param* param = node->op.param_mem;
    if (param->value_string) {
        *out_value = make_list(TENGINE_DT_STRING, 1, &param->value_string);
        out_value->dim_num = 0;
    } else if (param->value_strings.num > 0) {
        *out_value =
            make_list(TENGINE_DT_STRING, param->value_strings.num, param->value_strings.values);
    } else if (param->value.dim_num >= 0) {
        *out_value = param->value;
    } else if (param->value_floats.values) {
        *out_value =
            make_list(TENGINE_DT_FP32, param->value_floats.num, param->value_floats.values);
    } else if (param->value_ints.values) {
        *out_value = make_list(TENGINE_DT_INT64, param->value_ints.num, param->value_ints.values);
    } else if (!isnan(param->value_float)) {
        *out_value = make_list(TENGINE_DT_FP32, 1, &param->value_float);
        out_value->dim_num = 0;
    } else if (param->value_int != INT_MIN) {
        *out_scalar = param->value_int;
        *out_value = make_list(TENGINE_DT_INT64, 1, out_scalar);
        out_value->dim_num = 0;
    } else {
        return fail_node(node, TENGINE_EINVAL, "the node has no value attribute");
    }
    return TENGINE_OK;
}

static int check_texts(const struct node* node, const struct op_tensor* value)
{
    const char* const* texts = value->data;
    for (size_t i = 0; i < value->size / sizeof *texts; ++i)
        TENGINE_RETURN_IF_ERROR(check_ir_text(texts[i], strlen(texts[i]), node->name, (int64_t)i));
    return TENGINE_OK;
}

static int infer_constant(struct node* node)
{
    struct op_tensor value = {0};
    int64_t scalar;
    TENGINE_RETURN_IF_ERROR(read_constant(node, &value, &scalar));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < value.dim_num; ++i)
        dims[i] = value.dims[i];
    if (value.data_type == TENGINE_DT_STRING) TENGINE_RETURN_IF_ERROR(check_texts(node, &value));
    return set_node_output(node, 0, value.data_type, dims, value.dim_num);
}

// NaN and INT_MIN mean "not given".
static const op_field_t constant_fields[] = {
    OP_FIELD(struct constant_param, TENSOR, value, .required = 0),
    OP_FIELD(struct constant_param, FLOAT, value_float, .number = NAN, .since = 12),
    OP_FIELD(struct constant_param, FLOATS, value_floats, .since = 12),
    OP_FIELD(struct constant_param, INT, value_int, .number = INT_MIN, .since = 12),
    OP_FIELD(struct constant_param, INTS, value_ints, .since = 12),
    OP_FIELD(struct constant_param, STRING, value_string, .since = 12),
    OP_FIELD(struct constant_param, STRINGS, value_strings, .since = 12),
};

// ---- ConstantOfShape ----

// Elements of fewer than 8 bits share a byte, so that the byte count alone is not enough.
static bool is_one_element(const struct op_tensor* value)
{
    bool is_one = value->size == (size_t)get_data_type_size(value->data_type);
    for (int i = 0; i < value->dim_num; ++i)
        is_one = is_one && value->dims[i] == 1;
    return is_one;
}

static int infer_constant_of_shape(struct node* node)
{
    const struct op_tensor* value =
        &((const struct constant_of_shape_param*)node->op.param_mem)->value;
    int data_type = TENGINE_DT_FP32;
    if (value->dim_num >= 0) {
        data_type = value->data_type;
        if (!is_one_element(value))
            return fail_node(node, TENGINE_EINVAL, "value has %zu bytes, one element of %s has %d",
                             value->size, get_data_type_name(data_type),
                             get_data_type_size(data_type));
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int rank = 0;
    const int status = read_int_input(node, 0, dims, MAX_SHAPE_DIM_NUM, &rank);
    if (status != TENGINE_OK) return status;
    return set_node_output(node, 0, data_type, dims, rank);
}

static const op_field_t constant_of_shape_fields[] = {
    OP_FIELD(struct constant_of_shape_param, TENSOR, value, .required = 0),
};

// ---- Range ----

// Returns max(ceil((limit - start) / delta), 0); -1 if that is not a valid element count.
static int64_t count_float_range(double start, double limit, double delta)
{
    const double count = ceil((limit - start) / delta);
    if (count <= 0) return 0;
    return count <= INT_MAX ? (int64_t)count : -1;  // a NaN fails both comparisons
}

static int64_t count_int_range(int64_t start, int64_t limit, int64_t delta)
{
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    // Unsigned differences cannot overflow.
    const uint64_t distance =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    const uint64_t count = distance / step + (distance % step != 0);
    return count <= INT_MAX ? (int64_t)count : -1;
}

static int64_t read_int16_or_more(const struct tensor* tensor)
{
    switch (tensor->data_type) {
        case TENGINE_DT_INT16:
            return *(const int16_t*)tensor->data;
        case TENGINE_DT_INT32:
            return *(const int32_t*)tensor->data;
        default:
            return *(const int64_t*)tensor->data;
    }
}

static int64_t count_range(const struct tensor* start, const struct tensor* limit,
                           const struct tensor* delta)
{
    switch (start->data_type) {
        case TENGINE_DT_FP32:
            // The difference is rounded to float, as in ONNX's definition by operators.
            return count_float_range(0.0, *limit->f32 - *start->f32, *delta->f32);
        case TENGINE_DT_FP16:
            return count_float_range(0.0, fp16_to_fp32(*limit->f16) - fp16_to_fp32(*start->f16),
                                     fp16_to_fp32(*delta->f16));
        case TENGINE_DT_BF16:
            return count_float_range(0.0, bf16_to_fp32(*limit->f16) - bf16_to_fp32(*start->f16),
                                     bf16_to_fp32(*delta->f16));
        case TENGINE_DT_FP64:
            return count_float_range(*(const double*)start->data, *(const double*)limit->data,
                                     *(const double*)delta->data);
        default: {
            const int64_t step = read_int16_or_more(delta);
            if (step == 0) return -1;
            return count_int_range(read_int16_or_more(start), read_int16_or_more(limit), step);
        }
    }
}

static int infer_range(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    const struct tensor* inputs[3];
    bool known = true;
    for (int i = 0; i < 3; ++i) {
        inputs[i] = get_ir_node_input(node, i);
        if (inputs[i]->elem_num != 1)
            return fail_node(node, TENGINE_EINVAL, "input %d has %lld elements, expected a scalar",
                             i, (long long)inputs[i]->elem_num);
        known = known && inputs[i]->data;
    }
    TENGINE_RETURN_IF_ERROR(
        require_type(node, 0, TYPES_FLOAT | TYPE_BIT(INT16) | TYPE_BIT(INT32) | TYPE_BIT(INT64)));
    const int type = inputs[0]->data_type;
    if (!known) return OP_SHAPE_LATER;
    const int64_t dims[] = {count_range(inputs[0], inputs[1], inputs[2])};
    if (dims[0] < 0)
        return fail_node(node, TENGINE_ERANGE, "delta is 0 or there are more than %d elements",
                         INT_MAX);
    return set_node_output(node, 0, type, dims, 1);
}

static const op_field_t range_fields[] = {
    OP_FIELD(struct range_param, INT, stash_type, .number = 1, .minimum = 1, .maximum = 1,
             .since = 27),
};

// ---- EyeLike ----

static int infer_eye_like(struct node* node)
{
    const struct eye_like_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num != 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected 2",
                         input->dim_num);
    const int type = param->dtype == 0 ? input->data_type : get_data_type_of_onnx(param->dtype);
    if (type < 0)
        return fail_node(node, TENGINE_EDTYPE, "dtype is %d (%s), which is not supported",
                         param->dtype, get_onnx_type_name(param->dtype));
    return set_node_output_like(node, 0, input, type);
}

static const op_field_t eye_like_fields[] = {
    OP_FIELD(struct eye_like_param, INT, dtype, .number = 0),
    OP_FIELD(struct eye_like_param, INT, k, .number = 0),
};

static const ir_method_t* const rows[] = {
    OP_ROW(Constant, .version = 1, .min_input = 0, .max_input = 0, .min_output = 1, .max_output = 1,
           OP_FIELDS(constant_fields), .param_size = sizeof(struct constant_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_constant),
    OP_ROW(ConstantOfShape, .version = 9, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(constant_of_shape_fields),
           .param_size = sizeof(struct constant_of_shape_param), .traits = OP_TAKES_SMALL,
           .infer_shape = infer_constant_of_shape, .types = "@value|fp32"),
    OP_ROW(Range, .version = 11, .min_input = 3, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(range_fields), .param_size = sizeof(struct range_param),
           .infer_shape = infer_range),
    OP_ROW(EyeLike, .version = 9, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(eye_like_fields), .param_size = sizeof(struct eye_like_param),
           .traits = OP_SHAPE_ONLY, .infer_shape = infer_eye_like, .types = "@dtype|0"),
};

OPERATOR_TABLE(constant_ops, rows);
