// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that scale pictures: Upsample, Resize, BilinearResize, Interp.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "operator/onnx/resize_param.h"
#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/operand.h"

struct tm_upsample_param
{
    float scale;
};

// Resize and BilinearResize.
struct tm_resize_param
{
    float scale_w;
    float scale_h;
    int type;  // 0: nearest, others: bilinear
};

struct tm_interp_param
{
    int resize_type;
    int output_height;
    int output_width;
    float height_scale;
    float width_scale;
};

enum
{
    INTERP_NEAREST = 1,
    INTERP_BILINEAR = 2,
    INTERP_BICUBIC = 3,
    INTERP_ALIGNED = 4
};

static const op_field_t upsample_fields[] = {
    TM_FIELD(struct tm_upsample_param, FLOAT, scale, WORD, 0, .number = 0),
};

// Files have the width first: Tengine Lite writes it so, whatever it reads.
static const op_field_t resize_fields[] = {
    TM_FIELD(struct tm_resize_param, FLOAT, scale_w, WORD, 0, .number = 1),
    TM_FIELD(struct tm_resize_param, FLOAT, scale_h, WORD, 4, .number = 1),
    TM_FIELD(struct tm_resize_param, INT, type, WORD, 8, .number = 0),
};

static const op_field_t interp_fields[] = {
    TM_FIELD(struct tm_interp_param, INT, resize_type, WORD, 0, .number = 1),
    TM_FIELD(struct tm_interp_param, INT, output_height, WORD, 16, .number = 0),
    TM_FIELD(struct tm_interp_param, INT, output_width, WORD, 12, .number = 0),
    TM_FIELD(struct tm_interp_param, FLOAT, height_scale, WORD, 8, .number = 1),
    TM_FIELD(struct tm_interp_param, FLOAT, width_scale, WORD, 4, .number = 1),
};

// ---- lowering ----

struct resize_kind
{
    const char* mode;
    const char* coordinates;
};

static const struct resize_kind nearest = {"nearest", "asymmetric"};
static const struct resize_kind bilinear = {"linear", "half_pixel"};
static const struct resize_kind bicubic = {"cubic", "half_pixel"};
static const struct resize_kind aligned = {"linear", "align_corners"};

// Resizes the picture's two axes by scales where they are given, else by sizes.
static int finish_resized(emitter_t* emit, const struct resize_kind* kind, const float scales[],
                          const int64_t sizes[])
{
    static const int64_t axes[] = {2, 3};
    struct tensor* input = get_ir_node_input(emit->origin, 0);
    require_rank(emit, 4, 4);
    if (scales)
        begin_op(emit, "Resize", 3, input, NULL, emit_floats(emit, scales, 2));
    else
        begin_op(emit, "Resize", 4, input, NULL, NULL, emit_ints(emit, sizes, 2));
    emit_attr_ints(emit, "axes", axes, 2);
    emit_attr_text(emit, "mode", kind->mode);
    emit_attr_text(emit, "coordinate_transformation_mode", kind->coordinates);
    emit_attr_text(emit, "nearest_mode", "floor");
    return finish_emitting(emit, 1, end_op(emit));
}

static int check_scale(const struct node* node, const char* name, float scale)
{
    if (scale > 0 && isfinite(scale)) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "%s is %g, expected a positive number", name,
                     (double)scale);
}

static int lower_upsample(struct graph* graph, struct node* node)
{
    const struct tm_upsample_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_scale(node, "scale", param->scale));
    const float scales[] = {param->scale, param->scale};
    emitter_t emit = start_emitting(graph, node);
    return finish_resized(&emit, &nearest, scales, NULL);
}

static int lower_scaled(struct graph* graph, struct node* node, const struct resize_kind* kind)
{
    const struct tm_resize_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_scale(node, "scale_h", param->scale_h));
    TENGINE_RETURN_IF_ERROR(check_scale(node, "scale_w", param->scale_w));
    const float scales[] = {param->scale_h, param->scale_w};
    emitter_t emit = start_emitting(graph, node);
    return finish_resized(&emit, kind, scales, NULL);
}

