// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention as its kernels see it: the positions of heads, tokens and rows of the cache,
// the keys that a query sees, and the update of the cache with new keys and values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/group_query_param.h"

namespace tengine::cpu {

struct GroupQuery
{
    int64_t batch, tokens, depth;
    int64_t heads, key_heads;
    int64_t past_rows, rows;       // room for rows of a head in the past and the present
    int64_t rotary;                // the first elements of a head that are rotated; 0: none
    int64_t query_step, key_step;  // distance of tokens in elements
    int64_t key_offset, value_offset;
    int64_t total;  // keys of the longest batch
    const int32_t* last_key;
    const int64_t* positions;  // null: the rows' own
    float scale, softcap;      // from the attributes
    int64_t window;            // keys, 0: all
    bool is_prompt;            // without a past
    bool interleaved, causal, smooth;

    // For a batch: the number of rows in the cache before its tokens, and with them.
    int64_t past_of(int64_t b) const { return is_prompt ? 0 : last_key[b] + int64_t{1} - tokens; }
    int64_t total_of(int64_t b) const { return last_key[b] + int64_t{1}; }

    // Keys first_key() <= key < end_key() are those that token `token` sees. Padding tokens of a
    // prompt, whose results are undefined, see those before them.
    int64_t end_key(int64_t b, int64_t token) const
    {
        return causal ? past_of(b) + token + 1 : total_of(b);
    }
    int64_t first_key(int64_t b, int64_t token) const
    {
        return window > 0 ? std::max<int64_t>(end_key(b, token) - window, 0) : 0;
    }
    // For a prompt, only the first position is read.
    int64_t position(int64_t b, int64_t token) const
    {
        if (!positions) return past_of(b) + token;
        return is_prompt ? positions[0] + token : positions[b * tokens + token];
    }
    int64_t present_at(int64_t b, int64_t head, int64_t row) const
    {
        return ((b * key_heads + head) * rows + row) * depth;
    }
    int64_t past_at(int64_t b, int64_t head, int64_t row) const
    {
        return ((b * key_heads + head) * past_rows + row) * depth;
    }
    int64_t query_at(int64_t b, int64_t token, int64_t head) const
    {
        return (b * tokens + token) * query_step + head * depth;
    }
    int64_t key_at(int64_t b, int64_t token, int64_t head) const
    {
        return (b * tokens + token) * key_step + head * depth;
    }
    int64_t result_at(int64_t b, int64_t token, int64_t head) const
    {
        return ((b * tokens + token) * heads + head) * depth;
    }
};

// The members that follow from shapes and parameters.
GroupQuery describe_group_query(const KernelContext& context);

// All of them, for this run. Numbers that came as data and would lead out of a tensor are
// an error.
TENGINE_MUST_USE int read_group_query(const KernelContext& context, GroupQuery* out_query);

// The row of the bias for one head of one token, from key 0 on; null: there is no bias.
template <class T>
const T* bias_row(const KernelContext& context, const GroupQuery& query, int64_t b, int64_t head,
                  int64_t token)
{
    const tensor* bias = context.input(GROUP_QUERY_BIAS);
    if (!bias) return nullptr;
    const int64_t row =
        ((bias->dims[0] > 1 ? b : 0) * bias->dims[1] + (bias->dims[1] > 1 ? head : 0)) *
            query.tokens +
        token;
    return static_cast<const T*>(bias->data) + row * bias->dims[3];
}

// Where rows of keys, or of values, come from and go to.
template <class T>
struct CacheRows
{
    const T* past;
    const T* fresh;
    T* present;

    CacheRows(const KernelContext& context, const GroupQuery& query, bool is_key)
        : past(data_of(context.input(is_key ? GROUP_QUERY_PAST_KEY : GROUP_QUERY_PAST_VALUE))),
          fresh(data_of(context.input(is_key ? GROUP_QUERY_KEY : GROUP_QUERY_VALUE))),
          present(const_cast<T*>(data_of(
              context.output(is_key ? GROUP_QUERY_PRESENT_KEY : GROUP_QUERY_PRESENT_VALUE))))
    {
        const int64_t offset = is_key ? query.key_offset : query.value_offset;
        if (!fresh) fresh = data_of(context.input(GROUP_QUERY_QUERY)) + offset;
    }
    bool is_in_place() const { return past == present; }

  private:
    static const T* data_of(const tensor* tensor)
    {
        return tensor ? static_cast<const T*>(tensor->data) : nullptr;
    }
};

// The pairs of elements of a head that are turned together, and their angles.
template <class T>
struct RotaryPairs
{
    const T *cosines, *sines;  // of the pairs, for a position
    int64_t number;
    int64_t step;   // from the first element of a pair to that of the next
    int64_t apart;  // from the first element of a pair to the second

    RotaryPairs(const KernelContext& context, const GroupQuery& query, int64_t position)
        : number(query.rotary / 2),
          step(query.interleaved ? 2 : 1),
          apart(query.interleaved ? 1 : query.rotary / 2)
    {
        const auto row_of = [&](int index) {
            return static_cast<const T*>(context.input(index)->data) + position * number;
        };
        cosines = number > 0 ? row_of(GROUP_QUERY_COS) : nullptr;
        sines = number > 0 ? row_of(GROUP_QUERY_SIN) : nullptr;
    }
};

// The present's rows: those of the past, new ones, zeros. In the memory of the past only the new
// ones are written. New keys are turned by turn(position, from, to).
template <class T, class Turn>
void fill_cache(const KernelContext& context, const GroupQuery& query, bool is_key,
                const Turn& turn)
{
    const CacheRows<T> cache(context, query, is_key);
    const bool in_place = cache.is_in_place();
    const size_t row_bytes = sizeof(T) * static_cast<size_t>(query.depth);
    const int64_t count = in_place ? query.tokens : query.rows;
    const auto fill = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int64_t head = item / count % query.key_heads;
            const int64_t b = item / count / query.key_heads;
            const int64_t past = query.past_of(b);
            const int64_t row = item % count + (in_place ? past : 0), token = row - past;
            T* to = cache.present + query.present_at(b, head, row);
            if (token < 0)
                std::memcpy(to, cache.past + query.past_at(b, head, row), row_bytes);
            else if (token >= query.tokens)
                std::memset(to, 0, row_bytes);
            else if (is_key)
                turn(query.position(b, token), cache.fresh + query.key_at(b, token, head), to);
            else
                std::memcpy(to, cache.fresh + query.key_at(b, token, head), row_bytes);
        }
    };
    parallel_for(context.pool, query.batch * query.key_heads * count, grain_for(query.depth), fill);
}

}  // namespace tengine::cpu
