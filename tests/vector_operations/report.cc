// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "vector_operations/operands.h"

namespace tengine::vector_operations {

void report_lane(const char* operation, const char* target, size_t type_bytes, size_t lanes,
                 size_t lane, double got, double expected)
{
    ADD_FAILURE() << operation << " of " << target << ", " << lanes << " lanes of " << type_bytes
                  << " bytes: lane " << lane << " is " << got << ", expected " << expected;
}

}  // namespace tengine::vector_operations
