// SPDX-License-Identifier: Apache-2.0
// All kernels by operator, in the order in which they are asked.
#pragma once

#include <unordered_map>
#include <vector>

#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

class KernelList
{
  public:
    // Sorts the generated tables by operator id. Kernels of operators that are not registered are
    // an error, which names them.
    int fill();

    // The first kernel that accepts the node; null when none does.
    const Kernel* pick(const node& node) const;

    std::vector<int> operators() const;

  private:
    std::unordered_map<int, std::vector<const Kernel*>> by_type_;
};

}  // namespace tengine::cpu
