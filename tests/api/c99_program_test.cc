// SPDX-License-Identifier: Apache-2.0
// Calls the C99 program.
#include "c99_program.h"

#include <gtest/gtest.h>

#include "tengine/c_api.h"

namespace tengine {
namespace {

TEST(C99Program, Works)
{
    for (int round = 0; round < 2; ++round)
        EXPECT_EQ(run_c99_program(), nullptr) << run_c99_program() << ": " << get_tengine_error();
}

}  // namespace
}  // namespace tengine
