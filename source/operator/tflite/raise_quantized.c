// SPDX-License-Identifier: Apache-2.0
// Operators on quantised tensors as DequantizeLinear, the operator on floats and QuantizeLinear,
// the form in which optimizer/dialect/tflite_integers.cc finds what is computed with integers.
#include <string.h>

#include "operator/infer.h"
#include "operator/tflite/raise.h"

// The value of inputs `place`, its scale and its zero point.
static struct tensor* emit_real(emitter_t* emit, int place, int64_t axis)
{
    struct tensor* zero_point = get_ir_node_input(emit->origin, place + 2);
    begin_op(emit, "DequantizeLinear", zero_point ? 3 : 2, get_ir_node_input(emit->origin, place),
             get_ir_node_input(emit->origin, place + 1), zero_point);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

static int finish_bytes(emitter_t* emit, struct tensor* real, int place)
{
    return finish_emitting(
        emit, 1,
        emit_op(emit, "QuantizeLinear", 3, real, get_ir_node_input(emit->origin, place),
                get_ir_node_input(emit->origin, place + 1)));
}

static bool are_constant(struct node* node, const int places[], int number)
{
    for (int i = 0; i < number; ++i) {
        const struct tensor* tensor = get_ir_node_input(node, places[i]);
        if (tensor && tensor->tensor_type == TENSOR_TYPE_CONST) continue;
        refuse_raising(node, "its input %d, a scale, is not a constant", places[i]);
        return false;
    }
    return true;
}

// Integers of the scale of the products.
static struct tensor* emit_bias(emitter_t* emit, struct tensor* bias, const struct tensor* scale,
                                const struct tensor* scales)
{
    if (!bias || emit->status < 0) return NULL;
    const int number = (int)scales->elem_num;
    struct tensor* products = emit_zeroes(emit, number);
    for (int i = 0; products && i < number; ++i)
        products->f32[i] = scale->f32[0] * scales->f32[i];
    if (products && number == 1 && set_ir_tensor_shape(products, NULL, 0) < 0)
        emit->status = tengine_error_code();
    begin_op(emit, "DequantizeLinear", 2, bias, products);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

static int raise_qlinear_conv(struct graph* graph, struct node* node)
{
    if (!are_constant(node, (const int[]){1, 4}, 2)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = emit_real(&emit, 0, 0), *filter = emit_real(&emit, 3, 0);
    struct tensor* bias = emit_bias(&emit, get_ir_node_input(node, 8), get_ir_node_input(node, 1),
                                    get_ir_node_input(node, 4));
    begin_op(&emit, "Conv", bias ? 3 : 2, input, filter, bias);
    if (emit.status == TENGINE_OK) emit.status = copy_op_param(&emit.op->op, &node->op);
    return finish_bytes(&emit, end_op(&emit), 6);
}

static int raise_qlinear_matmul(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    const int64_t last = get_ir_node_input(node, 3)->dim_num - 1;
    struct tensor *a = emit_real(&emit, 0, 0), *b = emit_real(&emit, 3, last);
    return finish_bytes(&emit, emit_op(&emit, "MatMul", 2, a, b), 6);
}

static int raise_qgemm(struct graph* graph, struct node* node)
{
    if (!are_constant(node, (const int[]){1, 4}, 2)) return OP_NOT_RAISED;
    if (!get_ir_node_input(node, 7)) return refuse_raising(node, "its result is not quantised");
    emitter_t emit = start_emitting(graph, node);
    const int64_t axis = get_ir_node_int(node, "transB", 0) != 0 ? 0 : 1;
    struct tensor *a = emit_real(&emit, 0, 0), *b = emit_real(&emit, 3, axis);
    struct tensor* bias = emit_bias(&emit, get_ir_node_input(node, 6), get_ir_node_input(node, 1),
                                    get_ir_node_input(node, 4));
    begin_op(&emit, "Gemm", bias ? 3 : 2, a, b, bias);
    if (emit.status == TENGINE_OK) emit.status = copy_op_param(&emit.op->op, &node->op);
    return finish_bytes(&emit, end_op(&emit), 7);
}

static int raise_of_two(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *a = emit_real(&emit, 0, 0), *b = emit_real(&emit, 3, 0);
    return finish_bytes(&emit, emit_op(&emit, op, 2, a, b), 6);
}

static int raise_qlinear_add(struct graph* graph, struct node* node)
{
    return raise_of_two(graph, node, "Add");
}

static int raise_qlinear_mul(struct graph* graph, struct node* node)
{
    return raise_of_two(graph, node, "Mul");
}

static int raise_of_one(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = emit_real(&emit, 0, 0);
    begin_op(&emit, op, 1, input);
    if (emit.status == TENGINE_OK) emit.status = copy_op_param(&emit.op->op, &node->op);
    return finish_bytes(&emit, end_op(&emit), 3);
}

static int raise_qlinear_average(struct graph* graph, struct node* node)
{
    return raise_of_one(graph, node, "AveragePool");
}

static int raise_qlinear_global(struct graph* graph, struct node* node)
{
    return raise_of_one(graph, node, "GlobalAveragePool");
}

static int raise_qlinear_sigmoid(struct graph* graph, struct node* node)
{
    return raise_of_one(graph, node, "Sigmoid");
}

static int raise_qlinear_leaky(struct graph* graph, struct node* node)
{
    return raise_of_one(graph, node, "LeakyRelu");
}

// Scale and zero point of the result come first.
static int raise_qlinear_concat(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* parts[MAX_SHAPE_DIM_NUM * 8];
    const int number = (node->input_num - 2) / 3;
    if (number > MAX_SHAPE_DIM_NUM * 8)
        return refuse_raising(node, "it has %d inputs, expected at most %d", number,
                              MAX_SHAPE_DIM_NUM * 8);
    for (int i = 0; i < number; ++i)
        parts[i] = emit_real(&emit, 2 + 3 * i, 0);
    begin_op(&emit, "Concat", 0);
    for (int i = 0; i < number; ++i)
        emit_input(&emit, parts[i]);
    emit_attr_int(&emit, "axis", get_ir_node_int(node, "axis", 0));
    return finish_bytes(&emit, end_op(&emit), 0);
}

static const tfl_raising_t rows[] = {
    {"QGemm", raise_qgemm},
    {"QLinearAdd", raise_qlinear_add},
    {"QLinearAveragePool", raise_qlinear_average},
    {"QLinearConcat", raise_qlinear_concat},
    {"QLinearConv", raise_qlinear_conv},
    {"QLinearGlobalAveragePool", raise_qlinear_global},
    {"QLinearLeakyRelu", raise_qlinear_leaky},
    {"QLinearMatMul", raise_qlinear_matmul},
    {"QLinearMul", raise_qlinear_mul},
    {"QLinearSigmoid", raise_qlinear_sigmoid},
};

TFL_RAISINGS(tfl_quantized_raisings, rows);
