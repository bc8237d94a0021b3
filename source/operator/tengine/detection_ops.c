// SPDX-License-Identifier: Apache-2.0
// Tengine's detection operators: PriorBox and DetectionOutput (Liu et al., SSD, 2016, as Caffe has
// them), Region (YOLO v2), DetectionPostProcess (SSD as TensorFlow Lite has it), Rpn (Faster
// R-CNN). ONNX has none of them, so they are computed as they are.
#include <math.h>

#include "operator/infer.h"
#include "operator/row.h"
#include "operator/tengine/detection_param.h"
#include "operator/type_set.h"

static int require_floats(const struct node* node)
{
    for (int i = 0; i < node->input_num; ++i)
        TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPE_BIT(FP32)));
    return TENGINE_OK;
}

static int require_rank(const struct node* node, int index, int rank)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (tensor->dim_num == rank) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "'%s' has rank %d, expected %d", tensor->name,
                     tensor->dim_num, rank);
}

// These operators compute one image.
static int require_one_image(const struct node* node, int index)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (tensor->dim_num > 0 && tensor->dims[0] == 1) return TENGINE_OK;
    return fail_node(node, TENGINE_ENOTSUP, "'%s' has a batch of %d images, expected 1",
                     tensor->name, tensor->dim_num > 0 ? tensor->dims[0] : 0);
}

static int require_elements(const struct node* node, int index, int64_t num)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (tensor->elem_num == num) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "'%s' has %lld elements, expected %lld", tensor->name,
                     (long long)tensor->elem_num, (long long)num);
}

static int require_at_least(const struct node* node, const char* name, int value, int minimum)
{
    if (value >= minimum) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "%s is %d, expected at least %d", name, value, minimum);
}

// Every value is above 0 and at most `maximum`.
static int require_positive(const struct node* node, const char* name,
                            const struct op_floats* values, float maximum)
{
    for (int i = 0; i < values->num; ++i)
        if (!(values->values[i] > 0 && values->values[i] <= maximum))
            return fail_node(node, TENGINE_ERANGE,
                             "%s[%d] is %g, expected a number above 0, at most %g", name, i,
                             values->values[i], maximum);
    return TENGINE_OK;
}

// ---- PriorBox ----

// A longer list is an error; the limit keeps products of counts in 64 bits.
#define MAX_LIST 65536
#define MAX_PIXELS 16777216.f

int64_t count_priors(const struct tm_priorbox_param* param)
{
    const int64_t ratios = (int64_t)param->aspect_ratio.num * (param->flip ? 2 : 1);
    return (ratios + 1 + (param->max_size.num > 0 ? 1 : 0)) * param->min_size.num;
}

static int check_prior_lists(const struct node* node, const struct tm_priorbox_param* param)
{
    if (param->min_size.num < 1 || param->min_size.num > MAX_LIST ||
        param->aspect_ratio.num > MAX_LIST)
        return fail_node(node, TENGINE_ERANGE,
                         "%d min_size and %d aspect_ratio values, expected 1 to %d and 0 to %d",
                         param->min_size.num, param->aspect_ratio.num, MAX_LIST, MAX_LIST);
    if (param->max_size.num != 0 && param->max_size.num != param->min_size.num)
        return fail_node(node, TENGINE_EINVAL, "%d max_size values for %d of min_size",
                         param->max_size.num, param->min_size.num);
    if (param->variance.num != 0 && param->variance.num != 1 && param->variance.num != 4)
        return fail_node(node, TENGINE_EINVAL, "%d variance values, expected none, 1 or 4",
                         param->variance.num);
    TENGINE_RETURN_IF_ERROR(require_positive(node, "min_size", &param->min_size, MAX_PIXELS));
    TENGINE_RETURN_IF_ERROR(require_positive(node, "max_size", &param->max_size, MAX_PIXELS));
    return require_positive(node, "aspect_ratio", &param->aspect_ratio, MAX_PIXELS);
}

