// SPDX-License-Identifier: Apache-2.0
// trace.h: the events of a graph. In every case times nest in each lane, parts lie inside their
// runs, and steps inside their parts.
#include "tengine/trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/allocation_count.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Event = tengine_trace_event;

class TraceTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("traced", 1);
        set("run.trace", "1000");
        set("split.prune", "0");
        set("split.report", "none");
    }

    void TearDown() override
    {
        close();
        ApiTest::TearDown();
    }

    // Called before a device of the test is destroyed.
    void close()
    {
        if (graph_) destroy_graph(graph_);
        if (context_) destroy_context(context_);
        graph_ = nullptr;
        context_ = nullptr;
    }

    void set(const char* key, const char* value)
    {
        ASSERT_EQ(tengine_context_set_option(context_, key, value), 0) << get_tengine_error();
    }

    void use_device(const char* name)
    {
        ASSERT_EQ(add_context_device(context_, name), 0) << get_tengine_error();
    }

    void make_chain()
    {
        graph_ = create_chain(context_);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
    }

    void prepare(int threads = 1)
    {
        ASSERT_EQ(
            prerun_graph_multithread(graph_, {threads, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0}),
            0)
            << get_tengine_error();
    }

    void run(int number = 1)
    {
        for (int i = 0; i < number; ++i)
            ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    }

    std::vector<Event> events(int kind = -1)
    {
        std::vector<Event> found;
        const int number = tengine_graph_get_trace_event_number(graph_);
        EXPECT_GE(number, 0) << get_tengine_error();
        for (int i = 0; i < number; ++i) {
            Event event;
            EXPECT_EQ(tengine_graph_get_trace_event(graph_, i, &event, sizeof event), 0);
            if (kind < 0 || event.kind == kind) found.push_back(event);
        }
        return found;
    }

    std::string lane_of(const Event& event)
    {
        tengine_trace_lane lane;
        EXPECT_EQ(tengine_graph_get_trace_lane(graph_, event.lane, &lane, sizeof lane), 0);
        return lane.name;
    }

    static bool lies_in(const Event& inner, const Event& outer)
    {
        return inner.begin_ns >= outer.begin_ns && inner.end_ns <= outer.end_ns;
    }

    // Each event of one kind lies inside one of the other.
    void expect_inside(int inner, int outer)
    {
        for (const Event& event : events(inner)) {
            int number = 0;
            for (const Event& around : events(outer))
                number += lies_in(event, around) &&
                          (outer != TENGINE_TRACE_PART || around.part == event.part);
            EXPECT_GE(number, 1) << tengine_trace_kind_get_name(inner) << " " << event.name;
        }
    }

    void check()
    {
        std::map<int, std::vector<Event>> lanes;
        int64_t before = INT64_MIN;
        for (const Event& event : events()) {
            EXPECT_LE(event.begin_ns, event.end_ns);
            EXPECT_LE(before, event.begin_ns) << "in the order of begins";
            before = event.begin_ns;
            lanes[event.lane].push_back(event);
        }
        for (const auto& [lane, list] : lanes) {
            std::vector<Event> open;
            for (const Event& event : list) {
                while (!open.empty() && open.back().end_ns <= event.begin_ns)
                    open.pop_back();
                EXPECT_TRUE(open.empty() || lies_in(event, open.back()))
                    << lane_of(event) << ": " << event.name;
                open.push_back(event);
            }
        }
        expect_inside(TENGINE_TRACE_STEP, TENGINE_TRACE_PART);
        expect_inside(TENGINE_TRACE_PART, TENGINE_TRACE_RUN);
        expect_inside(TENGINE_TRACE_SHARE, TENGINE_TRACE_STEP);
        for (const Event& compile : events(TENGINE_TRACE_COMPILE)) {
            const auto is_around = [&](const Event& event) {
                return (event.kind == TENGINE_TRACE_PREPARE || event.kind == TENGINE_TRACE_RUN) &&
                       lies_in(compile, event);
            };
            const std::vector<Event> all = events();
            EXPECT_TRUE(std::any_of(all.begin(), all.end(), is_around)) << compile.name;
        }
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
};

TEST_F(TraceTest, OffKeepsNothing)
{
    set("run.trace", "0");
    make_chain();
    prepare();
    run();
    EXPECT_EQ(tengine_graph_get_trace_event_number(graph_), 0);
    EXPECT_EQ(tengine_graph_get_trace_lane_number(graph_), 0);
}

