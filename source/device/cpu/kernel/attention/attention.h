// SPDX-License-Identifier: Apache-2.0
// Attention of floats: for each head of each batch, softmax(scale * query * key^T + mask) * value.
// The nodes Attention and GroupQueryAttention, and a step in place of the nodes that exporters
// write, describe with this where their tensors lie, which the one in attention_impl.cc computes.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct Kernel;

// A matrix for each head of each batch, in a tensor: where the first begins, and how many elements
// further the next one is.
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
    HeadMatrices query;          // queries x depth, with rows in one piece
    HeadMatrices key;            // keys x depth, of a head of keys
    HeadMatrices value, result;  // keys x width, queries x width, with rows in one piece
    HeadMatrices mask;           // queries x keys, with rows in one piece
    float scale;
    bool has_mask;
    bool has_bools = false;     // true elements of the mask are seen
    bool has_sink = false;      // a score more for each query, of a key whose value is 0
    bool keeps_masked = false;  // a query whose keys are all masked has the result 0, not NaN
    float softcap = 0;          // 0: scores are not capped
    int64_t group = 1;          // heads that share keys and values
    // Keys are cut at the same places for any number of them, so that results do not depend on it,
    // and blocks of a head with few queries are computed apart, as in a decoder. Otherwise blocks
    // are as large as fits into the caches.
    bool has_fixed_blocks = false;
};

struct KeyRange
{
    int64_t begin, end;
};

// How queries differ from the rows of a tensor that see all keys.
class AttentionQueries
{
  public:
    // The keys that a query sees, a mask apart. Neither bound falls from a query to the next.
    virtual KeyRange find_seen(int64_t b, int64_t query) const = 0;
    // A query as it is multiplied, from the row of the tensor.
    virtual void read(int64_t b, int64_t query, const float* from, float* to) const = 0;

  protected:
    ~AttentionQueries() = default;
};

// The operands of a run.
struct AttentionRun
{
    const void *query, *key, *value, *mask;
    void* result;
    const AttentionQueries* queries;  // null: they are as they lie
    const float* sinks;               // of heads; null: those are 0, where there are any
    int64_t keys;                     // in this run, at most those that the work was cut for
};

// The blocks of an attention. Sizes and steps are in elements, a worker's scratch is in floats.
// Rows are those of the heads of a group, query by query.
struct AttentionBlocks : Attention
{
    int data_type;  // TENGINE_DT_FP32, _FP16 or _BF16
    int64_t key_heads;
    int64_t panel_lanes;
    int64_t block_keys;    // a multiple of panel_lanes
    int64_t tile_queries;  // whose scores are in L1
    int64_t query_step, score_step;
    int64_t sum_step;  // of results that are summed in scratch; 0: where the results lie
    int64_t item_queries, items_of_head;
    int64_t key_parts;      // items of a head where each is a block of keys; 0: items see all keys
    int64_t in_place_rows;  // so many do not pay for keys and values to be packed
    uint64_t key_floats, value_floats, query_floats, score_floats, sum_floats, state_floats;

    // States of an item's rows and their sums.
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

// Scratch of attend(), in bytes.
uint64_t count_attention_scratch(const AttentionBlocks& blocks, int64_t workers);

// All results of a node, which do not depend on the number of workers.
void attend(const AttentionBlocks& blocks, const AttentionRun& run, thread_pool_t* pool,
            void* scratch);

// Inputs query, key, value and mask, as KernelContext::attention says. Null in a build without
// vectors.
const Kernel* find_fused_attention();

}  // namespace tengine::cpu