// The output has boxes, then their variances: [N, 2, cells * priors * 4, 1].
static int infer_prior_box(struct node* node)
{
    const struct tm_priorbox_param* param = node->op.param_mem;
    const struct tensor* feature = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_rank(node, 0, 4));
    TENGINE_RETURN_IF_ERROR(require_rank(node, 1, 4));
    TENGINE_RETURN_IF_ERROR(check_prior_lists(node, param));
    const int64_t cells = multiply_dims(feature, 2, 4);
    const int64_t numbers = count_priors(param) * 4;
    if (cells > INT32_MAX / numbers)
        return fail_node(node, TENGINE_ERANGE, "%lld cells with %lld numbers each are too many",
                         (long long)cells, (long long)numbers);
    const int64_t dims[] = {feature->dims[0], 2, cells * numbers, 1};
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 4);
}

#define PRIOR_FIELD(...) TM_FIELD(struct tm_priorbox_param, __VA_ARGS__)
#define PRIOR_COUNT(member) OP_FIELD(struct tm_priorbox_param, INT, member, .number = 0)
static const op_field_t prior_box_fields[] = {
    PRIOR_FIELD(FLOATS, min_size, OFFSET, 0, .length = "min_size_num"),
    PRIOR_FIELD(FLOATS, max_size, OFFSET, 4, .length = "max_size_num"),
    PRIOR_FIELD(FLOATS, variance, OFFSET, 8, .required = 0),
    PRIOR_FIELD(FLOATS, aspect_ratio, OFFSET, 12, .length = "aspect_ratio_size"),
    PRIOR_FIELD(INT, flip, WORD, 16, .number = 0),
    PRIOR_FIELD(INT, clip, WORD, 20, .number = 0),
    PRIOR_FIELD(INT, image_size, WORD, 24, .number = 0),
    PRIOR_FIELD(INT, image_h, WORD, 28, .number = 0),
    PRIOR_FIELD(INT, image_w, WORD, 32, .number = 0),
    PRIOR_FIELD(FLOAT, step_w, WORD, 36, .number = 0),
    PRIOR_FIELD(FLOAT, step_h, WORD, 40, .number = 0),
    PRIOR_FIELD(FLOAT, offset, WORD, 44, .number = 0.5),
    PRIOR_FIELD(INT, num_priors, WORD, 48, .number = 0),
    PRIOR_FIELD(INT, out_dim, WORD, 52, .number = 0),
    PRIOR_COUNT(min_size_num),
    PRIOR_COUNT(max_size_num),
    PRIOR_COUNT(aspect_ratio_size),
    PRIOR_COUNT(feature_h),
    PRIOR_COUNT(feature_w),
};

// ---- DetectionOutput ----

// Inputs are locations, confidences and prior boxes of one image; the output has a row of class,
// score, x0, y0, x1, y1 for every detection, as many as there are: [1, detections, 6, 1].
static int infer_detection_output(struct node* node)
{
    const struct tm_detection_output_param* param = node->op.param_mem;
    const struct tensor* priors = get_ir_node_input(node, 2);
    TENGINE_RETURN_IF_ERROR(require_floats(node));
    for (int i = 0; i < 3; ++i)
        TENGINE_RETURN_IF_ERROR(require_one_image(node, i));
    if (priors->dim_num < 3 || priors->dims[1] != 2 || priors->dims[2] % 4 != 0 ||
        priors->elem_num != 2 * (int64_t)priors->dims[2])
        return fail_node(node, TENGINE_EINVAL,
                         "prior boxes have %lld elements, expected [1, 2, boxes * 4, 1]",
                         (long long)priors->elem_num);
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "num_classes", param->num_classes, 1));
    TENGINE_RETURN_IF_ERROR(require_elements(node, 0, priors->dims[2]));
    TENGINE_RETURN_IF_ERROR(
        require_elements(node, 1, (int64_t)(priors->dims[2] / 4) * param->num_classes));
    struct tensor* output = get_ir_node_output(node, 0);
    if (output) TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(output, TENGINE_DT_FP32));
    return OP_SHAPE_LATER;
}

