// SPDX-License-Identifier: Apache-2.0
// Output 0 of classifiers: integers or strings.
#pragma once

#include "device/cpu/reference/learning/texts.h"

namespace tengine::cpu {

class ClassLabels
{
  public:
    ClassLabels(const KernelContext& context, const op_ints& numbers, const op_strings& texts)
        : context_(context), numbers_(numbers), texts_(texts)
    {
    }

    // Stores a row's label. Any thread, for different rows. finish() stores strings.
    void put(int64_t row, int label) const
    {
        const tensor* output = context_.output(0);
        if (texts_.num > 0)
            static_cast<uintptr_t*>(output->data)[row] = static_cast<uintptr_t>(label);
        else
            output->i64[row] = numbers_.values[label];
    }

    TENGINE_MUST_USE int finish() const
    {
        const tensor* output = context_.output(0);
        for (int64_t row = 0; texts_.num > 0 && row < output->elem_num; ++row)
            TENGINE_RETURN_IF_ERROR(write_text(
                context_, row, texts_.values[static_cast<const uintptr_t*>(output->data)[row]]));
        return TENGINE_OK;
    }

  private:
    const KernelContext& context_;
    const op_ints& numbers_;
    const op_strings& texts_;
};

}  // namespace tengine::cpu
