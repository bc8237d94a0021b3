// SPDX-License-Identifier: Apache-2.0
#include "graph/shared_model.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/body.h"
#include "graph/graph.h"

struct ir_shared_model
{
    pthread_mutex_t mutex;
    int holder_num;         // instances, of all entries
    struct vector* shares;  // int: those of an entry of the model (graph/entry.h), by its index
    int generation;         // counts the states of instances that were shared
    struct vector* data;    // void*: of constants
    struct vector* tables;  // table_t
};

// A table of packs, which is kept while it has other holders.
typedef struct table
{
    int generation;
    ir_pack_terms_t terms;
    struct graph_packs* packs;
} table_t;

static void free_data(void* item)
{
    free_memory(*(void**)item);
}

static void release_table(void* item)
{
    release_graph_packs(((const table_t*)item)->packs);
}

static int* share_at(const struct ir_shared_model* model, int entry)
{
    return get_vector_data(model->shares, entry);
}

void release_ir_shared_model(struct ir_shared_model* model, int entry)
{
    if (!model) return;
    pthread_mutex_lock(&model->mutex);
    const bool is_last = --model->holder_num == 0;
    if (share_at(model, entry)) --*share_at(model, entry);
    pthread_mutex_unlock(&model->mutex);
    if (!is_last) return;
    pthread_mutex_destroy(&model->mutex);
    release_vector(model->shares);
    release_vector(model->tables);
    release_vector(model->data);
    free_memory(model);
}

static int fail_without_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for a shared model");
}

// 0, or -1 when out of memory.
static int add_share(struct ir_shared_model* model, int entry)
{
    const int number = get_vector_num(model->shares);
    if (entry >= number && resize_vector(model->shares, entry + 1) < 0) return -1;
    ++*share_at(model, entry);
    return 0;
}

// NULL when out of memory.
static struct ir_shared_model* create_model(int entry)
{
    struct ir_shared_model* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    pthread_mutex_init(&created->mutex, NULL);
    created->holder_num = 1;
    created->shares = create_vector(sizeof(int), NULL);
    created->data = create_vector(sizeof(void*), free_data);
    created->tables = create_vector(sizeof(table_t), release_table);
    if (created->data && created->tables && add_share(created, entry) == 0) return created;
    release_ir_shared_model(created, entry);
    return NULL;
}

// ---- constants ----

static int share_constants(struct ir_shared_model* model, struct graph* graph);

static int share_bodies(struct ir_shared_model* model, const ir_bodies_t* bodies)
{
    for (int i = 0; bodies && i < bodies->num; ++i)
        TENGINE_RETURN_IF_ERROR(share_constants(model, bodies->list[i].graph));
    return TENGINE_OK;
}

// A constant that the program may write to unseen stays the graph's, and strings are those of its
// pool.
static int share_constants(struct ir_shared_model* model, struct graph* graph)
{
    for (int i = 0; i < graph->tensor_num; ++i) {
        struct tensor* tensor = graph->tensor_list[i];
        if (!tensor || tensor->tensor_type != TENSOR_TYPE_CONST || !tensor->free_host_mem ||
            tensor->core->lent || tensor->data_type == TENGINE_DT_STRING)
            continue;
        if (push_vector_data(model->data, &tensor->data) < 0) return fail_without_memory();
        tensor->free_host_mem = 0;
        tensor->core->is_shared = true;
    }
    for (int i = 0; i < graph->node_num; ++i)
        if (graph->node_list[i])
            TENGINE_RETURN_IF_ERROR(share_bodies(model, graph->node_list[i]->core->bodies));
    return TENGINE_OK;
}

int own_ir_constant(const struct graph* source, struct tensor* constant)
{
    const bool is_own = constant->free_host_mem || constant->core->lent || !constant->data;
    if (!source->core->shared || constant->tensor_type != TENSOR_TYPE_CONST || is_own)
        return TENGINE_OK;
    const size_t bytes = get_ir_tensor_bytes(constant);
    void* copy = alloc_memory(bytes);
    if (!copy)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "constant '%s', which instances share: out of memory for a copy "
                                 "of %zu bytes",
                                 constant->name, bytes);
    if (bytes > 0) memcpy(copy, constant->data, bytes);
    set_ir_tensor_data(constant, copy, true);
    return TENGINE_OK;
}

