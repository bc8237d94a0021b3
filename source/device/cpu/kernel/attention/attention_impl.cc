// SPDX-License-Identifier: Apache-2.0
// Attention of floats, computed in fp32 and rounded once, without the matrix of scores in memory. A
// block of keys and values is packed; a few queries at a time, with all heads that share the keys,
// are multiplied by the keys, their scores become exponentials, and those are multiplied by the
// values, while the scores stay in L1. If there are more keys than one block has, each query keeps
// a running maximum and a running sum, and its result is scaled down when a larger score comes (M.
// Milakov, N. Gimelshein, Online normalizer calculation for softmax, 2018). Blocks that no query
// sees are skipped. Both products are those of pixels_f32.h. Few rows, as in each step of a
// decoder, are multiplied by keys and values in place.
//
// Items are heads of keys, with some of the queries if there are few heads. If blocks are fixed and
// a head's queries are one tile, as in every step of a decoder, items are blocks of keys: each
// leaves its sum and its largest score, and these are merged in order. Accuracy: scores within
// (depth + 3) * eps * scale * sum |q| |k|, plus 4 * eps for a cap, which is a relative error of
// their exponentials; results within (keys + 8 + blocks) * eps * the largest |value| in addition.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/cpu.h"
#include "device/cpu/kernel/attention/attention.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

#ifndef TENGINE_CPU_ATTENTION
#define TENGINE_CPU_ATTENTION
namespace tengine::cpu {

// Some queries of the heads that share a head of keys, and some keys of that head.
struct AttentionItem
{
    int64_t batch, key_head;
    int64_t first_query, end_query;
    KeyRange keys;
};

// The scratch of one worker.
struct AttentionWorkspace
{
    AttentionWorkspace(const AttentionBlocks& blocks, float* memory)
        : keys(memory),
          values(keys + blocks.key_floats),
          queries(values + blocks.value_floats),
          scores(queries + blocks.query_floats),
          part(scores + blocks.score_floats)
    {
    }
    float *keys, *values, *queries, *scores, *part;
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

// Rows of `columns` elements.
template <class Element>
struct FloatMatrix
{
    Element* data;
    int64_t step, columns;
};

// Multiplies `rows` rows by packed keys or values, and adds the products to `to` unless they are
// the first.
HWY_NOINLINE void multiply_rows(const AttentionBlocks& blocks, const FloatMatrix<const float>& from,
                                int64_t rows, const float* packed, bool is_first,
                                const FloatMatrix<float>& to)
{
    static const Fusion kNothing;
    static constexpr int64_t kBegin = 0;
    HWY_ALIGN static constexpr float kZeros[2 * HWY_MAX_BYTES / sizeof(float)] = {};
    FloatTile tile = {};
    tile.input = from.data;
    tile.input_step = from.step;
    tile.segments = &kBegin;
    tile.segment_num = 1;
    tile.segment_length = from.columns;
    tile.bias = is_first ? kZeros : nullptr;
    tile.output_step = to.step;
    tile.fusion = &kNothing;
    for (int64_t first = 0; first < to.columns; first += blocks.panel_lanes) {
        const int64_t width = find_panel_width(to.columns - first, blocks.panel_lanes);
        tile.weights = packed + first * from.columns;
        tile.output = to.data + first;
        tile.columns = std::min(width, to.columns - first);
        multiply_pixel_rows(tile, rows, rows, width == blocks.panel_lanes);
    }
}

// An item during its computation. T is Half, BFloat16 or float.
template <class T>
class ItemAttention
{
  public:
    // `part` has the states of the item's rows, and their accumulated results unless those are in
    // the output.
    ItemAttention(const AttentionBlocks& blocks, const AttentionRun& run, const AttentionItem& item,
                  float* part)
        : blocks_(blocks),
          run_(run),
          item_(item),
          part_(part),
          keys_(matrix_of(run.key, blocks.key)),
          values_(matrix_of(run.value, blocks.value)),
          is_in_place_((item.end_query - item.first_query) * blocks.group <= blocks.in_place_rows)
    {
    }

