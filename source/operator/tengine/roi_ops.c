// SPDX-License-Identifier: Apache-2.0
// Tengine's operators on regions of interest. A region is x0, y0, x1, y1 in the image, and all are
// of one image, so ONNX's MaxRoiPool and RoiAlign, which also round otherwise, are not their
// equals. SpatialTransformer is lowered to GridSample.
#include "base/alloc.h"
#include "operator/row.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/roi_param.h"
#include "operator/type_set.h"

// Output is regions x channels x height x width.
static int infer_regions(struct node* node, int64_t channels, int height, int width)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* regions = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(FP32)));
    if (input->dim_num != 4 || input->dims[0] != 1)
        return fail_node(node, TENGINE_ENOTSUP,
                         "'%s' has rank %d and a batch of %d, expected rank 4 and 1 image",
                         input->name, input->dim_num, input->dim_num > 0 ? input->dims[0] : 0);
    if (regions->elem_num % 4 != 0)
        return fail_node(node, TENGINE_EINVAL, "'%s' has %lld numbers, a region has 4",
                         regions->name, (long long)regions->elem_num);
    if (height < 1 || width < 1)
        return fail_node(node, TENGINE_ERANGE, "regions become %dx%d, expected at least 1x1",
                         height, width);
    const int64_t dims[] = {regions->elem_num / 4, channels, height, width};
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 4);
}

static int64_t count_channels(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    return input->dim_num > 1 ? input->dims[1] : 0;
}

static int infer_roi_pooling(struct node* node)
{
    const struct tm_roipooling_param* param = node->op.param_mem;
    return infer_regions(node, count_channels(node), param->pooled_h, param->pooled_w);
}

static int infer_roi_align(struct node* node)
{
    const struct tm_roialign_param* param = node->op.param_mem;
    return infer_regions(node, count_channels(node), param->pooled_height, param->pooled_width);
}

static int infer_psroi_pooling(struct node* node)
{
    const struct tm_psroipooling_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(
        infer_regions(node, param->output_dim, param->pooled_h, param->pooled_w));
    const int64_t bins = (int64_t)param->pooled_h * param->pooled_w;
    const int64_t channels = count_channels(node);
    if (channels % bins != 0 || channels / bins != param->output_dim)
        return fail_node(node, TENGINE_EINVAL,
                         "input has %lld channels, expected %d of output for each of %dx%d bins",
                         (long long)channels, param->output_dim, param->pooled_h, param->pooled_w);
    return TENGINE_OK;
}

// ---- SpatialTransformer (Jaderberg et al., 2015): affine transformation, bilinear sampling ----

// 4096 x 4096: a few bytes of a file must not allocate all memory for its grid.
#define MAX_GRID_POINTS (INT64_C(1) << 24)

static int check_transformer(const struct node* node)
{
    const struct tm_spatialtransformer_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct op_ints* shape = &param->target_shape;
    if (param->sampler_type != 1 || param->transformer_type != 0)
        return fail_node(
            node, TENGINE_ENOTSUP,
            "sampler_type %d and transformer_type %d, expected 1 (bilinear) and 0 (affine)",
            param->sampler_type, param->transformer_type);
    if (shape->num != 2 || shape->values[0] < 1 || shape->values[1] < 1 ||
        shape->values[0] > INT32_MAX || shape->values[1] > INT32_MAX ||
        shape->values[0] * shape->values[1] > MAX_GRID_POINTS)
        return fail_node(node, TENGINE_ERANGE,
                         "target_shape has %d values (%lld, %lld), expected a height and a width",
                         shape->num, shape->num > 0 ? (long long)shape->values[0] : 0,
                         shape->num > 1 ? (long long)shape->values[1] : 0);
    if (input->dim_num != 4)
        return fail_node(node, TENGINE_EINVAL, "input has rank %d, expected 4", input->dim_num);
    if (get_ir_node_input(node, 1)->elem_num != (int64_t)6 * input->dims[0])
        return fail_node(node, TENGINE_EINVAL, "%lld numbers transform %d images, expected 6 each",
                         (long long)get_ir_node_input(node, 1)->elem_num, input->dims[0]);
    return TENGINE_OK;
}

// Coordinates go from -1 to 1 in equal steps; a single point is at -1.
static float grid_coordinate(int64_t index, int64_t num)
{
    return num > 1 ? (float)(-1.0 + 2.0 * (double)index / (double)(num - 1)) : -1;
}

