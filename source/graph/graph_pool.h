// SPDX-License-Identifier: Apache-2.0
// The thread pool, and constants in the layout of kernels (packs). The preparations of a source
// graph share them, as do all parts of these whose devices compute on the processor's cores. The
// packs may be those of other instances of the model, too, see graph/shared_model.h.
#pragma once

#include <stdbool.h>

#include "base/sha256.h"
#include "base/thread_pool.h"
#include "graph/core.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The object that graph.pool points to, without threads until a part requests them. A new one
// belongs to one graph; NULL when out of memory. It is destroyed with the last graph or part that
// holds it, since a part whose device hangs may outlive the execution graph.
struct graph_pool* create_graph_pool(void);
void release_graph_pool(struct graph_pool* held);  // NULL is allowed

// Sets the pool of a part's graph to that of the execution graph. Any thread.
void join_graph_pool(struct graph* part, const struct graph* execution);

// A table of packs, which several pools may have; it is destroyed with the last of its holders.
// create: with one holder; NULL when out of memory. Any thread.
struct graph_packs* create_graph_packs(void);
struct graph_packs* hold_graph_packs(struct graph_packs* packs);
void release_graph_packs(struct graph_packs* packs);  // NULL is allowed
// Whether the caller is the only holder.
bool is_only_holder_of_graph_packs(struct graph_packs* packs);
// The packs of a graph's pool.
struct graph_packs* get_graph_packs(const struct graph* graph);

// Gives the graph a new pool with these packs, or with a table of its own (NULL); holders of the
// old one keep it. ENOMEM leaves the old one.
TENGINE_MUST_USE int renew_graph_pool(struct graph* graph, struct graph_packs* packs);

// The threads of the graph, as many as its run options request; *out_pool is NULL for one. The
// first part that asks creates them. Fails as create_thread_pool(). Any thread.
TENGINE_MUST_USE int share_graph_pool(const struct graph* graph, thread_pool_t** out_pool);

// Releases a pool that a part was given: the last part ends the threads. Any thread.
void leave_graph_pool(struct graph_pool* shared);

// The constants that a pack is made of, and the layout.
typedef struct ir_pack_key
{
    const void* kind;  // whose layout: an address of the kernel's own; NULL: not to be shared
    const void* constants[4];  // their data, which stays where it is as long as the pack is held
    int64_t sizes[4];          // anything else the layout depends on
} ir_pack_key_t;

// Holds the pack of this key, which other parts may hold as well, or makes one of `bytes` bytes,
// which `fill` writes. To be released. NULL when out of memory. Any thread.
void* hold_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes,
                      void (*fill)(void* pack, void* argument), void* argument);
// The steps of hold_graph_pack(), for packs that are filled while other threads use the table.
// find: NULL when there is none. make: a pack that no other thread finds yet; NULL when out of
// memory. offer: lets others find it; returns the pack to use in its place, if another thread has
// offered one of the same key meanwhile, and releases this one.
void* find_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key);
void* make_graph_pack(struct graph_pool* shared, const ir_pack_key_t* key, uint64_t bytes);
void* offer_graph_pack(struct graph_pool* shared, void* pack);
void release_graph_pack(struct graph_pool* shared, void* pack);
// The share of the pack's bytes that one of its holders counts.
size_t get_graph_pack_share(struct graph_pool* shared, const void* pack);
// The hash of a pack's values, which is stored while the pack lives; a pack of another size than
// `bytes` has none. get: false when it is not known.
bool get_graph_pack_digest(struct graph_pool* shared, const void* pack, size_t bytes,
                           uint8_t out_bytes[SHA256_BYTES]);
void set_graph_pack_digest(struct graph_pool* shared, void* pack, size_t bytes,
                           const uint8_t digest[SHA256_BYTES]);

TENGINE_EXTERN_C_END

#ifdef __cplusplus
#include <memory>

namespace tengine {

struct GraphPoolLeaver
{
    graph_pool* shared = nullptr;
    void operator()(thread_pool_t*) const { leave_graph_pool(shared); }
};
// A part's hold on the pool.
using GraphPool = std::unique_ptr<thread_pool_t, GraphPoolLeaver>;

TENGINE_MUST_USE inline int share_graph_pool(const graph& graph, GraphPool* out_pool)
{
    thread_pool_t* pool = nullptr;
    const int status = share_graph_pool(&graph, &pool);
    *out_pool = GraphPool(pool, {graph.core->pool});
    return status;
}

}  // namespace tengine
#endif