#define OUTPUT_FIELD(...) TM_FIELD(struct tm_detection_output_param, __VA_ARGS__)
static const op_field_t detection_output_fields[] = {
    OUTPUT_FIELD(INT, num_classes, WORD, 0, .number = 21),
    OUTPUT_FIELD(INT, keep_top_k, WORD, 4, .number = 100),
    OUTPUT_FIELD(INT, nms_top_k, WORD, 8, .number = 100),
    OUTPUT_FIELD(FLOAT, confidence_threshold, WORD, 12, .number = 0.25f),
    OUTPUT_FIELD(FLOAT, nms_threshold, WORD, 16, .number = 0.45f),
};

// ---- Region ----

static int infer_region(struct node* node)
{
    const struct tm_region_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_floats(node));
    TENGINE_RETURN_IF_ERROR(require_rank(node, 0, 4));
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "num_box", param->num_box, 1));
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "num_classes", param->num_classes, 1));
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "coords", param->coords, 2));
    const int64_t entries = (int64_t)param->coords + 1 + param->num_classes;
    if (input->dims[1] % param->num_box != 0 || input->dims[1] / param->num_box != entries)
        return fail_node(node, TENGINE_EINVAL,
                         "input has %d channels, expected %d boxes with %d coordinates, an "
                         "objectness and %d classes each",
                         input->dims[1], param->num_box, param->coords, param->num_classes);
    return set_node_output_like(node, 0, input, -1);
}

#define REGION_FIELD(...) TM_FIELD(struct tm_region_param, __VA_ARGS__)
static const op_field_t region_fields[] = {
    REGION_FIELD(INT, num_classes, WORD, 0, .number = 1),
    REGION_FIELD(INT, side, WORD, 4, .number = 0),
    REGION_FIELD(INT, num_box, WORD, 8, .number = 0),
    REGION_FIELD(INT, coords, WORD, 12, .number = 0),
    REGION_FIELD(FLOAT, confidence_threshold, WORD, 16, .number = 0),
    REGION_FIELD(FLOAT, nms_threshold, WORD, 20, .number = 0),
    REGION_FIELD(FLOATS, biases, OFFSET, 24, .length = "biases_num"),
    OP_FIELD(struct tm_region_param, INT, biases_num, .number = 0),
};

// ---- DetectionPostProcess ----

static bool is_matrix(const struct tensor* tensor, int64_t rows, int64_t columns)
{
    return tensor->dims[1] == rows && tensor->dims[2] == columns &&
           tensor->elem_num == rows * columns;
}

int resolve_postprocess_layout(const struct node* node, struct postprocess_layout* out_layout)
{
    const struct tm_detection_postprocess_param* param = node->op.param_mem;
    const struct tensor* boxes = get_ir_node_input(node, 0);
    const struct tensor* scores = get_ir_node_input(node, 1);
    const int64_t classes = (int64_t)param->num_classes + 1;
    if (boxes->dim_num >= 3 && scores->dim_num >= 3 && boxes->dims[0] == 1) {
        const int across = boxes->dims[1], down = boxes->dims[2];
        *out_layout = (struct postprocess_layout){down, true};
        if (is_matrix(boxes, 4, down) && is_matrix(scores, classes, down)) return TENGINE_OK;
        *out_layout = (struct postprocess_layout){across, false};
        if (is_matrix(boxes, across, 4) && is_matrix(scores, across, classes)) return TENGINE_OK;
    }
    return fail_node(
        node, TENGINE_EINVAL,
        "boxes have %lld and scores %lld elements, expected [1, 4, boxes] and [1, %lld, boxes]",
        (long long)boxes->elem_num, (long long)scores->elem_num, (long long)classes);
}

static int check_postprocess(const struct node* node,
                             const struct tm_detection_postprocess_param* param)
{
    TENGINE_RETURN_IF_ERROR(require_floats(node));
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "max_detections", param->max_detections, 1));
    TENGINE_RETURN_IF_ERROR(
        require_at_least(node, "max_classes_per_detection", param->max_classes_per_detection, 1));
    TENGINE_RETURN_IF_ERROR(require_at_least(node, "num_classes", param->num_classes, 1));
    if (param->scales.num != 4)
        return fail_node(node, TENGINE_EINVAL, "%d scales, expected 4: y, x, height, width",
                         param->scales.num);
    return require_positive(node, "scales", &param->scales, INFINITY);
}

#define MAX_PLACES (1 << 20)

