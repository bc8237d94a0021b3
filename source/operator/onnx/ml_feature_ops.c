// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml on features before and after a model: Scaler, Normalizer, Binarizer,
// Imputer, ArrayFeatureExtractor, FeatureVectorizer, OneHotEncoder, LabelEncoder. Parameters are in
// ml_feature_param.h. A tensor of one dimension is one row.
#include <math.h>

#include "operator/infer.h"
#include "operator/onnx/ml_feature_param.h"
#include "operator/onnx/other_domains.h"
#include "operator/type_set.h"

#define TYPES_FEATURE (TYPE_BIT(FP32) | TYPE_BIT(FP64) | TYPE_BIT(INT64) | TYPE_BIT(INT32))

static int require_row(const struct node* node, const struct tensor* tensor)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FEATURE));
    if (tensor->dim_num >= 1) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "the input is a scalar, expected rows of features");
}

// Checks that a list has one value, or one for each feature.
static int require_length(const struct node* node, const char* name, int num)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int features = input->dims[input->dim_num - 1];
    if (num == 1 || num == features) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected 1 or %d", name, num,
                     features);
}

static int infer_scaler(struct node* node)
{
    const struct ml_scaler_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_row(node, input));
    if (param->offset.num > 0)
        TENGINE_RETURN_IF_ERROR(require_length(node, "offset", param->offset.num));
    if (param->scale.num > 0)
        TENGINE_RETURN_IF_ERROR(require_length(node, "scale", param->scale.num));
    return set_node_output_like(node, 0, input, TENGINE_DT_FP32);
}

static int infer_normalizer(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_row(node, input));
    return set_node_output_like(node, 0, input, TENGINE_DT_FP32);
}

static int infer_binarizer(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FEATURE));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static int infer_imputer(struct node* node)
{
    const struct ml_imputer_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_row(node, input));
    const bool is_float =
        input->data_type == TENGINE_DT_FP32 || input->data_type == TENGINE_DT_FP64;
    if (is_float)
        TENGINE_RETURN_IF_ERROR(
            require_length(node, "imputed_value_floats", param->imputed_value_floats.num));
    else
        TENGINE_RETURN_IF_ERROR(
            require_length(node, "imputed_value_int64s", param->imputed_value_int64s.num));
    return set_node_output_like(node, 0, input, -1);
}

static int infer_extractor(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FEATURE | TYPE_BIT(STRING)));
    if (input->dim_num < 1)
        return fail_node(node, TENGINE_EINVAL, "the input is a scalar, expected rows of features");
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(INT64)));
    int64_t dims[MAX_SHAPE_DIM_NUM] = {1};
    for (int i = 0; i < input->dim_num - 1; ++i)
        dims[i] = input->dims[i];
    const int rank = input->dim_num < 2 ? 2 : input->dim_num;
    dims[rank - 1] = get_ir_node_input(node, 1)->elem_num;
    return set_node_output(node, 0, input->data_type, dims, rank);
}

static int infer_vectorizer(struct node* node)
{
    const struct ml_vectorizer_param* param = node->op.param_mem;
    const struct op_ints* widths = &param->inputdimensions;
    if (widths->num > 0 && widths->num != node->input_num)
        return fail_node(node, TENGINE_EINVAL, "inputdimensions has %d values for %d inputs",
                         widths->num, node->input_num);
    int64_t dims[] = {0, 0};
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        if (!input) return fail_node(node, TENGINE_EINVAL, "input %d is missing", i);
        TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPES_FEATURE));
        if (input->dim_num < 1)
            return fail_node(node, TENGINE_EINVAL, "input %d is a scalar, expected rows", i);
        // All dimensions after the rows are features.
        const int64_t width =
            input->dim_num == 1 ? input->dims[0] : multiply_dims(input, 1, input->dim_num);
        const int rows = input->dim_num == 1 ? 1 : input->dims[0];
        if (widths->num > 0 && widths->values[i] != width)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d has %lld features, inputdimensions %lld", i,
                             (long long)width, (long long)widths->values[i]);
        if (i > 0 && rows != dims[0])
            return fail_node(node, TENGINE_EINVAL, "input %d has %d rows, input 0 has %lld", i,
                             rows, (long long)dims[0]);
        dims[0] = rows;
        dims[1] += width;
    }
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 2);
}

