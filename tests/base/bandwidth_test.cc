// SPDX-License-Identifier: Apache-2.0
// base/bandwidth.h: a plausible figure, equal on all threads.
#include "base/bandwidth.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "base/alloc.h"
#include "tengine/error.h"

namespace tengine {
namespace {

TEST(Bandwidth, IsMeasuredOnceForAllThreads)
{
    std::vector<double> answers(4);
    std::vector<std::thread> threads;
    for (double& answer : answers)
        threads.emplace_back([&answer] { answer = get_copy_bandwidth(); });
    for (std::thread& thread : threads)
        thread.join();
    for (double answer : answers)
        EXPECT_EQ(answer, get_copy_bandwidth());
}

// Returns the bytes that a call takes from an arena of this size.
size_t count_bytes_taken(size_t arena_size)
{
    std::vector<char> memory(arena_size);
    EXPECT_EQ(set_memory_arena(memory.data(), memory.size()), TENGINE_OK);
    EXPECT_GT(get_copy_bandwidth(), 0);
    char text[200];
    EXPECT_FALSE(describe_memory_shortage(text, sizeof text)) << text;
    size_t used = 0, peak = 0;
    get_memory_use(&used, &peak);
    EXPECT_EQ(used, 0u);
    EXPECT_EQ(set_memory_arena(nullptr, 0), TENGINE_OK);
    return peak;
}

// The test needs a process of its own, where nothing has been measured yet.
TEST(BandwidthDeathTest, IsMeasuredOnceThereIsMemory)
{
    constexpr size_t kBuffers = 8 << 20, kRoom = 9 << 20;
    const auto measure = [] {
        const bool small_is_passed_over = count_bytes_taken(1 << 20) < kBuffers;
        const bool is_measured = count_bytes_taken(kRoom) >= kBuffers;
        const bool is_kept = count_bytes_taken(kRoom) == 0;
        std::exit(
            small_is_passed_over && is_measured && is_kept && !testing::Test::HasFailure() ? 0 : 1);
    };
    EXPECT_EXIT(measure(), testing::ExitedWithCode(0), "");
}

TEST(Bandwidth, IsThatOfMemory)
{
    EXPECT_GE(get_copy_bandwidth(), 5e8);
    EXPECT_LT(get_copy_bandwidth(), 1e12);
    RecordProperty("gigabytes_per_second", std::to_string(get_copy_bandwidth() / 1e9));
}

}  // namespace
}  // namespace tengine
