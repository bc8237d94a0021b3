// SPDX-License-Identifier: Apache-2.0
// Devices whose run hangs: given up after the time of option run.watchdog_ms, and harmless when the
// call finally returns.
#include "scheduler/watchdog.h"

#include <atomic>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

class WatchdogTest : public testing::Test
{
  protected:
    WatchdogTest()
    {
        add_three_steps(session_);
        session_.set("run.watchdog_ms", "60000");
    }

    // Sets a time as short as a loaded machine allows.
    void expect_hangs() { session_.set("run.watchdog_ms", "500"); }

    void expect_right_results(float first)
    {
        session_.feed("x", {first, first + 1, first + 2, first + 3});
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        const Floats results = session_.read("y");
        for (size_t i = 0; i < results.size(); ++i)
            EXPECT_FLOAT_EQ(results[i], three_steps_of(first + static_cast<float>(i)));
    }

    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
};

TEST_F(WatchdogTest, RunsThatReturnInTimeAreAsAlways)
{
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < 20; ++i)
        expect_right_results(static_cast<float>(i));
    EXPECT_EQ(device_.runs, 40);
    EXPECT_EQ(session_.part(0)->core->redo_num, 0);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(device_.post_runs, 2);
    EXPECT_EQ(device_.releases, 2);
}

TEST_F(WatchdogTest, ARunThatHangsIsDoneByTheDefaultDevice)
{
    const LogCapture log;
    expect_hangs();
    device_.script.hang_ms = -1;
    device_.script.hang_run = 3;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    for (int i = 0; i < 3; ++i)
        expect_right_results(static_cast<float>(i));
    EXPECT_EQ(device_.hanging, 1);
    EXPECT_EQ(wait_hung_calls(0), 1);
    EXPECT_EQ(session_.part(0)->core->redo_num, 2);
    EXPECT_EQ(log.count("run of part 0 (1 nodes): no return within 500 ms"), 1);
    // The call returns while the graph is still in use.
    device_.release_hangs();
    for (int i = 0; i < 3; ++i)
        expect_right_results(static_cast<float>(-i));
    EXPECT_EQ(wait_hung_calls(10000), 0);
    expect_right_results(1);
    EXPECT_EQ(device_.releases, 1) << "what hung is released by its thread";
}

TEST_F(WatchdogTest, APartWhoseCompilationHangsGoesToTheDefaultDevice)
{
    const LogCapture log;
    session_.set("run.watchdog_ms", "0");
    session_.set("prerun.watchdog_ms", "300");
    device_.script.hang_pre_run_ms = -1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_GE(wait_hung_calls(0), 1);
    EXPECT_EQ(device_.hanging, wait_hung_calls(0));
    const node& first = *session_.execution()->node_list[0];
    EXPECT_EQ(first.device, find_default_device());
    ASSERT_EQ(first.core->refusal_num, 1);
    EXPECT_EQ(first.core->refusal_list[0].verdict.code, IR_REASON_COMPILE);
    EXPECT_STREQ(first.core->refusal_list[0].verdict.message,
                 "device 'A', pre_run of part 0 (1 nodes): no return within 300 ms");
    expect_right_results(1);
    EXPECT_EQ(device_.runs, 0);
    // The calls return after the graph and its context were destroyed.
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    const int hung = device_.hanging;
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
    EXPECT_EQ(device_.post_runs, hung) << "what was compiled too late is given back";
    EXPECT_EQ(device_.releases, hung);
}

TEST_F(WatchdogTest, ACompilationInTimeIsAsAlways)
{
    session_.set("prerun.watchdog_ms", "60000");
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(session_.execution()->node_list[0]->device, device_.get());
    expect_right_results(3);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    device_.fail_pre_run = 1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(session_.execution()->node_list[0]->device, find_default_device());
    expect_right_results(3);
}

TEST_F(WatchdogTest, ADeviceThatCanBeToldSoIsToldThatARunWasGivenUp)
{
    const LogCapture log;
    expect_hangs();
    device_.use_cancel();
    device_.script.hang_ms = -1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results(0);
    EXPECT_EQ(device_.cancels, 2);
    EXPECT_EQ(wait_hung_calls(10000), 0) << "without release_hangs()";
    EXPECT_EQ(device_.releases, 2);
    expect_right_results(1);
    EXPECT_EQ(device_.cancels, 2);
}

TEST_F(WatchdogTest, AGraphMayEndWhileACallHangs)
{
    const LogCapture log;
    expect_hangs();
    device_.script.hang_ms = -1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results(0);
    EXPECT_EQ(device_.hanging, 2);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(wait_hung_calls(1), 2);
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
    EXPECT_EQ(device_.releases, 2);
}

TEST_F(WatchdogTest, WhereNothingMayFallBackEveryRunSaysWhatHung)
{
    expect_hangs();
    session_.set("split.fail_on_fallback", "1");
    ASSERT_EQ(add_ir_graph_affinity(session_.source(), "e", "CPU"), TENGINE_OK);
    device_.script.hang_ms = -1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    session_.feed("x", {1, 2, 3, 4});
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(session_.run(), TENGINE_EDEVICE);
        EXPECT_STREQ(tengine_error_message(),
                     "device 'A', run of part 0 (1 nodes): no return within 500 ms; falling back "
                     "to CPU is not allowed (split.fail_on_fallback, split.max_fallback_macs)");
    }
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
}

// A post_run that counts how often it finds the options of the preparation; the entry has no state
// of its own.
int (*scripted_post_run)(device*, subgraph*);
std::atomic_int options_found;

int count_options(device* device, subgraph* part)
{
    const context* context = part->graph->attribute->context;
    if (get_ir_context_number(context, "run.watchdog_ms") == 500) ++options_found;
    return scripted_post_run(device, part);
}

// It has a copy, since the context may be gone.
TEST_F(WatchdogTest, TheEndOfALateCallFindsTheOptionsAsTheyWere)
{
    const LogCapture log;
    scripted_post_run = device_.get()->interface->post_run;
    device_.get()->interface->post_run = count_options;
    options_found = 0;
    expect_hangs();
    device_.script.hang_ms = -1;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results(0);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    session_.set("run.watchdog_ms", "60000");
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
    EXPECT_EQ(device_.post_runs, 2);
    EXPECT_EQ(options_found, 2);
}

TEST_F(WatchdogTest, AFailureOnTheOtherThreadKeepsItsSentence)
{
    const LogCapture log;
    device_.fail_run = true;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results(0);
    EXPECT_EQ(log.count("device 'A', run of part 0 (1 nodes): told to fail"), 1);
    device_.script.status = 5;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results(0);
    EXPECT_EQ(log.count("device 'A', run of part 0 (1 nodes): it returned 5"), 1);
}

TEST_F(WatchdogTest, ThePipelineIsWatchedToo)
{
    const LogCapture log;
    session_.set("scheduler", "pipeline");
    device_.use_async();
    expect_hangs();
    device_.script.hang_ms = -1;
    device_.script.hang_run = 4;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < 5; ++i)
        expect_right_results(static_cast<float>(i));
    EXPECT_EQ(device_.hanging, 1);
    EXPECT_EQ(device_.async_runs, 0);
}

}  // namespace
