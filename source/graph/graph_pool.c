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
    bool has_digest;
    uint8_t digest[SHA256_BYTES];  // of the bytes
} pack_head_t;

struct graph_packs
{
    pthread_mutex_t mutex;
    int holder_num;  // pools; and see graph/shared_model.h
    // Packs that may be found, by their keys: a chained hash table, which begins with one bucket.
    pack_head_t** buckets;
    size_t bucket_num;  // a power of two
    size_t pack_num;
    pack_head_t* first_bucket;
};

struct graph_pool
{
    pthread_mutex_t mutex;
    int holder_num;       // graphs, compiled parts and packs
    int part_num;         // compiled parts
    thread_pool_t* pool;  // while there are compiled parts
    struct graph_packs* packs;
};

// ---- tables of packs ----

struct graph_packs* create_graph_packs(void)
{
    struct graph_packs* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    pthread_mutex_init(&created->mutex, NULL);
    created->holder_num = 1;
    created->buckets = &created->first_bucket;
    created->bucket_num = 1;
    return created;
}

struct graph_packs* hold_graph_packs(struct graph_packs* packs)
{
    pthread_mutex_lock(&packs->mutex);
    ++packs->holder_num;
    pthread_mutex_unlock(&packs->mutex);
    return packs;
}

void release_graph_packs(struct graph_packs* packs)
{
    if (!packs) return;
    pthread_mutex_lock(&packs->mutex);
    const bool is_last = --packs->holder_num == 0;
    pthread_mutex_unlock(&packs->mutex);
    if (!is_last) return;
    pthread_mutex_destroy(&packs->mutex);
    if (packs->buckets != &packs->first_bucket) free_memory(packs->buckets);
    free_memory(packs);
}

bool is_only_holder_of_graph_packs(struct graph_packs* packs)
{
    pthread_mutex_lock(&packs->mutex);
    const bool is_only = packs->holder_num == 1;
    pthread_mutex_unlock(&packs->mutex);
    return is_only;
}

struct graph_packs* get_graph_packs(const struct graph* graph)
{
    return graph->core->pool->packs;
}

// ---- pools ----

// Takes over the caller's hold of `packs`, also after a failure; NULL is allowed.
static struct graph_pool* create_pool_of(struct graph_packs* packs)
{
    struct graph_pool* created = packs ? alloc_memory(sizeof *created) : NULL;
    if (!created) {
        release_graph_packs(packs);
        return NULL;
    }
    pthread_mutex_init(&created->mutex, NULL);
    created->holder_num = 1;
    created->packs = packs;
    return created;
}

struct graph_pool* create_graph_pool(void)
{
    return create_pool_of(create_graph_packs());
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
    release_graph_packs(held->packs);
    free_memory(held);
}

void join_graph_pool(struct graph* part, const struct graph* execution)
{
    hold(execution->core->pool);
    release_graph_pool(part->core->pool);
    part->core->pool = execution->core->pool;
}

int renew_graph_pool(struct graph* graph, struct graph_packs* packs)
{
    struct graph_pool* created =
        create_pool_of(packs ? hold_graph_packs(packs) : create_graph_packs());
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

static pack_head_t** find_bucket(const struct graph_packs* packs, const ir_pack_key_t* key)
{
    uint64_t hash = hash_bytes(HASH_START, &key->kind, sizeof key->kind);
    hash = hash_bytes(hash, key->constants, sizeof key->constants);
    hash = hash_bytes(hash, key->sizes, sizeof key->sizes);
    // Fibonacci hashing: addresses are alike in the lowest bits.
    hash = hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &packs->buckets[hash & (packs->bucket_num - 1)];
}

static pack_head_t* find_pack(const struct graph_packs* packs, const ir_pack_key_t* key)
{
    pack_head_t* head = key->kind ? *find_bucket(packs, key) : NULL;
    while (head && !is_same_key(&head->key, key))
        head = head->next;
    return head;
}

static void insert_pack(struct graph_packs* packs, pack_head_t* head)
{
    pack_head_t** bucket = find_bucket(packs, &head->key);
    head->next = *bucket;
    *bucket = head;
}

// Without memory the number of buckets stays, and their lists become longer.
static void add_buckets(struct graph_packs* packs)
{
    pack_head_t** old = packs->buckets;
    const size_t old_num = packs->bucket_num;
    pack_head_t** added = alloc_memory(2 * old_num * sizeof *added);
    if (!added) return;
    packs->buckets = added;
    packs->bucket_num = 2 * old_num;
    for (size_t i = 0; i < old_num; ++i) {
        for (pack_head_t *head = old[i], *next; head; head = next) {
            next = head->next;
            insert_pack(packs, head);
        }
    }
    if (old != &packs->first_bucket) free_memory(old);
}

static bool is_known_pack(const struct graph_packs* packs, const pack_head_t* head)
{
    return head->key.kind && find_pack(packs, &head->key) == head;
}

static void list_pack(struct graph_packs* packs, pack_head_t* head)
{
    if (!head->key.kind) return;
    if (++packs->pack_num > packs->bucket_num) add_buckets(packs);
    insert_pack(packs, head);
}

static pack_head_t* create_pack(const ir_pack_key_t* key, uint64_t bytes)
{
    if (bytes > SIZE_MAX - head_bytes) return NULL;
    pack_head_t* head = alloc_memory(head_bytes + (size_t)bytes);
    if (head) *head = (pack_head_t){.key = *key, .bytes = (size_t)bytes};
    return head;
}

// Ends a search in the locked table; NULL is allowed. The caller holds the pool, too, with which it
// releases the pack.
static void* hold_pack(struct graph_pool* shared, pack_head_t* head)
{
    if (head) ++head->holder_num;
    pthread_mutex_unlock(&shared->packs->mutex);
    if (!head) return NULL;
    hold(shared);
    return memory_of(head);
}

void* find_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key)
{
    pthread_mutex_lock(&shared->packs->mutex);
    return hold_pack(shared, find_pack(shared->packs, key));
}