// The output has max_detections * max_classes_per_detection boxes; those not found are 0. The
// boxes' shape is in the order of the inputs; their corners lie together in any case.
static int infer_detection_postprocess(struct node* node)
{
    const struct tm_detection_postprocess_param* param = node->op.param_mem;
    struct postprocess_layout layout;
    TENGINE_RETURN_IF_ERROR(check_postprocess(node, param));
    TENGINE_RETURN_IF_ERROR(resolve_postprocess_layout(node, &layout));
    TENGINE_RETURN_IF_ERROR(require_elements(node, 2, (int64_t)layout.box_num * 4));
    const int64_t places = (int64_t)param->max_detections * param->max_classes_per_detection;
    if (places > MAX_PLACES)
        return fail_node(node, TENGINE_ERANGE,
                         "%d detections of %d classes each, expected at most %d in all",
                         param->max_detections, param->max_classes_per_detection, MAX_PLACES);
    const int64_t boxes[] = {1, layout.planar ? 4 : places, layout.planar ? places : 4};
    const int64_t values[] = {1, places};
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 0, TENGINE_DT_FP32, boxes, 3));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 1, TENGINE_DT_FP32, values, 2));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 2, TENGINE_DT_FP32, values, 2));
    return set_node_output(node, 3, TENGINE_DT_FP32, (int64_t[]){1}, 1);
}

#define POST_FIELD(...) TM_FIELD(struct tm_detection_postprocess_param, __VA_ARGS__)
static const op_field_t detection_postprocess_fields[] = {
    POST_FIELD(INT, max_detections, WORD, 0, .number = 0),
    POST_FIELD(INT, max_classes_per_detection, WORD, 4, .number = 0),
    POST_FIELD(FLOAT, nms_score_threshold, WORD, 8, .number = 0),
    POST_FIELD(FLOAT, nms_iou_threshold, WORD, 12, .number = 0),
    POST_FIELD(INT, num_classes, WORD, 16, .number = 0),
    POST_FIELD(FLOATS, scales, OFFSET, 20, .required = 0),
};

// ---- Rpn ----

static bool has_enumeration(const struct tm_rpn_param* param)
{
    return param->ratios.num > 0 && param->anchor_scales.num > 0;
}

int64_t count_anchors(const struct tm_rpn_param* param)
{
    return has_enumeration(param) ? (int64_t)param->ratios.num * param->anchor_scales.num
                                  : param->anchors_.num / 4;
}

void make_anchor(const struct tm_rpn_param* param, int64_t index, float out_corners[4])
{
    if (!has_enumeration(param)) {
        for (int i = 0; i < 4; ++i)
            out_corners[i] = param->anchors_.values[index * 4 + i];
        return;
    }
    const float ratio = param->ratios.values[index / param->anchor_scales.num];
    const float scale = param->anchor_scales.values[index % param->anchor_scales.num];
    const float side = (float)param->basesize;
    const float center = 0.5f * (side - 1);
    const float width = roundf(sqrtf(side * side / ratio));
    const float height = roundf(width * ratio);
    const float half_width = 0.5f * (width * scale - 1), half_height = 0.5f * (height * scale - 1);
    out_corners[0] = center - half_width;
    out_corners[1] = center - half_height;
    out_corners[2] = center + half_width;
    out_corners[3] = center + half_height;
}

static int check_anchors(const struct node* node, const struct tm_rpn_param* param)
{
    if (param->ratios.num > MAX_LIST || param->anchor_scales.num > MAX_LIST ||
        param->anchors_.num % 4 != 0 || count_anchors(param) == 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d ratios, %d anchor_scales and %d corners of anchors define no anchors",
                         param->ratios.num, param->anchor_scales.num, param->anchors_.num);
    TENGINE_RETURN_IF_ERROR(require_positive(node, "ratios", &param->ratios, MAX_PIXELS));
    return require_positive(node, "anchor_scales", &param->anchor_scales, MAX_PIXELS);
}

static int64_t limit(int64_t num, int maximum)
{
    return maximum > 0 && num > maximum ? maximum : num;
}

