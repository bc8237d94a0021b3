// SPDX-License-Identifier: Apache-2.0
// The tensors that leave a part: their values must be in the core's memory.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/containers.hpp"
#include "base/sort.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

class PartOutputs
{
  public:
    explicit PartOutputs(const subgraph& part)
        : indices_(part.output_tensor_list, part.output_tensor_list + part.output_num)
    {
        sort_indices(indices_.data(), indices_.size());
    }

    // A plan's own tensors never leave it; they have index -1, as absent outputs of a node have.
    bool has(const tensor& value) const
    {
        return value.index >= 0 &&
               std::binary_search(indices_.begin(), indices_.end(), value.index);
    }

  private:
    Vector<int32_t> indices_;
};

}  // namespace tengine::cpu
