// SPDX-License-Identifier: Apache-2.0
// com.microsoft.DynamicQuantizeLSTM: an LSTM with quantised, transposed W and R, which quantises
// the tensors that they are multiplied by. With constant int8 without zero points it becomes
// tengine.RowQuantizeLSTM (recurrent_ops.c), which finds a range for each row, where ONNX Runtime
// finds one for all: results are nearer to those in float. With other weights it becomes an LSTM in
// float.
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/recurrent_param.h"
#include "operator/onnx_type.h"
#include "operator/param.h"
#include "operator/row.h"
#include "tengine/device.h"

// The inputs that have W and R, and their scales; each zero point follows its scale.
static const struct place
{
    int matrix, scale;
} places[] = {{1, 8}, {2, 10}};

static bool has_zeros(const struct tensor* zero_point)
{
    if (!zero_point) return true;
    if (zero_point->data_type != TENGINE_DT_INT8 || !zero_point->data) return false;
    for (int64_t i = 0; i < zero_point->elem_num; ++i)
        if (zero_point->i8[i] != 0) return false;
    return true;
}

static bool is_symmetric(const struct node* node, struct place place)
{
    const struct tensor* matrix = get_ir_node_input(node, place.matrix);
    return matrix->data_type == TENGINE_DT_INT8 && matrix->tensor_type == TENSOR_TYPE_CONST &&
           has_zeros(get_ir_node_input(node, place.scale + 1));
}

static int append(struct graph* graph, const struct node* origin, const char* op,
                  struct tensor* first, struct tensor* second, struct node** out_made)
{
    struct tensor* inputs[] = {first, second};
    *out_made = append_lowered_node(graph, origin, op, inputs, second ? 2 : 1);
    return *out_made ? TENGINE_OK : tengine_error_code();
}

// Appends a Transpose of rows and columns, for all directions.
static int append_transpose(struct graph* graph, const struct node* node, struct tensor* value,
                            struct tensor** out_value)
{
    static const int64_t order[] = {0, 2, 1};
    struct node* made = NULL;
    TENGINE_RETURN_IF_ERROR(append(graph, node, "Transpose", value, NULL, &made));
    *out_value = get_ir_node_output(made, 0);
    return set_node_ints(made, "perm", order, 3);
}

// Appends an Unsqueeze at `axes`: the tensor has one value, or one for each row, of each direction.
static int append_axes(struct graph* graph, const struct node* node, struct tensor* value,
                       const int64_t axes[], int axis_num, struct tensor** out_value)
{
    struct tensor* list = create_int_constant(graph, axes, axis_num);
    struct node* made = NULL;
    if (!list) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(append(graph, node, "Unsqueeze", value, list, &made));
    *out_value = get_ir_node_output(made, 0);
    return TENGINE_OK;
}

static int append_cast(struct graph* graph, const struct node* node, struct tensor* value,
                       struct tensor** out_value)
{
    struct node* made = NULL;
    TENGINE_RETURN_IF_ERROR(append(graph, node, "Cast", value, NULL, &made));
    *out_value = get_ir_node_output(made, 0);
    return set_node_int(made, "to", get_onnx_type(TENGINE_DT_FP32));
}

// Appends scales of shape directions x rows.
static int append_row_scales(struct graph* graph, const struct node* node, struct tensor* scale,
                             int64_t rows, struct tensor** out_scale)
{
    static const int64_t last = 1;
    const int64_t dims[] = {1, rows};
    struct tensor* shape = create_int_constant(graph, dims, 2);
    struct node* made = NULL;
    if (!shape) return tengine_error_code();
    if (scale->dim_num == 1)
        TENGINE_RETURN_IF_ERROR(append_axes(graph, node, scale, &last, 1, &scale));
    TENGINE_RETURN_IF_ERROR(append(graph, node, "Expand", scale, shape, &made));
    *out_scale = get_ir_node_output(made, 0);
    return TENGINE_OK;
}