TEST_F(TraceTest, HasThePreparationAndTheRuns)
{
    make_chain();
    prepare();
    run(3);
    check();
    ASSERT_EQ(events(TENGINE_TRACE_RUN).size(), 3u);
    ASSERT_EQ(events(TENGINE_TRACE_PART).size(), 3u);
    for (int64_t i = 0; i < 3; ++i) {
        const Event run = events(TENGINE_TRACE_RUN)[static_cast<size_t>(i)];
        EXPECT_EQ(run.run, i);
        EXPECT_EQ(lane_of(run), "program");
        const Event part = events(TENGINE_TRACE_PART)[static_cast<size_t>(i)];
        EXPECT_EQ(part.run, i);
        EXPECT_EQ(part.part, 0);
        EXPECT_EQ(lane_of(part), part.name);
    }
    std::vector<std::string> passes;
    for (const Event& event : events(TENGINE_TRACE_PREPARE))
        passes.push_back(event.name);
    for (const char* pass : {"prerun_graph", "infer", "split", "assign"})
        EXPECT_EQ(std::count(passes.begin(), passes.end(), pass), 1) << pass;
    EXPECT_EQ(passes.front(), "prerun_graph");
    EXPECT_EQ(events(TENGINE_TRACE_COMPILE).size(), 1u);
}

TEST_F(TraceTest, KeepsTheLastEvents)
{
    set("run.trace", "5");
    make_chain();
    prepare();
    run(20);
    check();
    const std::vector<Event> runs = events(TENGINE_TRACE_RUN);
    ASSERT_EQ(runs.size(), 5u);
    EXPECT_EQ(runs.front().run, 15);
    EXPECT_EQ(runs.back().run, 19);
    EXPECT_TRUE(events(TENGINE_TRACE_PREPARE).empty()) << "they are the oldest";
}

TEST_F(TraceTest, ANewPreparationBeginsANewTrace)
{
    make_chain();
    for (int i = 0; i < 3; ++i) {
        prepare();
        run(2);
        check();
        EXPECT_EQ(events(TENGINE_TRACE_RUN).size(), 2u);
    }
    // Another shape, then the first one again, whose preparation is kept.
    const int wide[] = {1, 5}, narrow[] = {1, 4};
    for (const int* dims : {wide, narrow}) {
        ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), dims, 2), 0);
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph_, 0),
                                 std::vector<float>(static_cast<size_t>(dims[1]), 1.0f)));
        prepare();
        run();
        check();
        EXPECT_EQ(events(TENGINE_TRACE_RUN).size(), 1u);
    }
}

TEST_F(TraceTest, RunsUseNoHeap)
{
    make_chain();
    prepare(2);
    run(3);
    if (!can_count_allocations()) GTEST_SKIP() << "the sanitizer has its own allocator";
    const long before = count_allocations();
    for (int i = 0; i < 10; ++i)
        run_graph(graph_, 1);
    EXPECT_EQ(count_allocations(), before);
}

TEST_F(TraceTest, ThreadsHaveLanes)
{
    graph_ = create_graph(context_, nullptr, nullptr);
    const tensor_t x = add_input(graph_, "x", {1, 16, 96, 96});
    const std::vector<float> filter(16 * 16 * 9, 0.1f);
    const tensor_t w = add_constant(graph_, "w", {16, 16, 3, 3}, filter.data());
    add_node(graph_, "y", "Conv", {x, w});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_TRUE(write_floats(x, std::vector<float>(16 * 96 * 96, 1.0f)));
    prepare(2);
    run(5);
    check();
    const std::vector<Event> shares = events(TENGINE_TRACE_SHARE);
    ASSERT_FALSE(shares.empty());
    bool has_first = false;
    for (const Event& share : shares) {
        EXPECT_EQ(share.node, 0);
        EXPECT_EQ(share.part, 0);
        EXPECT_NE(lane_of(share).find(", thread "), std::string::npos);
        has_first = has_first || lane_of(share).find(", thread 0") != std::string::npos;
    }
    EXPECT_TRUE(has_first) << "the caller's";
}

TEST_F(TraceTest, DevicesAndCopiesHaveLanes)
{
    test::TestDevice device("A", {"Relu"});
    use_device("A");
    set("run.watchdog_ms", "10000");  // boundary tensors are then copied
    make_chain();
    prepare();
    run(2);
    check();
    std::map<std::string, int> parts;
    for (const Event& part : events(TENGINE_TRACE_PART))
        ++parts[lane_of(part)];
    EXPECT_EQ(parts["A"], 2);
    EXPECT_EQ(parts.size(), 2u) << "A and the CPU";
    const std::vector<Event> copies = events(TENGINE_TRACE_COPY);
    ASSERT_EQ(copies.size(), 4u) << "to A and from it, twice";
    for (const Event& copy : copies) {
        EXPECT_EQ(copy.bytes, 16);
        EXPECT_EQ(lane_of(copy), "copies");
        EXPECT_EQ(copy.part, 1);
    }
    close();
}