    // Accumulates the values of all keys of the item; stores final results if it `finishes`.
    void attend(const AttentionWorkspace& work, bool finishes)
    {
        std::fill_n(state_at(item_.first_query, 0),
                    (item_.end_query - item_.first_query) * blocks_.group, QueryState{kLowest, 0});
        const KeyRange seen = find_seen();
        for (int64_t key = seen.begin; key < seen.end; key += blocks_.block_keys) {
            const KeyRange block = {key, std::min(key + blocks_.block_keys, seen.end)};
            attend_block(work, block, key == seen.begin, finishes && block.end == seen.end);
        }
        if (seen.begin >= seen.end && finishes) finish(item_.first_query, item_.end_query, 1);
    }

    // Stores the results of queries first..end-1 from consecutive parts.
    void finish(int64_t first, int64_t end, int64_t part_num) const
    {
        for (int64_t query = first; query < end; ++query)
            for (int64_t i = 0; i < blocks_.group; ++i) {
                const QueryState& state = *state_at(query, i);
                if (part_num == 1 && !blocks_.has_sink && state.sum != 0)
                    scale_row(sums_at(query, i), blocks_.width, 1.0f / state.sum,
                              result_at(query, i));
                else
                    merge_parts(query, i, part_num);
            }
    }

  private:
    const T* matrix_of(const void* data, const HeadMatrices& matrices) const
    {
        return static_cast<const T*>(data) + matrices.at(item_.batch, item_.key_head);
    }
    int64_t head_of(int64_t i) const { return item_.key_head * blocks_.group + i; }
    int64_t row_of(int64_t query, int64_t i) const
    {
        return (query - item_.first_query) * blocks_.group + i;
    }
    QueryState* state_at(int64_t query, int64_t i) const
    {
        return reinterpret_cast<QueryState*>(part_) + row_of(query, i);
    }
    T* result_at(int64_t query, int64_t i) const
    {
        return static_cast<T*>(run_.result) + blocks_.result.at(item_.batch, head_of(i)) +
               query * blocks_.result.row_step;
    }
    // Results of fp32 for one head may be accumulated in the output.
    float* sums_at(int64_t query, int64_t i) const
    {
        if constexpr (std::is_same_v<T, float>)
            if (blocks_.sum_step == 0) return result_at(query, i);
        return part_ + blocks_.state_floats + row_of(query, i) * blocks_.sum_step;
    }
    int64_t sum_step() const
    {
        return blocks_.sum_step > 0 ? blocks_.sum_step : blocks_.result.row_step;
    }

    // Returns the keys of the item that one of its queries sees, rounded down to the beginning of a
    // block.
    KeyRange find_seen() const
    {
        if (!run_.queries) return item_.keys;
        const int64_t begin = run_.queries->find_seen(item_.batch, item_.first_query).begin;
        const int64_t end = run_.queries->find_seen(item_.batch, item_.end_query - 1).end;
        return {std::max(begin / blocks_.block_keys * blocks_.block_keys, item_.keys.begin),
                std::min(end, item_.keys.end)};
    }

    void attend_block(const AttentionWorkspace& work, const KeyRange& block, bool is_first,
                      bool finishes)
    {
        if (!is_in_place_) {
            const int64_t count = block.end - block.begin;
            pack_keys(blocks_, keys_ + block.begin * blocks_.key.row_step, count, work.keys);
            pack_values(blocks_, values_ + block.begin * blocks_.value.row_step, count,
                        work.values);
        }
        // The queries of a single tile are kept.
        const int64_t tile = blocks_.tile_queries;
        const bool reads = is_first || item_.end_query - item_.first_query > tile;
        for (int64_t query = item_.first_query; query < item_.end_query; query += tile) {
            const int64_t end = std::min(query + tile, item_.end_query);
            if (reads) read_queries(query, end, work.queries);
            attend_tile(work, block, query, end, is_first);
            if (finishes) finish(query, end, 1);
        }
    }

    // Reads queries and multiplies them by the scale.
    void read_queries(int64_t first, int64_t end, float* to) const
    {
        for (int64_t query = first; query < end; ++query)
            for (int64_t i = 0; i < blocks_.group; ++i, to += blocks_.query_step) {
                const T* from = static_cast<const T*>(run_.query) +
                                blocks_.query.at(item_.batch, head_of(i)) +
                                query * blocks_.query.row_step;
                if constexpr (std::is_same_v<T, float>)
                    if (run_.queries) {
                        run_.queries->read(item_.batch, query, from, to);
                        scale_row(to, blocks_.depth, blocks_.scale, to);
                        continue;
                    }
                scale_row(from, blocks_.depth, blocks_.scale, to);
            }
    }

