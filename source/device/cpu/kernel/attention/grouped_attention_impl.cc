// SPDX-License-Identifier: Apache-2.0
// The contract is in grouped_attention.h. The heads of the query that share keys and values, for a
// few tokens, are the rows of a tile: a block of keys and values is packed once for all of them, or
// read in place by few, as in attention_impl.cc, whose products, exponentials and running maximum
// these are. Blocks begin at multiples of kBlockKeys, and those that a tile does not see are passed
// over.
//
// Items are tiles of heads. Where all tokens are one tile, as in every step of a decoder, items are
// blocks of keys; each leaves its sum and its largest score, and these are put together in order.
// Limits: a single token: the cache's bytes; many: multiply-adds, the exponential.
// Accuracy: scores within (depth + 3) * eps * scale * sum |q| |k|, a cap within 4 * eps beside
// that, which is a relative error of their exponentials; results within (keys + 8 + blocks) * eps *
// the largest |value| beside that.
#include <algorithm>

#include "device/cpu/kernel/attention/grouped_attention.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/parallel.h"

#ifndef TENGINE_CPU_GROUPED_ATTENTION
#define TENGINE_CPU_GROUPED_ATTENTION
namespace tengine::cpu {

constexpr int64_t kBlockKeys = 256;  // a multiple of every vector's length

// The tokens of a tile, with the keys of a block.
struct GroupTile
{
    int64_t b, key_head, first_token, end_token;
    int64_t first_key, end_key;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/attention/grouped_attention_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/attention/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Multiplied with the scale.
void read_queries(const GroupBlocks& blocks, const GroupSource& source, const GroupTile& tile,
                  float* queries)
{
    for (int64_t token = tile.first_token; token < tile.end_token; ++token)
        for (int64_t i = 0; i < blocks.group; ++i, queries += blocks.query_step) {
            source.read_query(tile.b, tile.key_head * blocks.group + i, token, queries);
            scale_row(queries, blocks.depth, source.scale, queries);
        }
}

void cap_scores(float cap, int64_t count, float* scores)
{
    const Floats d;
    const Vector caps = hn::Set(d, cap), factors = hn::Set(d, 1 / cap);
    const TanhFunction tanh(nullptr);
    for (int64_t i = 0; i < count; i += count_lanes())
        hn::StoreU(hn::Mul(caps, tanh(hn::Mul(hn::LoadU(d, scores + i), factors))), d, scores + i);
}

// The scores of one row become exponentials; those of keys that it does not see become 0.
void raise_row(const GroupBlocks& blocks, const GroupSource& source, const GroupTile& tile,
               int64_t head, int64_t token, float* scores, float* result, QueryState* state)
{
    const int64_t keys = tile.end_key - tile.first_key;
    const int64_t end = std::min(source.end_key(tile.b, token) - tile.first_key, keys);
    const int64_t first = std::max<int64_t>(source.first_key(tile.b, token) - tile.first_key, 0);
    if (first >= end) {
        std::fill_n(scores, keys, 0.0f);
        return;
    }
    if (source.softcap > 0) cap_scores(source.softcap, end, scores);
    std::fill_n(scores, first, kLowest);
    float memory[kBlockKeys];
    const float* bias = source.bias(tile.b, head, token, tile.first_key, end, memory);
    add_scores(bias, end, scores, blocks.width, result, state);
    const int64_t raised = divide_up(end, count_lanes()) * count_lanes();
    if (raised < keys) std::fill_n(scores + raised, keys - raised, 0.0f);
}

// The scratch of one worker.
struct GroupWorkspace
{
    GroupWorkspace(const GroupBlocks& blocks, float* memory)
        : keys(memory),
          values(keys + blocks.key_floats),
          queries(values + blocks.value_floats),
          scores(queries + blocks.query_floats),
          part(scores + blocks.score_floats)
    {
    }
    float *keys, *values, *queries, *scores, *part;
};

// One block of keys. `is_first`: nothing is known of the tile yet.
void attend_block(const GroupBlocks& blocks, const GroupSource& source, const GroupTile& tile,
                  const GroupWorkspace& work, bool is_first, float* part)
{
    static const Fusion kNothing;
    static constexpr int64_t kBegin = 0;
    HWY_ALIGN static constexpr float kZeros[2 * HWY_MAX_BYTES / sizeof(float)] = {};
    const int64_t keys = tile.end_key - tile.first_key;
    const int64_t rows = (tile.end_token - tile.first_token) * blocks.group;
    const bool is_in_place = rows <= kMostInPlace;
    const float* key = source.key(tile.b, tile.key_head, tile.first_key);
    const float* value = source.value(tile.b, tile.key_head, tile.first_key);
    if (!is_in_place) {
        pack_keys(blocks, key, keys, work.keys);
        pack_values(blocks, value, keys, work.values);
    }
    PixelTile product = {};
    product.input = work.queries;
    product.input_step = blocks.query_step;
    product.stretches = &kBegin;
    product.stretch_num = 1;
    product.stretch_length = blocks.depth;
    product.bias = kZeros;
    product.output = work.scores;
    product.output_step = blocks.score_step;
    product.fusion = &kNothing;
    if (!is_in_place) multiply_panels(blocks, product, rows, pad_columns(blocks, keys), work.keys);
    for (int64_t row = 0; is_in_place && row < rows; ++row)
        score_keys(blocks, key, keys, work.queries + row * blocks.query_step,
                   work.scores + row * blocks.score_step);
    for (int64_t row = 0; row < rows; ++row)
        raise_row(blocks, source, tile, tile.key_head * blocks.group + row % blocks.group,
                  tile.first_token + row / blocks.group, work.scores + row * blocks.score_step,
                  is_first ? nullptr : blocks.results(part) + row * blocks.width,
                  blocks.states(part) + row);
    product.input = work.scores;
    product.input_step = blocks.score_step;
    product.stretch_length = keys;
    product.bias = is_first ? kZeros : nullptr;
    product.output = blocks.results(part);
    product.output_step = blocks.width;
    if (!is_in_place) multiply_panels(blocks, product, rows, blocks.width, work.values);
    for (int64_t row = 0; is_in_place && row < rows; ++row)
        mix_values(blocks, value, keys, work.scores + row * blocks.score_step, is_first,
                   blocks.results(part) + row * blocks.width);
}

// Merges the parts of a row's result, which follow each other, and its sink.
void finish_row(const GroupBlocks& blocks, const GroupSource& source, const GroupTile& tile,
                float* parts, int64_t part_num, int64_t row)
{
    const Floats d;
    const int64_t head = tile.key_head * blocks.group + row % blocks.group;
    const int64_t token = tile.first_token + row / blocks.group, width = blocks.width;
    const float rest = source.has_sink ? source.sink(head) : kLowest;
    const auto state_of = [&](int64_t part) {
        return blocks.states(parts + part * blocks.part_floats())[row];
    };
    float largest = rest;
    for (int64_t part = 0; part < part_num; ++part)
        largest = std::max(largest, state_of(part).largest);
    const float base = largest == kLowest ? 0.0f : largest;
    const auto power_of = [&](float score) {
        return hn::GetLane(exp_of_negative(hn::Set(d, score - base)));
    };
    float sum = source.has_sink ? power_of(rest) : 0;
    for (int64_t part = 0; part < part_num; ++part)
        sum += power_of(state_of(part).largest) * state_of(part).sum;
    float* to = source.result(tile.b, head, token);
    // NaN where all keys are masked, as the formula's, unless it is to be 0.
    std::fill_n(to, width, sum == 0 && source.keeps_masked ? 0 : 0 / sum);
    for (int64_t part = 0; part < part_num; ++part) {
        const QueryState state = state_of(part);
        if (state.sum == 0) continue;  // it has seen nothing, and there may be no results
        const float* from = blocks.results(parts + part * blocks.part_floats()) + row * width;
        const Vector factor = hn::Set(d, power_of(state.largest) / sum);
        for (int64_t i = 0; i < width; i += count_lanes())
            store_lanes(
                hn::MulAdd(factor, load_lanes(from + i, width - i), load_lanes(to + i, width - i)),
                to + i, width - i);
    }
}

void finish_tile(const GroupBlocks& blocks, const GroupSource& source, const GroupTile& tile,
                 float* parts, int64_t part_num)
{
    const int64_t rows = (tile.end_token - tile.first_token) * blocks.group;
    for (int64_t row = 0; row < rows; ++row)
        finish_row(blocks, source, tile, parts, part_num, row);
}

// A tile with all keys that it sees between tile.first_key and tile.end_key.
void attend_tile(const GroupBlocks& blocks, const GroupSource& source, GroupTile tile,
                 const GroupWorkspace& work, float* part)
{
    const int64_t rows = (tile.end_token - tile.first_token) * blocks.group;
    std::fill_n(blocks.states(part), rows, QueryState{kLowest, 0});
    const int64_t end = std::min(source.end_key(tile.b, tile.end_token - 1), tile.end_key);
    const int64_t seen = source.first_key(tile.b, tile.first_token) / blocks.block_keys;
    const int64_t first = std::max(seen * blocks.block_keys, tile.first_key);
    if (first < end) read_queries(blocks, source, tile, work.queries);
    for (int64_t key = first; key < end; key += blocks.block_keys) {
        tile.first_key = key;
        tile.end_key = std::min(key + blocks.block_keys, end);
        attend_block(blocks, source, tile, work, key == first, part);
    }
}

// Tile `item`, from its first key to its results.
void attend_whole(const GroupBlocks& blocks, const GroupSource& source, int64_t item, float* memory)
{
    const GroupWorkspace work(blocks, memory);
    const int64_t first = item % blocks.tiles * blocks.tile_tokens, head = item / blocks.tiles;
    const GroupTile tile = {head / blocks.key_heads,
                            head % blocks.key_heads,
                            first,
                            std::min(first + blocks.tile_tokens, source.tokens),
                            0,
                            source.total};
    attend_tile(blocks, source, tile, work, work.part);
    finish_tile(blocks, source, tile, work.part, 1);
}

// The only tile of a head of keys, with block `item` of its keys.
void attend_part(const GroupBlocks& blocks, const GroupSource& source, int64_t item, float* memory,
                 float* parts)
{
    const GroupWorkspace work(blocks, memory);
    const int64_t used = divide_up(source.total, blocks.block_keys);
    const int64_t head = item / used, first = item % used * blocks.block_keys;
    const GroupTile tile = {head / blocks.key_heads,
                            head % blocks.key_heads,
                            0,
                            source.tokens,
                            first,
                            std::min(first + blocks.block_keys, source.total)};
    attend_tile(blocks, source, tile, work, parts + item * blocks.part_floats());
}

void finish_parts(const GroupBlocks& blocks, const GroupSource& source, int64_t head, float* parts)
{
    const int64_t used = divide_up(source.total, blocks.block_keys);
    const GroupTile tile = {
        head / blocks.key_heads, head % blocks.key_heads, 0, source.tokens, 0, source.total};
    finish_tile(blocks, source, tile, parts + head * used * blocks.part_floats(), used);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(attend_whole);
HWY_EXPORT(attend_part);
HWY_EXPORT(finish_parts);

uint64_t round_up(int64_t a, int64_t b)
{
    return static_cast<uint64_t>(divide_up(a, b) * b);
}

constexpr int64_t kMostRows = 48;  // of a tile, unless one token has more: their scores are in L1

}  // namespace

GroupBlocks cut_groups(const GroupSizes& sizes)
{
    GroupBlocks blocks = {};
    blocks.batch = sizes.batch;
    blocks.key_heads = sizes.key_heads;
    blocks.group = sizes.heads / sizes.key_heads;
    blocks.depth = sizes.depth;
    blocks.width = sizes.width;
    blocks.key.row_step = sizes.key_row_step;
    blocks.value.row_step = sizes.value_row_step;
    blocks.key.column_step = 1;
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    blocks.panel_lanes = 2 * lanes;
    blocks.block_keys = kBlockKeys;
    // Rows that are a multiple of 2 kB apart would share a few sets of the L1 cache.
    blocks.score_step = kBlockKeys + kCacheLineFloats;
    blocks.query_step =
        static_cast<int64_t>(round_up(blocks.depth, kCacheLineFloats)) + kCacheLineFloats;
    blocks.tile_tokens =
        std::clamp<int64_t>(kMostRows / blocks.group, 1, std::max<int64_t>(sizes.tokens, 1));
    blocks.tiles = divide_up(sizes.tokens, blocks.tile_tokens);
    blocks.key_blocks = blocks.tiles == 1 ? divide_up(sizes.keys, kBlockKeys) : 0;

    blocks.key_floats = round_up(kBlockKeys * blocks.depth, kCacheLineFloats);
    blocks.value_floats =
        static_cast<uint64_t>(kBlockKeys) * round_up(blocks.width, blocks.panel_lanes);
    blocks.query_floats = static_cast<uint64_t>(blocks.tile_rows() * blocks.query_step);
    blocks.score_floats = static_cast<uint64_t>(blocks.tile_rows() * blocks.score_step);
    blocks.state_floats = round_up(2 * blocks.tile_rows(), kCacheLineFloats);
    return blocks;
}

uint64_t count_group_scratch(const GroupBlocks& blocks, thread_pool_t* pool)
{
    const int64_t workers = get_thread_pool_size(pool);
    return sizeof(float) *
           static_cast<uint64_t>(blocks.all_worker_floats() * workers + blocks.all_part_floats());
}

void attend_groups(const GroupBlocks& blocks, const GroupSource& source, thread_pool_t* pool,
                   void* scratch)
{
    auto* floats = static_cast<float*>(scratch);
    float* parts = floats + blocks.all_worker_floats() * get_thread_pool_size(pool);
    const int64_t heads = blocks.batch * blocks.key_heads;
    const auto memory_of = [&](int worker) { return floats + blocks.all_worker_floats() * worker; };
    if (blocks.key_blocks == 0) {
        const auto work = HWY_DYNAMIC_DISPATCH(attend_whole);
        parallel_for(pool, heads * blocks.tiles, 1, [&](int64_t first, int64_t last, int worker) {
            for (int64_t item = first; item < last; ++item)
                work(blocks, source, item, memory_of(worker));
        });
        return;
    }
    const int64_t used = divide_up(source.total, blocks.block_keys);
    const auto work = HWY_DYNAMIC_DISPATCH(attend_part);
    parallel_for(pool, heads * used, 1, [&](int64_t first, int64_t last, int worker) {
        for (int64_t item = first; item < last; ++item)
            work(blocks, source, item, memory_of(worker), parts);
    });
    for (int64_t head = 0; head < heads; ++head)
        HWY_DYNAMIC_DISPATCH(finish_parts)(blocks, source, head, parts);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