static int lower_resize(struct graph* graph, struct node* node)
{
    const struct tm_resize_param* param = node->op.param_mem;
    return lower_scaled(graph, node, param->type == 0 ? &nearest : &bilinear);
}

static int lower_bilinear_resize(struct graph* graph, struct node* node)
{
    return lower_scaled(graph, node, &bilinear);
}

static const struct resize_kind* find_interp_kind(int type)
{
    switch (type) {
        case INTERP_NEAREST:
            return &nearest;
        case INTERP_BILINEAR:
            return &bilinear;
        case INTERP_BICUBIC:
            return &bicubic;
        case INTERP_ALIGNED:
            return &aligned;
        default:
            return NULL;
    }
}

// Computes the output length for a scale in float, as Tengine Lite does.
static int scale_length(const struct node* node, const char* name, int length, float scale,
                        int64_t* out_length)
{
    TENGINE_RETURN_IF_ERROR(check_scale(node, name, scale));
    const float scaled = (float)length * scale;
    if (!(scaled < (float)INT_MAX))
        return fail_node(node, TENGINE_ERANGE, "%s is %g for %d elements", name, (double)scale,
                         length);
    *out_length = (int64_t)scaled;
    return TENGINE_OK;
}

// Scales that are given win. Where they lead decides the sizes; places between follow the sizes,
// except for nearest, which follows the scales.
static int lower_interp(struct graph* graph, struct node* node)
{
    const struct tm_interp_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct resize_kind* kind = find_interp_kind(param->resize_type);
    if (!kind)
        return fail_node(node, TENGINE_ERANGE,
                         "resize_type is %d, expected 1 nearest, 2 bilinear, 3 bicubic or 4 "
                         "bilinear with aligned corners",
                         param->resize_type);
    emitter_t emit = start_emitting(graph, node);
    int64_t sizes[] = {param->output_height, param->output_width};
    const bool scaled = param->height_scale != 0 && param->width_scale != 0;
    if (scaled && input->dim_num == 4) {
        TENGINE_RETURN_IF_ERROR(
            scale_length(node, "height_scale", input->dims[2], param->height_scale, &sizes[0]));
        TENGINE_RETURN_IF_ERROR(
            scale_length(node, "width_scale", input->dims[3], param->width_scale, &sizes[1]));
    }
    if (sizes[0] < 1 || sizes[1] < 1)
        return fail_node(node, TENGINE_ERANGE, "the output would have %lld x %lld elements",
                         (long long)sizes[0], (long long)sizes[1]);
    const float scales[] = {param->height_scale, param->width_scale};
    return finish_resized(&emit, kind, scaled && kind == &nearest ? scales : NULL, sizes);
}

// ---- raising ----

// Returns the position that the ONNX node reads for position `i` of an axis when it rounds to an
// element; −1: by a rule that is not handled here.
static int64_t find_nearest(const struct node* node, const struct resize_axis* axis, int64_t size,
                            int64_t i)
{
    const char* mode = get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel");
    const char* rounding = get_ir_node_text(node, "nearest_mode", "round_prefer_floor");
    const float scale = (float)axis->scale;
    float place;
    if (strcmp(mode, "asymmetric") == 0)
        place = (float)i / scale;
    else if (strcmp(mode, "half_pixel") == 0)
        place = ((float)i + 0.5f) / scale - 0.5f;
    else
        return -1;
    if (strcmp(rounding, "floor") == 0)
        place = floorf(place);
    else if (strcmp(rounding, "ceil") == 0)
        place = ceilf(place);
    else if (strcmp(rounding, "round_prefer_ceil") == 0)
        place = floorf(place + 0.5f);
    else
        place = ceilf(place - 0.5f);
    return place < 0 ? 0 : place > (float)(size - 1) ? size - 1 : (int64_t)place;
}

