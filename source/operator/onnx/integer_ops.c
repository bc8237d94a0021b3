// SPDX-License-Identifier: Apache-2.0
// MulInteger and ReduceSumInteger of ONNX Runtime, lowered to ONNX's operators on wider integers,
// and its QuantizeLinear and DequantizeLinear, which ONNX's newer ones include.
#include "operator/onnx/quant_param.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "operator/shaped.h"
#include "operator/tengine/emit.h"
#include "operator/type_set.h"

// Emits input `index` as int32, minus the zero point that follows it.
static struct tensor* emit_difference(emitter_t* emit, int index)
{
    struct tensor* zero_point = get_ir_node_input(emit->origin, index + 1);
    struct tensor* wide = emit_cast(emit, get_ir_node_input(emit->origin, index), TENGINE_DT_INT32);
    if (!zero_point) return wide;
    return emit_op(emit, "Sub", 2, wide, emit_cast(emit, zero_point, TENGINE_DT_INT32));
}

// Inputs: A, its zero point, B, its zero point.
static int lower_mul_integer(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    if (!get_ir_node_input(node, 2))
        return fail_emitting(&emit, TENGINE_EINVAL, "input 2, B, is missing");
    for (int i = 0; i < 4; i += 2)
        TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPES_BYTE));
    struct tensor* a = emit_difference(&emit, 0);
    return finish_emitting(&emit, 1, emit_op(&emit, "Mul", 2, a, emit_difference(&emit, 2)));
}

struct reduce_sum_integer_param
{
    struct op_ints axes;
    int keepdims;
};

static const op_field_t reduce_sum_integer_fields[] = {
    OP_FIELD(struct reduce_sum_integer_param, INTS, axes, .required = 1),
    OP_FIELD(struct reduce_sum_integer_param, INT, keepdims, .required = 1, .maximum = 1),
};

// The accumulator of uint8 is unsigned.
static int lower_reduce_sum_integer(struct graph* graph, struct node* node)
{
    const struct reduce_sum_integer_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_BYTE));
    emitter_t emit = start_emitting(graph, node);
    const bool is_signed = input->data_type == TENGINE_DT_INT8;
    struct tensor* wide = emit_cast(&emit, input, is_signed ? TENGINE_DT_INT32 : TENGINE_DT_UINT32);
    begin_op(&emit, "ReduceSum", 2, wide, emit_ints(&emit, param->axes.values, param->axes.num));
    emit_attr_int(&emit, "keepdims", param->keepdims);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static const op_field_t quantize_fields[] = {
    OP_FIELD(struct quant_param, INT, axis, .number = 1),
};

static int lower_quantize(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "QuantizeLinear");
}

static int lower_dequantize(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "DequantizeLinear");
}

#define LOWERED(least, most, op_traits, lower_function)                               \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1, \
    .max_output = 1, .traits = op_traits, .lower = lower_function
#define QUANTIZE_ROW(lower_function)                                      \
    LOWERED(2, 3, OP_LEGACY, lower_function), OP_FIELDS(quantize_fields), \
        .param_size = sizeof(struct quant_param)

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(DequantizeLinear, QUANTIZE_ROW(lower_dequantize)),
    MICROSOFT_ROW(MulInteger, LOWERED(1, 4, OP_LEGACY | OP_SHAPED, lower_mul_integer)),
    MICROSOFT_ROW(QuantizeLinear, QUANTIZE_ROW(lower_quantize)),
    MICROSOFT_ROW(ReduceSumInteger, LOWERED(1, 1, OP_LEGACY | OP_SHAPED, lower_reduce_sum_integer),
                  OP_FIELDS(reduce_sum_integer_fields),
                  .param_size = sizeof(struct reduce_sum_integer_param)),
};

OPERATOR_TABLE(integer_ops, rows);
