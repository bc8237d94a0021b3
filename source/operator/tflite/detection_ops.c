// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's choice among boxes.
#include <math.h>

#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

static const int64_t one[] = {1};

// An operand of one element as a list.
static struct tensor* emit_listed(emitter_t* emit, int index)
{
    return emit_reshape(emit, get_operand(emit, index), one, 1);
}

// Appends as many zeros as fill the list to `size`, which is there as a list of one element, too.
static struct tensor* emit_filled(emitter_t* emit, struct tensor* list, struct tensor* number,
                                  struct tensor* size)
{
    struct tensor* missing = emit_op(emit, "Sub", 2, size, number);
    begin_op(emit, "Concat", 2, emit_ints(emit, (const int64_t[]){0}, 1), missing);
    emit_attr_int(emit, "axis", 0);
    struct tensor* filled = emit_op(emit, "Pad", 2, list, end_op(emit));
    // The shape is known where the size is.
    return emit_op(emit, "Reshape", 2, filled, size);
}

// TensorFlow Lite drops a box with an overlap that is the limit, ONNX one with more.
static struct tensor* emit_overlap(emitter_t* emit)
{
    float limit = 0;
    int number = 0;
    const int status = read_float_input(emit->origin, 3, &limit, 1, &number);
    if (status != TENGINE_OK || number != 1) return emit_listed(emit, 3);
    return emit_float(emit, nextafterf(limit, -INFINITY));
}

// Returns the indices of the chosen boxes: a list of int64.
static struct tensor* emit_choice(emitter_t* emit, struct tensor* size)
{
    struct tensor *boxes = get_operand(emit, 0), *scores = get_operand(emit, 1);
    if (boxes->dim_num != 2 || boxes->dims[1] != 4 || scores->dim_num != 1) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "its boxes have rank %d and its scores rank %d, expected [boxes, 4] and "
                      "[boxes]",
                      boxes->dim_num, scores->dim_num);
        return NULL;
    }
    struct tensor* batch =
        emit_op(emit, "Unsqueeze", 2, boxes, emit_ints(emit, (const int64_t[]){0}, 1));
    struct tensor* classes =
        emit_op(emit, "Unsqueeze", 2, scores, emit_ints(emit, (const int64_t[]){0, 1}, 2));
    struct tensor* chosen = emit_op(emit, "NonMaxSuppression", 5, batch, classes, size,
                                    emit_overlap(emit), emit_listed(emit, 4));
    // Batch, class, box.
    begin_op(emit, "Gather", 2, chosen, emit_int(emit, 2));
    emit_attr_int(emit, "axis", 1);
    return end_op(emit);
}

static int lower_suppression(emitter_t* emit, bool has_scores)
{
    struct tensor* size = emit_indices(emit, emit_listed(emit, 2));
    struct tensor* chosen = emit_choice(emit, size);
    struct tensor* number = emit_op(emit, "Shape", 1, chosen);
    struct tensor* boxes =
        emit_cast(emit, emit_filled(emit, chosen, number, size), TENGINE_DT_INT32);
    struct tensor* count = emit_reshape(emit, emit_cast(emit, number, TENGINE_DT_INT32), NULL, 0);
    if (!has_scores) return finish_emitting(emit, 2, boxes, count);
    struct tensor* scores = emit_op(emit, "Gather", 2, get_operand(emit, 1), chosen);
    return finish_emitting(emit, 3, boxes, emit_filled(emit, scores, number, size), count);
}

static int lower_suppression_4(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return lower_suppression(&emit, false);
}

// Scores that fall with the overlap, by a sigma above 0, have no form in ONNX.
static int lower_suppression_5(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    float sigma = 0;
    int number = 0;
    const int status = read_float_input(node, 5, &sigma, 1, &number);
    TENGINE_RETURN_IF_ERROR(status);
    if (status == TENGINE_OK && number == 1 && !(sigma > 0)) return lower_suppression(&emit, true);
    struct tensor* results[3] = {NULL};
    begin_op(&emit, "tengine.SoftNonMaxSuppression", 0);
    for (int i = 0; i < 6; ++i)
        emit_input(&emit, get_operand(&emit, i));
    end_op_with(&emit, results, 3);
    return finish_emitting_list(&emit, results, 3);
}

