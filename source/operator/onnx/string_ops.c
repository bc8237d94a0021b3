// SPDX-License-Identifier: Apache-2.0
// Operators on strings: StringConcat, StringSplit, StringNormalizer, and ai.onnx.ml's
// CategoryMapper. Parameters are in string_param.h.
#include "operator/infer.h"
#include "operator/onnx/other_domains.h"
#include "operator/onnx/string_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define TYPES_TEXT TYPE_BIT(STRING)

static int infer_concat(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_TEXT));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_TEXT));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = 0;
    for (int i = 0; i < 2; ++i)
        TENGINE_RETURN_IF_ERROR(broadcast_with(node, dims, &dim_num, get_ir_node_input(node, i)));
    return set_node_output(node, 0, TENGINE_DT_STRING, dims, dim_num);
}

// Only the kernel knows the largest number of parts that a string has.
static int infer_split(struct node* node)
{
    const struct string_split_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_TEXT));
    if (param->maxsplit < SPLIT_ALL)
        return fail_node(node, TENGINE_EINVAL, "maxsplit is %d, expected -1 or more",
                         param->maxsplit);
    if (get_ir_node_input(node, 0)->dim_num == MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_ELIMIT, "the input has %d dimensions, expected fewer",
                         MAX_SHAPE_DIM_NUM);
    return OP_SHAPE_LATER;
}

static int infer_normalizer(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_TEXT));
    if (input->dim_num == 1 || (input->dim_num == 2 && input->dims[0] == 1)) return OP_SHAPE_LATER;
    return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected [C] or [1, C]",
                     input->dim_num);
}

static int infer_mapper(struct node* node)
{
    const struct category_mapper_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_TEXT | TYPE_BIT(INT64)));
    if (param->cats_int64s.num != param->cats_strings.num)
        return fail_node(node, TENGINE_EINVAL, "cats_int64s has %d values, cats_strings %d",
                         param->cats_int64s.num, param->cats_strings.num);
    const bool to_text = input->data_type == TENGINE_DT_INT64;
    return set_node_output_like(node, 0, input, to_text ? TENGINE_DT_STRING : TENGINE_DT_INT64);
}

static const op_field_t split_fields[] = {
    OP_FIELD(struct string_split_param, STRING, delimiter, .required = 0),
    OP_FIELD(struct string_split_param, INT, maxsplit, .number = SPLIT_ALL),
};

static const op_field_t normalizer_fields[] = {
    OP_FIELD(struct string_normalizer_param, STRING, case_change_action, .text = "NONE",
             .choices = "NONE|LOWER|UPPER"),
    OP_FIELD(struct string_normalizer_param, INT, is_case_sensitive, .required = 0),
    OP_FIELD(struct string_normalizer_param, STRING, locale, .required = 0),
    OP_FIELD(struct string_normalizer_param, STRINGS, stopwords, .required = 0),
};

static const op_field_t mapper_fields[] = {
    OP_FIELD(struct category_mapper_param, INTS, cats_int64s, .required = 0),
    OP_FIELD(struct category_mapper_param, STRINGS, cats_strings, .required = 0),
    OP_FIELD(struct category_mapper_param, INT, default_int64, .number = -1),
    OP_FIELD(struct category_mapper_param, STRING, default_string, .text = "_Unused"),
};

static const ir_method_t* const rows[] = {
    OP_ROW(StringConcat, .version = 20, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, .traits = OP_TAKES_STRINGS, .infer_shape = infer_concat),
    OP_ROW(StringNormalizer, .version = 10, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(normalizer_fields),
           .param_size = sizeof(struct string_normalizer_param),
           .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS, .infer_shape = infer_normalizer),
    OP_ROW(StringSplit, .version = 20, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 2, OP_FIELDS(split_fields),
           .param_size = sizeof(struct string_split_param),
           .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS, .infer_shape = infer_split,
           .types = "0 int64"),
    ML_ROW(CategoryMapper, .version = 1, .until = 5, .min_input = 1, .max_input = 1,
           .min_output = 1, .max_output = 1, OP_FIELDS(mapper_fields),
           .param_size = sizeof(struct category_mapper_param), .traits = OP_TAKES_STRINGS,
           .infer_shape = infer_mapper),
};

OPERATOR_TABLE(string_ops, rows);
