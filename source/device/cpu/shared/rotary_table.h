// SPDX-License-Identifier: Apache-2.0
// The cosines and sines of a head of RotaryEmbedding: for its kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "operator/onnx/rotary_param.h"

namespace tengine::cpu {

class RotaryTable
{
  public:
    RotaryTable(const KernelContext& context, const rotary_form& form)
        : form_(form),
          row_num_(context.input(form.cosine_input)->dims[0]),
          positions_(form.has_positions ? context.input(form.position_input)->i64 : nullptr),
          position_num_(form.has_positions ? context.input(form.position_input)->elem_num : 0)
    {
    }

    // ERANGE for a position that has no row.
    int check(const node* node) const
    {
        const int64_t following = form_.is_offset ? std::max(form_.sequence - 1, 0) : 0;
        for (int64_t i = 0; i < position_num_; ++i)
            if (positions_[i] < 0 || positions_[i] >= row_num_ - following)
                return fail_node(node, TENGINE_ERANGE,
                                 "position %lld at %lld is out of range: expected 0 to %lld",
                                 static_cast<long long>(positions_[i]), static_cast<long long>(i),
                                 static_cast<long long>(row_num_ - following - 1));
        return TENGINE_OK;
    }

    // Offset of the row of head `index`, in the order of heads in memory.
    int64_t offset_of(int64_t index) const
    {
        const int64_t per_batch = int64_t{form_.heads} * form_.sequence;
        const int64_t token =
            form_.heads_first ? index % form_.sequence : index / form_.heads % form_.sequence;
        const int64_t place = index / per_batch * form_.sequence + token;
        if (!positions_) return place * form_.half;
        const int64_t position = form_.is_offset ? positions_[0] + token : positions_[place];
        return position * form_.half;
    }

  private:
    const rotary_form& form_;
    int64_t row_num_;
    const int64_t* positions_;
    int64_t position_num_;
};

}  // namespace tengine::cpu
