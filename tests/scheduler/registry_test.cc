// SPDX-License-Identifier: Apache-2.0
// Schedulers by name, the choice of a graph's, and schedulers that are not built in.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "graph/graph.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

// Runs the parts in order and counts its calls; registered while it lives.
class CountingScheduler
{
  public:
    CountingScheduler()
    {
        table_.name = "counting";
        table_.prerun = [](scheduler*, graph*) { return ++preruns * 0; };
        table_.run = [](scheduler*, graph* graph, int) {
            ++runs;
            for (int i = 0; i < get_vector_num(graph->subgraph_list); ++i)
                TENGINE_RETURN_IF_ERROR(run_ir_subgraph(get_ir_graph_subgraph(graph, i)));
            return int{TENGINE_OK};
        };
        table_.wait = [](scheduler*, graph*) { return 1; };
        table_.postrun = [](scheduler*, graph*) { return ++postruns * 0; };
        table_.release = [](scheduler*) { ++releases; };
        preruns = runs = postruns = releases = 0;
        EXPECT_EQ(register_scheduler(&table_), TENGINE_OK) << tengine_error_message();
    }
    ~CountingScheduler() { EXPECT_EQ(unregister_scheduler(&table_), TENGINE_OK); }

    scheduler* get() { return &table_; }

    static inline int preruns, runs, postruns, releases;

  private:
    ir_scheduler_t table_ = {};
};

TEST(SchedulerRegistry, BuiltInSchedulersAreAlwaysThere)
{
    EXPECT_EQ(get_scheduler_count(), 2);
    EXPECT_STREQ(find_scheduler_via_index(0)->name, "sync");
    EXPECT_STREQ(find_scheduler_via_index(1)->name, "pipeline");
    EXPECT_EQ(find_scheduler_via_index(2), nullptr);
    EXPECT_EQ(find_scheduler_via_index(-1), nullptr);
    EXPECT_EQ(find_scheduler_via_name("pipeline"), find_scheduler_via_index(1));
    EXPECT_EQ(find_scheduler_via_name("nope"), nullptr);
    EXPECT_EQ(find_scheduler_via_name(nullptr), nullptr);
    EXPECT_EQ(register_scheduler(find_scheduler_via_index(0)), TENGINE_EEXIST);
    EXPECT_EQ(unregister_scheduler(find_scheduler_via_index(0)), TENGINE_ENOENT);
    EXPECT_EQ(get_scheduler_count(), 2);
}

TEST(SchedulerRegistry, OthersComeAndGo)
{
    {
        CountingScheduler counting;
        EXPECT_EQ(get_scheduler_count(), 3);
        EXPECT_EQ(find_scheduler_via_name("counting"), counting.get());
        EXPECT_EQ(find_scheduler_via_index(2), counting.get());
        EXPECT_EQ(register_scheduler(counting.get()), TENGINE_EEXIST);
    }
    EXPECT_EQ(CountingScheduler::releases, 1);
    EXPECT_EQ(get_scheduler_count(), 2);
    EXPECT_EQ(unregister_scheduler(nullptr), TENGINE_ENOENT);
}

TEST(SchedulerRegistry, WhatIsIncompleteIsRefused)
{
    ir_scheduler_t table = {};
    EXPECT_EQ(register_scheduler(nullptr), TENGINE_EINVAL);
    EXPECT_EQ(register_scheduler(&table), TENGINE_EINVAL);
    table.name = "incomplete";
    EXPECT_EQ(register_scheduler(&table), TENGINE_EINVAL);
    EXPECT_TRUE(says("lacks run"));
    table.run = [](scheduler*, graph*, int) { return 0; };
    EXPECT_EQ(register_scheduler(&table), TENGINE_EINVAL);
    EXPECT_TRUE(says("lacks wait"));
}

TEST(SchedulerChoice, TheContextsOptionGoesBeforeTheDevices)
{
    TestDevice device("A", {"Relu", "Neg"});
    CountingScheduler counting;
    ir_scheduler_t own = *find_scheduler_via_name("sync");
    own.name = "own";
    device.get()->scheduler = &own;
    Session session({&device});
    add_three_steps(session);
    session.feed("x", {1, 2, 3, 4});
    scheduler* chosen = nullptr;
    ASSERT_EQ(choose_ir_scheduler(session.source(), &chosen), TENGINE_OK);
    EXPECT_EQ(chosen, &own) << "of the first device";
    session.set("scheduler", "counting");
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_FLOAT_EQ(session.read("y")[3], three_steps_of(4));
    ASSERT_EQ(session.postrun(), TENGINE_OK);
    EXPECT_EQ(CountingScheduler::preruns, 1);
    EXPECT_EQ(CountingScheduler::runs, 3);
    EXPECT_EQ(CountingScheduler::postruns, 1);
    session.set("scheduler", "nope");
    EXPECT_EQ(session.prerun(), TENGINE_ENOENT);
    EXPECT_TRUE(says("unknown scheduler 'nope': expected sync, pipeline, counting"));
    session.set("scheduler", "");
    ASSERT_EQ(session.prerun(), TENGINE_OK);
}

