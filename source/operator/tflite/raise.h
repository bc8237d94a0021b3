// SPDX-License-Identifier: Apache-2.0
// Raising: ONNX's operators as TensorFlow Lite's, for files. It has two steps, so that the
// Transposes around pictures can be moved between them; optimizer/dialect/tflite.cc calls them.
#pragma once

#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

// Rewrites a node whose shapes are known, or leaves it alone: OP_NOT_RAISED, after refuse_raising()
// if an operator is not taken for its attributes.
// Step 1: an operator on pictures becomes one with the channels last between Transposes; an
// operator that TensorFlow Lite does not have becomes others of ONNX's.
int raise_tfl_picture(struct graph* graph, struct node* node);
// Step 2: all others.
int raise_tfl_node(struct graph* graph, struct node* node);

// A row of the tables of these functions.
typedef struct tfl_raising
{
    const char* op;  // of ONNX
    int (*raise)(struct graph* graph, struct node* node);
} tfl_raising_t;

typedef struct tfl_raisings
{
    const tfl_raising_t* rows;
    int row_num;
} tfl_raisings_t;

#define TFL_RAISINGS(name, rows) \
    const tfl_raisings_t name = {rows, (int)(sizeof(rows) / sizeof((rows)[0]))}

extern const tfl_raisings_t tfl_picture_raisings;    // raise_picture.c
extern const tfl_raisings_t tfl_composed_raisings;   // raise_composed.c
extern const tfl_raisings_t tfl_function_raisings;   // raise_functions.c
extern const tfl_raisings_t tfl_attention_raisings;  // raise_attention.c
extern const tfl_raisings_t tfl_loss_raisings;       // raise_loss.c
extern const tfl_raisings_t tfl_place_raisings;      // raise_places.c
extern const tfl_raisings_t tfl_gelu_raisings;       // raise_gelu.c
extern const tfl_raisings_t tfl_quantized_raisings;  // raise_quantized.c
extern const tfl_raisings_t tfl_recurrent_raisings;  // raise_recurrent.c
extern const tfl_raisings_t tfl_element_raisings;    // raise_element.c
extern const tfl_raisings_t tfl_shape_raisings;      // raise_shape.c
extern const tfl_raisings_t tfl_product_raisings;    // raise_product.c

// ---- what they have in common ----

// The numbers of types in files.
enum tfl_type
{
    TFL_TYPE_INT32 = 2,
    TFL_TYPE_INT64 = 4
};

// Whether a node or the program reads the output.
bool is_raised_output_read(const struct node* node, int output);

// Ends an operator between others, which has no rule for its shape.
struct tensor* end_raised(emitter_t* emit, int data_type, const int dims[], int rank);
// Ends the node with its one result.
int finish_raised(emitter_t* emit);

// A tensor with its axes in another order: a constant, also one behind a DequantizeLinear, at once,
// others by a Transpose of ONNX's.
struct tensor* emit_turned(emitter_t* emit, struct tensor* input, const int64_t order[], int rank);

// A list of floats that are 0.
struct tensor* emit_zeroes(emitter_t* emit, int number);
// The dimensions of a tensor as a list of int32.
struct tensor* emit_dims(emitter_t* emit, const struct tensor* like);
// Adds the input that has the dimensions of the result: RESHAPE.
int raise_as_tfl_reshape(struct graph* graph, struct node* node);

TENGINE_EXTERN_C_END
