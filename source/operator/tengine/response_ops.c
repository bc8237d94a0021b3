// SPDX-License-Identifier: Apache-2.0
// Tengine's normalisations by neighbours: LRN, Normalize, L2Normalization, MVN.
#include "operator/row.h"
#include "operator/tengine/operand.h"

struct tm_lrn_param
{
    int local_size;
    float alpha;
    float beta;
    int norm_region;
    float k;
    float bias;   // in files only, not used
    int is_onnx;  // in files only, not used
};

struct tm_normalize_param
{
    int across_spatial;
    int channel_shared;
};

struct tm_mvn_param
{
    int normalize_variance;
    int across_channels;
    float eps;
};

static const op_field_t lrn_fields[] = {
    TM_FIELD(struct tm_lrn_param, INT, local_size, WORD, 0, .number = 5),
    TM_FIELD(struct tm_lrn_param, FLOAT, alpha, WORD, 4, .number = 1),
    TM_FIELD(struct tm_lrn_param, FLOAT, beta, WORD, 8, .number = 0.75),
    TM_FIELD(struct tm_lrn_param, INT, norm_region, WORD, 12, .number = 0),
    TM_FIELD(struct tm_lrn_param, FLOAT, k, WORD, 16, .number = 1),
    TM_FIELD(struct tm_lrn_param, FLOAT, bias, WORD, 20, .number = 0),
    TM_FIELD(struct tm_lrn_param, INT, is_onnx, BYTE, 24, .number = 0),
};

static const op_field_t normalize_fields[] = {
    TM_FIELD(struct tm_normalize_param, INT, across_spatial, WORD, 0, .number = 0),
    TM_FIELD(struct tm_normalize_param, INT, channel_shared, WORD, 4, .number = 0),
};

static const op_field_t mvn_fields[] = {
    TM_FIELD(struct tm_mvn_param, INT, across_channels, WORD, 0, .number = 0),
    TM_FIELD(struct tm_mvn_param, INT, normalize_variance, WORD, 4, .number = 0),
    TM_FIELD(struct tm_mvn_param, FLOAT, eps, WORD, 8, .number = 0),
};

// ---- LRN ----

enum
{
    REGION_ACROSS_CHANNELS,
    REGION_WITHIN_CHANNEL
};

// An even size has as many neighbours as the next odd one, but divides alpha itself.
static struct tensor* emit_lrn_across(emitter_t* emit, struct tensor* input,
                                      const struct tm_lrn_param* param)
{
    const int64_t size = (int64_t)param->local_size / 2 * 2 + 1;
    const double alpha = (double)param->alpha * (double)size / param->local_size;
    begin_op(emit, "LRN", 1, input);
    emit_attr_int(emit, "size", size);
    emit_attr_float(emit, "alpha", size == param->local_size ? param->alpha : (float)alpha);
    emit_attr_float(emit, "beta", param->beta);
    emit_attr_float(emit, "bias", param->k);
    return end_op(emit);
}

// x / (k + alpha * mean of the squares in a square of local_size, zeros around counted) ^ beta.
static struct tensor* emit_lrn_within(emitter_t* emit, struct tensor* input,
                                      const struct tm_lrn_param* param)
{
    const int64_t size = param->local_size;
    const int64_t pad = (size - 1) / 2;
    require_rank(emit, 4, 4);
    if (size % 2 == 0)
        fail_emitting(emit, TENGINE_EINVAL,
                      "local_size within a channel is %lld, expected an odd number",
                      (long long)size);
    begin_op(emit, "AveragePool", 1, emit_op(emit, "Mul", 2, input, input));
    emit_attr_ints(emit, "kernel_shape", (const int64_t[]){size, size}, 2);
    emit_attr_ints(emit, "pads", (const int64_t[]){pad, pad, pad, pad}, 4);
    emit_attr_int(emit, "count_include_pad", 1);
    struct tensor* means = end_op(emit);
    struct tensor* scaled = emit_op(emit, "Mul", 2, means, emit_number(emit, param->alpha, input));
    struct tensor* sum = emit_op(emit, "Add", 2, scaled, emit_number(emit, param->k, input));
    struct tensor* power = emit_op(emit, "Pow", 2, sum, emit_number(emit, param->beta, input));
    return emit_op(emit, "Div", 2, input, power);
}