TEST_F(TraceTest, FramesOfAPipelineHaveLanes)
{
    test::TestDevice device("A", {"Relu"});
    device.use_async();
    use_device("A");
    set("scheduler", "pipeline");
    make_chain();
    prepare();
    for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
        ASSERT_EQ(wait_graph(graph_, 0), 1);
        ASSERT_EQ(wait_graph(graph_, 0), 1);
    }
    check();
    EXPECT_EQ(events(TENGINE_TRACE_RUN).size(), 12u);
    EXPECT_EQ(events(TENGINE_TRACE_WAIT).size(), 12u);
    EXPECT_EQ(events(TENGINE_TRACE_PART).size(), 36u);
    std::map<std::string, int> lanes;
    for (const Event& run : events(TENGINE_TRACE_RUN))
        ++lanes[lane_of(run)];
    EXPECT_EQ(lanes, (std::map<std::string, int>{{"frame 0", 4}, {"frame 1", 4}, {"frame 2", 4}}));
    close();
}

TEST_F(TraceTest, FailuresHaveTheirCode)
{
    test::TestDevice device("A", {"Relu"});
    use_device("A");
    make_chain();
    prepare();
    device.fail_run = 1;
    run(2);  // the CPU takes over
    check();
    std::vector<std::string> parts;
    for (const Event& part : events(TENGINE_TRACE_PART)) {
        if (part.part != 1) continue;
        parts.push_back(part.name);
        EXPECT_EQ(part.status < 0, parts.size() == 1) << part.name;
    }
    ASSERT_EQ(parts.size(), 3u) << "the attempt, and two on the CPU";
    EXPECT_EQ(parts[0], "A");
    EXPECT_EQ(parts[1], parts[2]);
    close();
}

TEST_F(TraceTest, ADeviceThatHangsIsGivenUp)
{
    test::TestDevice device("A", {"Relu"});
    device.use_cancel();
    use_device("A");
    set("run.watchdog_ms", "30");
    make_chain();
    prepare();
    device.script.hang_ms = -1;
    device.script.hang_run = 1;
    run(2);
    check();
    int64_t longest = 0;
    for (const Event& part : events(TENGINE_TRACE_PART))
        if (std::strcmp(part.name, "A") == 0) {
            longest = std::max(longest, part.end_ns - part.begin_ns);
            EXPECT_LT(part.status, 0);
        }
    EXPECT_GE(longest, 30000000 - 1000000) << "the time until it was given up";
    close();
}

TEST_F(TraceTest, ACancelledRunEndsInTheTrace)
{
    test::TestDevice device("A", {"Relu"});
    use_device("A");
    make_chain();
    prepare();
    device.on_run = [&](subgraph*) {
        EXPECT_EQ(tengine_graph_cancel(graph_), 0) << get_tengine_error();
        return 0;
    };
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
    check();
    device.on_run = nullptr;
    run();
    check();
    const std::vector<Event> runs = events(TENGINE_TRACE_RUN);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].status, TENGINE_ECANCELED);
    EXPECT_EQ(runs[1].status, 0);
    close();
}

// Bodies are in the trace of the graph, at any depth.
TEST_F(TraceTest, BodiesAreInTheTrace)
{
    using namespace onnx;
    const std::string body =
        onnx::graph({node("Add", {"sum", "sum"}, {"next"}), node("Identity", {"on"}, {"goes_on"})},
                    {value("i", kInt64), value("on", kBool), value("sum", kFloat, {2})},
                    {value("goes_on", kBool), value("next", kFloat, {2})});
    graph_ = load(
        onnx::graph({node("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body)})},
                    {value("x", kFloat, {2})}, {value("y", kFloat, {2})},
                    {constant<int64_t>("rounds", kInt64, {}, {3})}),
        context_);
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph_, 0), {1, 2}));
    prepare();
    run();
    check();
    int rounds = 0;
    for (const Event& step : events(TENGINE_TRACE_STEP)) {
        tengine_execution_node named;
        ASSERT_GE(step.node, 0);
        ASSERT_EQ(tengine_graph_get_execution_node(graph_, step.node, &named), 0);
        rounds += std::strcmp(named.op, "Add") == 0;
        EXPECT_EQ(step.run, 0);
    }
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(events(TENGINE_TRACE_RUN).size(), 4u) << "of the graph, and of the body";
}

TEST_F(TraceTest, GettersFailAsOthersDo)
{
    make_chain();
    Event event;
    tengine_trace_lane lane;
    EXPECT_EQ(tengine_graph_get_trace_event_number(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    prepare();
    const int number = tengine_graph_get_trace_event_number(graph_);
    ASSERT_GT(number, 0);
    for (const int wrong : {-1, number}) {
        EXPECT_EQ(tengine_graph_get_trace_event(graph_, wrong, &event, sizeof event), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_trace_lane(graph_, -1, &lane, sizeof lane), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_get_trace_event(graph_, 0, &event, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_trace_lane(graph_, 0, nullptr, sizeof lane), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_STREQ(tengine_trace_kind_get_name(TENGINE_TRACE_STEP), "step");
    EXPECT_EQ(tengine_trace_kind_get_name(99), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_context_set_option(context_, "run.trace", "-1"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

}  // namespace
}  // namespace tengine