// ---- TFLite_Detection_PostProcess ----

struct tfl_post_process_param
{
    int max_detections;
    int max_classes_per_detection;
    int detections_per_class;
    int use_regular_nms;
    int num_classes;
    float nms_score_threshold;
    float nms_iou_threshold;
    float y_scale;
    float x_scale;
    float h_scale;
    float w_scale;
};

// Entries of the options' map.
#define POST_FIELD(...) OP_FIELD(struct tfl_post_process_param, __VA_ARGS__)
#define MOST_DETECTIONS (1 << 20)
static const op_field_t post_process_fields[] = {
    POST_FIELD(INT, max_detections, .number = 0, .minimum = 1, .maximum = MOST_DETECTIONS),
    POST_FIELD(INT, max_classes_per_detection, .number = 1, .minimum = 1, .maximum = 1 << 16),
    POST_FIELD(INT, detections_per_class, .number = 100, .minimum = 1, .maximum = MOST_DETECTIONS),
    POST_FIELD(INT, use_regular_nms, .maximum = 1),
    POST_FIELD(INT, num_classes, .number = 0, .minimum = 1, .maximum = 1 << 20),
    POST_FIELD(FLOAT, nms_score_threshold, .number = 0),
    POST_FIELD(FLOAT, nms_iou_threshold, .number = 0),
    POST_FIELD(FLOAT, y_scale, .number = 1),
    POST_FIELD(FLOAT, x_scale, .number = 1),
    POST_FIELD(FLOAT, h_scale, .number = 1),
    POST_FIELD(FLOAT, w_scale, .number = 1),
};

// The numbers of all boxes, as [4][boxes, 1].
static void emit_columns(emitter_t* emit, struct tensor* boxes, struct tensor* out_columns[4])
{
    begin_op(emit, "Split", 1, boxes);
    emit_attr_int(emit, "axis", -1);
    emit_attr_int(emit, "num_outputs", 4);
    end_op_with(emit, out_columns, 4);
}

static struct tensor* emit_along(emitter_t* emit, int axis, int number,
                                 struct tensor* const parts[])
{
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < number; ++i)
        emit_input(emit, parts[i]);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

// Corners y0, x0, y1, x1 of boxes that are given by their centre and size, relative to anchors.
static struct tensor* emit_corners(emitter_t* emit, struct tensor* boxes, struct tensor* anchors)
{
    const struct tfl_post_process_param* param = emit->origin->op.param_mem;
    const float scales[] = {param->y_scale, param->x_scale, param->h_scale, param->w_scale};
    struct tensor *given[4], *anchor[4], *low[2], *high[2];
    emit_columns(emit, boxes, given);
    emit_columns(emit, anchors, anchor);
    for (int i = 0; i < 2; ++i) {
        struct tensor* centre = emit_op(emit, "Div", 2, given[i], emit_float(emit, scales[i]));
        centre = emit_op(emit, "Mul", 2, centre, anchor[2 + i]);
        centre = emit_op(emit, "Add", 2, centre, anchor[i]);
        struct tensor* half =
            emit_op(emit, "Div", 2, given[2 + i], emit_float(emit, scales[2 + i]));
        half = emit_op(emit, "Mul", 2, emit_op(emit, "Exp", 1, half), anchor[2 + i]);
        half = emit_op(emit, "Mul", 2, half, emit_float(emit, 0.5f));
        low[i] = emit_op(emit, "Sub", 2, centre, half);
        high[i] = emit_op(emit, "Add", 2, centre, half);
    }
    return emit_along(emit, 1, 4, (struct tensor*[]){low[0], low[1], high[0], high[1]});
}

static struct tensor* emit_gathered(emitter_t* emit, struct tensor* values, struct tensor* indices)
{
    return emit_op(emit, "Gather", 2, values, indices);
}

