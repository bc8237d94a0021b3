// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_pool.h"

#include <pthread.h>

#include "base/alloc.h"
#include "tengine/error.h"

// The pools in use. Without any the list holds no memory.
typedef struct graph_pool
{
    const struct graph* whole;  // the execution graph
    thread_pool_t* pool;
    int part_num;
    struct graph_pool* next;
} graph_pool_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static graph_pool_t* pools;

static int add_pool(const struct graph* graph, const struct graph* whole)
{
    graph_pool_t* added = alloc_memory(sizeof *added);
    if (added == NULL) return tengine_error_set(TENGINE_ENOMEM, "no memory for a thread pool");
    const int status = create_thread_pool(graph->run_options.num_thread,
                                          graph->run_options.affinity, &added->pool);
    if (status < 0) {
        free_memory(added);
        return status;
    }
    added->whole = whole;
    added->next = pools;
    pools = added;
    return TENGINE_OK;
}

int share_graph_pool(const struct graph* graph, thread_pool_t** out_pool)
{
    *out_pool = NULL;
    if (graph->run_options.num_thread <= 1) return TENGINE_OK;
    const struct graph* whole = graph->whole != NULL ? graph->whole : graph;
    pthread_mutex_lock(&mutex);
    graph_pool_t* found = pools;
    while (found != NULL && found->whole != whole)
        found = found->next;
    const int status = found != NULL ? TENGINE_OK : add_pool(graph, whole);
    if (status == TENGINE_OK) {
        if (found == NULL) found = pools;
        found->part_num++;
        *out_pool = found->pool;
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

void leave_graph_pool(thread_pool_t* pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&mutex);
    graph_pool_t** place = &pools;
    while ((*place)->pool != pool)
        place = &(*place)->next;
    graph_pool_t* found = *place;
    if (--found->part_num == 0) {
        *place = found->next;
        destroy_thread_pool(pool);
        free_memory(found);
    }
    pthread_mutex_unlock(&mutex);
}
