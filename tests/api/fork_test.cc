// SPDX-License-Identifier: Apache-2.0
// The child of fork() has no threads: calls that would wait for them fail with a message,
// everything else works. An alarm ends a child that hangs.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/wait.h>

#include "fixture.h"
#include "support/test_device.h"

namespace tengine {
namespace {

constexpr unsigned kDeadlineSeconds = 60;

#define REQUIRE(condition)                                                               \
    if (!(condition)) {                                                                  \
        std::fprintf(stderr, "in the child: %s: %s\n", #condition, get_tengine_error()); \
        return false;                                                                    \
    }

class ForkTest : public ApiTest
{
  protected:
    void SetUp() override
    {
#ifdef __SANITIZE_THREAD__
        GTEST_SKIP() << "the thread sanitizer ends a child that starts threads";
#endif
#ifdef TENGINE_EMULATED
        GTEST_SKIP() << "qemu aborts in the child of a process with threads when it starts one";
#endif
        ApiTest::SetUp();
        context_ = create_context("fork", 0);
        ASSERT_EQ(tengine_context_set_option(context_, "split.prune", "0"), 0);
    }

    // A network of one Relu that is large enough for several threads, prepared and run.
    void prepare(int threads)
    {
        graph_ = create_graph(context_, nullptr, nullptr);
        x_ = add_input(graph_, "x", {kElements});
        y_ = add_node(graph_, "y", "Relu", {x_});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
        values_.assign(kElements, 3.0f);
        ASSERT_TRUE(write_floats(x_, values_));
        threads_ = threads;
        ASSERT_TRUE(prerun_and_run()) << get_tengine_error();
    }

    bool prerun_and_run()
    {
        return prerun_graph_multithread(graph_, {threads_, TENGINE_CLUSTER_ALL, 0, 0}) == 0 &&
               run_graph(graph_, 1) == 0 && read_floats(y_) == values_;
    }

    // Does `work` in a child process; whether it ended and succeeded.
    static bool succeeds_in_child(const std::function<bool()>& work)
    {
        const pid_t child = fork();
        if (child == 0) {
            alarm(kDeadlineSeconds);
            _exit(work() ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    bool refuses(int result) const
    {
        return result == -1 && get_tengine_errno() == TENGINE_ESTATE &&
               std::strstr(get_tengine_error(), "fork") != nullptr;
    }

    // In the child the graph cannot be run, and can be prepared again, or destroyed.
    void expect_graph_to_be_lost()
    {
        EXPECT_TRUE(succeeds_in_child([this] {
            REQUIRE(refuses(run_graph(graph_, 1)));
            REQUIRE(prerun_and_run());
            REQUIRE(destroy_graph(graph_) == 0);
            return true;
        }));
        EXPECT_TRUE(succeeds_in_child([this] {
            REQUIRE(postrun_graph(graph_) == 0);
            REQUIRE(prerun_and_run());
            return true;
        }));
        EXPECT_TRUE(succeeds_in_child([this] { return destroy_graph(graph_) == 0; }));
        EXPECT_TRUE(succeeds_in_child([] {
            release_tengine();
            return init_tengine() == 0;
        }));
        EXPECT_TRUE(prerun_and_run()) << "the parent: " << get_tengine_error();
    }

    static constexpr int kElements = 1 << 20;

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr, y_ = nullptr;
    std::vector<float> values_;
    int threads_ = 1;
};

TEST_F(ForkTest, GraphWithoutThreadsGoesOn)
{
    prepare(1);
    EXPECT_TRUE(succeeds_in_child([this] {
        values_.assign(kElements, 5.0f);
        REQUIRE(write_floats(x_, values_));
        REQUIRE(run_graph(graph_, 1) == 0 && wait_graph(graph_, 0) == 1);
        REQUIRE(read_floats(y_) == values_);
        REQUIRE(prerun_and_run());
        return true;
    }));
    EXPECT_EQ(read_floats(y_), values_);
}

TEST_F(ForkTest, GraphWithThreadsIsLost)
{
    prepare(2);
    if (get_cluster_affinity_mask(TENGINE_CLUSTER_ALL) == 1)
        GTEST_SKIP() << "one core: no threads are made";
    EXPECT_TRUE(succeeds_in_child([this] {
        REQUIRE(wait_graph(graph_, 0) == 1);
        REQUIRE(read_floats(y_) == values_);
        return true;
    })) << "the last run was over";
    expect_graph_to_be_lost();
}

TEST_F(ForkTest, PipelineIsLost)
{
    ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
    prepare(1);
    expect_graph_to_be_lost();
}

TEST_F(ForkTest, WatchedPartIsLost)
{
    const test::TestDevice device("A", {"Relu"});
    ASSERT_EQ(add_context_device(context_, "A"), 0);
    ASSERT_EQ(tengine_context_set_option(context_, "run.watchdog_ms", "10000"), 0);
    prepare(1);
    EXPECT_EQ(std::string(get_node_device(get_graph_node(graph_, "y"))), "A");
    expect_graph_to_be_lost();
    EXPECT_EQ(destroy_graph(graph_), 0);
    destroy_context(context_);
}

TEST_F(ForkTest, RunsUnderWayAreLost)
{
    ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
    prepare(1);
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
    EXPECT_TRUE(succeeds_in_child([this] {
        REQUIRE(refuses(run_graph(graph_, 0)));
        REQUIRE(refuses(wait_graph(graph_, 0)));
        REQUIRE(refuses(wait_graph(graph_, 1)));
        REQUIRE(get_graph_exec_status(graph_) == GRAPH_STAT_ERROR);
        REQUIRE(prerun_and_run());
        return true;
    }));
    EXPECT_TRUE(succeeds_in_child([this] { return destroy_graph(graph_) == 0; }));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(wait_graph(graph_, 0), 1) << get_tengine_error();
}

}  // namespace
}  // namespace tengine
