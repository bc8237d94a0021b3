// SPDX-License-Identifier: Apache-2.0
// The room operator: the operators, as data. Devices compute them and the optimizer rewrites
// them; neither lives here.
//
// How an operator is described: one row of a constant table per (domain, name, opset range).
// Each file <family>_ops.c exports one table, written with row.h; CMake finds it, reads the names
// of its rows (cmake/operators.cmake) and generates the registration. Generic code on the rows:
// param.h (defaults, validation, attributes). Shape helpers: infer.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The newest opset whose operators were read when the tables were written. A row without `until`
// holds up to here; the meaning of operators in a newer one is not known.
#define NEWEST_KNOWN_OPSET 28

// Kind of a parameter = type of its member in the parameter struct.
typedef enum op_field_kind
{
    OP_FIELD_INT,      // int
    OP_FIELD_FLOAT,    // float
    OP_FIELD_STRING,   // char*, owned; NULL when absent and without default
    OP_FIELD_INTS,     // struct op_ints
    OP_FIELD_FLOATS,   // struct op_floats
    OP_FIELD_STRINGS,  // struct op_strings
    OP_FIELD_TENSOR    // struct op_tensor
} op_field_kind_t;

struct op_ints
{
    int num;  // 0: absent
    int64_t* values;
};

struct op_floats
{
    int num;
    float* values;
};

struct op_strings
{
    int num;
    char** values;
};

struct op_tensor
{
    int data_type;  // TENGINE_DT_*
    int dim_num;    // -1: absent
    int dims[MAX_SHAPE_DIM_NUM];
    size_t size;  // bytes of data
    void* data;
};

// The way an attribute of an old opset becomes a constant input of the newest (field.moved_as):
// with its own type (int64, float) or, a scalar, with the type of input 0. Lists are 1-d, absent
// lists stay absent inputs; INT and FLOAT become scalars.
enum op_moved
{
    OP_MOVED_NOT,
    OP_MOVED_INT64,
    OP_MOVED_FLOAT,
    OP_MOVED_LIKE_INPUT
};

// The form of an operator's parameter in a tmfile or .tflite (field.file_kind).
enum op_file_kind
{
    OP_FILE_NOT,      // a parameter that files do not have
    OP_FILE_WORD,     // INT, FLOAT: int32 or float32
    OP_FILE_BYTE,     // INT: one byte
    OP_FILE_OFFSET,   // INTS, FLOATS: offset of a vector of int32 or float32; STRING: that of a
                      // string
    OP_FILE_ANCHORS,  // FLOATS: offset of a vector of groups of 4 float32
    OP_FILE_STRIDED,  // INTS: 4 int32 that are OP_FILE_STRIDE bytes apart, in the record itself
    OP_FILE_LONG,     // INT: int64
    OP_FILE_LONGS,    // INTS: offset of a vector of int64
    OP_FILE_FLAGS,    // INTS: offset of a vector of bytes
    OP_FILE_BODY      // INT: the number of a subgraph; here the code of its only operator
};
#define OP_FILE_STRIDE 12

typedef struct op_field
{
    const char* name;  // the attribute's name in ONNX, or in Tengine's parameter struct
    uint8_t kind;      // op_field_kind_t
    uint8_t required;
    uint16_t offset;      // in the parameter struct
    double number;        // default of INT and FLOAT
    const char* text;     // default of STRING
    double minimum;       // allowed range of INT, FLOAT and each of INTS, FLOATS;
    double maximum;       // both 0: any
    const char* choices;  // STRING: allowed values, "NOTSET|SAME_UPPER|..."; NULL: any
    int16_t since;        // first and last opset that has the attribute; 0: as the row
    int16_t until;
    uint8_t moved_as;  // enum op_moved: in opsets after `until` this is input `moved_input`
    uint8_t moved_input;
    uint8_t file_kind;    // enum op_file_kind: its form in the operator's record of a tmfile
    uint8_t file_offset;  // bytes from the record's start; TensorFlow Lite: number of the field
    const char* length;   // INTS and FLOATS of Tengine operators: the INT field that counts them,
                          // for programs that set them through a pointer
    uint8_t in_vector;    // INTS and FLOATS: for such programs the list is a struct vector of them
} op_field_t;

// Designated rows: OP_FIELD(struct conv_param, INT, group, .number = 1, .minimum = 1)
#define OP_FIELD(type, field_kind, member, ...)                                           \
    {                                                                                     \
        .name = #member, .kind = OP_FIELD_##field_kind, .offset = offsetof(type, member), \
        __VA_ARGS__                                                                       \
    }

// A row for a parameter of a Tengine operator:
// TM_FIELD(struct x_param, INT, axis, WORD, 0, .number = 1)
#define TM_FIELD(type, field_kind, member, form, place, ...)                              \
    OP_FIELD(type, field_kind, member, .file_kind = OP_FILE_##form, .file_offset = place, \
             __VA_ARGS__)

