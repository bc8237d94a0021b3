// SPDX-License-Identifier: Apache-2.0
// Random tensors: RandomNormal, RandomUniform and their Like forms, Bernoulli, Multinomial.
// Parameters are in random_param.h. Numbers follow the distribution; the generator is tengine's
// own.
#include <math.h>

#include "operator/infer.h"
#include "operator/onnx/random_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"

// Finds the output's type: dtype, or that of input 0 if dtype is not given.
static int find_output_type(const struct node* node, int* out_type)
{
    const struct random_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    *out_type = param->dtype == 0 && input ? input->data_type : get_data_type_of_onnx(param->dtype);
    if (*out_type >= 0) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "dtype is %d (%s), which is not supported", param->dtype,
                     get_onnx_type_name(param->dtype));
}

static bool is_float_type(int data_type)
{
    return data_type == TENGINE_DT_FP32 || data_type == TENGINE_DT_FP16 ||
           data_type == TENGINE_DT_BF16 || data_type == TENGINE_DT_FP64;
}

static int require_float_type(const struct node* node, const char* what, int data_type)
{
    if (is_float_type(data_type)) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "%s is %s, expected a float type", what,
                     get_data_type_name(data_type));
}

static int infer_random(struct node* node)
{
    const struct random_param* param = node->op.param_mem;
    int type;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, &type));
    TENGINE_RETURN_IF_ERROR(require_float_type(node, "the output", type));
    return set_node_output(node, 0, type, param->shape.values, param->shape.num);
}

static int infer_random_like(struct node* node)
{
    int type;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, &type));
    TENGINE_RETURN_IF_ERROR(require_float_type(node, "the output", type));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), type);
}

static int infer_bernoulli(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int type;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, &type));
    TENGINE_RETURN_IF_ERROR(require_float_type(node, "the input", input->data_type));
    return set_node_output_like(node, 0, input, type);
}

static int infer_multinomial(struct node* node)
{
    const struct random_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int type;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, &type));
    TENGINE_RETURN_IF_ERROR(require_float_type(node, "the input", input->data_type));
    if (type != TENGINE_DT_INT32 && type != TENGINE_DT_INT64)
        return fail_node(node, TENGINE_EDTYPE, "the output is %s, expected int32 or int64",
                         get_data_type_name(type));
    if (input->dim_num != 2 || input->dims[1] < 1)
        return fail_node(
            node, TENGINE_EINVAL,
            "the shape of the input is not [batches, classes] with at least one class");
    const int64_t dims[] = {input->dims[0], param->sample_size};
    return set_node_output(node, 0, type, dims, 2);
}

#define SEED_FIELD OP_FIELD(struct random_param, FLOAT, seed, .number = NAN)
#define DTYPE_FIELD(onnx_type) OP_FIELD(struct random_param, INT, dtype, .number = (onnx_type))
#define NORMAL_FIELDS                                        \
    OP_FIELD(struct random_param, FLOAT, mean, .number = 0), \
        OP_FIELD(struct random_param, FLOAT, scale, .number = 1)
#define UNIFORM_FIELDS                                      \
    OP_FIELD(struct random_param, FLOAT, low, .number = 0), \
        OP_FIELD(struct random_param, FLOAT, high, .number = 1)
#define SHAPE_FIELD OP_FIELD(struct random_param, INTS, shape, .required = 1)

enum
{
    ONNX_FLOAT = 1,
    ONNX_INT32 = 6
};

static const op_field_t normal_fields[] = {DTYPE_FIELD(ONNX_FLOAT), SEED_FIELD, SHAPE_FIELD,
                                           NORMAL_FIELDS};
static const op_field_t uniform_fields[] = {DTYPE_FIELD(ONNX_FLOAT), SEED_FIELD, SHAPE_FIELD,
                                            UNIFORM_FIELDS};
static const op_field_t normal_like_fields[] = {DTYPE_FIELD(0), SEED_FIELD, NORMAL_FIELDS};
static const op_field_t uniform_like_fields[] = {DTYPE_FIELD(0), SEED_FIELD, UNIFORM_FIELDS};
static const op_field_t bernoulli_fields[] = {DTYPE_FIELD(0), SEED_FIELD};
static const op_field_t multinomial_fields[] = {
    DTYPE_FIELD(ONNX_INT32),
    SEED_FIELD,
    OP_FIELD(struct random_param, INT, sample_size, .number = 1, .minimum = 1, .maximum = 1 << 30),
};

static const ir_method_t* const rows[] = {
    OP_ROW(RandomNormal, .version = 1, .min_output = 1, .max_output = 1, OP_FIELDS(normal_fields),
           .param_size = sizeof(struct random_param), .traits = OP_RANDOM,
           .infer_shape = infer_random),
    OP_ROW(RandomUniform, .version = 1, .min_output = 1, .max_output = 1, OP_FIELDS(uniform_fields),
           .param_size = sizeof(struct random_param), .traits = OP_RANDOM,
           .infer_shape = infer_random),
    OP_ROW(RandomNormalLike, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(normal_like_fields),
           .param_size = sizeof(struct random_param), .traits = OP_RANDOM | OP_TAKES_COMPLEX,
           .infer_shape = infer_random_like, .types = "@dtype|0"),
    OP_ROW(RandomUniformLike, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(uniform_like_fields),
           .param_size = sizeof(struct random_param), .traits = OP_RANDOM | OP_TAKES_COMPLEX,
           .infer_shape = infer_random_like, .types = "@dtype|0"),
    OP_ROW(Bernoulli, .version = 15, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(bernoulli_fields), .param_size = sizeof(struct random_param),
           .traits = OP_RANDOM, .infer_shape = infer_bernoulli, .types = "@dtype|0"),
    OP_ROW(Multinomial, .version = 7, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(multinomial_fields),
           .param_size = sizeof(struct random_param), .traits = OP_RANDOM,
           .infer_shape = infer_multinomial, .types = "@dtype"),
};

OPERATOR_TABLE(random_ops, rows);