static int lower_lrn(struct graph* graph, struct node* node)
{
    const struct tm_lrn_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    if (param->local_size < 1)
        return fail_emitting(&emit, TENGINE_EINVAL, "local_size is %d, expected at least 1",
                             param->local_size);
    struct tensor* output = NULL;
    if (param->norm_region == REGION_ACROSS_CHANNELS)
        output = emit_lrn_across(&emit, input, param);
    else if (param->norm_region == REGION_WITHIN_CHANNEL)
        output = emit_lrn_within(&emit, input, param);
    else
        fail_emitting(&emit, TENGINE_EINVAL,
                      "norm_region is %d, expected 0 (across channels) or 1 (within a channel)",
                      param->norm_region);
    return finish_emitting(&emit, 1, output);
}

static int raise_lrn(struct graph* graph, struct node* node)
{
    const int64_t size = get_ir_node_int(node, "size", 1);
    if (!has_plane_elements(node)) return OP_NOT_RAISED;
    if (size % 2 == 0)
        return refuse_raising(node, "size %d is even, where Tengine's LRN takes one channel more",
                              (int)size);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Lrn", 1, raise_to_plane(&emit, get_ir_node_input(node, 0)));
    emit_attr_int(&emit, "local_size", size);
    emit_attr_float(&emit, "alpha", get_ir_node_float(node, "alpha", 1e-4f));
    emit_attr_float(&emit, "beta", get_ir_node_float(node, "beta", 0.75f));
    emit_attr_float(&emit, "k", get_ir_node_float(node, "bias", 1));
    return finish_with_plane(&emit, end_op(&emit));
}

// ---- Normalize and L2Normalization ----

static struct tensor* emit_unit_length(emitter_t* emit, struct tensor* input, bool across_spatial)
{
    if (across_spatial) {
        static const int64_t axes[] = {1, 2, 3};
        struct tensor* length = emit_op(emit, "ReduceL2", 2, input, emit_ints(emit, axes, 3));
        return emit_op(emit, "Div", 2, input, length);
    }
    begin_op(emit, "LpNormalization", 1, input);
    emit_attr_int(emit, "axis", 1);
    emit_attr_int(emit, "p", 2);
    return end_op(emit);
}

// x / |x| * scale, where |x| is taken over the channels, or channels and plane.
static int lower_normalize(struct graph* graph, struct node* node)
{
    const struct tm_normalize_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    const int64_t dims[] = {1, param->channel_shared ? 1 : input->dims[1], 1, 1};
    struct tensor* scale = emit_operand(&emit, 1, "scale", dims, 4);
    struct tensor* unit = emit_unit_length(&emit, input, param->across_spatial != 0);
    return finish_emitting(&emit, 1, emit_op(&emit, "Mul", 2, unit, scale));
}

static int lower_l2_normalization(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, MAX_SHAPE_DIM_NUM);
    return finish_emitting(&emit, 1, emit_unit_length(&emit, get_ir_node_input(node, 0), false));
}

static bool is_unit_length_of_channels(struct node* node)
{
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const int64_t axis = get_ir_node_int(node, "axis", -1);
    return get_ir_node_int(node, "p", 2) == 2 && rank >= 2 && (axis == 1 || axis == 1 - rank);
}

// Tengine's L2Normalization normalises a single vector; several need Normalize.
static int raise_l2_normalization(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    if (!is_unit_length_of_channels(node) || input->elem_num != input->dims[1])
        return refuse_raising(node, "Tengine's L2Normalization normalises one vector along axis 1");
    return rewrite_as(graph, node, "tengine.L2Normalization");
}

static int raise_normalize(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    if (!is_unit_length_of_channels(node) || input->dim_num != 4)
        return refuse_raising(node,
                              "Tengine's Normalize divides rank 4 by the 2-norm along axis 1; this "
                              "is rank %d, p %d, axis %d",
                              input->dim_num, (int)get_ir_node_int(node, "p", 2),
                              (int)get_ir_node_int(node, "axis", -1));
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(
        &emit, 1,
        emit_op(&emit, "tengine.Normalize", 2, input, emit_repeated(&emit, 1, input->dims[1])));
}

