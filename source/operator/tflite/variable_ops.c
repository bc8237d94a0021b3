// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's variables of a model: the reader connects them to the value before a run and to
// the value after it (serializer/tflite/states.h), between which these operators pass values on.
#include "operator/tflite/lower.h"

TFL_LOWER_AS(lower_read, "Identity")

// Input 0 is the old value.
static int lower_assign(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_op(&emit, "Identity", 1, get_operand(&emit, 1)));
}

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(ASSIGN_VARIABLE, 144, TFL_COUNTS(2, 2, 1), .lower = lower_assign),
    SHAPELESS_ROW(READ_VARIABLE, 143, TFL_COUNTS(1, 1, 1), .lower = lower_read),
};

OPERATOR_TABLE(tflite_variable_ops, rows);