    void attend_tile(const AttentionWorkspace& work, const KeyRange& block, int64_t first,
                     int64_t end, bool is_first) const
    {
        const int64_t keys = block.end - block.begin, rows = (end - first) * blocks_.group;
        float* sums = sums_at(first, 0);
        if (is_in_place_)
            for (int64_t row = 0; row < rows; ++row)
                score_keys(blocks_, keys_ + block.begin * blocks_.key.row_step, keys,
                           work.queries + row * blocks_.query_step,
                           work.scores + row * blocks_.score_step);
        else
            multiply_rows(blocks_, {work.queries, blocks_.query_step, blocks_.depth}, rows,
                          work.keys, true,
                          {work.scores, blocks_.score_step, pad_columns(blocks_, keys)});
        float* scores = work.scores;
        for (int64_t query = first; query < end; ++query)
            for (int64_t i = 0; i < blocks_.group; ++i, scores += blocks_.score_step)
                raise_row(block, query, i, scores, is_first ? nullptr : sums_at(query, i));
        if (is_in_place_)
            for (int64_t row = 0; row < rows; ++row)
                mix_values(blocks_, values_ + block.begin * blocks_.value.row_step, keys,
                           work.scores + row * blocks_.score_step, is_first,
                           sums + row * sum_step());
        else
            multiply_rows(blocks_, {work.scores, blocks_.score_step, keys}, rows, work.values,
                          is_first, {sums, sum_step(), blocks_.width});
    }

    // Replaces the scores of one row by exponentials; those of keys that it does not see become 0.
    void raise_row(const KeyRange& block, int64_t query, int64_t i, float* scores,
                   float* sums) const
    {
        const int64_t keys = block.end - block.begin;
        KeyRange seen = {0, keys};
        if (run_.queries) {
            const KeyRange all = run_.queries->find_seen(item_.batch, query);
            seen = {std::max<int64_t>(all.begin - block.begin, 0),
                    std::min(all.end - block.begin, keys)};
            if (seen.begin >= seen.end) {
                std::fill_n(scores, keys, 0.0f);
                return;
            }
        }
        if (blocks_.softcap > 0) cap_scores(blocks_.softcap, seen.end, scores);
        if (seen.begin > 0) std::fill_n(scores, seen.begin, kLowest);
        const T* mask = nullptr;
        if (blocks_.has_mask) {
            const int64_t place = blocks_.mask.at(item_.batch, head_of(i)) +
                                  query * blocks_.mask.row_step + block.begin;
            if (blocks_.has_bools)
                hide_scores(static_cast<const uint8_t*>(run_.mask) + place, seen.end, scores);
            else
                mask = static_cast<const T*>(run_.mask) + place;
        }
        add_scores(mask, seen.end, scores, blocks_.width, sums, state_at(query, i));
        const int64_t raised = round_up(seen.end, count_lanes());
        if (raised < keys) std::fill_n(scores + raised, keys - raised, 0.0f);
    }

    // Merges the parts of a row's result, and its sink.
    void merge_parts(int64_t query, int64_t i, int64_t part_num) const
    {
        const Floats d;
        const int64_t width = blocks_.width;
        const auto state_of = [&](int64_t part) HWY_ATTR {
            const float* from = part_ + part * static_cast<int64_t>(blocks_.part_floats());
            return reinterpret_cast<const QueryState*>(from)[row_of(query, i)];
        };
        const float sink = run_.sinks ? run_.sinks[head_of(i)] : 0;
        float largest = blocks_.has_sink ? sink : kLowest;
        for (int64_t part = 0; part < part_num; ++part)
            largest = std::max(largest, state_of(part).largest);
        const float base = largest == kLowest ? 0.0f : largest;
        const auto power_of = [&](float score) HWY_ATTR {
            return hn::GetLane(exp_of_negative(hn::Set(d, score - base)));
        };
        float sum = blocks_.has_sink ? power_of(sink) : 0;
        for (int64_t part = 0; part < part_num; ++part)
            sum += power_of(state_of(part).largest) * state_of(part).sum;

        // A part that has seen no key may have no result.
        float* const sums = sums_at(query, i);
        if (state_of(0).sum == 0)
            std::fill_n(sums, width, 0.0f);
        else
            scale_row(sums, width, power_of(state_of(0).largest) / sum, sums);
        for (int64_t part = 1; part < part_num; ++part) {
            if (state_of(part).sum == 0) continue;
            const float* from = sums + part * static_cast<int64_t>(blocks_.part_floats());
            const Vector factor = hn::Set(d, power_of(state_of(part).largest) / sum);
            for (int64_t j = 0; j < width; j += count_lanes())
                store_lanes(hn::MulAdd(factor, load_lanes(from + j, width - j),
                                       load_lanes(sums + j, width - j)),
                            sums + j, width - j);
        }
        // If all keys are masked, the result is NaN, as in the formula, unless it has to be 0.
        const float last = sum == 0 && !blocks_.keeps_masked ? 1.0f / sum : 1.0f;
        scale_row(sums, width, last, result_at(query, i));
    }

