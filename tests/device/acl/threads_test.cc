// SPDX-License-Identifier: Apache-2.0
// ACL's one scheduler serves graphs with any number of threads, several at once.
#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

#include "device/acl/acl_run.h"
#include "device/acl/scheduler.h"

namespace tengine::acl {
namespace {

void build_convolutions(test::IrBuilder& builder)
{
    builder.input("x", {1, 8, 33, 35});
    std::vector<float> weights(16 * 8 * 3 * 3), bias(16, 0.25F);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(i % 17) / 16 - 0.5F;
    builder.floats("w", {16, 8, 3, 3}, weights);
    builder.floats("b", {16}, bias);
    builder.add("Conv", {"x", "w", "b"}, {"y"});
    builder.add("Relu", {"y"}, {"z"});
    builder.add("GlobalAveragePool", {"z"}, {"p"});
    builder.add("Mul", {"z", "p"}, {"q"});
    builder.outputs({"q"});
}

std::vector<float> run_with(int threads)
{
    RunSettings settings;
    settings.threads = threads;
    AclRun run(settings, build_convolutions);
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("CPU"), 0) << run.refusals();
    run.feed_all(3);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.redone(), 0);
    return run.outputs();
}

TEST(AclThreads, ResultsDoNotDependOnTheirNumber)
{
    const std::vector<float> wanted = run_with(1);
    for (const int threads : {2, 3, 8})
        EXPECT_EQ(run_with(threads), wanted) << threads;
}

TEST(AclThreads, GraphsRunAtTheSameTime)
{
    const std::vector<float> wanted = run_with(1);
    std::atomic<int> wrong{0};
    std::vector<std::thread> users;
    for (int user = 0; user < 4; ++user)
        users.emplace_back([&, user] {
            for (int round = 0; round < 3; ++round)
                if (run_with(1 + user) != wanted) ++wrong;
        });
    for (std::thread& user : users)
        user.join();
    EXPECT_EQ(wrong, 0);
}

// The message of a kernel's failure is not lost on the way from another thread.
TEST(AclThreads, FailuresKeepTheirWords)
{
    using arm_compute::IScheduler;
    const test::IrBuilder builder;
    thread_pool_t* pool = nullptr;
    ASSERT_EQ(create_thread_pool(3, 0, &pool), TENGINE_OK);
    std::string words;
    {
        const UsePool use(pool);
        std::vector<IScheduler::Workload> work(
            16, [](const arm_compute::ThreadInfo&) { throw std::runtime_error("its words"); });
        try {
            arm_compute::Scheduler::get().run_tagged_workloads(work, "test");
        } catch (const std::runtime_error& failure) {
            words = failure.what();
        }
    }
    destroy_thread_pool(pool);
    EXPECT_EQ(words, "its words");
}

}  // namespace
}  // namespace tengine::acl