int count_ir_instances(const struct graph* source)
{
    struct ir_shared_model* model = source->core->shared;
    if (!model) return 1;
    pthread_mutex_lock(&model->mutex);
    const int number = *share_at(model, source->core->shared_entry);
    pthread_mutex_unlock(&model->mutex);
    return number;
}

// ---- packs ----

static struct graph_packs* find_table(const struct ir_shared_model* model, int generation,
                                      const ir_pack_terms_t* terms)
{
    for (int i = 0; i < get_vector_num(model->tables); ++i) {
        const table_t* table = get_vector_data(model->tables, i);
        if (table->generation == generation &&
            memcmp(&table->terms, terms, sizeof table->terms) == 0)
            return table->packs;
    }
    return NULL;
}

static void drop_unused_tables(struct ir_shared_model* model)
{
    for (int i = get_vector_num(model->tables) - 1; i >= 0; --i) {
        const table_t* table = get_vector_data(model->tables, i);
        if (is_only_holder_of_graph_packs(table->packs)) remove_vector_via_index(model->tables, i);
    }
}

// Takes over the caller's hold of `packs` unless it fails.
static int add_table(struct ir_shared_model* model, int generation, const ir_pack_terms_t* terms,
                     struct graph_packs* packs)
{
    drop_unused_tables(model);
    const table_t table = {generation, *terms, packs};
    return push_vector_data(model->tables, &table) == 0 ? TENGINE_OK : fail_without_memory();
}

static int find_or_add_table(const struct graph* source, const ir_pack_terms_t* terms,
                             struct graph_packs** out_packs)
{
    struct ir_shared_model* model = source->core->shared;
    const int generation = source->core->shared_generation;
    struct graph_packs* packs = find_table(model, generation, terms);
    if (!packs) {
        packs = create_graph_packs();
        const int status =
            packs ? add_table(model, generation, terms, packs) : fail_without_memory();
        if (status < 0) {
            release_graph_packs(packs);
            return status;
        }
    }
    *out_packs = hold_graph_packs(packs);
    return TENGINE_OK;
}

static bool has_changed(const struct graph* source)
{
    return source->core->shared_revision != source->core->revision;
}

int find_ir_shared_packs(const struct graph* source, const ir_pack_terms_t* terms,
                         struct graph_packs** out_packs)
{
    *out_packs = NULL;
    struct ir_shared_model* model = source->core->shared;
    if (!model || has_changed(source)) return TENGINE_OK;
    pthread_mutex_lock(&model->mutex);
    const int status = find_or_add_table(source, terms, out_packs);
    pthread_mutex_unlock(&model->mutex);
    return status;
}

// ---- instances ----

static int share_packs(struct graph* source, const ir_pack_terms_t* terms)
{
    struct ir_shared_model* model = source->core->shared;
    const int generation = source->core->shared_generation;
    if (!terms || find_table(model, generation, terms)) return TENGINE_OK;
    struct graph_packs* packs = hold_graph_packs(get_graph_packs(source));
    const int status = add_table(model, generation, terms, packs);
    if (status < 0) release_graph_packs(packs);
    return status;
}

int share_ir_model(struct graph* source, const ir_pack_terms_t* terms)
{
    ir_graph_core_t* core = source->core;
    const bool is_new = !core->shared;
    if (is_new) {
        core->shared_entry = core->entry;
        core->shared = create_model(core->entry);
    }
    if (!core->shared) return fail_without_memory();
    pthread_mutex_lock(&core->shared->mutex);
    if (is_new || has_changed(source)) {
        core->shared_generation = ++core->shared->generation;
        core->shared_revision = core->revision;
    }
    int status = share_constants(core->shared, source);
    if (status == TENGINE_OK) status = share_packs(source, terms);
    pthread_mutex_unlock(&core->shared->mutex);
    return status;
}

int join_ir_shared_model(struct graph* instance, const struct graph* source)
{
    struct ir_shared_model* model = source->core->shared;
    const int entry = instance->core->entries ? instance->core->entry : source->core->shared_entry;
    pthread_mutex_lock(&model->mutex);
    const int status = add_share(model, entry);
    if (status == 0) ++model->holder_num;
    pthread_mutex_unlock(&model->mutex);
    if (status < 0) return fail_without_memory();
    instance->core->shared = model;
    instance->core->shared_entry = entry;
    instance->core->shared_generation = source->core->shared_generation;
    instance->core->shared_revision = instance->core->revision;
    return TENGINE_OK;
}
