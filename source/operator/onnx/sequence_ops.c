// SPDX-License-Identifier: Apache-2.0
// Sequences and optional values (graph/sequence.h). Their bytes, and the shapes of elements taken
// out of them, are known only at run time; types are known before.
#include "graph/sequence.h"
#include "operator/infer.h"
#include "operator/onnx/sequence_param.h"
#include "operator/row.h"

// Called only at run time: the kernel finds the shapes.
static int infer_later(struct node* node)
{
    (void)node;
    return OP_SHAPE_LATER;
}

static const op_field_t empty_fields[] = {
    OP_FIELD(struct sequence_empty_param, INT, dtype, .number = 1),
};

// The type as written in the file, which has a special attribute kind for it.
static const op_field_t optional_fields[] = {
    OP_FIELD(struct optional_param, INT, type, .minimum = 0, .maximum = TENGINE_DT_UNKNOWN - 1),
};

static const op_field_t concat_fields[] = {
    OP_FIELD(struct concat_from_sequence_param, INT, axis, .required = 1, .number = -9,
             .minimum = -8, .maximum = 7),
    OP_FIELD(struct concat_from_sequence_param, INT, new_axis, .minimum = 0, .maximum = 1),
};

static const op_field_t split_fields[] = {
    OP_FIELD(struct split_to_sequence_param, INT, axis, .minimum = -8, .maximum = 7),
    OP_FIELD(struct split_to_sequence_param, INT, keepdims, .number = 1, .minimum = 0,
             .maximum = 1),
};

#define LATER(least, most, rule)                                                            \
    .min_input = least, .max_input = most, .min_output = 1, .max_output = 1, .types = rule, \
    .infer_shape = infer_later,                                                             \
    .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS | OP_TAKES_COMPLEX | OP_TAKES_VALUES

static const ir_method_t* const rows[] = {
    OP_ROW(ConcatFromSequence, .version = 11, LATER(1, 1, "element:0"), OP_FIELDS(concat_fields),
           .param_size = sizeof(struct concat_from_sequence_param)),
    OP_ROW(Optional, .version = 15, LATER(0, 1, "optional:0|optional:#type"),
           OP_FIELDS(optional_fields), .param_size = sizeof(struct optional_param)),
    OP_ROW(OptionalGetElement, .version = 15, LATER(1, 1, "value:0")),
    OP_ROW(OptionalHasElement, .version = 15, LATER(0, 1, "bool")),
    OP_ROW(SequenceAt, .version = 11, LATER(2, 2, "element:0")),
    OP_ROW(SequenceConstruct, .version = 11, LATER(1, -1, "sequence:0")),
    OP_ROW(SequenceEmpty, .version = 11, LATER(0, 0, "sequence:@dtype"), OP_FIELDS(empty_fields),
           .param_size = sizeof(struct sequence_empty_param)),
    OP_ROW(SequenceErase, .version = 11, LATER(1, 2, "sequence:element:0")),
    OP_ROW(SequenceInsert, .version = 11, LATER(2, 3, "sequence:element:0")),
    OP_ROW(SequenceLength, .version = 11, LATER(1, 1, "int64")),
    OP_ROW(SequenceMap, .version = 17, .bodies = "body", .min_input = 1, .max_input = -1,
           .min_output = 1, .max_output = -1, .infer_shape = infer_later,
           .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS | OP_TAKES_COMPLEX),
    OP_ROW(SplitToSequence, .version = 11, LATER(1, 2, "sequence:0"), OP_FIELDS(split_fields),
           .param_size = sizeof(struct split_to_sequence_param)),
};

OPERATOR_TABLE(sequence_ops, rows);
