// SPDX-License-Identifier: Apache-2.0
// tflite-micro's front end for audio: options, and the values that operators keep from run to run.
// A file does not have the latter: the reader adds them behind the node's inputs, and their next
// values behind its outputs (serializer/tflite/states.h). All begin with zeros.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// An integer that the options must have.
#define FRONT_FIELD(type, member, least, most) \
    OP_FIELD(struct type, INT, member, .number = -1, .minimum = least, .maximum = most)
#define FRONT_PARAMS(table, type) OP_FIELDS(table), .param_size = sizeof(struct type)

// Fails with the name of an option that the file lacks.
int check_tfl_options(const struct node* node);

enum
{
    TFL_MOST_STATES = 2
};

typedef struct tfl_state
{
    int data_type;
    int rank;
    int64_t dims[MAX_SHAPE_DIM_NUM];
} tfl_state_t;

// Lists those of a node whose operands of the file are set. Returns their number, 0 for all other
// operators, or an error about the node's options.
int list_tfl_states(const struct node* node, tfl_state_t out_states[TFL_MOST_STATES]);

TENGINE_EXTERN_C_END
