// SPDX-License-Identifier: Apache-2.0
// Rewriting of single nodes between the two dialects, see emit.h.
#include "operator/tengine/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "operator/registry.h"
#include "operator/shaped.h"

// Most bytes of a number in a name, with the letter before it and the end.
enum
{
    NUMBER_SIZE = 16
};

emitter_t start_emitting(struct graph* graph, struct node* origin)
{
    return (emitter_t){
        .graph = graph, .origin = origin, .first_node = graph->node_num, .status = TENGINE_OK};
}

static void note(emitter_t* emit, int status)
{
    if (emit->status == TENGINE_OK && status < 0) emit->status = status;
}

static void note_missing(emitter_t* emit)
{
    note(emit, tengine_error_code() ? tengine_error_code() : TENGINE_EINTERNAL);
}

int fail_emitting(emitter_t* emit, int code, const char* format, ...)
{
    if (emit->status < 0) return emit->status;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    note(emit, fail_node(emit->origin, code, "%s", sentence));
    return emit->status;
}

int refuse_raising(struct node* node, const char* format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    fail_node(node, TENGINE_ENOTSUP, "%s", sentence);
    return OP_NOT_RAISED;
}

// ---- operators ----

// A name such as "conv1.Pad" or "conv1.Add_3", whose origin's may have any length; NULL when out of
// memory.
static char* make_name(const emitter_t* emit, const char* op)
{
    const char* bare = strrchr(op, '.');
    const char* word = bare ? bare + 1 : op;
    const size_t size = strlen(emit->origin->name) + strlen(word) + NUMBER_SIZE;
    char* name = alloc_memory(size);
    const int earlier = emit->graph->node_num - emit->first_node;
    if (!name) return NULL;
    if (earlier == 0)
        snprintf(name, size, "%s.%s", emit->origin->name, word);
    else
        snprintf(name, size, "%s.%s_%d", emit->origin->name, word, earlier);
    return name;
}

static void add_op(emitter_t* emit, const char* op)
{
    char* name = make_name(emit, op);
    if (!name) fail_emitting(emit, TENGINE_ENOMEM, "out of memory for a name");
    emit->op = name ? create_op_node(emit->graph, name, op, emit->origin->name) : NULL;
    free_memory(name);
    if (!emit->op) note_missing(emit);
}

static void begin_with(emitter_t* emit, const char* op, int input_num, va_list inputs)
{
    if (emit->status < 0) return;
    add_op(emit, op);
    if (emit->status < 0) return;
    emit->op->core->source_index = emit->origin->core->source_index;
    emit->op->core->keep_float = emit->origin->core->keep_float;
    for (int i = 0; i < input_num; ++i)
        note(emit, set_ir_node_input_tensor(emit->op, i, va_arg(inputs, struct tensor*)));
}

void begin_op(emitter_t* emit, const char* op, int input_num, ...)
{
    va_list inputs;
    va_start(inputs, input_num);
    begin_with(emit, op, input_num, inputs);
    va_end(inputs);
}

void emit_input(emitter_t* emit, struct tensor* input)
{
    if (emit->status == TENGINE_OK)
        note(emit, set_ir_node_input_tensor(emit->op, emit->op->input_num, input));
}

void emit_attr_int(emitter_t* emit, const char* name, int64_t value)
{
    if (emit->status == TENGINE_OK) note(emit, set_node_int(emit->op, name, value));
}

void emit_attr_float(emitter_t* emit, const char* name, float value)
{
    if (emit->status == TENGINE_OK) note(emit, set_node_float(emit->op, name, value));
}

void emit_attr_text(emitter_t* emit, const char* name, const char* value)
{
    if (emit->status == TENGINE_OK) note(emit, set_node_text(emit->op, name, value, strlen(value)));
}

void emit_attr_ints(emitter_t* emit, const char* name, const int64_t* values, int num)
{
    if (emit->status == TENGINE_OK) note(emit, set_node_ints(emit->op, name, values, num));
}

// Tengine's operators that are lowered have no shape rule of their own.
static bool is_inferred(const struct node* node)
{
    return !is_lowered_by_shapes(node->op.method);
}

static struct tensor* add_result(emitter_t* emit, int index)
{
    const size_t size = strlen(emit->op->name) + NUMBER_SIZE;
    char* name = alloc_memory(size);
    if (name)
        snprintf(name, size, "%s:%d", emit->op->name, index);
    else
        fail_emitting(emit, TENGINE_ENOMEM, "out of memory for a name");
    struct tensor* result = name ? create_ir_tensor(emit->graph, name, TENGINE_DT_UNKNOWN) : NULL;
    free_memory(name);
    if (!result) {
        note_missing(emit);
        return NULL;
    }
    note(emit, set_ir_node_output_tensor(emit->op, index, result));
    return result;
}

void end_op_with(emitter_t* emit, struct tensor* out_results[], int result_num)
{
    for (int i = 0; i < result_num; ++i)
        out_results[i] = NULL;
    if (emit->status < 0) return;
    const int least = emit->op->op.method->min_output;
    for (int i = 0; i < result_num || i < least; ++i) {
        struct tensor* result = add_result(emit, i);
        if (i < result_num) out_results[i] = result;
    }
    if (emit->status == TENGINE_OK) note(emit, check_node(emit->op));
    if (emit->status == TENGINE_OK && is_inferred(emit->op)) note(emit, infer_node(emit->op));
    emit->op = NULL;
}

struct tensor* end_op(emitter_t* emit)
{
    struct tensor* result;
    end_op_with(emit, &result, 1);
    return result;
}

struct tensor* emit_op(emitter_t* emit, const char* op, int input_num, ...)
{
    va_list inputs;
    va_start(inputs, input_num);
    begin_with(emit, op, input_num, inputs);
    va_end(inputs);
    return end_op(emit);
}

