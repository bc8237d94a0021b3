// SPDX-License-Identifier: Apache-2.0
// Attention of floats: for each head of each batch, softmax(scale * query * key^T + mask) * value.
// The nodes Attention and GroupQueryAttention, and a step in place of the nodes that exporters
// write, describe the layout of their tensors with this; attention_impl.cc computes it.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct Kernel;

// A matrix for each head of each batch, in a tensor: the offset of the first, and the distances to
// the next.
struct HeadMatrices
{
    int64_t offset, batch_step, head_step, row_step, column_step;

    int64_t at(int64_t batch, int64_t head) const
    {
        return offset + batch * batch_step + head * head_step;
    }
};

struct Attention
{
    int64_t batch, heads, queries, keys;
    int64_t depth, width;        // elements of a query and a key, and of a value
    HeadMatrices query;          // queries x depth, with contiguous rows
    HeadMatrices key;            // keys x depth, for each head of keys
    HeadMatrices value, result;  // keys x width, queries x width, with contiguous rows
    HeadMatrices mask;           // queries x keys, with contiguous rows
    float scale;
    bool has_mask;
    bool has_bools = false;     // mask elements are bool: the query sees keys that are true
    bool has_sink = false;      // each query has one more score, of a key with the value 0
    bool keeps_masked = false;  // a query whose keys are all masked has the result 0, not NaN
    float softcap = 0;          // 0: scores are not capped
    int64_t group = 1;          // heads that share keys and values
    // Keys are cut into blocks at the same places for any number of keys, so that results do not
    // depend on it, and blocks of a head with few queries, as in a decoder, are computed in
    // parallel. Otherwise blocks are as large as fits into the caches.
    bool has_fixed_blocks = false;
};

struct KeyRange
{
    int64_t begin, end;
};

// The queries, if they differ from rows of a tensor that see all keys.
class AttentionQueries
{
  public:
    // Returns the keys that a query sees, regardless of the mask. Both bounds are monotonic in the
    // query.
    virtual KeyRange find_seen(int64_t b, int64_t query) const = 0;
    // Reads a query, as it is multiplied, from the row of the tensor.
    virtual void read(int64_t b, int64_t query, const float* from, float* to) const = 0;

  protected:
    ~AttentionQueries() = default;
};

// The operands of a run.
struct AttentionRun
{
    const void *query, *key, *value, *mask;
    void* result;
    const AttentionQueries* queries;  // null: rows of the tensor
    const float* sinks;               // a score for each head; null: those are 0, if there are any
    int64_t keys;                     // in this run, at most as many as the work was cut for
};

// The blocks of an attention. Sizes and steps are in elements, a worker's scratch is in floats.
// Rows are those of a group's heads, query by query.
struct AttentionBlocks : Attention
{
    int data_type;  // TENGINE_DT_FP32, _FP16 or _BF16
    int64_t key_heads;
    int64_t panel_lanes;
    int64_t block_keys;    // a multiple of panel_lanes
    int64_t tile_queries;  // queries whose scores fit L1 together
    int64_t query_step, score_step;
    int64_t sum_step;  // of results that are accumulated in scratch; 0: in the output
    int64_t item_queries, items_of_head;
    int64_t key_parts;      // items of a head if each is a block of keys; 0: items see all keys
    int64_t in_place_rows;  // most rows for which packing keys and values does not pay
    uint64_t key_floats, value_floats, query_floats, score_floats, sum_floats, state_floats;

    // Returns the floats of the states of an item's rows and their accumulated results.
    uint64_t part_floats() const { return state_floats + sum_floats; }
    uint64_t worker_floats() const
    {
        return key_floats + value_floats + query_floats + score_floats + part_floats();
    }
    uint64_t all_part_floats() const
    {
        return static_cast<uint64_t>(batch * key_heads * key_parts) * part_floats();
    }
};

// The sum of the exponentials of a query's scores, and the score whose exponential is 1.
struct QueryState
{
    float largest, sum;
};

AttentionBlocks cut_attention(const Attention& attention, int data_type, int64_t workers);

// Returns the scratch of attend(), in bytes.
uint64_t count_attention_scratch(const AttentionBlocks& blocks, int64_t workers);

// Computes all results of a node. They do not depend on the number of workers.
void attend(const AttentionBlocks& blocks, const AttentionRun& run, thread_pool_t* pool,
            void* scratch);

// Returns the kernel of a fused attention, with inputs query, key, value and mask as
// KernelContext::attention says; null in a build without vectors.
const Kernel* find_fused_attention();

}  // namespace tengine::cpu
