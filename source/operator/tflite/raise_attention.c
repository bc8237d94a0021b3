// SPDX-License-Identifier: Apache-2.0
// Attention, of ONNX's operators for its steps.
#include <math.h>

#include "operator/infer.h"
#include "operator/onnx/attention_param.h"
#include "operator/tengine/move.h"
#include "operator/tflite/raise.h"

typedef struct attention
{
    const struct attention_param* param;
    struct attention_form form;
    int64_t keys;
    struct tensor* seen;   // whether a query sees a key, of a shape that is broadcast; NULL: all
    struct tensor* bias;   // of scores; NULL: 0
    struct tensor* shown;  // the scores that the node gives
} attention_t;

// (batch, heads, tokens, elements), of a tensor with the tokens first, too.
static struct tensor* emit_heads(emitter_t* emit, const attention_t* attention,
                                 struct tensor* input, int64_t heads, int64_t tokens,
                                 int64_t elements)
{
    const int64_t dims[] = {attention->form.batch, tokens, heads, elements};
    if (!attention->form.tokens_first) return emit_op(emit, "Identity", 1, input);
    return emit_transpose(emit, emit_reshape(emit, input, dims, 4), (const int64_t[]){0, 2, 1, 3},
                          4);
}

// Keys or values: those of the past, and those that come with the node.
static struct tensor* emit_memory(emitter_t* emit, const attention_t* attention, int fresh,
                                  int past, int64_t elements)
{
    const struct attention_form* form = &attention->form;
    struct tensor* result = emit_heads(emit, attention, get_ir_node_input(emit->origin, fresh),
                                       form->key_heads, form->fresh, elements);
    struct tensor* before = get_ir_node_input(emit->origin, past);
    if (!before) return result;
    begin_op(emit, "Concat", 2, before, result);
    emit_attr_int(emit, "axis", 2);
    return end_op(emit);
}

// Each head once for each of the query's heads that read it.
static struct tensor* emit_repeated(emitter_t* emit, const attention_t* attention,
                                    struct tensor* input, int64_t elements)
{
    const struct attention_form* form = &attention->form;
    const int64_t group = form->heads / form->key_heads;
    if (group == 1) return input;
    const int64_t apart[] = {form->batch, form->key_heads, 1, attention->keys, elements};
    const int64_t wide[] = {form->batch, form->key_heads, group, attention->keys, elements};
    const int64_t joined[] = {form->batch, form->heads, attention->keys, elements};
    struct tensor* repeated =
        emit_op(emit, "Expand", 2, emit_reshape(emit, input, apart, 5), emit_ints(emit, wide, 5));
    return emit_reshape(emit, repeated, joined, 4);
}

static struct tensor* emit_count(emitter_t* emit, int64_t first, int64_t number, bool is_column)
{
    struct tensor* list = emit_op(emit, "Range", 3, emit_int(emit, first),
                                  emit_int(emit, first + number), emit_int(emit, 1));
    return is_column ? emit_reshape(emit, list, (const int64_t[]){number, 1}, 2) : list;
}

static void add_seen(emitter_t* emit, attention_t* attention, struct tensor* seen)
{
    attention->seen = attention->seen ? emit_op(emit, "And", 2, attention->seen, seen) : seen;
}

// The keys that a query sees by its position.
static void add_window(emitter_t* emit, attention_t* attention)
{
    const struct attention_param* param = attention->param;
    const struct attention_form* form = &attention->form;
    const bool has_end = param->is_causal || param->right_window_size >= 0;
    if (!has_end && param->left_window_size < 0) return;
    struct tensor* position = emit_count(emit, form->past, form->tokens, true);
    struct tensor* ahead =
        emit_op(emit, "Sub", 2, emit_count(emit, 0, attention->keys, false), position);
    const int64_t most = param->is_causal ? 0 : param->right_window_size;
    if (has_end)
        add_seen(emit, attention, emit_op(emit, "LessOrEqual", 2, ahead, emit_int(emit, most)));
    if (param->left_window_size >= 0)
        add_seen(emit, attention,
                 emit_op(emit, "GreaterOrEqual", 2, ahead,
                         emit_int(emit, -(int64_t)param->left_window_size)));
}

static void add_mask(emitter_t* emit, attention_t* attention)
{
    struct tensor* mask = get_ir_node_input(emit->origin, ATTENTION_MASK);
    if (!mask) return;
    if (mask->data_type == TENGINE_DT_BOOL) {
        add_seen(emit, attention, mask);
        return;
    }
    add_seen(emit, attention, emit_op(emit, "Greater", 2, mask, emit_float(emit, -INFINITY)));
    attention->bias = mask;
}