// Appends (matrix - zero point) * scale, transposed.
static int append_floats(struct graph* graph, const struct node* node, struct place place,
                         struct tensor** out_matrix)
{
    static const int64_t axes[] = {1, 2};
    struct tensor* matrix = get_ir_node_input(node, place.matrix);
    struct tensor* scale = get_ir_node_input(node, place.scale);
    struct tensor* zero_point = get_ir_node_input(node, place.scale + 1);
    struct node* made = NULL;
    const int axis_num = scale->dim_num == 1 ? 2 : 1;
    TENGINE_RETURN_IF_ERROR(append_cast(graph, node, matrix, &matrix));
    TENGINE_RETURN_IF_ERROR(append_axes(graph, node, scale, axes, axis_num, &scale));
    if (zero_point) {
        TENGINE_RETURN_IF_ERROR(append_cast(graph, node, zero_point, &zero_point));
        TENGINE_RETURN_IF_ERROR(append_axes(graph, node, zero_point, axes, axis_num, &zero_point));
        TENGINE_RETURN_IF_ERROR(append(graph, node, "Sub", matrix, zero_point, &made));
        matrix = get_ir_node_output(made, 0);
    }
    TENGINE_RETURN_IF_ERROR(append(graph, node, "Mul", matrix, scale, &made));
    return append_transpose(graph, node, get_ir_node_output(made, 0), out_matrix);
}

static int check_inputs(const struct node* node)
{
    for (int i = 0; i < 2; ++i) {
        const struct tensor* matrix = get_ir_node_input(node, places[i].matrix);
        const struct tensor* scale = get_ir_node_input(node, places[i].scale);
        const struct tensor* zero_point = get_ir_node_input(node, places[i].scale + 1);
        if (!matrix || !scale)
            return fail_node(node, TENGINE_EGRAPH, "input %d is missing",
                             matrix ? places[i].scale : places[i].matrix);
        if (!matrix->shape_set || matrix->dim_num != 3 || !scale->shape_set || scale->dim_num < 1 ||
            scale->dim_num > 2 ||
            (zero_point && (!zero_point->shape_set || zero_point->dim_num != scale->dim_num)))
            return fail_node(node, TENGINE_ENOTSUP,
                             "input %d of rank %d has a scale of rank %d, expected 3 and 1 or 2, "
                             "known beforehand, and a zero point of the same rank",
                             places[i].matrix, matrix->shape_set ? matrix->dim_num : 0,
                             scale->shape_set ? scale->dim_num : 0);
    }
    return TENGINE_OK;
}

static int lower_lstm(struct graph* graph, struct node* node)
{
    TENGINE_RETURN_IF_ERROR(check_inputs(node));
    const bool has_bytes = is_symmetric(node, places[0]) && is_symmetric(node, places[1]);
    struct tensor* matrices[2] = {NULL, NULL};
    struct tensor* scales[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i) {
        struct tensor* matrix = get_ir_node_input(node, places[i].matrix);
        if (!has_bytes) {
            TENGINE_RETURN_IF_ERROR(append_floats(graph, node, places[i], &matrices[i]));
            continue;
        }
        TENGINE_RETURN_IF_ERROR(append_transpose(graph, node, matrix, &matrices[i]));
        TENGINE_RETURN_IF_ERROR(append_row_scales(
            graph, node, get_ir_node_input(node, places[i].scale), matrix->dims[2], &scales[i]));
    }
    for (int i = 0; i < 2; ++i) {
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, places[i].matrix, matrices[i]));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 8 + i, scales[i]));
    }
    keep_ir_node_inputs(node, has_bytes ? 10 : 8);
    return change_node_method(node, has_bytes ? "tengine.RowQuantizeLSTM" : "LSTM");
}

static const op_field_t fields[] = {
    OP_FIELD(struct recurrent_param, FLOATS, activation_alpha, .required = 0),
    OP_FIELD(struct recurrent_param, FLOATS, activation_beta, .required = 0),
    OP_FIELD(struct recurrent_param, STRINGS, activations, .required = 0),
    OP_FIELD(struct recurrent_param, FLOAT, clip, .number = 0),
    OP_FIELD(struct recurrent_param, STRING, direction, .text = "forward",
             .choices = "forward|reverse|bidirectional"),
    OP_FIELD(struct recurrent_param, INT, hidden_size, .number = 0),
    OP_FIELD(struct recurrent_param, INT, input_forget, .minimum = 0, .maximum = 1),
};

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(DynamicQuantizeLSTM, .version = 1, .until = 1, .min_input = 11, .max_input = 12,
                  .min_output = 0, .max_output = 3, .traits = OP_LEGACY, .lower = lower_lstm,
                  OP_FIELDS(fields), .param_size = sizeof(struct recurrent_param)),
};

OPERATOR_TABLE(dynamic_lstm_ops, rows);
