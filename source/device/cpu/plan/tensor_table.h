// SPDX-License-Identifier: Apache-2.0
// What steps of a plan know of tensors: a record for each that is asked for.
#pragma once

#include <cstddef>

#include "base/maps.hpp"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

template <class Record>
class TensorTable
{
  public:
    // Made when it is first asked for. References end with the next that is made.
    Record& operator[](const tensor* tensor)
    {
        const auto [place, is_new] = index_.try_emplace(tensor, records_.size());
        if (is_new) records_.emplace_back();
        return records_[place->second];
    }
    const Record* find(const tensor* tensor) const
    {
        const auto found = index_.find(tensor);
        return found == index_.end() ? nullptr : &records_[found->second];
    }

    auto begin() const { return records_.begin(); }
    auto end() const { return records_.end(); }

  private:
    UnorderedMap<const tensor*, size_t> index_;
    Vector<Record> records_;
};

}  // namespace tengine::cpu
