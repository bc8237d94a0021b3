// SPDX-License-Identifier: Apache-2.0
// EmbedLayerNormalization of ONNX Runtime: rows of tables for words, positions and segments, added
// and normalised; lowered to ONNX's Gather, Add and LayerNormalization.
#include "operator/row.h"
#include "operator/shaped.h"
#include "operator/tengine/emit.h"

enum embed_norm_input
{
    EMBED_WORDS,
    EMBED_SEGMENTS,
    EMBED_WORD_TABLE,
    EMBED_POSITION_TABLE,
    EMBED_SEGMENT_TABLE,
    EMBED_GAMMA,
    EMBED_BETA,
    EMBED_MASK,
    EMBED_POSITIONS,
    EMBED_INPUTS
};

struct embed_norm_param
{
    float epsilon;
    int mask_index_type;  // 0: output 1 exists nevertheless, with zeros
};

static const op_field_t embed_norm_fields[] = {
    OP_FIELD(struct embed_norm_param, FLOAT, epsilon, .number = 1e-12f),
    OP_FIELD(struct embed_norm_param, INT, mask_index_type, .number = 1, .minimum = 0,
             .maximum = 1),
};

// Emits rows of the position table: those of the given positions, else of 0 to tokens - 1.
static struct tensor* emit_positions(emitter_t* emit, int64_t tokens)
{
    static const int64_t zero[] = {0};
    struct tensor* table = get_ir_node_input(emit->origin, EMBED_POSITION_TABLE);
    struct tensor* positions = get_ir_node_input(emit->origin, EMBED_POSITIONS);
    if (positions) return emit_op(emit, "Gather", 2, table, positions);
    if (table->dim_num != 2 || table->dims[0] < tokens) {
        fail_emitting(emit, TENGINE_ERANGE, "there are %lld tokens, the position table has %d rows",
                      (long long)tokens, table->dim_num == 2 ? table->dims[0] : 0);
        return NULL;
    }
    return emit_op(emit, "Slice", 4, table, emit_ints(emit, zero, 1), emit_ints(emit, &tokens, 1),
                   emit_ints(emit, zero, 1));
}

// Emits the number of ones in the mask of each batch.
static struct tensor* emit_mask_index(emitter_t* emit, int64_t batch)
{
    static const int64_t axis[] = {1};
    const struct embed_norm_param* param = emit->origin->op.param_mem;
    struct tensor* mask = get_ir_node_input(emit->origin, EMBED_MASK);
    if (!mask || param->mask_index_type == 0) {
        struct tensor* zero = emit_cast(emit, emit_int(emit, 0), TENGINE_DT_INT32);
        return emit_op(emit, "Expand", 2, zero, emit_ints(emit, &batch, 1));
    }
    struct tensor* one = emit_cast(emit, emit_int(emit, 1), mask->data_type);
    struct tensor* ones = emit_cast(emit, emit_op(emit, "Equal", 2, mask, one), TENGINE_DT_INT32);
    begin_op(emit, "ReduceSum", 2, ones, emit_ints(emit, axis, 1));
    emit_attr_int(emit, "keepdims", 0);
    return end_op(emit);
}

static int lower_embed_norm(struct graph* graph, struct node* node)
{
    const struct embed_norm_param* param = node->op.param_mem;
    struct tensor* words = get_ir_node_input(node, EMBED_WORDS);
    struct tensor* segments = get_ir_node_input(node, EMBED_SEGMENTS);
    struct tensor* segment_table = get_ir_node_input(node, EMBED_SEGMENT_TABLE);
    emitter_t emit = start_emitting(graph, node);
    static const int needed[] = {EMBED_WORD_TABLE, EMBED_POSITION_TABLE, EMBED_GAMMA, EMBED_BETA};
    for (int i = 0; i < 4; ++i)
        if (!get_ir_node_input(node, needed[i]))
            return fail_emitting(&emit, TENGINE_EINVAL, "input %d is missing", needed[i]);
    if (words->dim_num != 2)
        return fail_emitting(&emit, TENGINE_EINVAL, "input_ids '%s' have rank %d, expected 2",
                             words->name, words->dim_num);
    if (!segments != !segment_table)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "segment_ids and segment_embedding: one of them is missing");
    struct tensor* sum =
        emit_op(&emit, "Gather", 2, get_ir_node_input(node, EMBED_WORD_TABLE), words);
    sum = emit_op(&emit, "Add", 2, sum, emit_positions(&emit, words->dims[1]));
    if (segments)
        sum = emit_op(&emit, "Add", 2, sum, emit_op(&emit, "Gather", 2, segment_table, segments));
    begin_op(&emit, "LayerNormalization", 3, sum, get_ir_node_input(node, EMBED_GAMMA),
             get_ir_node_input(node, EMBED_BETA));
    emit_attr_float(&emit, "epsilon", param->epsilon);
    struct tensor* result = end_op(&emit);
    struct tensor* index =
        get_ir_node_output(node, 1) ? emit_mask_index(&emit, words->dims[0]) : NULL;
    return finish_emitting(&emit, 3, result, index, sum);
}

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(EmbedLayerNormalization, .version = 1, .until = 1, .min_input = 1,
                  .max_input = EMBED_INPUTS, .min_output = 1, .max_output = 3,
                  OP_FIELDS(embed_norm_fields), .param_size = sizeof(struct embed_norm_param),
                  .traits = OP_LEGACY | OP_SHAPED, .lower = lower_embed_norm),
};

OPERATOR_TABLE(embed_norm_ops, rows);