// Inputs are scores (background of all anchors, then foreground), box deltas and height, width and
// scale of the image. The output has room for as many boxes as can stay, so that later nodes have a
// known shape: [1, boxes, 4, 1].
static int infer_rpn(struct node* node)
{
    const struct tm_rpn_param* param = node->op.param_mem;
    const struct tensor* scores = get_ir_node_input(node, 0);
    const struct tensor* deltas = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_floats(node));
    TENGINE_RETURN_IF_ERROR(check_anchors(node, param));
    for (int i = 0; i < 2; ++i) {
        TENGINE_RETURN_IF_ERROR(require_rank(node, i, 4));
        TENGINE_RETURN_IF_ERROR(require_one_image(node, i));
    }
    const int64_t anchors = count_anchors(param);
    const int64_t cells = multiply_dims(deltas, 2, 4);
    if (scores->dims[1] != 2 * anchors || deltas->dims[1] != 4 * anchors ||
        scores->dims[2] != deltas->dims[2] || scores->dims[3] != deltas->dims[3])
        return fail_node(node, TENGINE_EINVAL,
                         "scores are %dx%dx%d and deltas %dx%dx%d; %lld anchors need %lld and %lld "
                         "channels of one size",
                         scores->dims[1], scores->dims[2], scores->dims[3], deltas->dims[1],
                         deltas->dims[2], deltas->dims[3], (long long)anchors,
                         2 * (long long)anchors, 4 * (long long)anchors);
    if (get_ir_node_input(node, 2)->elem_num < 3)
        return fail_node(node, TENGINE_EINVAL, "image info has %lld numbers, expected 3",
                         (long long)get_ir_node_input(node, 2)->elem_num);
    const int64_t boxes = limit(limit(anchors * cells, param->per_nms_topn), param->post_nms_topn);
    return set_node_output(node, 0, TENGINE_DT_FP32, (int64_t[]){1, boxes, 4, 1}, 4);
}

#define RPN_FIELD(...) TM_FIELD(struct tm_rpn_param, __VA_ARGS__)
static const op_field_t rpn_fields[] = {
    RPN_FIELD(FLOATS, ratios, OFFSET, 0, .in_vector = 1),
    RPN_FIELD(FLOATS, anchor_scales, OFFSET, 4, .in_vector = 1),
    RPN_FIELD(INT, feat_stride, WORD, 8, .number = 16),
    RPN_FIELD(INT, basesize, WORD, 12, .number = 0),
    RPN_FIELD(INT, min_size, WORD, 16, .number = 0),
    RPN_FIELD(INT, per_nms_topn, WORD, 20, .number = 0),
    RPN_FIELD(INT, post_nms_topn, WORD, 24, .number = 0),
    RPN_FIELD(FLOAT, nms_thresh, WORD, 28, .number = 0),
    RPN_FIELD(FLOATS, anchors_, ANCHORS, 32, .in_vector = 1),
};

#define DETECTION_ROW(inputs, outputs, op_fields, type, infer)                        \
    .min_input = inputs, .max_input = inputs, .min_output = 1, .max_output = outputs, \
    OP_FIELDS(op_fields), .param_size = sizeof(type), .infer_shape = infer

static const ir_method_t* const rows[] = {
    TENGINE_ROW(PriorBox, 51, 18, 56,
                DETECTION_ROW(2, 1, prior_box_fields, struct tm_priorbox_param, infer_prior_box),
                .traits = OP_SHAPE_ONLY),
    TENGINE_ROW(DetectionOutput, 19, 7, 20,
                DETECTION_ROW(3, 1, detection_output_fields, struct tm_detection_output_param,
                              infer_detection_output),
                .traits = OP_SELF_SHAPED),
    TENGINE_ROW(Region, 55, 19, 28,
                DETECTION_ROW(1, 1, region_fields, struct tm_region_param, infer_region)),
    TENGINE_ROW(DetectionPostProcess, 20, 30, 24,
                DETECTION_ROW(3, 4, detection_postprocess_fields,
                              struct tm_detection_postprocess_param, infer_detection_postprocess)),
    TENGINE_ROW(Rpn, 66, 25, 36, DETECTION_ROW(3, 1, rpn_fields, struct tm_rpn_param, infer_rpn)),
};

OPERATOR_TABLE(tengine_detection_ops, rows);
