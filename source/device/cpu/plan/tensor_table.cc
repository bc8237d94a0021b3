// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/tensor_table.h"

namespace tengine::cpu {

size_t TensorNumbers::number_of(const tensor* tensor)
{
    return numbers_.emplace(tensor, numbers_.size()).first->second;
}

size_t TensorNumbers::find(const tensor* tensor) const
{
    const auto found = numbers_.find(tensor);
    return found == numbers_.end() ? SIZE_MAX : found->second;
}

}  // namespace tengine::cpu
