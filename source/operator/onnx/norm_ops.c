// SPDX-License-Identifier: Apache-2.0
// Normalisations: BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization,
// GroupNormalization, LRN, LpNormalization, and ONNX Runtime's older form of RMSNormalization.
// Kernels: device/cpu/reference/norm/norm.cc and lrn.cc.
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/norm_param.h"
#include "operator/onnx_type.h"
#include "operator/param.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define EPSILON_FIELD(type) OP_FIELD(struct type, FLOAT, epsilon, .number = 1e-5f)

static const op_field_t batch_norm_fields[] = {
    EPSILON_FIELD(batch_norm_param),
    OP_FIELD(struct batch_norm_param, FLOAT, momentum, .number = 0.9f),
    OP_FIELD(struct batch_norm_param, INT, training_mode, .minimum = 0, .maximum = 1, .since = 14),
    OP_FIELD(struct batch_norm_param, INT, spatial, .number = 1, .minimum = 0, .maximum = 1,
             .until = 8),
    OP_FIELD(struct batch_norm_param, INT, is_test, .number = 0, .until = 6),
};

static const op_field_t instance_norm_fields[] = {EPSILON_FIELD(instance_norm_param)};

static const op_field_t lrn_fields[] = {
    OP_FIELD(struct lrn_param, FLOAT, alpha, .number = 1e-4f),
    OP_FIELD(struct lrn_param, FLOAT, beta, .number = 0.75),
    OP_FIELD(struct lrn_param, FLOAT, bias, .number = 1),
    OP_FIELD(struct lrn_param, INT, size, .required = 1, .minimum = 1, .maximum = INT32_MAX),
};

static const op_field_t lp_norm_fields[] = {
    OP_FIELD(struct lp_norm_param, INT, axis, .number = -1),
    OP_FIELD(struct lp_norm_param, INT, p, .number = 2, .minimum = 1, .maximum = 2),
};

static const op_field_t layer_norm_fields[] = {
    OP_FIELD(struct layer_norm_param, INT, axis, .number = -1),
    EPSILON_FIELD(layer_norm_param),
    OP_FIELD(struct layer_norm_param, INT, stash_type, .number = 1, .minimum = 1),
};

static const op_field_t group_norm_fields[] = {
    EPSILON_FIELD(group_norm_param),
    OP_FIELD(struct group_norm_param, INT, num_groups, .required = 1, .minimum = 1),
    OP_FIELD(struct group_norm_param, INT, stash_type, .number = 1, .minimum = 1, .since = 21),
};

static int check_rank(const struct node* node, int minimum)
{
    const int rank = get_ir_node_input(node, 0)->dim_num;
    if (rank >= minimum) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input has rank %d, expected at least %d", rank,
                     minimum);
}

static int check_list(const struct node* node, int index, int num)
{
    const struct tensor* list = get_ir_node_input(node, index);
    if (list->dim_num == 1 && list->dims[0] == num) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "input %d '%s' has rank %d and %lld values, expected a list of %d", index,
                     list->name, list->dim_num, (long long)list->elem_num, num);
}

static int set_statistics(struct node* node, int channels)
{
    const struct batch_norm_param* param = node->op.param_mem;
    const int64_t dims[] = {channels};
    for (int index = 1; index < node->output_num; ++index) {
        if (!get_ir_node_output(node, index)) continue;
        if (!param->training_mode)
            return fail_node(node, TENGINE_EINVAL, "output %d exists only in training_mode", index);
        if (index > 2)
            return fail_node(node, TENGINE_ENOTSUP,
                             "output %d, the saved statistics of old opsets, is not supported",
                             index);
        const int data_type = get_ir_node_input(node, index + 2)->data_type;
        TENGINE_RETURN_IF_ERROR(set_node_output(node, index, data_type, dims, 1));
    }
    return TENGINE_OK;
}

static int infer_batch_norm(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(check_rank(node, 1));
    const int channels = input->dim_num > 1 ? input->dims[1] : 1;
    for (int index = 0; index < 5; ++index) {
        TENGINE_RETURN_IF_ERROR(require_type(node, index, TYPES_FLOAT));
        if (index > 0) TENGINE_RETURN_IF_ERROR(check_list(node, index, channels));
    }
    TENGINE_RETURN_IF_ERROR(set_statistics(node, channels));
    return set_node_output_like(node, 0, input, -1);
}

