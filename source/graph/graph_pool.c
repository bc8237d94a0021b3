// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_pool.h"

#include <pthread.h>

#include "base/alloc.h"
#include "graph/core.h"
#include "tengine/error.h"

struct graph_pool
{
    pthread_mutex_t mutex;
    int holder_num;       // graphs and compiled parts
    int part_num;         // compiled parts
    thread_pool_t* pool;  // while there are compiled parts
};

struct graph_pool* create_graph_pool(void)
{
    struct graph_pool* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    pthread_mutex_init(&created->mutex, NULL);
    created->holder_num = 1;
    return created;
}

static void hold(struct graph_pool* held)
{
    pthread_mutex_lock(&held->mutex);
    ++held->holder_num;
    pthread_mutex_unlock(&held->mutex);
}

void release_graph_pool(struct graph_pool* held)
{
    if (!held) return;
    pthread_mutex_lock(&held->mutex);
    const bool is_last = --held->holder_num == 0;
    pthread_mutex_unlock(&held->mutex);
    if (!is_last) return;
    pthread_mutex_destroy(&held->mutex);
    free_memory(held);
}

void join_graph_pool(struct graph* part, const struct graph* execution)
{
    hold(execution->core->pool);
    release_graph_pool(part->core->pool);
    part->core->pool = execution->core->pool;
}

int renew_graph_pool(struct graph* graph)
{
    struct graph_pool* created = create_graph_pool();
    if (!created) return tengine_error_set(TENGINE_ENOMEM, "no memory for threads");
    release_graph_pool(graph->core->pool);
    graph->core->pool = created;
    return TENGINE_OK;
}

int share_graph_pool(const struct graph* graph, thread_pool_t** out_pool)
{
    *out_pool = NULL;
    const ir_run_options_t* options = graph->run_options;
    if (options->num_thread <= 1) return TENGINE_OK;
    struct graph_pool* shared = graph->core->pool;
    int status = TENGINE_OK;
    pthread_mutex_lock(&shared->mutex);
    if (shared->part_num == 0)
        status = create_thread_pool(options->num_thread, options->affinity, &shared->pool);
    if (status == TENGINE_OK) {
        ++shared->part_num;
        ++shared->holder_num;
        *out_pool = shared->pool;
    }
    pthread_mutex_unlock(&shared->mutex);
    return status;
}

void leave_graph_pool(struct graph_pool* shared)
{
    pthread_mutex_lock(&shared->mutex);
    if (--shared->part_num == 0) destroy_thread_pool(shared->pool);
    pthread_mutex_unlock(&shared->mutex);
    release_graph_pool(shared);
}