static int infer_one_hot(struct node* node)
{
    const struct ml_one_hot_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const bool has_texts = param->cats_strings.num > 0;
    if (has_texts && param->cats_int64s.num > 0)
        return fail_node(node, TENGINE_EINVAL,
                         "both cats_strings and cats_int64s are set, expected one");
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, has_texts ? TYPE_BIT(STRING) : TYPES_FEATURE));
    if (input->dim_num == MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_ELIMIT, "the input has %d dimensions, expected fewer",
                         input->dim_num);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = input->dims[i];
    dims[input->dim_num] = has_texts ? param->cats_strings.num : param->cats_int64s.num;
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, input->dim_num + 1);
}

// ---- LabelEncoder ----

static struct label_list choose_list(const struct op_strings* strings, const struct op_ints* ints,
                                     const struct op_floats* floats, const struct op_tensor* tensor)
{
    if (tensor->dim_num >= 0) {
        const int64_t size = get_data_type_size(tensor->data_type);
        return (struct label_list){tensor->data_type, (int64_t)tensor->size / size, tensor->data};
    }
    if (strings->num > 0)
        return (struct label_list){TENGINE_DT_STRING, strings->num, strings->values};
    if (floats->num > 0) return (struct label_list){TENGINE_DT_FP32, floats->num, floats->values};
    return (struct label_list){TENGINE_DT_INT64, ints->num, ints->values};
}

struct label_list get_label_keys(const struct ml_label_param* param)
{
    return choose_list(&param->keys_strings, &param->keys_int64s, &param->keys_floats,
                       &param->keys_tensor);
}

struct label_list get_label_values(const struct ml_label_param* param)
{
    return choose_list(&param->values_strings, &param->values_int64s, &param->values_floats,
                       &param->values_tensor);
}

static bool is_label_type(int data_type)
{
    return data_type == TENGINE_DT_INT64 || data_type == TENGINE_DT_FP32 ||
           data_type == TENGINE_DT_FP64 || data_type == TENGINE_DT_STRING;
}

// Opset 1 has one list, of strings: maps a string to its index, or back.
static int infer_first_encoder(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(STRING) | TYPE_BIT(INT64)));
    const bool to_text = input->data_type == TENGINE_DT_INT64;
    return set_node_output_like(node, 0, input, to_text ? TENGINE_DT_STRING : TENGINE_DT_INT64);
}

static int infer_label_encoder(struct node* node)
{
    const struct ml_label_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct label_list keys = get_label_keys(param);
    const struct label_list values = get_label_values(param);
    if (!is_label_type(keys.data_type) || !is_label_type(values.data_type))
        return fail_node(node, TENGINE_EDTYPE,
                         "keys are %s and values %s, expected int64, fp32, fp64 or string",
                         get_data_type_name(keys.data_type), get_data_type_name(values.data_type));
    if (keys.num != values.num)
        return fail_node(node, TENGINE_EINVAL, "there are %lld keys and %lld values",
                         (long long)keys.num, (long long)values.num);
    if (input->data_type != keys.data_type)
        return fail_node(node, TENGINE_EDTYPE, "the input is %s, keys are %s",
                         get_data_type_name(input->data_type), get_data_type_name(keys.data_type));
    const struct op_tensor* other = &param->default_tensor;
    if (other->dim_num >= 0 && (other->data_type != values.data_type ||
                                other->size != (size_t)get_data_type_size(values.data_type)))
        return fail_node(node, TENGINE_EINVAL, "default_tensor must be one %s",
                         get_data_type_name(values.data_type));
    return set_node_output_like(node, 0, input, values.data_type);
}

static const op_field_t scaler_fields[] = {
    OP_FIELD(struct ml_scaler_param, FLOATS, offset, .number = 0),
    OP_FIELD(struct ml_scaler_param, FLOATS, scale, .number = 0),
};

static const op_field_t normalizer_fields[] = {
    OP_FIELD(struct ml_normalizer_param, STRING, norm, .text = "MAX", .choices = "MAX|L1|L2"),
};

static const op_field_t binarizer_fields[] = {
    OP_FIELD(struct ml_binarizer_param, FLOAT, threshold, .number = 0),
};

static const op_field_t imputer_fields[] = {
    OP_FIELD(struct ml_imputer_param, FLOATS, imputed_value_floats, .number = 0),
    OP_FIELD(struct ml_imputer_param, INTS, imputed_value_int64s, .number = 0),
    OP_FIELD(struct ml_imputer_param, FLOAT, replaced_value_float, .number = 0),
    OP_FIELD(struct ml_imputer_param, INT, replaced_value_int64, .number = 0),
};

