// SPDX-License-Identifier: Apache-2.0
// The operators that ONNX Runtime's optimiser makes of a product or a convolution and its
// neighbours: FusedConv, FusedGemm, FusedMatMul, TransposeMatMul, BiasAdd. They are lowered to
// ONNX's operators, which devices fuse in their own ways.
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "operator/onnx/conv_param.h"
#include "operator/onnx/gemm_param.h"
#include "operator/row.h"
#include "operator/shaped.h"
#include "operator/tengine/emit.h"

// ---- activations ----

enum
{
    MOST_PARAMETERS = 2
};

static const struct fused_activation
{
    const char* op;
    const char* parameters[MOST_PARAMETERS];  // the names of its parameters, if any
} activations[] = {
    {"Celu", {"alpha"}},
    {"Elu", {"alpha"}},
    {"HardSigmoid", {"alpha", "beta"}},
    {"HardSwish", {0}},
    {"LeakyRelu", {"alpha"}},
    {"Relu", {0}},
    {"Selu", {"alpha", "gamma"}},
    {"Sigmoid", {0}},
    {"Softplus", {0}},
    {"Softsign", {0}},
    {"Tanh", {0}},
    {"ThresholdedRelu", {"alpha"}},
};

static const struct fused_activation* find_activation(const char* op)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; ++i)
        if (strcmp(activations[i].op, op) == 0) return &activations[i];
    return NULL;
}

static struct tensor* emit_activation(emitter_t* emit, const struct fused_activation* activation,
                                      const float values[], struct tensor* input)
{
    begin_op(emit, activation->op, 1, input);
    for (int i = 0; i < MOST_PARAMETERS && activation->parameters[i]; ++i)
        emit_attr_float(emit, activation->parameters[i], values[i]);
    return end_op(emit);
}

static void copy_parameters(emitter_t* emit)
{
    if (emit->status == TENGINE_OK) emit->status = copy_op_param(&emit->op->op, &emit->origin->op);
}

// ---- FusedConv ----

struct fused_conv_param
{
    struct conv_param conv;
    char* activation;
    struct op_floats activation_params;
};

static const op_field_t fused_conv_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_KERNEL_FIELD(.required = 0),
    WINDOW_DILATIONS_FIELD(.required = 0),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct conv_param, INT, group, .number = 1, .minimum = 1),
    OP_FIELD(struct fused_conv_param, STRING, activation, .text = ""),
    OP_FIELD(struct fused_conv_param, FLOATS, activation_params, .required = 0),
};

// Emits the activation. Clip has its bounds as inputs.
static struct tensor* emit_conv_activation(emitter_t* emit, struct tensor* input)
{
    const struct fused_conv_param* param = emit->origin->op.param_mem;
    const struct op_floats* given = &param->activation_params;
    if (!param->activation || !*param->activation) return input;
    const bool is_clip = strcmp(param->activation, "Clip") == 0;
    const struct fused_activation* activation = find_activation(param->activation);
    if (!activation && !is_clip) {
        fail_emitting(emit, TENGINE_ENOTSUP, "activation %s is not supported", param->activation);
        return NULL;
    }
    int wanted = is_clip ? MOST_PARAMETERS : 0;
    while (!is_clip && wanted < MOST_PARAMETERS && activation->parameters[wanted])
        ++wanted;
    if (given->num != wanted) {
        fail_emitting(emit, TENGINE_EINVAL, "activation_params has %d values, %s needs %d",
                      given->num, param->activation, wanted);
        return NULL;
    }
    if (!is_clip) return emit_activation(emit, activation, given->values, input);
    return emit_op(emit, "Clip", 3, input, emit_number(emit, given->values[0], input),
                   emit_number(emit, given->values[1], input));
}

// Inputs: X, W, B, and Z, which is added before the activation.
static int lower_fused_conv(struct graph* graph, struct node* node)
{
    struct tensor* addend = get_ir_node_input(node, 3);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Conv", 3, get_ir_node_input(node, 0), get_ir_node_input(node, 1),
             get_ir_node_input(node, 2));
    copy_parameters(&emit);
    struct tensor* result = end_op(&emit);
    if (addend) result = emit_op(&emit, "Add", 2, result, addend);
    return finish_emitting(&emit, 1, emit_conv_activation(&emit, result));
}

// ---- FusedGemm ----

struct fused_gemm_param
{
    struct gemm_param gemm;
    char* activation;
    float activation_alpha, activation_beta, activation_gamma;
};

#define NOT_GIVEN (-FLT_MAX)

static const op_field_t fused_gemm_fields[] = {
    OP_FIELD(struct gemm_param, FLOAT, alpha, .number = 1),
    OP_FIELD(struct gemm_param, FLOAT, beta, .number = 1),
    OP_FIELD(struct gemm_param, INT, transA, .number = 0),
    OP_FIELD(struct gemm_param, INT, transB, .number = 0),
    OP_FIELD(struct fused_gemm_param, STRING, activation, .text = ""),
    OP_FIELD(struct fused_gemm_param, FLOAT, activation_alpha, .number = NOT_GIVEN),
    OP_FIELD(struct fused_gemm_param, FLOAT, activation_beta, .number = NOT_GIVEN),
    OP_FIELD(struct fused_gemm_param, FLOAT, activation_gamma, .number = NOT_GIVEN),
};