// ---- MVN ----

// (x - mean) / (root of the mean of x * x + eps). The divisor is not the deviation: the mean is
// not taken off before squaring, unlike in Caffe.
static int lower_mvn(struct graph* graph, struct node* node)
{
    const struct tm_mvn_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    static const int64_t image[] = {1, 2, 3};
    const int64_t* axes = param->across_channels ? image : image + 1;
    const int axis_num = param->across_channels ? 3 : 2;
    struct tensor* mean = emit_op(&emit, "ReduceMean", 2, input, emit_ints(&emit, axes, axis_num));
    struct tensor* output = emit_op(&emit, "Sub", 2, input, mean);
    if (param->normalize_variance) {
        struct tensor* squares = emit_op(&emit, "Mul", 2, input, input);
        struct tensor* power =
            emit_op(&emit, "ReduceMean", 2, squares, emit_ints(&emit, axes, axis_num));
        struct tensor* divisor = emit_op(&emit, "Add", 2, emit_op(&emit, "Sqrt", 1, power),
                                         emit_number(&emit, param->eps, input));
        output = emit_op(&emit, "Div", 2, output, divisor);
    }
    return finish_emitting(&emit, 1, output);
}

// Marks the axes that ONNX's node normalises over; the default is 0, 2, 3.
static void mark_axes(struct node* node, int rank, bool out_marks[])
{
    static const int64_t usual[] = {0, 2, 3};
    int num;
    const int64_t* axes = get_ir_node_ints(node, "axes", &num);
    if (num == 0) {
        axes = usual;
        num = 3;
    }
    for (int i = 0; i < num; ++i) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis >= 0 && axis < rank) out_marks[axis] = true;
    }
}

// ONNX's divisor is the deviation, which Tengine's is when the mean is 0 already: two MVN in a row,
// of which the first only takes the mean off.
static int raise_mvn(struct graph* graph, struct node* node)
{
    static const float epsilon = 1e-9f;  // as ONNX's function body says
    struct tensor* input = get_ir_node_input(node, 0);
    bool marks[MAX_SHAPE_DIM_NUM] = {false};
    mark_axes(node, input->dim_num, marks);
    if (input->dim_num != 4 || (marks[0] && input->dims[0] != 1) || !marks[2] || !marks[3])
        return refuse_raising(node,
                              "Tengine's MVN normalises the images of a batch of rank 4 one by "
                              "one, this is a batch of %d, rank %d",
                              input->dim_num > 0 ? input->dims[0] : 1, input->dim_num);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Mvn", 1, input);
    emit_attr_int(&emit, "across_channels", marks[1]);
    struct tensor* centred = end_op(&emit);
    begin_op(&emit, "tengine.Mvn", 1, centred);
    emit_attr_int(&emit, "across_channels", marks[1]);
    emit_attr_int(&emit, "normalize_variance", 1);
    emit_attr_float(&emit, "eps", epsilon);
    return finish_emitting(&emit, 1, end_op(&emit));
}

#define INPUTS(number) \
    .min_input = number, .max_input = number, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Lrn, 38, 13, 28, INPUTS(1), OP_FIELDS(lrn_fields),
                .param_size = sizeof(struct tm_lrn_param), .lower = lower_lrn,
                RAISED("LRN", raise_lrn)),
    TENGINE_ROW(L2Normalization, 92, 101, 0, INPUTS(1), .lower = lower_l2_normalization,
                RAISED("LpNormalization", raise_l2_normalization)),
    TENGINE_ROW(Normalize, 46, 14, 8, INPUTS(2), OP_FIELDS(normalize_fields),
                .param_size = sizeof(struct tm_normalize_param), .lower = lower_normalize,
                RAISED("LpNormalization", raise_normalize)),
    TENGINE_ROW(Mvn, 44, 67, 12, INPUTS(1), OP_FIELDS(mvn_fields),
                .param_size = sizeof(struct tm_mvn_param), .lower = lower_mvn,
                RAISED("MeanVarianceNormalization", raise_mvn)),
};

OPERATOR_TABLE(tengine_response_ops, rows);