void* make_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes)
{
    pack_head_t* head = create_pack(key, bytes);
    pthread_mutex_lock(&shared->packs->mutex);
    return hold_pack(shared, head);
}

void* offer_graph_pack(struct graph_pool* shared, void* pack)
{
    struct graph_packs* packs = shared->packs;
    pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&packs->mutex);
    pack_head_t* known = find_pack(packs, &head->key);
    if (!known) {
        list_pack(packs, head);
        pthread_mutex_unlock(&packs->mutex);
        return pack;
    }
    void* other = hold_pack(shared, known);
    release_graph_pack(shared, pack);
    return other;
}

void* hold_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes,
                      void (*fill)(void* pack, void* argument), void* argument)
{
    struct graph_packs* packs = shared->packs;
    pthread_mutex_lock(&packs->mutex);
    pack_head_t* head = find_pack(packs, key);
    if (!head) {
        head = create_pack(key, bytes);
        if (head) {
            list_pack(packs, head);
            fill(memory_of(head), argument);
        }
    }
    return hold_pack(shared, head);
}

static void remove_pack(struct graph_packs* packs, pack_head_t* head)
{
    if (is_known_pack(packs, head)) {
        pack_head_t** link = find_bucket(packs, &head->key);
        while (*link != head)
            link = &(*link)->next;
        *link = head->next;
        --packs->pack_num;
    }
    free_memory(head);
}

void release_graph_pack(struct graph_pool* shared, void* pack)
{
    struct graph_packs* packs = shared->packs;
    pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&packs->mutex);
    if (--head->holder_num == 0) remove_pack(packs, head);
    pthread_mutex_unlock(&packs->mutex);
    release_graph_pool(shared);
}

size_t get_graph_pack_share(struct graph_pool* shared, const void* pack)
{
    const pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&shared->packs->mutex);
    const size_t share = (head_bytes + head->bytes) / (size_t)head->holder_num;
    pthread_mutex_unlock(&shared->packs->mutex);
    return share;
}

bool get_graph_pack_digest(struct graph_pool* shared, const void* pack, size_t bytes,
                           uint8_t out_bytes[SHA256_BYTES])
{
    const pack_head_t* head = head_of(pack);
    pthread_mutex_lock(&shared->packs->mutex);
    const bool is_known = head->has_digest && head->bytes == bytes;
    if (is_known) memcpy(out_bytes, head->digest, SHA256_BYTES);
    pthread_mutex_unlock(&shared->packs->mutex);
    return is_known;
}

void set_graph_pack_digest(struct graph_pool* shared, void* pack, size_t bytes,
                           const uint8_t digest[SHA256_BYTES])
{
    pack_head_t* head = head_of(pack);
    if (head->bytes != bytes) return;
    pthread_mutex_lock(&shared->packs->mutex);
    memcpy(head->digest, digest, SHA256_BYTES);
    head->has_digest = true;
    pthread_mutex_unlock(&shared->packs->mutex);
}