TEST(SchedulerChoice, TheDefaultIsTheSynchronousOne)
{
    Session session({});
    scheduler* chosen = nullptr;
    ASSERT_EQ(choose_ir_scheduler(session.source(), &chosen), TENGINE_OK);
    EXPECT_EQ(chosen, find_scheduler_via_name("sync"));
}

TEST(SchedulerContract, APartOutsideOfARunIsRefused)
{
    Session session({});
    add_three_steps(session);
    graph* execution = make_execution_graph(session.source());
    ASSERT_NE(execution, nullptr);
    EXPECT_EQ(run_ir_subgraph(get_ir_graph_subgraph(execution, 0)), TENGINE_ESTATE);
    destroy_ir_graph(execution);
}

// Runs independent parts, each on a thread of its own.
int run_first_two_at_once(scheduler*, graph* graph, int)
{
    int status = 0;
    std::thread other([&] { status = run_ir_subgraph(get_ir_graph_subgraph(graph, 0)); });
    const int mine = run_ir_subgraph(get_ir_graph_subgraph(graph, 1));
    other.join();
    if (status < 0 || mine < 0) return TENGINE_EDEVICE;
    for (int i = 2; i < get_vector_num(graph->subgraph_list); ++i)
        TENGINE_RETURN_IF_ERROR(run_ir_subgraph(get_ir_graph_subgraph(graph, i)));
    return TENGINE_OK;
}

TEST(SchedulerContract, PartsThatDoNotNeedEachOtherMayRunAtOnce)
{
    TestDevice a("A", {"Neg"}), b("B", {"Abs"});
    ir_scheduler_t table = {};
    table.name = "two at once";
    table.run = run_first_two_at_once;
    table.wait = [](scheduler*, graph*) { return 1; };
    table.concurrent = 1;
    ASSERT_EQ(register_scheduler(&table), TENGINE_OK);
    Session session({&a, &b});
    session.builder().input("x", {3});
    session.builder().add("Neg", {"x"}, {"n"});
    session.builder().add("Abs", {"x"}, {"m"});
    session.builder().add("Add", {"n", "m"}, {"y"});
    session.builder().outputs({"y"});
    session.set("scheduler", "two at once");
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(get_vector_num(session.execution()->subgraph_list), 3);
    for (int i = 0; i < 50; ++i) {
        session.feed("x", {-1, 0, static_cast<float>(i)});
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session.read("y"), (Floats{2, 0, 0}));
    }
    ASSERT_EQ(session.postrun(), TENGINE_OK);
    EXPECT_EQ(unregister_scheduler(&table), TENGINE_OK);
}

// A scheduler with a single run that continues after run().
struct Background
{
    static inline std::thread thread;
    static inline std::atomic<int> status{0};

    static int run(scheduler*, graph* graph, int block)
    {
        status = 0;
        thread = std::thread([graph] {
            int result = 1;
            for (int i = 0; i < get_vector_num(graph->subgraph_list) && result == 1; ++i)
                if (run_ir_subgraph(get_ir_graph_subgraph(graph, i)) < 0) result = TENGINE_EDEVICE;
            status = result;
        });
        if (!block) return TENGINE_OK;
        thread.join();
        return status < 0 ? TENGINE_EDEVICE : TENGINE_OK;
    }
    static int wait(scheduler*, graph*)
    {
        thread.join();
        return status;
    }
    static int try_wait(scheduler* scheduler, graph* graph)
    {
        return status == 0 ? 0 : wait(scheduler, graph);
    }
};

TEST(SchedulerContract, ARunMayBeLeftUnderWay)
{
    ir_scheduler_t table = {};
    table.name = "background";
    table.run = Background::run;
    table.wait = Background::wait;
    table.try_wait = Background::try_wait;
    ASSERT_EQ(register_scheduler(&table), TENGINE_OK);
    {
        TestDevice device("A", {"Relu", "Neg"});
        Session session({&device});
        add_three_steps(session);
        session.set("scheduler", "background");
        session.feed("x", {1, 2, 3, 4});
        ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(session.run(0), TENGINE_OK);
        EXPECT_EQ(session.source()->status, GRAPH_STAT_RUNNING);
        EXPECT_EQ(session.run(0), TENGINE_ELIMIT);
        EXPECT_TRUE(says("1 runs are in flight; call wait_graph"));
        EXPECT_EQ(session.run(1), TENGINE_ESTATE);
        EXPECT_EQ(session.prerun(), TENGINE_ESTATE);
        EXPECT_FALSE(may_feed_ir_graph(session.source())) << "the run reads the user's memory";
        while (session.wait(1) == 0)
            std::this_thread::yield();
        EXPECT_TRUE(may_feed_ir_graph(session.source()));
        EXPECT_FLOAT_EQ(session.read("y")[3], three_steps_of(4));
        ASSERT_EQ(session.run(1), TENGINE_OK);
        ASSERT_EQ(session.run(0), TENGINE_OK);
        EXPECT_EQ(session.postrun(), TENGINE_OK) << "waits";
    }
    EXPECT_EQ(unregister_scheduler(&table), TENGINE_OK);
}

}  // namespace