    const AttentionBlocks& blocks_;
    const AttentionRun& run_;
    const AttentionItem& item_;
    float* const part_;
    const T *const keys_, *const values_;
    const bool is_in_place_;
};

void attend_item(const AttentionBlocks& blocks, const AttentionRun& run, const AttentionItem& item,
                 float* memory, float* part)
{
    const AttentionWorkspace work(blocks, memory);
    with_float_type(blocks.data_type, [&](auto type) {
        ItemAttention<typename decltype(type)::type>(blocks, run, item, part ? part : work.part)
            .attend(work, !part);
    });
}

void finish_item(const AttentionBlocks& blocks, const AttentionRun& run, const AttentionItem& item,
                 float* parts, int64_t part_num)
{
    with_float_type(blocks.data_type, [&](auto type) {
        ItemAttention<typename decltype(type)::type>(blocks, run, item, parts)
            .finish(item.first_query, item.end_query, part_num);
    });
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(attend_item);
HWY_EXPORT(finish_item);

constexpr int64_t kMostRows = 48;  // of a tile, unless one query has more: their scores fit L1

// Rows a multiple of 2 KiB apart would share a few sets of the L1 cache.
int64_t choose_step(int64_t columns)
{
    const int64_t step = round_up(columns, kCacheLineFloats);
    return step % 512 == 0 ? step + kCacheLineFloats : step;
}

// Returns as many keys as take, with their values, a quarter of the L2 cache.
int64_t choose_block_keys(const AttentionBlocks& blocks)
{
    constexpr int64_t kFixedBlock = 256;  // a multiple of every vector's length
    constexpr int64_t kFewest = 64, kMost = 1024;
    if (blocks.has_fixed_blocks) return kFixedBlock;
    const auto l2 = static_cast<int64_t>(get_cpu_cache_size().l2 / sizeof(float));
    const int64_t most = std::clamp(l2 / 4 / (blocks.depth + blocks.width), kFewest, kMost);
    const int64_t number = divide_up(blocks.keys, most);
    return round_up(divide_up(blocks.keys, number), blocks.panel_lanes);
}

// Sets the members from tile_queries to key_parts.
void cut_queries(AttentionBlocks& blocks, int64_t tile_rows, int64_t workers)
{
    constexpr int64_t kItemsPerWorker = 4;
    const auto l1 = static_cast<int64_t>(get_cpu_cache_size().l1d / sizeof(float));
    const int64_t heads = blocks.batch * blocks.key_heads;
    const int64_t fitting =
        std::clamp(l1 / blocks.score_step, tile_rows, kMostRows) / tile_rows * tile_rows;
    const int64_t most = blocks.has_fixed_blocks ? kMostRows : fitting;
    blocks.tile_queries =
        std::clamp<int64_t>(most / blocks.group, 1, std::max<int64_t>(blocks.queries, 1));
    const int64_t tiles = divide_up(blocks.queries, blocks.tile_queries);
    const bool cuts = workers > 1 && !blocks.has_fixed_blocks;
    const int64_t wanted = cuts ? divide_up(workers * kItemsPerWorker, heads) : 1;
    const int64_t item_tiles =
        blocks.has_fixed_blocks ? 1 : divide_up(tiles, std::min(wanted, tiles));
    blocks.item_queries = item_tiles * blocks.tile_queries;
    blocks.items_of_head = divide_up(blocks.queries, blocks.item_queries);
    blocks.key_parts =
        blocks.has_fixed_blocks && tiles == 1 ? divide_up(blocks.keys, blocks.block_keys) : 0;
}

void count_floats(AttentionBlocks& blocks)
{
    const int64_t tile_rows = blocks.tile_queries * blocks.group;
    const int64_t rows = std::min(blocks.item_queries, blocks.queries) * blocks.group;
    if (tile_rows > blocks.in_place_rows) {
        blocks.key_floats =
            static_cast<uint64_t>(round_up(blocks.block_keys * blocks.depth, kCacheLineFloats));
        blocks.value_floats =
            static_cast<uint64_t>(blocks.block_keys * round_up(blocks.width, blocks.panel_lanes));
    }
    blocks.query_floats = static_cast<uint64_t>(tile_rows * blocks.query_step);
    blocks.score_floats = static_cast<uint64_t>(tile_rows * blocks.score_step);
    blocks.sum_floats = static_cast<uint64_t>(rows * blocks.sum_step);
    blocks.state_floats = static_cast<uint64_t>(round_up(2 * rows, kCacheLineFloats));
}

// Returns item `index`, with all keys or with a block of them.
AttentionItem find_item(const AttentionBlocks& blocks, const AttentionRun& run, int64_t index,
                        int64_t parts)
{
    const int64_t items = parts > 0 ? parts : blocks.items_of_head;
    const int64_t head = index / items, begin = index % items * blocks.item_queries;
    AttentionItem item = {
        head / blocks.key_heads, head % blocks.key_heads, 0, blocks.queries, {0, run.keys}};
    if (parts > 0) {
        item.keys.begin = index % items * blocks.block_keys;
        item.keys.end = std::min(item.keys.begin + blocks.block_keys, run.keys);
    } else {
        item.first_query = begin;
        item.end_query = std::min(begin + blocks.item_queries, blocks.queries);
    }
    return item;
}

}  // namespace

AttentionBlocks cut_attention(const Attention& attention, int data_type, int64_t workers)
{
    constexpr int64_t kMostInPlace = 3;
    AttentionBlocks blocks = {};
    static_cast<Attention&>(blocks) = attention;
    int64_t tile_rows, lanes;
    describe_pixel_tile(&tile_rows, &lanes);
    blocks.data_type = data_type;
    blocks.key_heads = blocks.heads / blocks.group;
    blocks.panel_lanes = 2 * lanes;
    blocks.block_keys = choose_block_keys(blocks);
    blocks.score_step = choose_step(blocks.block_keys);
    blocks.query_step = choose_step(blocks.depth);
    cut_queries(blocks, tile_rows, workers);
    const bool is_own_sum =
        data_type == TENGINE_DT_FP32 && blocks.group == 1 && blocks.key_parts == 0;
    blocks.sum_step = is_own_sum ? 0 : choose_step(blocks.width);
    if (blocks.key.column_step == 1 && (blocks.has_fixed_blocks || blocks.queries <= kMostInPlace))
        blocks.in_place_rows = kMostInPlace;
    count_floats(blocks);
    return blocks;
}

uint64_t count_attention_scratch(const AttentionBlocks& blocks, int64_t workers)
{
    return sizeof(float) *
           (blocks.worker_floats() * static_cast<uint64_t>(workers) + blocks.all_part_floats());
}

void attend(const AttentionBlocks& blocks, const AttentionRun& run, thread_pool_t* pool,
            void* scratch)
{
    auto* floats = static_cast<float*>(scratch);
    const auto worker_floats = static_cast<int64_t>(blocks.worker_floats());
    const auto part_floats = static_cast<int64_t>(blocks.part_floats());
    float* all_parts = floats + worker_floats * get_thread_pool_size(pool);
    const int64_t parts = blocks.key_parts > 0 ? divide_up(run.keys, blocks.block_keys) : 0;
    const int64_t heads = blocks.batch * blocks.key_heads;
    const int64_t items = heads * (parts > 0 ? parts : blocks.items_of_head);
    const auto compute = HWY_DYNAMIC_DISPATCH(attend_item);
    parallel_for(pool, items, 1, [&](int64_t first, int64_t last, int worker) {
        for (int64_t i = first; i < last; ++i)
            compute(blocks, run, find_item(blocks, run, i, parts), floats + worker_floats * worker,
                    parts > 0 ? all_parts + part_floats * i : nullptr);
    });
    for (int64_t head = 0; parts > 0 && head < heads; ++head)
        HWY_DYNAMIC_DISPATCH(finish_item)
    (blocks, run, find_item(blocks, run, head * parts, parts),
     all_parts + part_floats * head * parts, parts);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