// Adds the constant [3, height * width]: x, y and 1 of every point of the target.
static struct tensor* emit_target_grid(emitter_t* emit, int64_t height, int64_t width)
{
    const int64_t points = height * width;
    float* values = alloc_memory((size_t)points * 3 * sizeof(float));
    if (!values) {
        fail_emitting(emit, TENGINE_ENOMEM, "out of memory for a grid of %lldx%lld",
                      (long long)height, (long long)width);
        return NULL;
    }
    for (int64_t i = 0; i < points; ++i) {
        values[i] = grid_coordinate(i % width, width);
        values[points + i] = grid_coordinate(i / width, height);
        values[2 * points + i] = 1;
    }
    struct tensor* list = emit_floats(emit, values, (int)(3 * points));
    free_memory(values);
    return emit_reshape(emit, list, (int64_t[]){3, points}, 2);
}

static int lower_spatial_transformer(struct graph* graph, struct node* node)
{
    const struct tm_spatialtransformer_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_transformer(node));
    struct tensor* input = get_ir_node_input(node, 0);
    const int64_t images = input->dims[0];
    const int64_t height = param->target_shape.values[0], width = param->target_shape.values[1];
    emitter_t emit = start_emitting(graph, node);
    struct tensor* transformation =
        emit_reshape(&emit, get_ir_node_input(node, 1), (int64_t[]){images, 2, 3}, 3);
    struct tensor* places =
        emit_op(&emit, "MatMul", 2, transformation, emit_target_grid(&emit, height, width));
    struct tensor* pairs = emit_transpose(&emit, places, (int64_t[]){0, 2, 1}, 3);
    struct tensor* grid = emit_reshape(&emit, pairs, (int64_t[]){images, height, width, 2}, 4);
    begin_op(&emit, "GridSample", 2, input, grid);
    emit_attr_text(&emit, "mode", "linear");
    emit_attr_text(&emit, "padding_mode", "zeros");
    emit_attr_int(&emit, "align_corners", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static const op_field_t roi_pooling_fields[] = {
    TM_FIELD(struct tm_roipooling_param, INT, pooled_h, WORD, 0, .number = 0),
    TM_FIELD(struct tm_roipooling_param, INT, pooled_w, WORD, 4, .number = 0),
    TM_FIELD(struct tm_roipooling_param, FLOAT, spatial_scale, WORD, 8, .number = 1),
};

static const op_field_t roi_align_fields[] = {
    TM_FIELD(struct tm_roialign_param, INT, pooled_width, WORD, 0, .number = 0),
    TM_FIELD(struct tm_roialign_param, INT, pooled_height, WORD, 4, .number = 0),
    TM_FIELD(struct tm_roialign_param, FLOAT, spatial_scale, WORD, 8, .number = 0),
};

static const op_field_t psroi_pooling_fields[] = {
    TM_FIELD(struct tm_psroipooling_param, INT, pooled_w, WORD, 0, .number = 0),
    TM_FIELD(struct tm_psroipooling_param, INT, pooled_h, WORD, 4, .number = 0),
    TM_FIELD(struct tm_psroipooling_param, FLOAT, spatial_scale, WORD, 8, .number = 0),
    TM_FIELD(struct tm_psroipooling_param, INT, output_dim, WORD, 12, .number = 0),
};

static const op_field_t spatial_transformer_fields[] = {
    TM_FIELD(struct tm_spatialtransformer_param, INT, sampler_type, WORD, 0, .number = -1),
    TM_FIELD(struct tm_spatialtransformer_param, INT, transformer_type, WORD, 4, .number = -1),
    TM_FIELD(struct tm_spatialtransformer_param, INT, shape_size, WORD, 8, .number = 2),
    TM_FIELD(struct tm_spatialtransformer_param, INTS, target_shape, OFFSET, 12,
             .length = "shape_size"),
};

#define ROI_ROW(op_fields, type)                                                            \
    .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1, OP_FIELDS(op_fields), \
    .param_size = sizeof(type)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(RoiPooling, 64, 24, 12, ROI_ROW(roi_pooling_fields, struct tm_roipooling_param),
                .infer_shape = infer_roi_pooling),
    TENGINE_ROW(Roialign, 63, 57, 12, ROI_ROW(roi_align_fields, struct tm_roialign_param),
                .infer_shape = infer_roi_align),
    TENGINE_ROW(Psroipooling, 52, 58, 16,
                ROI_ROW(psroi_pooling_fields, struct tm_psroipooling_param),
                .infer_shape = infer_psroi_pooling),
    TENGINE_ROW(SpatialTransformer, 100, 105, 16,
                ROI_ROW(spatial_transformer_fields, struct tm_spatialtransformer_param),
                .traits = OP_LEGACY, .lower = lower_spatial_transformer),
};

OPERATOR_TABLE(tengine_roi_ops, rows);
