// SPDX-License-Identifier: Apache-2.0
#include "graph/preparation.h"

#include "graph/core.h"
#include "graph/option.h"

// The values of `preparation` in graph/core.h: a state, and whether runs decide shapes.
enum
{
    IDLE,
    PREPARING,
    CANCELLED,
    STATE = 3,
    SHAPES_LATER = 4
};

static int load(const struct graph* source)
{
    return __atomic_load_n(&source->core->preparation, __ATOMIC_RELAXED);
}

static void store(struct graph* source, int preparation)
{
    __atomic_store_n(&source->core->preparation, preparation, __ATOMIC_RELAXED);
}

static void set_state(struct graph* source, int state)
{
    store(source, (load(source) & SHAPES_LATER) | state);
}

static bool is_cancelled(const struct graph* source)
{
    return (load(source) & STATE) == CANCELLED;
}

void begin_ir_preparation(struct graph* source)
{
    set_state(source, PREPARING);
}

void end_ir_preparation(struct graph* source)
{
    set_state(source, IDLE);
}

bool cancel_ir_preparation(struct graph* source)
{
    int now = load(source);
    while ((now & STATE) == PREPARING)
        if (__atomic_compare_exchange_n(&source->core->preparation, &now,
                                        (now & SHAPES_LATER) | CANCELLED, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    return (now & STATE) == CANCELLED;
}

// The source graph of an execution graph, or of that of which `graph` is a part.
static const struct graph* find_source(const struct graph* graph)
{
    return graph->core->whole ? graph->core->whole->core->source : graph->core->source;
}

int check_ir_cancelled(const struct graph* execution)
{
    const struct graph* source = find_source(execution);
    for (; source; source = source->core->outer ? find_source(source->core->outer) : NULL) {
        if (is_cancelled(source))
            return tengine_error_set(TENGINE_ECANCELED,
                                     "the preparation of graph '%s' was cancelled", source->name);
        TENGINE_RETURN_IF_ERROR(check_ir_run(source->core->run));
    }
    return TENGINE_OK;
}

const struct graph* find_ir_outermost_source(const struct graph* graph)
{
    const struct graph* source = find_source(graph);
    while (source && source->core->outer)
        source = find_source(source->core->outer);
    return source;
}

void leave_ir_shapes_to_runs(struct graph* source)
{
    store(source, load(source) | SHAPES_LATER);
}

bool are_ir_shapes_left_to_runs(const struct graph* execution)
{
    const struct graph* source = find_ir_outermost_source(execution);
    return source && (load(source) & SHAPES_LATER) != 0;
}

void limit_ir_memory(struct graph* execution)
{
    const double megabytes =
        get_ir_context_number(execution->attribute->context, "memory.limit_mb");
    execution->core->memory_limit = (int64_t)(megabytes * 1024 * 1024);
}

int check_ir_memory(const struct graph* graph, int64_t bytes, const char* what)
{
    const int64_t limit = graph->core->memory_limit;
    if (limit == 0 || bytes <= limit - graph->core->memory_claimed) return TENGINE_OK;
    return tengine_error_set(TENGINE_ELIMIT,
                             "graph '%s': %lld bytes for %s and the %lld it holds exceed the %lld "
                             "that memory.limit_mb allows",
                             graph->name, (long long)bytes, what,
                             (long long)graph->core->memory_claimed, (long long)limit);
}

int claim_ir_memory(struct graph* execution, int64_t bytes, const char* what)
{
    TENGINE_RETURN_IF_ERROR(check_ir_memory(execution, bytes, what));
    execution->core->memory_claimed += bytes;
    return TENGINE_OK;
}