static struct tensor* emit_column(emitter_t* emit, struct tensor* rows, int64_t column)
{
    begin_op(emit, "Gather", 2, rows, emit_int(emit, column));
    emit_attr_int(emit, "axis", 1);
    return end_op(emit);
}

// [results, 3]: batch, class and box. A score that is the threshold counts, as ONNX's does not.
static struct tensor* emit_suppressed(emitter_t* emit, struct tensor* corners,
                                      struct tensor* scores, int64_t number)
{
    const struct tfl_post_process_param* param = emit->origin->op.param_mem;
    struct tensor* first = emit_ints(emit, (const int64_t[]){0}, 1);
    return emit_op(emit, "NonMaxSuppression", 5, emit_op(emit, "Unsqueeze", 2, corners, first),
                   emit_op(emit, "Unsqueeze", 2, scores, first), emit_int(emit, number),
                   emit_float(emit, param->nms_iou_threshold),
                   emit_float(emit, nextafterf(param->nms_score_threshold, -INFINITY)));
}

// The detections before the list is filled: indices of boxes, classes and scores, each a list.
typedef struct detections
{
    struct tensor* boxes;
    struct tensor* classes;
    struct tensor* scores;
} detections_t;

// Boxes suppress each other by their best scores, whatever the class is; each has its best classes.
static detections_t emit_fast(emitter_t* emit, struct tensor* corners, struct tensor* scores)
{
    const struct tfl_post_process_param* param = emit->origin->op.param_mem;
    const int64_t most = param->max_classes_per_detection, classes = param->num_classes;
    const int64_t each = most < classes ? most : classes;
    const int64_t flat[] = {-1}, last = -1;
    struct tensor* best = emit_op(emit, "ReduceMax", 2, scores, emit_ints(emit, &last, 1));
    best = emit_transpose(emit, best, (const int64_t[]){1, 0}, 2);
    struct tensor* chosen =
        emit_column(emit, emit_suppressed(emit, corners, best, param->max_detections), 2);
    struct tensor* top[2];
    begin_op(emit, "TopK", 2, emit_gathered(emit, scores, chosen), emit_ints(emit, &each, 1));
    end_op_with(emit, top, 2);
    struct tensor* rows = emit_op(emit, "Unsqueeze", 2, chosen, emit_ints(emit, &last, 1));
    rows = emit_op(emit, "Expand", 2, rows, emit_op(emit, "Shape", 1, top[1]));
    struct tensor* list = emit_ints(emit, flat, 1);
    return (detections_t){.boxes = emit_op(emit, "Reshape", 2, rows, list),
                          .classes = emit_op(emit, "Reshape", 2, top[1], list),
                          .scores = emit_op(emit, "Reshape", 2, top[0], list)};
}

// Boxes of one class suppress each other; the best of all classes stay.
static detections_t emit_regular(emitter_t* emit, struct tensor* corners, struct tensor* scores)
{
    const struct tfl_post_process_param* param = emit->origin->op.param_mem;
    const int64_t most = param->max_detections;
    struct tensor* by_class = emit_transpose(emit, scores, (const int64_t[]){1, 0}, 2);
    struct tensor* chosen = emit_suppressed(emit, corners, by_class, param->detections_per_class);
    struct tensor* places =
        emit_along(emit, 1, 2,
                   (struct tensor*[]){emit_op(emit, "Unsqueeze", 2, emit_column(emit, chosen, 1),
                                              emit_ints(emit, (const int64_t[]){1}, 1)),
                                      emit_op(emit, "Unsqueeze", 2, emit_column(emit, chosen, 2),
                                              emit_ints(emit, (const int64_t[]){1}, 1))});
    struct tensor* values = emit_op(emit, "GatherND", 2, by_class, places);
    struct tensor* number = emit_op(emit, "Shape", 1, values);
    number = emit_op(emit, "Min", 2, number, emit_ints(emit, &most, 1));
    struct tensor* top[2];
    begin_op(emit, "TopK", 2, values, number);
    end_op_with(emit, top, 2);
    return (detections_t){.boxes = emit_gathered(emit, emit_column(emit, chosen, 2), top[1]),
                          .classes = emit_gathered(emit, emit_column(emit, chosen, 1), top[1]),
                          .scores = top[0]};
}

