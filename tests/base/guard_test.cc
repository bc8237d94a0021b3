// SPDX-License-Identifier: Apache-2.0
#include "base/guard.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <vector>

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
    EXPECT_EQ(guarded([] { return 3; }, "out of memory"), 3);
    EXPECT_EQ(guarded([] { return tengine_error_set(TENGINE_EIO, "no disk"); }, "out of memory"),
              TENGINE_EIO);
    EXPECT_STREQ(tengine_error_message(), "no disk");
    EXPECT_EQ(guarded_library([] { return 3; }, TENGINE_EFORMAT, "no model"), 3);
}

TEST_F(Guard, TurnsMissingMemoryIntoAStatus)
{
    EXPECT_EQ(guarded(run_out_of_memory, "out of memory for part %d of '%s'", 4, "digits"),
              TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "out of memory for part 4 of 'digits'");
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
    EXPECT_EQ(guarded(with_library, "out of memory while reading"), TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "out of memory while reading");
}

TEST_F(Guard, TurnsASizeThatNoMemoryHasIntoAStatus)
{
    const auto reserve = [] {
        std::vector<char>().reserve(std::numeric_limits<size_t>::max());
        return 0;
    };
    EXPECT_EQ(guarded(reserve, "out of memory for a part"), TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "out of memory for a part");
}

TEST_F(Guard, TurnsAnyExceptionIntoAStatus)
{
    EXPECT_EQ(guarded(break_library, "out of memory"), TENGINE_EINTERNAL);
    EXPECT_STREQ(tengine_error_message(), "unexpected exception: bad wire type");
    EXPECT_EQ(guarded([]() -> int { throw 4; }, "out of memory"), TENGINE_EINTERNAL);
    EXPECT_STREQ(tengine_error_message(), "unexpected exception: not a std::exception");
}

int divide(int dividend, const int* divisor)
{
    if (*divisor == 0) throw std::bad_alloc();
    return dividend / *divisor;
}

TEST_F(Guard, GuardsEntriesOfTables)
{
    int (*const entry)(int, const int*) = guarded_entry<divide>;
    const int four = 4, zero = 0;
    EXPECT_EQ(entry(12, &four), 3);
    EXPECT_EQ(entry(12, &zero), TENGINE_ENOMEM);
    EXPECT_STREQ(tengine_error_message(), "out of memory");
}

}  // namespace
}  // namespace tengine