static bool is_nearest_equal(const struct node* node, const struct resize_axis* axis, int64_t size)
{
    const float scale = (float)axis->size / (float)size;
    for (int64_t i = 0; !axis->identity && i < axis->size; ++i) {
        int64_t place = (int64_t)((float)i / scale);
        if (place > size - 1) place = size - 1;
        if (find_nearest(node, axis, size, i) != place) return false;
    }
    return true;
}

// Returns Tengine's type for an ONNX node with these axes, 0 when there is none.
static int find_raised_type(const struct node* node, const struct resize_axis axes[])
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const char* mode = get_ir_node_text(node, "mode", "nearest");
    const char* coordinates =
        get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel");
    const bool follows_sizes =
        axes[2].length == (double)axes[2].size && axes[3].length == (double)axes[3].size;
    if (strcmp(mode, "nearest") == 0)
        return is_nearest_equal(node, &axes[2], input->dims[2]) &&
                       is_nearest_equal(node, &axes[3], input->dims[3])
                   ? INTERP_NEAREST
                   : 0;
    if (strcmp(mode, "linear") != 0 || !follows_sizes) return 0;
    if (strcmp(coordinates, "half_pixel") == 0) return INTERP_BILINEAR;
    return strcmp(coordinates, "align_corners") == 0 ? INTERP_ALIGNED : 0;
}

static int raise_resize(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    struct resize_axis axes[MAX_SHAPE_DIM_NUM];
    if (input->dim_num != 4)
        return refuse_raising(node, "its input has %d dimensions, not 4", input->dim_num);
    if (resolve_resize(node, axes) != TENGINE_OK)
        return refuse_raising(node, "its scales or sizes are known only at run time");
    if (!axes[0].identity || !axes[1].identity)
        return refuse_raising(node, "it resizes batches or channels");
    if (get_ir_node_output(node, 0)->elem_num == 0 || get_ir_node_int(node, "antialias", 0))
        return refuse_raising(node, "it is antialiased or has no elements");
    const int type = find_raised_type(node, axes);
    if (type == 0)
        return refuse_raising(
            node, "mode %s with coordinates %s, rounding %s and scales %g, %g has no equivalent",
            get_ir_node_text(node, "mode", "nearest"),
            get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel"),
            get_ir_node_text(node, "nearest_mode", "round_prefer_floor"), axes[2].scale,
            axes[3].scale);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Interp", 1, input);
    emit_attr_int(&emit, "resize_type", type);
    emit_attr_int(&emit, "output_height", axes[2].size);
    emit_attr_int(&emit, "output_width", axes[3].size);
    emit_attr_float(&emit, "height_scale", 0);
    emit_attr_float(&emit, "width_scale", 0);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Converters leave the constants that parameters came from as further inputs.
#define ONE_AND_IGNORED \
    .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(BilinearResize, -1, 2, 12, ONE_AND_IGNORED, OP_FIELDS(resize_fields),
                .param_size = sizeof(struct tm_resize_param), .lower = lower_bilinear_resize),
    TENGINE_ROW(Interp, 35, 71, 20, ONE_AND_IGNORED, OP_FIELDS(interp_fields),
                .param_size = sizeof(struct tm_interp_param), .lower = lower_interp,
                RAISED("Resize", raise_resize)),
    TENGINE_ROW(Resize, 60, 54, 12, ONE_AND_IGNORED, OP_FIELDS(resize_fields),
                .param_size = sizeof(struct tm_resize_param), .lower = lower_resize),
    TENGINE_ROW(Upsample, 87, 51, 4, ONE_AND_IGNORED, OP_FIELDS(upsample_fields),
                .param_size = sizeof(struct tm_upsample_param), .lower = lower_upsample),
};

OPERATOR_TABLE(tengine_resize_ops, rows);