static struct tensor* emit_gemm_activation(emitter_t* emit, struct tensor* input)
{
    const struct fused_gemm_param* param = emit->origin->op.param_mem;
    if (!param->activation || !*param->activation) return input;
    const struct fused_activation* activation = find_activation(param->activation);
    float values[MOST_PARAMETERS] = {0};
    for (int i = 0; activation && i < MOST_PARAMETERS && activation->parameters[i]; ++i) {
        const char* name = activation->parameters[i];
        values[i] = strcmp(name, "alpha") == 0  ? param->activation_alpha
                    : strcmp(name, "beta") == 0 ? param->activation_beta
                                                : param->activation_gamma;
        if (values[i] == NOT_GIVEN)
            fail_emitting(emit, TENGINE_EINVAL, "activation_%s is missing, %s needs it", name,
                          param->activation);
    }
    if (activation) return emit_activation(emit, activation, values, input);
    fail_emitting(emit, TENGINE_ENOTSUP, "activation %s is not supported", param->activation);
    return NULL;
}

static int lower_fused_gemm(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Gemm", 3, get_ir_node_input(node, 0), get_ir_node_input(node, 1),
             get_ir_node_input(node, 2));
    copy_parameters(&emit);
    return finish_emitting(&emit, 1, emit_gemm_activation(&emit, end_op(&emit)));
}

// ---- FusedMatMul, TransposeMatMul ----

struct fused_matmul_param
{
    float alpha;
    int transA, transB;
    int transBatchA, transBatchB;
};

static const op_field_t fused_matmul_fields[] = {
    OP_FIELD(struct fused_matmul_param, FLOAT, alpha, .number = 1),
    OP_FIELD(struct fused_matmul_param, INT, transA, .number = 0),
    OP_FIELD(struct fused_matmul_param, INT, transB, .number = 0),
    OP_FIELD(struct fused_matmul_param, INT, transBatchA, .number = 0),
    OP_FIELD(struct fused_matmul_param, INT, transBatchB, .number = 0),
};

// Fields of the older name, which does not move batches.
static const op_field_t transpose_matmul_fields[] = {
    OP_FIELD(struct fused_matmul_param, FLOAT, alpha, .number = 1),
    OP_FIELD(struct fused_matmul_param, INT, transA, .number = 0),
    OP_FIELD(struct fused_matmul_param, INT, transB, .number = 0),
};

// Emits a transposition: the first axis moves behind the others of the batch if `batch`, and the
// last two are exchanged. A list is left as it is.
static struct tensor* emit_turned(emitter_t* emit, struct tensor* input, bool batch, bool matrix)
{
    const int rank = input->dim_num;
    int64_t order[MAX_SHAPE_DIM_NUM];
    if (rank < 2 || !(batch || matrix)) return input;
    for (int i = 0; i < rank; ++i)
        order[i] = i;
    for (int i = 0; batch && i < rank - 1; ++i)
        order[i] = i + 1 < rank - 1 ? i + 1 : 0;
    const int64_t last = order[rank - 1];
    if (matrix) {
        order[rank - 1] = order[rank - 2];
        order[rank - 2] = last;
    }
    return emit_transpose(emit, input, order, rank);
}

static int lower_fused_matmul(struct graph* graph, struct node* node)
{
    const struct fused_matmul_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* a =
        emit_turned(&emit, get_ir_node_input(node, 0), param->transBatchA != 0, param->transA != 0);
    struct tensor* b =
        emit_turned(&emit, get_ir_node_input(node, 1), param->transBatchB != 0, param->transB != 0);
    struct tensor* result = emit_op(&emit, "MatMul", 2, a, b);
    if (param->alpha != 1)
        result = emit_op(&emit, "Mul", 2, result, emit_number(&emit, param->alpha, result));
    return finish_emitting(&emit, 1, result);
}

// ---- BiasAdd ----

static int lower_bias_add(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* sum =
        emit_op(&emit, "Add", 2, get_ir_node_input(node, 0), get_ir_node_input(node, 1));
    return finish_emitting(&emit, 1, emit_op(&emit, "Add", 2, sum, get_ir_node_input(node, 2)));
}

#define LOWERED(least, most, lower_function)                                          \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1, \
    .max_output = 1, .traits = OP_LEGACY | OP_SHAPED, .lower = lower_function

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(BiasAdd, LOWERED(3, 3, lower_bias_add)),
    MICROSOFT_ROW(FusedConv, LOWERED(2, 4, lower_fused_conv), OP_FIELDS(fused_conv_fields),
                  .param_size = sizeof(struct fused_conv_param)),
    MICROSOFT_ROW(FusedGemm, LOWERED(2, 3, lower_fused_gemm), OP_FIELDS(fused_gemm_fields),
                  .param_size = sizeof(struct fused_gemm_param)),
    MICROSOFT_ROW(FusedMatMul, LOWERED(2, 2, lower_fused_matmul), OP_FIELDS(fused_matmul_fields),
                  .param_size = sizeof(struct fused_matmul_param)),
    MICROSOFT_ROW(TransposeMatMul, LOWERED(2, 2, lower_fused_matmul),
                  OP_FIELDS(transpose_matmul_fields),
                  .param_size = sizeof(struct fused_matmul_param)),
};

OPERATOR_TABLE(fused_ops, rows);
