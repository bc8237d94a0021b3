// SPDX-License-Identifier: Apache-2.0
#include "operator/tflite/raise.h"

#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/tengine/move.h"

static int raise_by(const tfl_raisings_t* table, struct graph* graph, struct node* node)
{
    const char* op = get_ir_node_op(node);
    for (int i = 0; i < table->row_num; ++i)
        if (strcmp(table->rows[i].op, op) == 0) return table->rows[i].raise(graph, node);
    return OP_NOT_RAISED;
}

int raise_tfl_picture(struct graph* graph, struct node* node)
{
    static const tfl_raisings_t* const tables[] = {
        &tfl_picture_raisings,   &tfl_composed_raisings,  &tfl_function_raisings,
        &tfl_attention_raisings, &tfl_loss_raisings,      &tfl_place_raisings,
        &tfl_gelu_raisings,      &tfl_quantized_raisings, &tfl_recurrent_raisings};
    const int number = (int)(sizeof tables / sizeof *tables);
    int status = OP_NOT_RAISED;
    for (int i = 0; i < number && status == OP_NOT_RAISED; ++i)
        status = raise_by(tables[i], graph, node);
    return status;
}

static bool has_tfl_type(struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    const int type = output ? output->data_type : TENGINE_DT_FP32;
    if (type != TENGINE_DT_FP16 && type != TENGINE_DT_BF16 && type != TENGINE_DT_FP64) return true;
    refuse_raising(node, "its result is %s, the operators of TensorFlow Lite compute fp32",
                   get_data_type_name(type));
    return false;
}

int raise_tfl_node(struct graph* graph, struct node* node)
{
    static const tfl_raisings_t* const tables[] = {&tfl_element_raisings, &tfl_shape_raisings,
                                                   &tfl_product_raisings};
    int status = OP_NOT_RAISED;
    if (strcmp(get_ir_node_op(node), "Cast") != 0 && !has_tfl_type(node)) return status;
    for (int i = 0; i < 3 && status == OP_NOT_RAISED; ++i)
        status = raise_by(tables[i], graph, node);
    return status;
}

// ---- what they have in common ----

struct tensor* end_raised(emitter_t* emit, int data_type, const int dims[], int rank)
{
    struct tensor* result = end_op(emit);
    if (!result) return NULL;
    int status = set_ir_tensor_data_type(result, data_type);
    if (status == TENGINE_OK) status = set_ir_tensor_shape(result, dims, rank);
    if (status < 0) emit->status = status;
    return result;
}

bool is_raised_output_read(const struct node* node, int output)
{
    const struct tensor* tensor = get_ir_node_output(node, output);
    return tensor && (tensor->consumer_num > 0 || is_ir_graph_output(node->graph, tensor->index));
}

int finish_raised(emitter_t* emit)
{
    return finish_emitting(emit, 1, end_op(emit));
}

// Copies elements so that axis i of the result is axis order[i].
static void copy_turned(const struct tensor* from, const int64_t order[], struct tensor* to)
{
    const size_t size = from->elem_size;
    int64_t strides[MAX_SHAPE_DIM_NUM], steps[MAX_SHAPE_DIM_NUM], place[MAX_SHAPE_DIM_NUM] = {0};
    int64_t stride = 1, source = 0;
    for (int i = from->dim_num; i-- > 0; stride *= from->dims[i])
        strides[i] = stride;
    for (int i = 0; i < to->dim_num; ++i)
        steps[i] = strides[order[i]];
    for (int64_t element = 0; element < to->elem_num; ++element) {
        memcpy(to->u8 + (size_t)element * size, from->u8 + (size_t)source * size, size);
        for (int axis = to->dim_num; axis-- > 0;) {
            source += steps[axis];
            if (++place[axis] < to->dims[axis]) break;
            source -= steps[axis] * to->dims[axis];
            place[axis] = 0;
        }
    }
}

static struct tensor* turn_constant(emitter_t* emit, const struct tensor* input,
                                    const int64_t order[], int rank)
{
    char name[256];
    snprintf(name, sizeof name, "%s.%s", emit->origin->name, input->name);
    struct tensor* made = create_ir_tensor(emit->graph, name, input->data_type);
    int dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        dims[i] = input->dims[order[i]];
    int status = made ? set_ir_tensor_shape(made, dims, rank) : tengine_error_code();
    if (status == TENGINE_OK) status = allocate_ir_tensor(made);
    if (status < 0) {
        emit->status = status;
        return NULL;
    }
    made->tensor_type = TENSOR_TYPE_CONST;
    copy_turned(input, order, made);
    return made;
}

static bool is_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST &&
           get_data_type_bits(tensor->data_type) >= 8;
}

struct tensor* emit_turned(emitter_t* emit, struct tensor* input, const int64_t order[], int rank)
{
    if (emit->status < 0 || !input) return NULL;
    if (is_constant(input)) return turn_constant(emit, input, order, rank);
    const struct node* linear = get_ir_graph_node(emit->graph, input->producer);
    const bool is_linear = linear && strcmp(get_ir_node_op(linear), "DequantizeLinear") == 0;
    struct tensor* bytes = is_linear ? get_ir_node_input(linear, 0) : NULL;
    if (!is_constant(bytes)) return emit_transpose(emit, input, order, rank);
    int64_t axis = get_ir_node_int(linear, "axis", 1), place = 0;
    if (axis < 0) axis += rank;
    while (place < rank && order[place] != axis)
        ++place;
    struct tensor* turned = turn_constant(emit, bytes, order, rank);
    struct tensor *scale = get_ir_node_input(linear, 1), *zero_point = get_ir_node_input(linear, 2);
    begin_op(emit, "DequantizeLinear", zero_point ? 3 : 2, turned, scale, zero_point);
    if (place < rank) emit_attr_int(emit, "axis", place);
    return end_op(emit);
}

struct tensor* emit_zeroes(emitter_t* emit, int number)
{
    if (emit->status < 0) return NULL;
    struct tensor* made = create_ir_tensor(emit->graph, NULL, TENGINE_DT_FP32);
    int status = made ? set_ir_tensor_shape(made, &number, 1) : tengine_error_code();
    if (status == TENGINE_OK) status = allocate_ir_tensor(made);
    if (status < 0) {
        emit->status = status;
        return NULL;
    }
    made->tensor_type = TENSOR_TYPE_CONST;
    return made;
}

struct tensor* emit_dims(emitter_t* emit, const struct tensor* like)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(like, dims);
    return emit_int32s(emit, dims, rank);
}

int raise_as_tfl_reshape(struct graph* graph, struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(output, dims);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.RESHAPE", 2, get_ir_node_input(node, 0), emit_dims(&emit, output));
    emit_attr_ints(&emit, "new_shape", dims, rank);
    return finish_raised(&emit);
}