// Up to opset 13, nodes with more than one output were in training mode. Files of that time list
// outputs that are not read: those are disconnected. True if one remains.
static bool keep_read_outputs(const struct graph* graph, struct node* node)
{
    bool remains = false;
    for (int index = 1; index < node->output_num; ++index) {
        const struct tensor* output = get_ir_node_output(node, index);
        if (!output) continue;
        const bool is_read = output->consumer_num > 0 || is_ir_graph_output(graph, output->index);
        if (!is_read) set_ir_node_output_tensor(node, index, NULL);
        remains = remains || is_read;
    }
    return remains;
}

static struct tensor* append_reshape(struct graph* graph, const struct node* node,
                                     struct tensor* tensor, struct tensor* shape)
{
    struct tensor* inputs[] = {tensor, shape};
    struct node* reshape = append_lowered_node(graph, node, "Reshape", inputs, 2);
    return reshape ? get_ir_node_output(reshape, 0) : NULL;
}

// With spatial = 0 every position of a channel has its own statistics, as if it were a channel of
// one position. Input and lists are flattened to such channels, and the output is reshaped to the
// input's shape.
static int flatten_batch_norm(struct graph* graph, struct node* node)
{
    static const int64_t flat_input[] = {0, -1};
    static const int64_t flat_list[] = {-1};
    struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* output = get_ir_node_output(node, 0);
    for (int index = 0; index < 5; ++index) {
        struct tensor* shape = index == 0 ? create_int_constant(graph, flat_input, 2)
                                          : create_int_constant(graph, flat_list, 1);
        struct tensor* flat = append_reshape(graph, node, get_ir_node_input(node, index), shape);
        if (!flat) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, index, flat));
    }
    struct node* shape = append_lowered_node(graph, node, "Shape", &input, 1);
    struct tensor* flat_output = create_ir_tensor(graph, NULL, input->data_type);
    if (!shape || !flat_output) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, flat_output));
    struct tensor* inputs[] = {flat_output, get_ir_node_output(shape, 0)};
    struct node* restore = append_lowered_node(graph, node, "Reshape", inputs, 2);
    if (!restore) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_node_int(restore, "allowzero", 1));
    return set_ir_node_output_tensor(restore, 0, output);
}

static int lower_batch_norm(struct graph* graph, struct node* node)
{
    struct batch_norm_param* param = node->op.param_mem;
    const int version = node->op.version;
    node->op.version = NEWEST_KNOWN_OPSET;
    if (version < 14) param->training_mode = keep_read_outputs(graph, node) && !param->is_test;
    if (version >= 9 || param->spatial) return TENGINE_OK;
    param->spatial = 1;
    return flatten_batch_norm(graph, node);
}

static int infer_instance_norm(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    TENGINE_RETURN_IF_ERROR(check_rank(node, 2));
    TENGINE_RETURN_IF_ERROR(check_list(node, 1, input->dims[1]));
    TENGINE_RETURN_IF_ERROR(check_list(node, 2, input->dims[1]));
    return set_node_output_like(node, 0, input, -1);
}

static int infer_lrn(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(check_rank(node, 2));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static int infer_lp_norm(struct node* node)
{
    const struct lp_norm_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    return set_node_output_like(node, 0, input, -1);
}

// Checks that input `index` is absent or broadcasts to the shape of input 0 without changing it.
static int check_broadcast(const struct node* node, int index)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* small = get_ir_node_input(node, index);
    if (!small) return TENGINE_OK;
    bool fits = small->dim_num <= input->dim_num;
    for (int i = 1; fits && i <= small->dim_num; ++i) {
        const int dim = small->dims[small->dim_num - i];
        fits = dim == 1 || dim == input->dims[input->dim_num - i];
    }
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' does not broadcast to input 0", index,
                     small->name);
}

// Infers the common part of the operators that normalise along the last axes: everything except the
// other outputs. The first output has the type of the scale.
static int infer_layer(struct node* node, int* out_axis, int* out_stash_type)
{
    const struct layer_norm_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, out_axis));
    for (int index = 0; index < node->input_num; ++index) {
        TENGINE_RETURN_IF_ERROR(require_type(node, index, TYPES_FLOAT));
        TENGINE_RETURN_IF_ERROR(check_broadcast(node, index));
    }
    *out_stash_type = get_data_type_of_onnx(param->stash_type);
    if (*out_stash_type != TENGINE_DT_FP32 && *out_stash_type != TENGINE_DT_BF16)
        return fail_node(node, TENGINE_EDTYPE,
                         "invalid stash_type %d: expected float (1) or bfloat16 (16)",
                         param->stash_type);
    return set_node_output_like(node, 0, input, get_ir_node_input(node, 1)->data_type);
}