static void show(emitter_t* emit, attention_t* attention, int mode, struct tensor* scores)
{
    if (attention->param->qk_matmul_output_mode == mode &&
        is_raised_output_read(emit->origin, ATTENTION_SCORES))
        attention->shown = emit_op(emit, "Identity", 1, scores);
}

static struct tensor* emit_weights(emitter_t* emit, attention_t* attention, struct tensor* query,
                                   struct tensor* keys)
{
    const struct attention_param* param = attention->param;
    const double depth = (double)attention->form.depth;
    const float scale = param->scale != 0 ? param->scale : (float)(1 / sqrt(depth));
    struct tensor* scores = emit_op(emit, "MatMul", 2, query,
                                    emit_transpose(emit, keys, (const int64_t[]){0, 1, 3, 2}, 4));
    scores = emit_op(emit, "Mul", 2, scores, emit_float(emit, scale));
    show(emit, attention, ATTENTION_RAW, scores);
    if (param->softcap > 0) {
        struct tensor* most = emit_float(emit, param->softcap);
        scores = emit_op(emit, "Tanh", 1, emit_op(emit, "Div", 2, scores, most));
        scores = emit_op(emit, "Mul", 2, scores, most);
    }
    show(emit, attention, ATTENTION_CAPPED, scores);
    if (attention->bias) scores = emit_op(emit, "Add", 2, scores, attention->bias);
    if (attention->seen)
        scores = emit_op(emit, "Where", 3, attention->seen, scores, emit_float(emit, -INFINITY));
    show(emit, attention, ATTENTION_MASKED, scores);
    begin_op(emit, "Softmax", 1, scores);
    emit_attr_int(emit, "axis", -1);
    struct tensor* weights = end_op(emit);
    // A query that sees no key has weights that are NaN.
    if (attention->seen)
        weights = emit_op(emit, "Where", 3, attention->seen, weights, emit_float(emit, 0));
    show(emit, attention, ATTENTION_NORMALIZED, weights);
    return weights;
}

static bool may_attend(struct node* node, const attention_t* attention)
{
    const struct tensor *query = get_ir_node_input(node, ATTENTION_QUERY),
                        *mask = get_ir_node_input(node, ATTENTION_MASK);
    if (query->data_type != TENGINE_DT_FP32)
        refuse_raising(node, "its query is %s, expected fp32",
                       get_data_type_name(query->data_type));
    else if (get_ir_node_input(node, ATTENTION_LENGTHS))
        refuse_raising(node, "it has the numbers of keys that are not padding");
    else if (mask && (mask->dim_num < 1 || mask->dims[mask->dim_num - 1] != attention->keys))
        refuse_raising(node, "its mask is not of all %lld keys", (long long)attention->keys);
    else
        return true;
    return false;
}

static int compose_attention(struct graph* graph, struct node* node)
{
    attention_t attention = {.param = node->op.param_mem};
    struct attention_form* form = &attention.form;
    TENGINE_RETURN_IF_ERROR(read_attention(node, form));
    attention.keys = form->past + form->fresh;
    if (!may_attend(node, &attention)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* results[ATTENTION_OUTPUTS] = {NULL};
    struct tensor* query = emit_heads(&emit, &attention, get_ir_node_input(node, ATTENTION_QUERY),
                                      form->heads, form->tokens, form->depth);
    struct tensor* keys =
        emit_memory(&emit, &attention, ATTENTION_KEY, ATTENTION_PAST_KEY, form->depth);
    struct tensor* values =
        emit_memory(&emit, &attention, ATTENTION_VALUE, ATTENTION_PAST_VALUE, form->width);
    if (is_raised_output_read(node, ATTENTION_PRESENT_KEY)) results[ATTENTION_PRESENT_KEY] = keys;
    if (is_raised_output_read(node, ATTENTION_PRESENT_VALUE))
        results[ATTENTION_PRESENT_VALUE] = values;
    add_window(&emit, &attention);
    add_mask(&emit, &attention);
    keys = emit_repeated(&emit, &attention, keys, form->depth);
    values = emit_repeated(&emit, &attention, values, form->width);
    struct tensor* weights = emit_weights(&emit, &attention, query, keys);
    struct tensor* result = emit_op(&emit, "MatMul", 2, weights, values);
    if (form->tokens_first) {
        const int64_t dims[] = {form->batch, form->tokens, form->heads * form->width};
        result = emit_transpose(&emit, result, (const int64_t[]){0, 2, 1, 3}, 4);
        result = emit_reshape(&emit, result, dims, 3);
    }
    results[ATTENTION_RESULT] = result;
    results[ATTENTION_SCORES] = attention.shown;
    return finish_emitting_list(&emit, results, node->output_num);
}

static const tfl_raising_t rows[] = {
    {"Attention", compose_attention},
};

TFL_RAISINGS(tfl_attention_raisings, rows);
