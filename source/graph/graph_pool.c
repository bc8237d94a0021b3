// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_pool.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_hash.h"
#include "graph/core.h"
#include "tengine/error.h"

// The header in front of a pack's memory.
typedef struct pack_head
{
    struct pack_head* next;  // of those that may be shared, in its bucket
    ir_pack_key_t key;
    size_t bytes;
    int holder_num;
    ir_digest_t digest;  // of the bytes, once it has been computed
} pack_head_t;

struct graph_pool
{
    pthread_mutex_t mutex;
    int holder_num;       // graphs, compiled parts and packs
    int part_num;         // compiled parts
    thread_pool_t* pool;  // while there are compiled parts
    // Packs that may be shared, by their keys: a chained hash table, which begins with one bucket.
    pack_head_t** buckets;
    size_t bucket_num;  // a power of two
    size_t pack_num;
    pack_head_t* first_bucket;
};

struct graph_pool* create_graph_pool(void)
{
    struct graph_pool* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    pthread_mutex_init(&created->mutex, NULL);
    created->holder_num = 1;
    created->buckets = &created->first_bucket;
    created->bucket_num = 1;
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
    if (held->buckets != &held->first_bucket) free_memory(held->buckets);
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
    if (!created) return tengine_error_set(TENGINE_ENOMEM, "out of memory for threads");
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

// ---- packs ----

static const size_t head_bytes =
    (sizeof(pack_head_t) + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;

static void* memory_of(pack_head_t* head)
{
    return (char*)head + head_bytes;
}

static pack_head_t* head_of(const void* pack)
{
    return (pack_head_t*)(void*)((char*)(uintptr_t)pack - head_bytes);
}

static bool is_same_key(const ir_pack_key_t* a, const ir_pack_key_t* b)
{
    return a->kind == b->kind && memcmp(a->constants, b->constants, sizeof a->constants) == 0 &&
           memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0;
}

static pack_head_t** find_bucket(const struct graph_pool* shared, const ir_pack_key_t* key)
{
    uint64_t hash = hash_bytes(HASH_START, &key->kind, sizeof key->kind);
    hash = hash_bytes(hash, key->constants, sizeof key->constants);
    hash = hash_bytes(hash, key->sizes, sizeof key->sizes);
    // Fibonacci hashing: addresses are alike in the lowest bits.
    hash = hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &shared->buckets[hash & (shared->bucket_num - 1)];
}

static pack_head_t* find_pack(const struct graph_pool* shared, const ir_pack_key_t* key)
{
    pack_head_t* head = key->kind ? *find_bucket(shared, key) : NULL;
    while (head && !is_same_key(&head->key, key))
        head = head->next;
    return head;
}

static void insert_pack(struct graph_pool* shared, pack_head_t* head)
{
    pack_head_t** bucket = find_bucket(shared, &head->key);
    head->next = *bucket;
    *bucket = head;
}

// Without memory the number of buckets stays, and their lists become longer.
static void add_buckets(struct graph_pool* shared)
{
    pack_head_t** old = shared->buckets;
    const size_t old_num = shared->bucket_num;
    pack_head_t** added = alloc_memory(2 * old_num * sizeof *added);
    if (!added) return;
    shared->buckets = added;
    shared->bucket_num = 2 * old_num;
    for (size_t i = 0; i < old_num; ++i) {
        for (pack_head_t *head = old[i], *next; head; head = next) {
            next = head->next;
            insert_pack(shared, head);
        }
    }
    if (old != &shared->first_bucket) free_memory(old);
}

static pack_head_t* create_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes)
{
    if (bytes > SIZE_MAX - head_bytes) return NULL;
    pack_head_t* head = alloc_memory(head_bytes + (size_t)bytes);
    if (!head) return NULL;
    *head = (pack_head_t){.key = *key, .bytes = (size_t)bytes};
    if (!key->kind) return head;
    if (++shared->pack_num > shared->bucket_num) add_buckets(shared);
    insert_pack(shared, head);
    return head;
}

// NULL is allowed.
static void* hold_pack(struct graph_pool* shared, pack_head_t* head)
{
    if (!head) return NULL;
    ++head->holder_num;
    ++shared->holder_num;
    return memory_of(head);
}

void* find_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key)
{
    pthread_mutex_lock(&shared->mutex);
    void* pack = hold_pack(shared, find_pack(shared, key));
    pthread_mutex_unlock(&shared->mutex);
    return pack;
}

void* add_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes)
{
    pthread_mutex_lock(&shared->mutex);
    void* pack = hold_pack(shared, create_pack(shared, key, bytes));
    pthread_mutex_unlock(&shared->mutex);
    return pack;
}

void* hold_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes,
                      void (*fill)(void* pack, void* argument), void* argument)
{
    pthread_mutex_lock(&shared->mutex);
    pack_head_t* head = find_pack(shared, key);
    if (!head) {
        head = create_pack(shared, key, bytes);
        if (head) fill(memory_of(head), argument);
    }
    void* pack = hold_pack(shared, head);
    pthread_mutex_unlock(&shared->mutex);
    return pack;
}

static void remove_pack(struct graph_pool* shared, pack_head_t* head)
{
    if (head->key.kind) {
        pack_head_t** link = find_bucket(shared, &head->key);
        while (*link != head)
            link = &(*link)->next;
        *link = head->next;
        --shared->pack_num;
    }
    free_memory(head);
}

void release_graph_pack(struct graph_pool* shared, void* pack)
{
    pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&shared->mutex);
    if (--head->holder_num == 0) remove_pack(shared, head);
    pthread_mutex_unlock(&shared->mutex);
    release_graph_pool(shared);
}

size_t get_graph_pack_share(struct graph_pool* shared, const void* pack)
{
    const pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&shared->mutex);
    const size_t share = (head_bytes + head->bytes) / (size_t)head->holder_num;
    pthread_mutex_unlock(&shared->mutex);
    return share;
}

ir_digest_t* get_graph_pack_digest(const void* pack, size_t bytes)
{
    pack_head_t* head = head_of(pack);
    return head->bytes == bytes ? &head->digest : NULL;
}
