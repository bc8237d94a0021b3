// SPDX-License-Identifier: Apache-2.0
// Attention as its kernels see it: the positions of queries, keys, values and masks, and the keys
// that a query sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/attention_param.h"

namespace tengine::cpu {

struct AttentionProblem : attention_form
{
    float scale, softcap;  // from the attributes
    bool causal;
    int64_t left, right;     // windows; -1: none
    const int64_t* lengths;  // keys of each batch that are not padding; null: all

    int64_t keys() const { return past + fresh; }
    int64_t group() const { return heads / key_heads; }
    // The index of token 0 among the keys.
    int64_t offset_of(int64_t b) const { return lengths ? lengths[b] - tokens : past; }

    // Keys first_key() <= key < end_key() are those that a token sees, without regard to a mask;
    // there may be none.
    int64_t first_key(int64_t b, int64_t token) const
    {
        return left < 0 ? 0 : std::max<int64_t>(offset_of(b) + token - left, 0);
    }
    int64_t end_key(int64_t b, int64_t token) const
    {
        const int64_t position = offset_of(b) + token;
        int64_t end = lengths ? lengths[b] : keys();
        if (causal) end = std::min(end, position + 1);
        return right < 0 ? end : std::min(end, position + right + 1);
    }
    // Rows of a query and a result, and of keys and values that come with the node; in rows.
    int64_t query_row(int64_t b, int64_t head, int64_t token) const
    {
        return tokens_first ? (b * tokens + token) * heads + head
                            : (b * heads + head) * tokens + token;
    }
    int64_t fresh_row(int64_t b, int64_t head, int64_t key) const
    {
        return tokens_first ? (b * fresh + key) * key_heads + head
                            : (b * key_heads + head) * fresh + key;
    }
};

// Reads the node's problem in this run. Lengths beyond the keys are an error.
TENGINE_MUST_USE int read_attention_problem(const KernelContext& context,
                                            AttentionProblem* out_problem);

// Keys or values of a node: those of the past, then those that come with it.
class AttentionRows
{
  public:
    AttentionRows(const KernelContext& context, const AttentionProblem& problem, bool is_key)
        : problem_(problem),
          past_(bytes_of(context.input(is_key ? ATTENTION_PAST_KEY : ATTENTION_PAST_VALUE))),
          fresh_(bytes_of(context.input(is_key ? ATTENTION_KEY : ATTENTION_VALUE))),
          row_bytes_((is_key ? problem.depth : problem.width) *
                     context.input(is_key ? ATTENTION_KEY : ATTENTION_VALUE)->elem_size)
    {
    }

    const char* at(int64_t b, int64_t head, int64_t key) const
    {
        if (key < problem_.past)
            return past_ + ((b * problem_.key_heads + head) * problem_.past + key) * row_bytes_;
        return fresh_ + problem_.fresh_row(b, head, key - problem_.past) * row_bytes_;
    }

    // Copies all of them, head after head.
    void copy_to(thread_pool_t* pool, char* present) const
    {
        const int64_t keys = problem_.keys();
        const auto copy = [&](int64_t begin, int64_t end, int) {
            for (int64_t row = begin; row < end; ++row)
                std::memcpy(present + row * row_bytes_,
                            at(row / keys / problem_.key_heads, row / keys % problem_.key_heads,
                               row % keys),
                            static_cast<size_t>(row_bytes_));
        };
        parallel_for(pool, problem_.batch * problem_.key_heads * keys, grain_for(row_bytes_), copy);
    }

  private:
    static const char* bytes_of(const tensor* tensor)
    {
        return tensor ? static_cast<const char*>(tensor->data) : nullptr;
    }

    const AttentionProblem& problem_;
    const char *past_, *fresh_;
    int64_t row_bytes_;
};

// Fills the outputs with keys and values, where there are any.
void fill_attention_present(const KernelContext& context, const AttentionProblem& problem);

// The row of a mask for a token of a head.
class MaskRows
{
  public:
    explicit MaskRows(const tensor& mask) : columns_(mask.dims[mask.dim_num - 1])
    {
        int64_t step = columns_;
        for (int i = mask.dim_num - 2, axis = 2; i >= 0; --i, --axis) {
            steps_[axis] = mask.dims[i] == 1 ? 0 : step;
            step *= mask.dims[i];
        }
    }

    // The number of keys in the mask; others are not seen.
    int64_t columns() const { return columns_; }
    // The offset in elements.
    int64_t at(int64_t b, int64_t head, int64_t token) const
    {
        return b * steps_[0] + head * steps_[1] + token * steps_[2];
    }

  private:
    int64_t columns_;
    int64_t steps_[3] = {};
};

}  // namespace tengine::cpu
