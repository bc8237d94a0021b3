// SPDX-License-Identifier: Apache-2.0
// Attention of floats, computed in fp32 and rounded once, without the matrix of scores in memory. A
// block of a head's keys and values is packed; a few queries at a time are multiplied with the
// keys, their scores become exponentials, and those are multiplied with the values, while the
// scores stay in L1. Where there are more keys than one block has, each query keeps a running
// maximum and a running sum, and its result is made smaller when a larger score comes (M. Milakov,
// N. Gimelshein, Online normalizer calculation for softmax, 2018). Both products are those of
// pixel_conv.h. With few queries, as a decoder has in each step, they are vectors times keys and
// values where these lie.
//
// Heads, and blocks of queries where there are few heads, are spread over the workers; the keys are
// cut into the same blocks for any number of them.
// Limits: multiply-adds; the exponential; with few queries the memory of keys and values.
// Accuracy: scores within (depth + 3) * eps * scale * sum |q| |k|, which is a relative error of
// their exponentials; results within (keys + 8) * eps * the largest |value| beside that.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/cpu.h"
#include "device/cpu/kernel/attention/attention.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"

#ifndef TENGINE_CPU_ATTENTION
#define TENGINE_CPU_ATTENTION
namespace tengine::cpu {

struct AttentionData
{
    const void *query, *key, *value, *mask;
    void* result;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/attention/attention_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/attention/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// The scratch of one worker.
struct Workspace
{
    Workspace(const AttentionBlocks& blocks, float* memory)
        : keys(memory),
          values(keys + blocks.key_floats),
          queries(values + blocks.value_floats),
          scores(queries + blocks.query_floats),
          sums(scores + blocks.score_floats),
          states(reinterpret_cast<QueryState*>(sums + blocks.sum_floats))
    {
    }
    float *keys, *values, *queries, *scores, *sums;
    QueryState* states;
};

// Some queries of a head and a block of its keys, which is packed.
template <class T>
struct QueryTile
{
    int64_t rows, first_key, keys;
    const T *query, *mask, *key, *value;
    T* result;
    float* sums;  // of which the result is made: itself, or a worker's
    int64_t sum_step;
    QueryState* states;
};

// Rows of the tile times packed keys or values.
HWY_NOINLINE void multiply_rows(const AttentionBlocks& blocks, PixelTile tile, int64_t rows,
                                int64_t columns, const float* packed)
{
    static const Fusion kNothing;
    static constexpr int64_t kBegin = 0;
    tile.stretches = &kBegin;
    tile.stretch_num = 1;
    tile.fusion = &kNothing;
    multiply_panels(blocks, tile, rows, columns, packed);
}

template <class T>
void attend_tile(const AttentionBlocks& blocks, const QueryTile<T>& queries, const Workspace& work)
{
    HWY_ALIGN static constexpr float kZeros[2 * HWY_MAX_BYTES / sizeof(float)] = {};
    for (int64_t i = 0; i < queries.rows; ++i)
        scale_row(queries.query + i * blocks.query.row_step, blocks.depth, blocks.scale,
                  work.queries + i * blocks.query_step);
    PixelTile tile = {};
    tile.input = work.queries;
    tile.input_step = blocks.query_step;
    tile.stretch_length = blocks.depth;
    tile.bias = kZeros;
    tile.output = work.scores;
    tile.output_step = blocks.score_step;
    if (blocks.reads_in_place)
        for (int64_t i = 0; i < queries.rows; ++i)
            score_keys(blocks, queries.key, queries.keys, work.queries + i * blocks.query_step,
                       work.scores + i * blocks.score_step);
    else
        multiply_rows(blocks, tile, queries.rows, pad_columns(blocks, queries.keys), work.keys);

    const bool is_first = queries.first_key == 0;
    for (int64_t i = 0; i < queries.rows; ++i)
        add_scores(queries.mask ? queries.mask + i * blocks.mask.row_step : nullptr, queries.keys,
                   work.scores + i * blocks.score_step, blocks.width,
                   is_first ? nullptr : queries.sums + i * queries.sum_step, queries.states + i);

    tile.input = work.scores;
    tile.input_step = blocks.score_step;
    tile.stretch_length = queries.keys;
    tile.bias = is_first ? kZeros : nullptr;
    tile.output = queries.sums;
    tile.output_step = queries.sum_step;
    if (blocks.reads_in_place)
        for (int64_t i = 0; i < queries.rows; ++i)
            mix_values(blocks, queries.value, queries.keys, work.scores + i * blocks.score_step,
                       is_first, queries.sums + i * queries.sum_step);
    else
        multiply_rows(blocks, tile, queries.rows, blocks.width, work.values);
    if (queries.first_key + queries.keys < blocks.keys) return;
    for (int64_t i = 0; i < queries.rows; ++i)
        scale_row(queries.sums + i * queries.sum_step, blocks.width, 1.0f / queries.states[i].sum,
                  queries.result + i * blocks.result.row_step);
}

template <class T>
const T* matrix_at(const void* data, const HeadMatrices& matrices, int64_t batch, int64_t head)
{
    return static_cast<const T*>(data) + matrices.at(batch, head);
}

// Item `item` of items().
template <class T>
void attend_queries(const AttentionBlocks& blocks, const AttentionData& data, int64_t item,
                    float* memory)
{
    const Workspace work(blocks, memory);
    const int64_t begin = item % blocks.items_of_head * blocks.item_queries;
    const int64_t end = std::min(begin + blocks.item_queries, blocks.queries);
    item /= blocks.items_of_head;
    const int64_t batch = item / blocks.heads, head = item % blocks.heads;
    const T* keys = matrix_at<T>(data.key, blocks.key, batch, head);
    const T* values = matrix_at<T>(data.value, blocks.value, batch, head);
    const T* query_rows = matrix_at<T>(data.query, blocks.query, batch, head);
    T* results = static_cast<T*>(data.result) + blocks.result.at(batch, head);
    std::fill_n(work.states, end - begin, QueryState{kLowest, 0});
    for (int64_t key = 0; key < blocks.keys; key += blocks.block_keys) {
        const int64_t count = std::min(blocks.block_keys, blocks.keys - key);
        if (!blocks.reads_in_place) {
            pack_keys(blocks, keys + key * blocks.key.row_step, count, work.keys);
            pack_values(blocks, values + key * blocks.value.row_step, count, work.values);
        }
        for (int64_t query = begin; query < end; query += blocks.tile_queries) {
            QueryTile<T> tile = {};
            tile.rows = std::min(blocks.tile_queries, end - query);
            tile.first_key = key;
            tile.keys = count;
            tile.query = query_rows + query * blocks.query.row_step;
            tile.key = keys + key * blocks.key.row_step;
            tile.value = values + key * blocks.value.row_step;
            if (data.mask)
                tile.mask = matrix_at<T>(data.mask, blocks.mask, batch, head) +
                            query * blocks.mask.row_step + key;
            tile.result = results + query * blocks.result.row_step;
            if constexpr (std::is_same_v<T, float>) {
                tile.sums = tile.result;
                tile.sum_step = blocks.result.row_step;
            } else {
                tile.sums = work.sums + (query - begin) * blocks.sum_step;
                tile.sum_step = blocks.sum_step;
            }
            tile.states = work.states + query - begin;
            attend_tile(blocks, tile, work);
        }
    }
}

#define TENGINE_ATTEND(name, T)                                                       \
    void name(const AttentionBlocks& blocks, const AttentionData& data, int64_t item, \
              float* memory)                                                          \
    {                                                                                 \
        attend_queries<T>(blocks, data, item, memory);                                \
    }
TENGINE_ATTEND(attend, float)
TENGINE_ATTEND(attend_fp16, Half)
TENGINE_ATTEND(attend_bf16, BFloat16)
#undef TENGINE_ATTEND

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(attend);
HWY_EXPORT(attend_fp16);
HWY_EXPORT(attend_bf16);

constexpr int64_t kLineFloats = 64 / sizeof(float);

uint64_t round_up(int64_t a, int64_t b)
{
    return static_cast<uint64_t>(divide_up(a, b) * b);
}

// Rows that are a multiple of 2 kB apart would share a few sets of the L1 cache.
int64_t choose_step(int64_t columns)
{
    const auto step = static_cast<int64_t>(round_up(columns, kLineFloats));
    return step % 512 == 0 ? step + kLineFloats : step;
}

// Keys and values of a block take a quarter of the L2 cache, the scores of a tile L1.
AttentionBlocks cut(const Attention& attention, int64_t workers, bool has_halves)
{
    constexpr int64_t kFewestKeys = 64, kMostKeys = 1024, kMostQueries = 48, kItemsPerWorker = 4;
    AttentionBlocks blocks = {};
    static_cast<Attention&>(blocks) = attention;
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    blocks.panel_lanes = 2 * lanes;
    const auto caches = get_cpu_cache_size();
    const auto l1 = static_cast<int64_t>(caches.l1d / sizeof(float));
    const auto l2 = static_cast<int64_t>(caches.l2 / sizeof(float));
    const int64_t most = std::clamp(l2 / 4 / (blocks.depth + blocks.width), kFewestKeys, kMostKeys);
    const int64_t key_blocks = divide_up(blocks.keys, most);
    blocks.block_keys =
        static_cast<int64_t>(round_up(divide_up(blocks.keys, key_blocks), blocks.panel_lanes));
    blocks.score_step = choose_step(blocks.block_keys);
    blocks.query_step = choose_step(blocks.depth);
    blocks.tile_queries = std::clamp(l1 / blocks.score_step, rows, kMostQueries) / rows * rows;

    blocks.reads_in_place = blocks.queries <= kMostInPlace && blocks.key.column_step == 1;

    const int64_t tiles = divide_up(blocks.queries, blocks.tile_queries);
    const int64_t all_heads = blocks.batch * blocks.heads;
    const int64_t wanted = workers > 1 ? divide_up(workers * kItemsPerWorker, all_heads) : 1;
    const int64_t item_tiles = divide_up(tiles, std::min(wanted, tiles));
    blocks.item_queries = item_tiles * blocks.tile_queries;
    blocks.items_of_head = divide_up(blocks.queries, blocks.item_queries);

    if (!blocks.reads_in_place) {
        blocks.key_floats = round_up(blocks.block_keys * blocks.depth, kLineFloats);
        blocks.value_floats =
            static_cast<uint64_t>(blocks.block_keys) * round_up(blocks.width, blocks.panel_lanes);
    }
    blocks.query_floats = static_cast<uint64_t>(blocks.tile_queries * blocks.query_step);
    blocks.score_floats = static_cast<uint64_t>(blocks.tile_queries * blocks.score_step);
    blocks.sum_step = has_halves ? choose_step(blocks.width) : 0;
    blocks.sum_floats = static_cast<uint64_t>(std::min(blocks.item_queries, blocks.queries)) *
                        static_cast<uint64_t>(blocks.sum_step);
    blocks.state_floats = round_up(2 * std::min(blocks.item_queries, blocks.queries), kLineFloats);
    return blocks;
}

int prepare(KernelContext& context)
{
    const int workers = get_thread_pool_size(context.pool);
    const AttentionBlocks blocks = cut(*context.attention, workers, has_halves(*context.input(0)));
    context.scratch_size = blocks.worker_floats() * sizeof(float) * static_cast<uint64_t>(workers);
    return keep_problem(context, blocks);
}

using Attend = void (*)(const AttentionBlocks&, const AttentionData&, int64_t, float*);

Attend find_attend(const tensor& query)
{
    if (!has_halves(query)) return HWY_DYNAMIC_DISPATCH(attend);
    return query.data_type == TENGINE_DT_FP16 ? HWY_DYNAMIC_DISPATCH(attend_fp16)
                                              : HWY_DYNAMIC_DISPATCH(attend_bf16);
}

int run(KernelContext& context)
{
    const auto& blocks = kept_problem<AttentionBlocks>(context);
    const AttentionData data = {
        context.input(0)->data, context.input(1)->data, context.input(2)->data,
        blocks.has_mask ? context.input(3)->data : nullptr, context.output(0)->data};
    const auto work = find_attend(*context.input(0));
    parallel_for(context.pool, blocks.items(), 1, [&](int64_t first, int64_t last, int worker) {
        float* memory = static_cast<float*>(context.scratch) +
                        blocks.worker_floats() * static_cast<uint64_t>(worker);
        for (int64_t item = first; item < last; ++item)
            work(blocks, data, item, memory);
    });
    return TENGINE_OK;
}

constexpr Kernel kFused = {"", "attention.f32.fused", nullptr, run, prepare};

}  // namespace

const Kernel* find_fused_attention()
{
    return is_selected("MatMul") && is_selected("Softmax") ? &kFused : nullptr;
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
