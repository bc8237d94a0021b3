// SPDX-License-Identifier: Apache-2.0
// Attention in fp32 where heads of the query share those of keys and values, and queries see
// different keys: the products of GroupQueryAttention and of Attention. Each says with a source
// where its tensors lie.
#pragma once

#include <cstdint>

#include "device/cpu/kernel/attention/attention.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// The operands of a node's attention. `b` is a batch; a head is one of the query or, where so
// called, of the keys.
class GroupSource
{
  public:
    float scale = 1, softcap = 0;  // softcap 0: scores are not capped
    int64_t tokens = 0;            // of a batch
    int64_t total = 0;             // keys of the longest batch
    bool has_sink = false;         // a score more, of a key whose value is 0
    bool keeps_masked = false;     // a query whose keys are all masked has the result 0, not NaN

    // Keys first_key() <= key < end_key() are those that a token sees. Neither falls from a token
    // to the next.
    virtual int64_t first_key(int64_t b, int64_t token) const = 0;
    virtual int64_t end_key(int64_t b, int64_t token) const = 0;
    virtual void read_query(int64_t b, int64_t head, int64_t token, float* to) const = 0;
    // A key or value of a head of keys; the next key is a row_step of the blocks further.
    virtual const float* key(int64_t b, int64_t key_head, int64_t key) const = 0;
    virtual const float* value(int64_t b, int64_t key_head, int64_t key) const = 0;
    // The bias of the scores of `count` keys from `first` on, in `memory` unless it lies elsewhere;
    // null: nothing.
    virtual const float* bias(int64_t b, int64_t head, int64_t token, int64_t first, int64_t count,
                              float* memory) const = 0;
    virtual float sink(int64_t head) const = 0;
    virtual float* result(int64_t b, int64_t head, int64_t token) const = 0;

  protected:
    ~GroupSource() = default;
};

struct GroupBlocks : AttentionBlocks
{
    int64_t group;  // heads of the query that share keys
    int64_t key_heads;
    int64_t tile_tokens, tiles;
    int64_t key_blocks;  // of which each leaves a part; 0: tiles are items

    int64_t tile_rows() const { return tile_tokens * group; }
    // The partial result of a tile: states of its rows, then results.
    int64_t part_floats() const { return static_cast<int64_t>(state_floats) + tile_rows() * width; }
    int64_t all_worker_floats() const
    {
        return static_cast<int64_t>(worker_floats() - state_floats) + part_floats();
    }
    int64_t all_part_floats() const { return batch * key_heads * key_blocks * part_floats(); }
    QueryState* states(float* part) const { return reinterpret_cast<QueryState*>(part); }
    float* results(float* part) const { return part + state_floats; }
};

struct GroupSizes
{
    int64_t batch, tokens, heads, key_heads, keys;
    int64_t depth, width;                  // elements of a query and a key, and of a value
    int64_t key_row_step, value_row_step;  // floats from a key to the next
};

GroupBlocks cut_groups(const GroupSizes& sizes);

// Scratch of attend_groups(), in bytes.
uint64_t count_group_scratch(const GroupBlocks& blocks, thread_pool_t* pool);

// All results of a node. How it is cut does not depend on the number of workers, nor do results.
void attend_groups(const GroupBlocks& blocks, const GroupSource& source, thread_pool_t* pool,
                   void* scratch);

}  // namespace tengine::cpu
