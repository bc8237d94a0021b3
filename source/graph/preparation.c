// SPDX-License-Identifier: Apache-2.0
#include "graph/preparation.h"

#include "graph/core.h"
#include "graph/option.h"

enum
{
    IDLE,
    PREPARING,
    RUNNING,
    CANCELLED
};

static void set_state(struct graph* source, int state)
{
    __atomic_store_n(&source->core->preparation, state, __ATOMIC_RELAXED);
}

static bool is_cancelled(const struct graph* source)
{
    return source && __atomic_load_n(&source->core->preparation, __ATOMIC_RELAXED) == CANCELLED;
}

void begin_ir_preparation(struct graph* source)
{
    set_state(source, PREPARING);
}

void end_ir_preparation(struct graph* source)
{
    set_state(source, IDLE);
}

void begin_ir_runs(struct graph* source)
{
    set_state(source, RUNNING);
}

void end_ir_runs(struct graph* source)
{
    set_state(source, IDLE);
}

bool cancel_ir_work(struct graph* source)
{
    int state = __atomic_load_n(&source->core->preparation, __ATOMIC_RELAXED);
    while (state == PREPARING || state == RUNNING)
        if (__atomic_compare_exchange_n(&source->core->preparation, &state, CANCELLED, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return state == CANCELLED;
}

int check_ir_cancelled(const struct graph* execution)
{
    const struct graph* source = execution->core->source;
    if (!is_cancelled(source)) return TENGINE_OK;
    return tengine_error_set(TENGINE_ECANCELED, "the preparation of graph '%s' was cancelled",
                             source->name);
}

const struct graph* find_ir_run(const struct graph* graph)
{
    for (;;) {
        const struct graph* execution = graph->core->whole ? graph->core->whole : graph;
        const struct graph* source = execution->core->source;
        if (!source || !source->core->outer) return source;
        graph = source->core->outer;
    }
}

int check_ir_run(const struct graph* source)
{
    if (!is_cancelled(source)) return TENGINE_OK;
    return tengine_error_set(TENGINE_ECANCELED, "the run of graph '%s' was cancelled",
                             source->name);
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
