// SPDX-License-Identifier: Apache-2.0
// The common part of the lowering of TensorFlow Lite's operators, whose pictures are NHWC. Beside
// tengine/emit.h, whose rule on failures holds here too.
#pragma once

#include "operator/row.h"
#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

// A field of an operator's options: TFL_FIELD(struct tfl_pool_param, INT, stride_w, WORD, 1), its
// type in files (int32 or float, byte, vector of int32) and its number there.
#define TFL_FIELD(type, kind, member, form, place) \
    TM_FIELD(type, kind, member, form, place, .number = 0)
#define TFL_BOOL(type, member, place) TM_FIELD(type, INT, member, BYTE, place, .maximum = 1)

// The function that most operators apply to their result.
enum tfl_activation
{
    TFL_ACTIVATION_NONE,
    TFL_ACTIVATION_RELU,
    TFL_ACTIVATION_RELU_N1_TO_1,
    TFL_ACTIVATION_RELU6,
    TFL_ACTIVATION_TANH,
    TFL_ACTIVATION_SIGN_BIT
};
#define TFL_ACTIVATION(type, place) \
    TM_FIELD(type, INT, activation, BYTE, place, .maximum = TFL_ACTIVATION_TANH)

// The parameters of an operator that has no other than this field.
struct tfl_activation_param
{
    int activation;
};

struct tensor* emit_activation(emitter_t* emit, int activation, struct tensor* input);

// Move the channels to the second axis and back, for any number of spatial axes.
struct tensor* emit_channels_first(emitter_t* emit, struct tensor* input);
struct tensor* emit_channels_last(emitter_t* emit, struct tensor* input);
// The axis of the channels becomes `place`: weights.
struct tensor* emit_moved_axis(emitter_t* emit, struct tensor* input, int from, int place);

// The field `padding`.
enum tfl_padding
{
    TFL_PADDING_SAME,
    TFL_PADDING_VALID
};
#define TFL_PADDING(type, place) \
    TM_FIELD(type, INT, padding, BYTE, place, .maximum = TFL_PADDING_VALID)
// `absent` is the value where files have none.
#define TFL_POSITIVE(type, member, place, absent) \
    TM_FIELD(type, INT, member, WORD, place, .number = absent, .minimum = 1, .maximum = INT32_MAX)

// The code of operators that files name.
#define TFL_CUSTOM 32
// The padding in the bytes that are the options of such an operator.
enum tfl_raw_padding
{
    TFL_RAW_SAME = 1,
    TFL_RAW_VALID = 2
};
#define TFL_RAW_PADDING(type)                                                   \
    TM_FIELD(type, INT, padding, WORD, 0, .number = 0, .minimum = TFL_RAW_SAME, \
             .maximum = TFL_RAW_VALID)

// A window over the spatial axes, which are the leading ones of each list.
typedef struct tfl_window
{
    int axis_num;
    int padding;
    int64_t kernel[3];
    int64_t stride[3];
    int64_t dilation[3];
} tfl_window_t;

// Sets the attributes strides, dilations and pads. `input` is NHWC. SAME gives as many results as
// strides begin in the input, and one more element of padding at the end where their number is odd.
void emit_window(emitter_t* emit, const tfl_window_t* window, const struct tensor* input);

// Reads a constant input of integers. Fails when it is absent or computed.
int read_tfl_ints(emitter_t* emit, int index, const char* what, int64_t* out_values, int capacity);
// The same for one axis in [-rank, rank).
int read_tfl_axis(emitter_t* emit, int index, int rank);

// Puts `update` over the elements of `input` from `starts`, a list of integers, on; they are moved
// where it would reach beyond the end.
struct tensor* emit_update(emitter_t* emit, struct tensor* input, struct tensor* update,
                           struct tensor* starts);
// Puts step - 1 times the value, a scalar, between the elements of an axis.
struct tensor* emit_gaps(emitter_t* emit, struct tensor* input, int axis, int64_t step,
                         struct tensor* value);

// Input `index` of the origin.
static inline struct tensor* get_operand(const emitter_t* emit, int index)
{
    return get_ir_node_input(emit->origin, index);
}

// The data type of the origin's output as the file declares it; float if it is quantised, or
// absent.
int get_declared_type(const emitter_t* emit, int output);
// The shape of the origin's output as the file declares it; returns the rank. Fails where the file
// does not.
int read_declared_shape(emitter_t* emit, int output, int64_t out_dims[MAX_SHAPE_DIM_NUM]);

struct tensor* emit_concat(emitter_t* emit, int axis, int number, struct tensor* const parts[]);
// rows * weights^T, and the addend unless it is NULL.
struct tensor* emit_transposed_product(emitter_t* emit, struct tensor* rows, struct tensor* weights,
                                       struct tensor* addend);

// ---- recurrent layers ----

enum
{
    TFL_MOST_STEPS = 1024  // that become operators
};

// finish_emitting_list() for a layer whose last `state_num` results are the values of its states
// after the run: the node has outputs for all of them, or none.
int finish_layers(emitter_t* emit, struct tensor* const results[], int number, int state_num);

// Turns the node into this operator of the same inputs.
#define TFL_LOWER_AS(function, onnx)                            \
    static int function(struct graph* graph, struct node* node) \
    {                                                           \
        return rewrite_as(graph, node, onnx);                   \
    }

// The fields and the struct of a row by their common word: pool_fields, struct tfl_pool_param.
#define TFL_PARAMS(kind) OP_FIELDS(kind##_fields), .param_size = sizeof(struct tfl_##kind##_param)
#define TFL_COUNTS(inputs, most_inputs, outputs) \
    .min_input = inputs, .max_input = most_inputs, .min_output = outputs, .max_output = outputs

TENGINE_EXTERN_C_END
