// SPDX-License-Identifier: Apache-2.0
#include "base/guard.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace tengine {
namespace {

class Guard : public testing::Test
{
  protected:
    void SetUp() override { tengine_error_clear(); }
};

int run_out_of_memory()
{
    throw std::bad_alloc();
}

int break_library()
{
    throw std::runtime_error("bad wire type");
}

TEST_F(Guard, KeepsWhatTheWorkReturns)
{
    EXPECT_EQ(guarded([] { return 3; }, "no memory"), 3);
    EXPECT_EQ(guarded([] { return tengine_error_set(TENGINE_EIO, "no disk"); }, "no memory"),
              TENGINE_EIO);
    EXPECT_STREQ(tengine_error_message(), "no disk");
    EXPECT_EQ(guarded_library([] { return 3; }, TENGINE_EFORMAT, "no model"), 3);
}

TEST_F(Guard, TurnsMissingMemoryIntoAStatus)
{
    EXPECT_EQ(guarded(run_out_of_memory, "no memory for part %d of '%s'", 4, "digits"),
              TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "no memory for part 4 of 'digits'");
}

TEST_F(Guard, TurnsALibrarysExceptionIntoAStatus)
{
    EXPECT_EQ(guarded_library(break_library, TENGINE_EFORMAT, "cannot read '%s'", "x.onnx"),
              TENGINE_EFORMAT);
    EXPECT_STREQ(tengine_error_message(), "cannot read 'x.onnx': bad wire type");
}

TEST_F(Guard, LeavesMissingMemoryOfALibraryToTheGuardAroundIt)
{
    const auto with_library = [] {
        return guarded_library(run_out_of_memory, TENGINE_EFORMAT, "cannot read");
    };
    EXPECT_EQ(guarded(with_library, "no memory to read"), TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "no memory to read");
}

TEST_F(Guard, LetsOtherExceptionsPass)
{
    EXPECT_THROW(guarded(break_library, "no memory"), std::runtime_error);
}

}  // namespace
}  // namespace tengine