// ---- constants and what is often needed ----

static struct tensor* add_constant(emitter_t* emit, int data_type, const void* values, int num,
                                   bool scalar)
{
    if (emit->status < 0) return NULL;
    struct tensor* constant = create_ir_tensor(emit->graph, NULL, data_type);
    if (!constant) {
        note_missing(emit);
        return NULL;
    }
    constant->tensor_type = TENSOR_TYPE_CONST;
    note(emit, set_ir_tensor_shape(constant, &num, scalar ? 0 : 1));
    if (emit->status == TENGINE_OK) note(emit, allocate_ir_tensor(constant));
    if (emit->status < 0) return NULL;
    if (num > 0) memcpy(constant->data, values, get_ir_tensor_bytes(constant));
    return constant;
}

struct tensor* emit_ints(emitter_t* emit, const int64_t* values, int num)
{
    return add_constant(emit, TENGINE_DT_INT64, values, num, false);
}

struct tensor* emit_floats(emitter_t* emit, const float* values, int num)
{
    return add_constant(emit, TENGINE_DT_FP32, values, num, false);
}

struct tensor* emit_float(emitter_t* emit, float value)
{
    return add_constant(emit, TENGINE_DT_FP32, &value, 1, true);
}

struct tensor* emit_int(emitter_t* emit, int64_t value)
{
    return add_constant(emit, TENGINE_DT_INT64, &value, 1, true);
}

struct tensor* emit_number(emitter_t* emit, float value, const struct tensor* like)
{
    struct tensor* number = emit_float(emit, value);
    if (!like || like->data_type == TENGINE_DT_FP32) return number;
    return emit_cast(emit, number, like->data_type);
}

struct tensor* emit_reshape(emitter_t* emit, struct tensor* input, const int64_t dims[], int num)
{
    // A 0 in `dims` is a dimension without elements, not "as in the input".
    begin_op(emit, "Reshape", 2, input, emit_ints(emit, dims, num));
    emit_attr_int(emit, "allowzero", 1);
    return end_op(emit);
}

struct tensor* emit_transpose(emitter_t* emit, struct tensor* input, const int64_t order[], int num)
{
    begin_op(emit, "Transpose", 1, input);
    emit_attr_ints(emit, "perm", order, num);
    return end_op(emit);
}

struct tensor* emit_cast(emitter_t* emit, struct tensor* input, int data_type)
{
    begin_op(emit, "Cast", 1, input);
    emit_attr_int(emit, "to", get_onnx_type(data_type));
    return end_op(emit);
}

// ---- the end ----

static int find_output(const struct node* node, const struct tensor* tensor)
{
    for (int i = 0; i < node->output_num; ++i)
        if (node->output_tensors[i] == tensor->index) return i;
    return -1;
}

// Makes the producer of `result` write `target` instead.
static int become(emitter_t* emit, struct tensor* result, struct tensor* target)
{
    struct node* producer = get_ir_graph_node(emit->graph, result->producer);
    const int place = find_output(producer, result);
    if (result->shape_set) {
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(target, result->data_type));
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(target, result->dims, result->dim_num));
    }
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(producer, place, target));
    TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(emit->graph, result, target));
    destroy_ir_tensor(emit->graph, result);
    return TENGINE_OK;
}

static int take_place(emitter_t* emit, int index, struct tensor* result)
{
    struct tensor* target = get_ir_node_output(emit->origin, index);
    if (!target || !result) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(emit->origin, index, NULL));
    // A tensor that is older than the emission, or was given for another output, is copied.
    if (result->producer < emit->first_node || result->core->source_index >= 0) {
        result = emit_op(
            emit, is_lowered_by_shapes(emit->origin->op.method) ? "Identity" : "tengine.Noop", 1,
            result);
        TENGINE_RETURN_IF_ERROR(emit->status);
    }
    return become(emit, result, target);
}

// Gives the origin's name to the node that computes its first result.
static int hand_name_on(emitter_t* emit, const struct tensor* result)
{
    struct node* heir = result ? get_ir_graph_node(emit->graph, result->producer) : NULL;
    if (!heir || heir == emit->origin) return TENGINE_OK;
    char* name = duplicate_string(emit->origin->name);
    if (!name) return fail_node(emit->origin, TENGINE_ENOMEM, "out of memory for a name");
    free_memory(heir->name);
    heir->name = name;
    return TENGINE_OK;
}

int finish_emitting_list(emitter_t* emit, struct tensor* const results[], int result_num)
{
    struct tensor* first = get_ir_node_output(emit->origin, 0);
    for (int i = 0; i < result_num && emit->status == TENGINE_OK; ++i)
        note(emit, take_place(emit, i, results[i]));
    if (emit->status == TENGINE_OK) note(emit, hand_name_on(emit, first));
    if (emit->status == TENGINE_OK) destroy_ir_node(emit->graph, emit->origin);
    return emit->status;
}

int finish_emitting(emitter_t* emit, int result_num, ...)
{
    struct tensor* results[MAX_SHAPE_DIM_NUM] = {NULL};
    if (result_num > MAX_SHAPE_DIM_NUM)
        return fail_emitting(emit, TENGINE_EINTERNAL, "%d results in one call", result_num);
    va_list list;
    va_start(list, result_num);
    for (int i = 0; i < result_num; ++i)
        results[i] = va_arg(list, struct tensor*);
    va_end(list);
    return finish_emitting_list(emit, results, result_num);
}

int rewrite_as(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    if (emit.status == TENGINE_OK) note(&emit, copy_op_param(&emit.op->op, &node->op));
    return finish_emitting(&emit, 1, end_op(&emit));
}

int lower_renamed(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, node->op.method->raised_from);
}
