// SPDX-License-Identifier: Apache-2.0
// A context whose quantised graphs have inputs and outputs of integers in tmfiles. It outlives
// them.
#pragma once

#include <gtest/gtest.h>
#include <memory>

#include "graph/context.h"
#include "graph/option.h"

namespace tengine::test {

class IntegerBorders
{
  public:
    IntegerBorders()
    {
        EXPECT_EQ(set_ir_context_option(context_.get(), "model.integer_io", "1"), 0);
    }

    ir_context_t* context() const { return context_.get(); }

  private:
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("integers"),
                                                                    destroy_ir_context};
};

}  // namespace tengine::test