// Outputs have a place for each detection; those without one are 0.
static int finish_post_process(emitter_t* emit, struct tensor* corners, const detections_t* found,
                               int64_t places)
{
    const int64_t row[] = {1, places}, boxes[] = {1, places, 4};
    struct tensor* number = emit_op(emit, "Shape", 1, found->scores);
    struct tensor* missing = emit_op(emit, "Sub", 2, emit_ints(emit, &places, 1), number);
    struct tensor* none = emit_ints(emit, (const int64_t[]){0}, 1);
    struct tensor* after = emit_along(emit, 0, 2, (struct tensor*[]){none, missing});
    struct tensor* below = emit_along(emit, 0, 4, (struct tensor*[]){none, none, missing, none});
    struct tensor* rows =
        emit_op(emit, "Pad", 2, emit_gathered(emit, corners, found->boxes), below);
    struct tensor* classes = emit_cast(emit, found->classes, TENGINE_DT_FP32);
    classes = emit_reshape(emit, emit_op(emit, "Pad", 2, classes, after), row, 2);
    struct tensor* scores = emit_op(emit, "Pad", 2, found->scores, after);
    return finish_emitting(emit, 4, emit_reshape(emit, rows, boxes, 3), classes,
                           emit_reshape(emit, scores, row, 2),
                           emit_cast(emit, number, TENGINE_DT_FP32));
}

// Classes before the last num_classes are the background.
static int lower_post_process(struct graph* graph, struct node* node)
{
    const struct tfl_post_process_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *boxes = get_operand(&emit, 0), *scores = get_operand(&emit, 1);
    struct tensor* anchors = get_operand(&emit, 2);
    const int number = boxes->dim_num == 3 ? boxes->dims[1] : 0;
    const int labels = scores->dim_num == 3 ? scores->dims[2] : 0;
    if (number < 1 || boxes->dims[0] != 1 || boxes->dims[2] != 4 || anchors->dim_num != 2 ||
        anchors->dims[0] != number || anchors->dims[1] != 4 ||
        scores->elem_num / number != labels || labels < param->num_classes ||
        param->max_detections < 1 || param->num_classes < 1)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "%d boxes, %d labels, %lld anchors' numbers, num_classes %d and "
                             "max_detections %d do not fit: expected boxes [1, boxes, 4], scores "
                             "[1, boxes, labels] and anchors [boxes, 4]",
                             number, labels, (long long)anchors->elem_num, param->num_classes,
                             param->max_detections);
    boxes = emit_reshape(&emit, boxes, (const int64_t[]){number, 4}, 2);
    scores = emit_reshape(&emit, scores, (const int64_t[]){number, labels}, 2);
    const struct axis_cut cut = {1, labels - param->num_classes, labels, 1};
    if (labels > param->num_classes) scores = emit_cuts(&emit, scores, &cut, 1);
    struct tensor* corners = emit_corners(&emit, boxes, anchors);
    const detections_t found = param->use_regular_nms ? emit_regular(&emit, corners, scores)
                                                      : emit_fast(&emit, corners, scores);
    const int64_t each = param->use_regular_nms ? 1 : param->max_classes_per_detection;
    return finish_post_process(&emit, corners, &found, param->max_detections * each);
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(NON_MAX_SUPPRESSION_V4, 120, TFL_COUNTS(5, 5, 2), .lower = lower_suppression_4),
    TFLITE_ROW(NON_MAX_SUPPRESSION_V5, 121, TFL_COUNTS(6, 6, 3), .lower = lower_suppression_5),
    TFLITE_ROW(TFLite_Detection_PostProcess, TFL_CUSTOM, TFL_COUNTS(3, 3, 4),
               OP_FIELDS(post_process_fields), .param_size = sizeof(struct tfl_post_process_param),
               .lower = lower_post_process),
};

OPERATOR_TABLE(tflite_detection_ops, rows);
