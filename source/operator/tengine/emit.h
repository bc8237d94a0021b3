// SPDX-License-Identifier: Apache-2.0
// Rewriting one node of an execution graph in the other dialect: a Tengine node as ONNX operators
// (lower), an ONNX node as Tengine operators (raise). Both are said the same way:
//
//     emitter_t emit = start_emitting(graph, node);
//     struct tensor* sum = emit_op(&emit, "Add", 2, input, bias);
//     begin_op(&emit, "Clip", 3, sum, emit_float(&emit, 0), emit_float(&emit, 6));
//     emit_attr_int(&emit, ...);
//     return finish_emitting(&emit, 1, end_op(&emit));
//
// An emitter that has failed stays so: further calls do nothing and give NULL, NULL tensors are let
// through, and finish_emitting() returns the first failure. So nothing in between need be checked.
// In the direction of ONNX every operator is inferred as soon as it is made; shapes and types of
// the tensors it gives are known, unless they depend on data.
#pragma once

#include "operator/infer.h"
#include "operator/onnx_type.h"
#include "operator/operator.h"
#include "operator/param.h"

TENGINE_EXTERN_C_BEGIN

typedef struct emitter
{
    struct graph* graph;
    struct node* origin;  // the node that is rewritten
    struct node* op;      // between begin_op() and end_op()
    int first_node;       // nodes from here on are the emitter's
    int status;
} emitter_t;

emitter_t start_emitting(struct graph* graph, struct node* origin);

// Appends an operator without attributes set, with one result, and returns the result. `op` is a
// full name: "Conv", "tengine.Mvn". `input_num` tensors follow; NULL is an optional input that is
// absent.
struct tensor* emit_op(emitter_t* emit, const char* op, int input_num, ...);

// Append an operator with attributes: begin, set, end. end_op() returns result 0, end_op_with() the
// first `result_num` results.
void begin_op(emitter_t* emit, const char* op, int input_num, ...);
// Adds an input, for operators with any number of them.
void emit_input(emitter_t* emit, struct tensor* input);
void emit_attr_int(emitter_t* emit, const char* name, int64_t value);
void emit_attr_float(emitter_t* emit, const char* name, float value);
void emit_attr_text(emitter_t* emit, const char* name, const char* value);
void emit_attr_ints(emitter_t* emit, const char* name, const int64_t* values, int num);
struct tensor* end_op(emitter_t* emit);
void end_op_with(emitter_t* emit, struct tensor* out_results[], int result_num);

// Add constants: lists of int64 and float; one float and one int64 (scalars, rank 0).
struct tensor* emit_ints(emitter_t* emit, const int64_t* values, int num);
struct tensor* emit_floats(emitter_t* emit, const float* values, int num);
struct tensor* emit_float(emitter_t* emit, float value);
struct tensor* emit_int(emitter_t* emit, int64_t value);
// Adds a float (scalar) in the data type of `like`. Lowering only.
struct tensor* emit_number(emitter_t* emit, float value, const struct tensor* like);

// Often needed: the same elements as `dims`, which are all given; axes in another order; another
// type. Lowering only.
struct tensor* emit_reshape(emitter_t* emit, struct tensor* input, const int64_t dims[], int num);
struct tensor* emit_transpose(emitter_t* emit, struct tensor* input, const int64_t order[],
                              int num);
struct tensor* emit_cast(emitter_t* emit, struct tensor* input, int data_type);

// Replaces the origin's outputs by the tensors given (result_num of them, one per output; NULL: an
// output without readers), under these outputs' names, and removes the origin. No tensor may be
// given twice. Returns the emitter's status; after a failure the graph can only be destroyed.
int finish_emitting(emitter_t* emit, int result_num, ...);
int finish_emitting_list(emitter_t* emit, struct tensor* const results[], int result_num);

// Turns the node into `op`: the same inputs, the attributes that both have under one name, one
// output.
int rewrite_as(struct graph* graph, struct node* node, const char* op);

// A row with RENAMED("HardSwish") has the same meaning as this operator of ONNX, and its attributes
// the names that they have there: both directions follow from the row.
#define RENAMED(onnx) .lower = lower_renamed, RAISED(onnx, raise_renamed)
int lower_renamed(struct graph* graph, struct node* node);
int raise_renamed(struct graph* graph, struct node* node);

// Fails with a message about the origin; returns the code.
int fail_emitting(emitter_t* emit, int code, const char* format, ...) TENGINE_PRINTF(3, 4);

// For raise(): records why the node is not expressed in Tengine's operators, for the report.
// Returns OP_NOT_RAISED. Nothing may have been emitted.
int refuse_raising(struct node* node, const char* format, ...) TENGINE_PRINTF(2, 3);

TENGINE_EXTERN_C_END
