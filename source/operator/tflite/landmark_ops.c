// SPDX-License-Identifier: Apache-2.0
// Version 2 of MediaPipe's operators on landmarks: the matrix of a crop around some of them, the
// crop, and the way back.
#include <math.h>

#include "operator/tflite/lower.h"

#define MOST_PIXELS (1 << 20)
#define MOST_SIDE (1 << 10)  // of a crop

struct tfl_landmark_matrix_param
{
    int left_rotation_idx;
    int right_rotation_idx;
    int output_height;
    int output_width;
    float scale_x;
    float scale_y;
    float target_rotation_radians;
    struct op_ints subset_idxs;
};

struct tfl_transform_param
{
    int output_height;
    int output_width;
};

#define MATRIX_FIELD(...) OP_FIELD(struct tfl_landmark_matrix_param, __VA_ARGS__)
#define TRANSFORM_FIELD(...) OP_FIELD(struct tfl_transform_param, __VA_ARGS__)
static const op_field_t landmark_matrix_fields[] = {
    MATRIX_FIELD(INT, left_rotation_idx, .number = 0, .minimum = 0, .maximum = INT32_MAX),
    MATRIX_FIELD(INT, right_rotation_idx, .number = 0, .minimum = 0, .maximum = INT32_MAX),
    MATRIX_FIELD(INT, output_height, .number = 0, .minimum = 1, .maximum = MOST_PIXELS),
    MATRIX_FIELD(INT, output_width, .number = 0, .minimum = 1, .maximum = MOST_PIXELS),
    MATRIX_FIELD(FLOAT, scale_x, .number = 1),
    MATRIX_FIELD(FLOAT, scale_y, .number = 1),
    MATRIX_FIELD(FLOAT, target_rotation_radians, .number = 0),
    MATRIX_FIELD(INTS, subset_idxs, .minimum = 0, .maximum = INT32_MAX),
};
static const op_field_t transform_fields[] = {
    TRANSFORM_FIELD(INT, output_height, .number = 0, .minimum = 1, .maximum = MOST_SIDE),
    TRANSFORM_FIELD(INT, output_width, .number = 0, .minimum = 1, .maximum = MOST_SIDE),
};

