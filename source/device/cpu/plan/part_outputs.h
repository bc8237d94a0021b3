// SPDX-License-Identifier: Apache-2.0
// Which tensors leave a part: their values must lie where the core put them.
#pragma once

#include <cstddef>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

class PartOutputs
{
  public:
    explicit PartOutputs(const subgraph& part) : is_output_(part.graph->tensor_num)
    {
        for (int i = 0; i < part.output_num; ++i)
            is_output_[part.output_tensor_list[i]] = true;
    }

    // A plan's own tensors, which have index -1, never leave it.
    bool has(const tensor& value) const
    {
        const auto index = static_cast<size_t>(value.index);
        return index < is_output_.size() && is_output_[index];
    }

  private:
    Vector<bool> is_output_;  // by the tensor's index
};

}  // namespace tengine::cpu
