// SPDX-License-Identifier: Apache-2.0
// base/bandwidth.h: a figure that can be believed, the same for all threads.
#include "base/bandwidth.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

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

TEST(Bandwidth, IsThatOfMemory)
{
    EXPECT_GE(get_copy_bandwidth(), 5e8);
    EXPECT_LT(get_copy_bandwidth(), 1e12);
    RecordProperty("gigabytes_per_second", std::to_string(get_copy_bandwidth() / 1e9));
}

}  // namespace
}  // namespace tengine