static struct tensor* emit_gather(emitter_t* emit, struct tensor* from, struct tensor* indices,
                                  int axis)
{
    begin_op(emit, "Gather", 2, from, indices);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

static struct tensor* emit_sum(emitter_t* emit, struct tensor* a, struct tensor* b)
{
    return emit_op(emit, "Add", 2, a, b);
}

static struct tensor* emit_product(emitter_t* emit, struct tensor* a, struct tensor* b)
{
    return emit_op(emit, "Mul", 2, a, b);
}

static struct tensor* emit_scaled(emitter_t* emit, struct tensor* a, float factor)
{
    return emit_product(emit, a, emit_float(emit, factor));
}

// ---- Landmarks2TransformMatrix ----

// A turn by an angle: its cosine and sine, scalars.
typedef struct turn
{
    struct tensor* cosine;
    struct tensor* sine;
} turn_t;

// From the direction between two landmarks to that of the options.
static turn_t emit_turn(emitter_t* emit, struct tensor* landmarks)
{
    const struct tfl_landmark_matrix_param* param = emit->origin->op.param_mem;
    struct tensor* left = emit_gather(emit, landmarks, emit_int(emit, param->left_rotation_idx), 0);
    struct tensor* right =
        emit_gather(emit, landmarks, emit_int(emit, param->right_rotation_idx), 0);
    const int64_t plane[] = {0, 1};
    struct tensor* way = emit_op(emit, "Sub", 2, right, left);
    way = emit_gather(emit, way, emit_ints(emit, plane, 2), 0);
    begin_op(emit, "ReduceL2", 1, way);
    emit_attr_int(emit, "keepdims", 0);
    struct tensor* length = end_op(emit);
    struct tensor* is_point = emit_op(emit, "Equal", 2, length, emit_float(emit, 0));
    const float along[] = {1, 0};
    way = emit_op(emit, "Where", 3, is_point, emit_floats(emit, along, 2),
                  emit_op(emit, "Div", 2, way, length));
    struct tensor* x = emit_gather(emit, way, emit_int(emit, 0), 0);
    struct tensor* y = emit_gather(emit, way, emit_int(emit, 1), 0);
    const float cosine = cosf(param->target_rotation_radians);
    const float sine = sinf(param->target_rotation_radians);
    return (turn_t){
        emit_sum(emit, emit_scaled(emit, x, cosine), emit_scaled(emit, y, sine)),
        emit_op(emit, "Sub", 2, emit_scaled(emit, x, sine), emit_scaled(emit, y, cosine))};
}

// x cos - y sin, and with sign -1, x cos + y sin.
static struct tensor* emit_turned_x(emitter_t* emit, turn_t turn, struct tensor* x,
                                    struct tensor* y, int sign)
{
    return emit_op(emit, sign < 0 ? "Add" : "Sub", 2, emit_product(emit, x, turn.cosine),
                   emit_product(emit, y, turn.sine));
}

// y cos + x sin, and with sign -1, y cos - x sin.
static struct tensor* emit_turned_y(emitter_t* emit, turn_t turn, struct tensor* x,
                                    struct tensor* y, int sign)
{
    return emit_op(emit, sign < 0 ? "Sub" : "Add", 2, emit_product(emit, y, turn.cosine),
                   emit_product(emit, x, turn.sine));
}

// The middle of the values and their extent, scalars.
static struct tensor* emit_middle(emitter_t* emit, struct tensor* values,
                                  struct tensor** out_extent)
{
    struct tensor* ends[2];
    for (int i = 0; i < 2; ++i) {
        begin_op(emit, i ? "ReduceMax" : "ReduceMin", 1, values);
        emit_attr_int(emit, "keepdims", 0);
        ends[i] = end_op(emit);
    }
    *out_extent = emit_op(emit, "Sub", 2, ends[1], ends[0]);
    return emit_scaled(emit, emit_sum(emit, ends[0], ends[1]), 0.5f);
}

// From pixels of the crop to the picture: the crop's middle is moved to 0, scaled, turned and moved
// to its place.
static int finish_matrix(emitter_t* emit, turn_t turn, struct tensor* const place[2],
                         struct tensor* const scale[2])
{
    const struct tfl_landmark_matrix_param* param = emit->origin->op.param_mem;
    const float shift[] = {-0.5f * (float)param->output_width, -0.5f * (float)param->output_height};
    struct tensor* zero = emit_float(emit, 0);
    struct tensor* one = emit_float(emit, 1);
    struct tensor* rows[2][2] = {
        {emit_product(emit, turn.cosine, scale[0]), emit_product(emit, turn.sine, scale[1])},
        {emit_op(emit, "Neg", 1, emit_product(emit, turn.sine, scale[0])),
         emit_product(emit, turn.cosine, scale[1])}};
    struct tensor* last[2];
    for (int i = 0; i < 2; ++i)
        last[i] = emit_sum(emit,
                           emit_sum(emit, emit_scaled(emit, rows[i][0], shift[0]),
                                    emit_scaled(emit, rows[i][1], shift[1])),
                           place[i]);
    struct tensor* numbers[16] = {rows[0][0], rows[0][1], zero, last[0], rows[1][0], rows[1][1],
                                  zero,       last[1],    zero, zero,    one,        zero,
                                  zero,       zero,       zero, one};
    const int64_t listed[] = {1}, shape[] = {1, 4, 4};
    for (int i = 0; i < 16; ++i)
        numbers[i] = emit_reshape(emit, numbers[i], listed, 1);
    return finish_emitting(emit, 1,
                           emit_reshape(emit, emit_concat(emit, 0, 16, numbers), shape, 3));
}

static bool has_landmarks(const struct tensor* input)
{
    return input->dim_num == 3 && input->dims[0] == 1 && input->dims[1] > 0;
}

static bool are_landmarks(const struct tfl_landmark_matrix_param* param, int number)
{
    for (int i = 0; i < param->subset_idxs.num; ++i)
        if (param->subset_idxs.values[i] >= number) return false;
    return param->left_rotation_idx < number && param->right_rotation_idx < number;
}

static int lower_landmark_matrix(struct graph* graph, struct node* node)
{
    const struct tfl_landmark_matrix_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (!has_landmarks(input) || input->dims[2] != 3 || param->subset_idxs.num < 1 ||
        param->output_height < 1 || param->output_width < 1 ||
        !are_landmarks(param, input->dims[1]))
        return fail_emitting(
            &emit, TENGINE_EINVAL,
            "its options do not fit an input of rank %d: expected those of version "
            "2, with indices of the landmarks of an input [1, landmarks, 3]",
            input->dim_num);
    struct tensor* landmarks = emit_reshape(&emit, input, (const int64_t[]){input->dims[1], 3}, 2);
    const turn_t turn = emit_turn(&emit, landmarks);
    struct tensor* chosen = emit_gather(
        &emit, landmarks, emit_ints(&emit, param->subset_idxs.values, param->subset_idxs.num), 0);
    struct tensor* x = emit_gather(&emit, chosen, emit_int(&emit, 0), 1);
    struct tensor* y = emit_gather(&emit, chosen, emit_int(&emit, 1), 1);
    struct tensor *width, *height;
    struct tensor* across = emit_middle(&emit, emit_turned_x(&emit, turn, x, y, 1), &width);
    struct tensor* down = emit_middle(&emit, emit_turned_y(&emit, turn, x, y, 1), &height);
    struct tensor* place[] = {emit_turned_x(&emit, turn, across, down, -1),
                              emit_turned_y(&emit, turn, across, down, -1)};
    struct tensor* scale[] = {
        emit_scaled(&emit, width, param->scale_x / (float)param->output_width),
        emit_scaled(&emit, height, param->scale_y / (float)param->output_height)};
    return finish_matrix(&emit, turn, place, scale);
}

// ---- TransformLandmarks and TransformTensorBilinear ----

static bool is_matrix(const struct tensor* tensor)
{
    return tensor->elem_num == 16;
}

// points * A^T + b of [..., 2] points, where the matrix begins with A 0 b in two rows.
static struct tensor* emit_transformed(emitter_t* emit, struct tensor* points,
                                       struct tensor* matrix)
{
    const int64_t rows[] = {0, 1}, order[] = {1, 0};
    matrix = emit_reshape(emit, matrix, (const int64_t[]){4, 4}, 2);
    matrix = emit_gather(emit, matrix, emit_ints(emit, rows, 2), 0);
    struct tensor* turn = emit_gather(emit, matrix, emit_ints(emit, rows, 2), 1);
    struct tensor* shift = emit_gather(emit, matrix, emit_int(emit, 3), 1);
    turn = emit_transpose(emit, turn, order, 2);
    return emit_sum(emit, emit_op(emit, "MatMul", 2, points, turn), shift);
}

static int lower_transform_landmarks(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *matrix = get_operand(&emit, 1);
    const int size = input->dim_num == 3 ? input->dims[2] : 0;
    if (!has_landmarks(input) || (size != 2 && size != 3) || !is_matrix(matrix))
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its inputs have rank %d and %lld elements, expected [1, landmarks, 2 "
                             "or 3] and a matrix of 16",
                             input->dim_num, (long long)matrix->elem_num);
    const int64_t plane[] = {0, 1}, depth[] = {2};
    struct tensor* points =
        size == 2 ? input : emit_gather(&emit, input, emit_ints(&emit, plane, 2), 2);
    struct tensor* moved = emit_transformed(&emit, points, matrix);
    if (size == 2) return finish_emitting(&emit, 1, moved);
    struct tensor* parts[] = {moved, emit_gather(&emit, input, emit_ints(&emit, depth, 1), 2)};
    return finish_emitting(&emit, 1, emit_concat(&emit, 2, 2, parts));
}

// The middles of the pixels of the result: [pixels, 2].
static struct tensor* emit_middles(emitter_t* emit, int height, int width)
{
    const int64_t shape[] = {height, width, 1};
    struct tensor* parts[2];
    float middles[MOST_SIDE];
    for (int axis = 0; axis < 2; ++axis) {
        const int number = axis == 0 ? width : height;
        const int64_t dims[] = {axis == 0 ? 1 : height, axis == 0 ? width : 1, 1};
        for (int i = 0; i < number; ++i)
            middles[i] = (float)i + 0.5f;
        struct tensor* row = emit_reshape(emit, emit_floats(emit, middles, number), dims, 3);
        parts[axis] = emit_op(emit, "Expand", 2, row, emit_ints(emit, shape, 3));
    }
    return emit_reshape(emit, emit_concat(emit, 2, 2, parts),
                        (const int64_t[]){(int64_t)height * width, 2}, 2);
}

// A pixel of the result whose place is outside of the input is 0.
static int lower_transform_tensor(struct graph* graph, struct node* node)
{
    const struct tfl_transform_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *matrix = get_operand(&emit, 1);
    const int height = param->output_height, width = param->output_width;
    if (input->dim_num != 4 || input->dims[0] != 1 || input->dims[1] < 2 || input->dims[2] < 2 ||
        !is_matrix(matrix) || height < 1 || width < 1)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its inputs have rank %d and %lld elements and its result %d x %d, "
                             "expected [1, height, width, channels] of at least 2 x 2, a matrix of "
                             "16, and the options of version 2",
                             input->dim_num, (long long)matrix->elem_num, height, width);
    const float ends[] = {(float)(input->dims[2] - 1), (float)(input->dims[1] - 1)};
    const float steps[] = {2 / ends[0], 2 / ends[1]};
    struct tensor* places = emit_transformed(&emit, emit_middles(&emit, height, width), matrix);
    places = emit_sum(&emit, places, emit_float(&emit, -0.5f));
    struct tensor* is_inside =
        emit_op(&emit, "And", 2, emit_op(&emit, "GreaterOrEqual", 2, places, emit_float(&emit, 0)),
                emit_op(&emit, "LessOrEqual", 2, places, emit_floats(&emit, ends, 2)));
    is_inside = emit_op(&emit, "And", 2, emit_gather(&emit, is_inside, emit_int(&emit, 0), 1),
                        emit_gather(&emit, is_inside, emit_int(&emit, 1), 1));
    struct tensor* grid = emit_product(&emit, places, emit_floats(&emit, steps, 2));
    grid = emit_sum(&emit, grid, emit_float(&emit, -1));
    grid = emit_reshape(&emit, grid, (const int64_t[]){1, height, width, 2}, 4);
    begin_op(&emit, "GridSample", 2, emit_channels_first(&emit, input), grid);
    emit_attr_text(&emit, "mode", "linear");
    emit_attr_int(&emit, "align_corners", 1);
    struct tensor* result = emit_channels_last(&emit, end_op(&emit));
    is_inside = emit_reshape(&emit, is_inside, (const int64_t[]){1, height, width, 1}, 4);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Where", 3, is_inside, result, emit_float(&emit, 0)));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(Landmarks2TransformMatrix, TFL_CUSTOM, TFL_COUNTS(1, 1, 1),
               TFL_PARAMS(landmark_matrix), .lower = lower_landmark_matrix),
    TFLITE_ROW(TransformLandmarks, TFL_CUSTOM, TFL_COUNTS(2, 2, 1),
               .lower = lower_transform_landmarks),
    TFLITE_ROW(TransformTensorBilinear, TFL_CUSTOM, TFL_COUNTS(2, 2, 1), TFL_PARAMS(transform),
               .lower = lower_transform_tensor),
};

OPERATOR_TABLE(tflite_landmark_ops, rows);
