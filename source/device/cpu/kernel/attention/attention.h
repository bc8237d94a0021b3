// SPDX-License-Identifier: Apache-2.0
// Attention that a step computes in place of the nodes an exporter wrote: for each head of each
// batch, softmax(scale * query * key^T + mask) * value.
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
    HeadMatrices key;            // keys x depth
    HeadMatrices value, result;  // keys x width, queries x width, with rows in one piece
    HeadMatrices mask;           // queries x keys, with rows in one piece
    float scale;
    bool has_mask;
};

// The blocks of an attention. Sizes and steps are in elements, a worker's scratch is in floats.
struct AttentionBlocks : Attention
{
    int64_t panel_lanes;
    int64_t block_keys;    // a multiple of panel_lanes
    int64_t tile_queries;  // whose scores are in L1
    int64_t query_step, score_step;
    int64_t sum_step;  // of results that a worker has as sums in fp32; 0: they are sums
    int64_t item_queries, items_of_head;
    bool reads_in_place;  // keys and values are not packed: too few queries use them
    int64_t items() const { return batch * heads * items_of_head; }
    // The scratch of one worker.
    uint64_t key_floats, value_floats, query_floats, score_floats, sum_floats, state_floats;
    uint64_t worker_floats() const
    {
        return key_floats + value_floats + query_floats + score_floats + sum_floats + state_floats;
    }
};

// So many queries at most take keys and values where they lie: packing them would take longer.
constexpr int64_t kMostInPlace = 3;

struct QueryState
{
    float largest, sum;
};

// Inputs query, key, value and mask, as KernelContext::attention says. Null in a build without
// vectors.
const Kernel* find_fused_attention();

}  // namespace tengine::cpu