// infer_shape's answer when an output's shape depends on data that is not there yet: the node is
// dynamic, and is inferred again at run time when every input has data.
#define OP_SHAPE_LATER 1

typedef enum op_trait
{
    OP_RANDOM = 1,        // two runs differ: never folded
    OP_SELF_SHAPED = 2,   // the kernel itself finds the output's shape (NonZero, Unique)
    OP_LEGACY = 4,        // exists only to be lowered: never in an execution graph
    OP_SHAPE_ONLY = 8,    // reads its input's shape, not its data (Shape, Size)
    OP_OPEN = 16,         // a node may have parameters of its own beside the fields (added_field.h)
    OP_TAKES_SMALL = 32,  // elements of 4 and 2 bits and floats of 8 may be inputs and outputs;
                          // infer_shape checks which of these each of them may be
    OP_TAKES_STRINGS = 64,   // strings may be
    OP_TAKES_COMPLEX = 128,  // complex numbers may be
    OP_TAKES_VALUES = 256    // sequences and optional values may be
} op_trait_t;

// An input whose value decides about shapes that infer_shape settles without it, too: the values of
// a run may require others. The graph is then prepared again.
struct value_shape
{
    int input;
    // Whether infer_shape would give this output the shape that it has, had the input this value.
    // `value` has a buffer of the program's, of any alignment.
    bool (*has_shape_for)(const struct node* node, int output, const struct tensor* value);
};

// The data that makes an operator one of Tengine's.
struct tengine_record
{
    int16_t type;   // OP_*, its number in the C API; -1: it has none
    int16_t id;     // in tmfiles; -1: never in a file
    uint16_t size;  // bytes of its record today; 0: none
};

// The description of an operator over a range of opsets.
typedef struct method
{
    const char* domain;  // NULL or "": ONNX
    const char* name;
    int version;  // first opset of this row
    int until;    // last; 0: NEWEST_KNOWN_OPSET
    // ONNX's operators that no row describes after `until`: the change in the next opset, for the
    // error about a newer node.
    const char* ended_by;
    int min_input;  // leading inputs that must be there
    int max_input;  // -1: any number (variadic)
    int min_output;
    int max_output;  // -1: any number
    // Control flow: the attributes that are graphs, all of them required,
    // "then_branch|else_branch"; see graph/body.h.
    const char* bodies;
    const op_field_t* fields;
    int field_num;
    uint32_t param_size;  // sizeof the parameter struct
    uint32_t traits;      // op_trait_t
    // Sets data type and shape of every connected output. Called when the shapes of all connected
    // inputs are known. 0, OP_SHAPE_LATER or an error. NULL: output 0 is like input 0.
    int (*infer_shape)(struct node* node);
    const struct value_shape* value_shape;  // NULL for most
    // The types of the outputs alone, for a node whose shapes depend on data: a word an output, of
    // the last of which holds for all after it. A word is a choice of
    //     2        the type of input 2, when it is there
    //     @to      what the attribute says: ONNX's number of a type, if it is not 0; the type of a
    //              tensor, if it is given
    //     int64    this type
    //     #type    the attribute, if it is not 0, as a TENGINE_DT_*
    //     sequence:0, optional:0    a sequence of the type of input 0; that, or none
    //     element:0, value:0        the reverse
    // or several with '|' between them, the first that applies. NULL: "0". ONNX's operators only:
    // Tengine's need the shapes of their inputs before the run.
    const char* types;
    // Multiply-accumulates of a node with known shapes. NULL: 0.
    int64_t (*macs)(const struct node* node);
    // Rewrites a node of this row in the execution graph to ONNX operators of the newest opset.
    // ONNX's own rows: before shapes are known; NULL: attributes that became inputs are moved, the
    // version is raised. Tengine's rows: when the shapes of all inputs are known, with the
    // functions of tengine/emit.h; NULL: the operator has no equal in ONNX and is computed as it
    // is.
    int (*lower)(struct graph* graph, struct node* node);
    // Tengine's operators; NULL for all others.
    const struct tengine_record* tengine;
    // TensorFlow Lite's operators: the code in files; 32 for those that files name.
    int tflite_code;
    // The inverse of lower, for the tmfile writer. `raised_from`: ONNX operators it takes,
    // "Add|Sub". raise() rewrites such a node, whose shapes are known, to Tengine operators with
    // the functions of tengine/emit.h, or leaves it alone: OP_NOT_RAISED, after refuse_raising().
    const char* raised_from;
    int (*raise)(struct graph* graph, struct node* node);
} ir_method_t;

#define OP_NOT_RAISED 1

struct operator_table
{
    const ir_method_t* const* rows;  // NULL: left out
    int row_num;
};

TENGINE_EXTERN_C_END
