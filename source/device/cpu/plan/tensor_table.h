// SPDX-License-Identifier: Apache-2.0
// Records of tensors for the steps of a plan, created on demand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/maps.hpp"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// Numbers tensors from 0, in the order of the first request.
class TensorNumbers
{
  public:
    size_t number_of(const tensor* tensor);
    size_t find(const tensor* tensor) const;  // SIZE_MAX: it has none

  private:
    Map<const tensor*, size_t> numbers_;
};

template <class Record>
class TensorTable
{
  public:
    // Created at the first request. The next creation invalidates references.
    Record& operator[](const tensor* tensor)
    {
        const size_t number = numbers_.number_of(tensor);
        if (number == records_.size()) records_.emplace_back();
        return records_[number];
    }
    const Record* find(const tensor* tensor) const
    {
        const size_t number = numbers_.find(tensor);
        return number == SIZE_MAX ? nullptr : &records_[number];
    }

    auto begin() const { return records_.begin(); }
    auto end() const { return records_.end(); }

  private:
    TensorNumbers numbers_;
    Vector<Record> records_;
};

}  // namespace tengine::cpu