// Output `index` has a value for each row.
static int set_row_statistic(struct node* node, int index, int axis, int data_type)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i < axis ? input->dims[i] : 1;
    return set_node_output(node, index, data_type, dims, input->dim_num);
}

static int infer_layer_norm(struct node* node)
{
    int axis, stash_type;
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, node->input_num - 1));
    TENGINE_RETURN_IF_ERROR(infer_layer(node, &axis, &stash_type));
    TENGINE_RETURN_IF_ERROR(set_row_statistic(node, 1, axis, stash_type));
    return set_row_statistic(node, 2, axis, stash_type);
}

static int infer_rms_norm(struct node* node)
{
    int axis, stash_type;
    TENGINE_RETURN_IF_ERROR(infer_layer(node, &axis, &stash_type));
    return set_row_statistic(node, 1, axis, stash_type);
}

// Lowers RMSNormalization under its older name, with a second output that few models read.
static int lower_simplified(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(
        node, get_ir_node_output(node, 1) ? "SimplifiedLayerNormalization" : "RMSNormalization");
}

// Scale and bias have one value per channel; in opsets 18 to 20 one per group.
static int infer_group_norm(struct node* node)
{
    const struct group_norm_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    TENGINE_RETURN_IF_ERROR(check_rank(node, 2));
    const int groups = param->num_groups;
    if (groups < 1 || input->dims[1] % groups != 0)
        return fail_node(node, TENGINE_EINVAL, "%d channels do not divide into %d groups",
                         input->dims[1], groups);
    for (int index = 1; index <= 2; ++index) {
        const struct tensor* list = get_ir_node_input(node, index);
        const bool per_group = list->dim_num == 1 && list->dims[0] == groups;
        if (!per_group) TENGINE_RETURN_IF_ERROR(check_list(node, index, input->dims[1]));
    }
    return set_node_output_like(node, 0, input, -1);
}

#define SIMPLIFIED                                                                  \
    .version = 1, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 2, \
    OP_FIELDS(layer_norm_fields), .param_size = sizeof(struct layer_norm_param),    \
    .lower = lower_simplified

static const ir_method_t* const rows[] = {
    OP_ROW(BatchNormalization, .version = 6, .min_input = 5, .max_input = 5, .min_output = 1,
           .max_output = 5, OP_FIELDS(batch_norm_fields),
           .param_size = sizeof(struct batch_norm_param), .infer_shape = infer_batch_norm,
           .types = "0 3 4", .lower = lower_batch_norm),
    OP_ROW(InstanceNormalization, .version = 6, .min_input = 3, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(instance_norm_fields),
           .param_size = sizeof(struct instance_norm_param), .infer_shape = infer_instance_norm),
    OP_ROW(LRN, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(lrn_fields), .param_size = sizeof(struct lrn_param), .infer_shape = infer_lrn),
    OP_ROW(LpNormalization, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(lp_norm_fields), .param_size = sizeof(struct lp_norm_param),
           .infer_shape = infer_lp_norm),
    OP_ROW(LayerNormalization, .version = 17, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 3, OP_FIELDS(layer_norm_fields),
           .param_size = sizeof(struct layer_norm_param), .infer_shape = infer_layer_norm,
           .types = "0 @stash_type"),
    OP_ROW(RMSNormalization, .version = 23, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(layer_norm_fields),
           .param_size = sizeof(struct layer_norm_param), .infer_shape = infer_rms_norm,
           .types = "1"),
    // ONNX Runtime defines it in ONNX's domain too; files have either.
    OP_ROW(SimplifiedLayerNormalization, SIMPLIFIED, .infer_shape = infer_rms_norm,
           .types = "1 @stash_type"),
    MICROSOFT_ROW(SimplifiedLayerNormalization, SIMPLIFIED, .until = 1, .traits = OP_LEGACY),
    OP_ROW(GroupNormalization, .version = 18, .min_input = 3, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(group_norm_fields),
           .param_size = sizeof(struct group_norm_param), .infer_shape = infer_group_norm),
};

OPERATOR_TABLE(norm_ops, rows);