static const op_field_t vectorizer_fields[] = {
    OP_FIELD(struct ml_vectorizer_param, INTS, inputdimensions, .number = 0),
};

static const op_field_t one_hot_fields[] = {
    OP_FIELD(struct ml_one_hot_param, INTS, cats_int64s, .number = 0),
    OP_FIELD(struct ml_one_hot_param, STRINGS, cats_strings, .number = 0),
    OP_FIELD(struct ml_one_hot_param, INT, zeros, .number = 1),
};

static const op_field_t label_fields[] = {
    OP_FIELD(struct ml_label_param, STRINGS, classes_strings, .until = 1),
    OP_FIELD(struct ml_label_param, STRINGS, keys_strings, .since = 2),
    OP_FIELD(struct ml_label_param, INTS, keys_int64s, .since = 2),
    OP_FIELD(struct ml_label_param, FLOATS, keys_floats, .since = 2),
    OP_FIELD(struct ml_label_param, TENSOR, keys_tensor, .since = 4),
    OP_FIELD(struct ml_label_param, STRINGS, values_strings, .since = 2),
    OP_FIELD(struct ml_label_param, INTS, values_int64s, .since = 2),
    OP_FIELD(struct ml_label_param, FLOATS, values_floats, .since = 2),
    OP_FIELD(struct ml_label_param, TENSOR, values_tensor, .since = 4),
    OP_FIELD(struct ml_label_param, STRING, default_string, .text = "_Unused"),
    OP_FIELD(struct ml_label_param, INT, default_int64, .number = -1),
    OP_FIELD(struct ml_label_param, FLOAT, default_float, .number = -0.0, .since = 2),
    OP_FIELD(struct ml_label_param, TENSOR, default_tensor, .since = 4),
};

#define FEATURE_ROW(inputs, param, table, infer)                                               \
    .version = 1, .until = 5, .min_input = (inputs) < 0 ? 1 : (inputs), .max_input = (inputs), \
    .min_output = 1, .max_output = 1, OP_FIELDS(table), .param_size = sizeof(struct param),    \
    .infer_shape = infer
// Opset 4 changed whether keys that are NaN match.
#define LABEL_ROW(first, last)                                                             \
    .version = first, .until = last, .min_input = 1, .max_input = 1, .min_output = 1,      \
    .max_output = 1, OP_FIELDS(label_fields), .param_size = sizeof(struct ml_label_param), \
    .traits = OP_TAKES_STRINGS

static const ir_method_t* const rows[] = {
    ML_ROW(Scaler, FEATURE_ROW(1, ml_scaler_param, scaler_fields, infer_scaler), .types = "fp32"),
    ML_ROW(Normalizer, FEATURE_ROW(1, ml_normalizer_param, normalizer_fields, infer_normalizer),
           .types = "fp32"),
    ML_ROW(Binarizer, FEATURE_ROW(1, ml_binarizer_param, binarizer_fields, infer_binarizer)),
    ML_ROW(Imputer, FEATURE_ROW(1, ml_imputer_param, imputer_fields, infer_imputer)),
    ML_ROW(ArrayFeatureExtractor, .version = 1, .until = 5, .min_input = 2, .max_input = 2,
           .min_output = 1, .max_output = 1, .traits = OP_TAKES_STRINGS,
           .infer_shape = infer_extractor),
    ML_ROW(FeatureVectorizer,
           FEATURE_ROW(-1, ml_vectorizer_param, vectorizer_fields, infer_vectorizer),
           .types = "fp32"),
    ML_ROW(OneHotEncoder, FEATURE_ROW(1, ml_one_hot_param, one_hot_fields, infer_one_hot),
           .traits = OP_TAKES_STRINGS, .types = "fp32"),
    ML_ROW(LabelEncoder, LABEL_ROW(1, 1), .infer_shape = infer_first_encoder),
    ML_ROW(LabelEncoder, LABEL_ROW(2, 3), .infer_shape = infer_label_encoder, .types = "int64"),
    ML_ROW(LabelEncoder, LABEL_ROW(4, 5), .infer_shape = infer_label_encoder,
           .types = "@values_tensor|int64"),
};

OPERATOR_TABLE(ml_feature_ops, rows);
