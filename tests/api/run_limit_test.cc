// SPDX-License-Identifier: Apache-2.0
// Endless rounds: the options run.watchdog_ms and run.deadline_ms end them, and the program.
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/test_device.h"

namespace tengine {
namespace {

using namespace onnx;

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int kScanned = 400000;  // rounds of a Scan, which take far longer than its limit

// Names of a body end with `depth`: bodies may be nested.
std::string loop_body(int depth)
{
    const std::string at = std::to_string(depth), in = "v" + at, out = "w" + at;
    const std::string step = depth == 0 ? node("Neg", {in}, {out})
                                        : node("Loop", {"rounds", "", in}, {out},
                                               {graph_attribute("body", loop_body(depth - 1))});
    return graph({node("Identity", {"on" + at}, {"goes_on" + at}), step},
                 {value("i" + at, kInt64, {}), value("on" + at, kBool, {}), value(in, kFloat, {1})},
                 {value("goes_on" + at, kBool, {}), value(out, kFloat, {1})});
}

// y = x, negated `rounds` times, or for each level of loops rounds times the level below it.
std::string make_loop(int depth)
{
    return graph(
        {node("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", loop_body(depth))})},
        {value("x", kFloat, {1}), value("rounds", kInt64, {})}, {value("y", kFloat, {1})});
}

std::string make_scan()
{
    const std::string body =
        graph({node("Neg", {"e"}, {"f"})}, {value("e", kFloat, {})}, {value("f", kFloat, {})});
    const std::string number = number_attribute("num_scan_inputs", 1);
    return graph({node("Scan", {"x"}, {"y"}, {graph_attribute("body", body), number})},
                 {value("x", kFloat, {kScanned})}, {value("y", kFloat, {kScanned})});
}

class RunLimitTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (graph_) unload();
        ApiTest::TearDown();
    }

    void load(const std::string& contents, const char* key, const char* option,
              const char* device = nullptr)
    {
        context_ = create_context("limited", 1);
        if (device) {
            ASSERT_EQ(add_context_device(context_, device), 0);
        }
        ASSERT_EQ(tengine_context_set_option(context_, key, option), 0);
        graph_ = onnx::load(contents, context_);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
    }
    void unload()
    {
        EXPECT_EQ(destroy_graph(graph_), 0);
        destroy_context(context_);
        graph_ = nullptr;
        context_ = nullptr;
    }
    void prepare(int64_t rounds, int threads = 1)
    {
        const float x = 3;
        ASSERT_EQ(set_tensor_data(get_graph_tensor(graph_, "x"), &x, sizeof x), 0);
        ASSERT_EQ(set_tensor_data(get_graph_tensor(graph_, "rounds"), &rounds, sizeof rounds), 0);
        const options_t options = {threads, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
        ASSERT_EQ(prerun_graph_multithread(graph_, options), 0) << get_tengine_error();
    }
    void expect_it_runs()
    {
        feed_rounds(3);
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(get_graph_tensor(graph_, "y")), std::vector<float>{-3});
    }

    // Without another prerun_graph.
    void feed_rounds(int64_t rounds)
    {
        ASSERT_EQ(set_tensor_data(get_graph_tensor(graph_, "rounds"), &rounds, sizeof rounds), 0);
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
};

// Tries to cancel until there is a run to end.
class Canceller
{
  public:
    explicit Canceller(graph_t graph)
        : thread_([this, graph] {
              do
                  std::this_thread::sleep_for(std::chrono::milliseconds(100));
              while (tengine_graph_cancel(graph) != 0 && !is_over_);
          })
    {
    }
    ~Canceller()
    {
        is_over_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

TEST_F(RunLimitTest, TheWatchdogEndsLoops)
{
    for (const int depth : {0, 1, 2}) {
        load(make_loop(depth), "run.watchdog_ms", "100");
        prepare(kForever);
        EXPECT_EQ(run_graph(graph_, 1), -1);
        EXPECT_NE(std::string(get_tengine_error()).find("within 100 ms (run.watchdog_ms)"),
                  std::string::npos)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
        prepare(3);  // the bodies, too, which have failed
        expect_it_runs();
        unload();
    }
}

TEST_F(RunLimitTest, TheWatchdogEndsAScan)
{
    load(make_scan(), "run.watchdog_ms", "5");
    std::vector<float> x(kScanned, 1);
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), x));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
}

TEST_F(RunLimitTest, AnotherThreadMayCancelARun)
{
    for (const char* scheduler : {"sync", "pipeline"})
        for (const int threads : {1, 2}) {
            SCOPED_TRACE(std::string(scheduler) + ", " + std::to_string(threads));
            load(make_loop(1), "scheduler", scheduler);
            prepare(kForever, threads);
            {
                const Canceller canceller(graph_);
                EXPECT_EQ(run_graph(graph_, 1), -1);
            }
            EXPECT_NE(std::string(get_tengine_error()).find("the run of graph 'g' was cancelled"),
                      std::string::npos)
                << get_tengine_error();
            EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
            EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_ERROR);
            EXPECT_EQ(tengine_graph_cancel(graph_), -1);
            EXPECT_TRUE(failed_with(TENGINE_ESTATE));
            expect_it_runs();
            unload();
        }
}

// The nodes of the body are on a device, which hangs until it is told, or is quick.
TEST_F(RunLimitTest, ABodyOnADeviceIsCancelled)
{
    test::TestDevice device("A", {"Neg"});
    device.use_cancel();
    for (const char* scheduler : {"sync", "pipeline"})
        for (const int hang_ms : {0, -1}) {
            SCOPED_TRACE(std::string(scheduler) + ", " + std::to_string(hang_ms));
            load(make_loop(1), "scheduler", scheduler, "A");
            prepare(kForever);
            device.script.hang_ms = hang_ms;
            device.script.hang_run = device.runs + 100;
            {
                const Canceller canceller(graph_);
                EXPECT_EQ(run_graph(graph_, 1), -1);
            }
            EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
            EXPECT_GE(device.runs, 100);
            const int runs = device.runs;
            expect_it_runs();
            EXPECT_EQ(device.runs, runs + 9) << "three times three rounds";
            unload();
        }
    EXPECT_EQ(device.pre_runs, 4) << "a body that was cancelled stays prepared";
}

TEST_F(RunLimitTest, ADeadlineEndsARun)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        load(make_loop(2), "run.deadline_ms", "150");
        ASSERT_EQ(tengine_context_set_option(context_, "scheduler", scheduler), 0);
        prepare(kForever);
        for (int i = 0; i < 2; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            EXPECT_EQ(run_graph(graph_, 1), -1);
            EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
            EXPECT_NE(
                std::string(get_tengine_error()).find("not ended within 150 ms (run.deadline_ms)"),
                std::string::npos)
                << get_tengine_error();
            EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
        }
        EXPECT_EQ(tengine_graph_cancel(graph_), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
        // Shapes that come again have the deadline, too.
        prepare(kForever);
        EXPECT_EQ(run_graph(graph_, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
        ASSERT_EQ(tengine_context_set_option(context_, "run.deadline_ms", "60000"), 0);
        prepare(3);
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(get_graph_tensor(graph_, "y")), std::vector<float>{-3});
        unload();
    }
}

}  // namespace
}  // namespace tengine
