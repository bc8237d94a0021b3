// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's random numbers, of the same distributions by the library's generator.
#include <limits.h>

#include "operator/onnx_type.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

// Both seeds 0: another sequence in each run.
struct tfl_random_param
{
    int seed;
    int seed_2;
};

// Files have 64 bits, whose lower half is enough to tell sequences apart.
static const op_field_t random_fields[] = {
    TFL_FIELD(struct tfl_random_param, INT, seed, WORD, 0),
    TFL_FIELD(struct tfl_random_param, INT, seed_2, WORD, 1),
};

static void emit_seed(emitter_t* emit)
{
    const struct tfl_random_param* param = emit->origin->op.param_mem;
    if (param->seed == 0 && param->seed_2 == 0) return;
    emit_attr_float(emit, "seed", (float)param->seed + 0.5f * (float)param->seed_2);
}

static int lower_random(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* shape = emit_indices(&emit, get_operand(&emit, 0));
    struct tensor* like = emit_op(&emit, "Expand", 2, emit_float(&emit, 0), shape);
    begin_op(&emit, op, 1, like);
    emit_attr_int(&emit, "dtype", get_onnx_type(get_declared_type(&emit, 0)));
    emit_seed(&emit);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_standard_normal(struct graph* graph, struct node* node)
{
    return lower_random(graph, node, "RandomNormalLike");
}

static int lower_uniform(struct graph* graph, struct node* node)
{
    return lower_random(graph, node, "RandomUniformLike");
}

static int lower_multinomial(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    int64_t samples = 0;
    const int number = read_tfl_ints(&emit, 1, "number of samples", &samples, 1);
    if (emit.status < 0) return emit.status;
    if (number != 1 || samples < 1 || samples > INT_MAX)
        return fail_emitting(&emit, TENGINE_ERANGE, "its number of samples is %lld",
                             (long long)samples);
    begin_op(&emit, "Multinomial", 1, get_operand(&emit, 0));
    emit_attr_int(&emit, "sample_size", samples);
    emit_attr_int(&emit, "dtype", get_onnx_type(get_declared_type(&emit, 0)));
    emit_seed(&emit);
    return finish_emitting(&emit, 1, end_op(&emit));
}

#define RANDOM_PARAMS OP_FIELDS(random_fields), .param_size = sizeof(struct tfl_random_param)

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(RANDOM_STANDARD_NORMAL, 146, TFL_COUNTS(1, 1, 1), RANDOM_PARAMS,
                  .lower = lower_standard_normal),
    SHAPELESS_ROW(RANDOM_UNIFORM, 148, TFL_COUNTS(1, 1, 1), RANDOM_PARAMS, .lower = lower_uniform),
    TFLITE_ROW(MULTINOMIAL, 149, TFL_COUNTS(2, 2, 1), RANDOM_PARAMS, .lower = lower_multinomial),
};

OPERATOR_TABLE(tflite_random_ops, rows);
