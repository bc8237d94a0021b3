// SPDX-License-Identifier: Apache-2.0
// The time for which two devices that only sleep work in parallel under the pipeline scheduler, by
// their own clock.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <map>

#include "graph/graph.h"
#include "scheduler/fixture.h"
#include "scheduler/virtual_clock.h"

namespace {

using namespace tengine::test;

// Each run of a part takes its device's time on the clock.
class SleepingDevice
{
  public:
    SleepingDevice(const char* name, const char* op, VirtualClock& clock, int index,
                   int64_t duration)
        : device_(name, {op})
    {
        device_.use_async();
        device_.on_async_run = [this, &clock, index, duration](subgraph* part) {
            ends_[part] = clock.begin(index, duration);
            return 0;
        };
        device_.on_async_wait = [this, &clock](subgraph* part, int) {
            clock.sleep_until(ends_[part]);
            return 1;
        };
    }

    TestDevice* get() { return &device_; }

  private:
    std::map<const subgraph*, int64_t> ends_;  // only the device's thread reads it
    TestDevice device_;
};

constexpr int kRuns = 16;

// Keeps `frames` runs in flight until all have ended.
void run_all(Session& session, int frames)
{
    session.set("scheduler", "pipeline");
    session.set("pipeline.frames", std::to_string(frames).c_str());
    session.feed("x", {1, -2});
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < kRuns + frames; ++i) {
        const int waited = i < frames ? 1 : session.wait();
        ASSERT_EQ(waited, 1) << tengine_error_message();
        const int begun = i < kRuns ? session.run(0) : TENGINE_OK;
        ASSERT_EQ(begun, TENGINE_OK) << tengine_error_message();
    }
}

double report_overlap(const char* what, VirtualClock& clock, int64_t ideal)
{
    const double share =
        static_cast<double>(clock.count_overlap(0, 1)) / static_cast<double>(ideal);
    char figure[32];
    std::snprintf(figure, sizeof figure, "%.1f %%", 100 * share);
    std::printf("overlap of %s: %s of ideal\n", what, figure);
    testing::Test::RecordProperty("overlap", figure);
    return share;
}

// A -> B: while B works on a run, A works on the next.
TEST(Overlap, TwoDevicesWorkOnRunsThatFollowEachOther)
{
    struct Case
    {
        int64_t a, b;
        int frames;
    };
    for (const Case& c : {Case{10, 10, 2}, Case{10, 10, 4}, Case{30, 10, 2}, Case{10, 30, 3}}) {
        VirtualClock clock(2);
        SleepingDevice a("A", "Neg", clock, 0, c.a), b("B", "Abs", clock, 1, c.b);
        Session session({a.get(), b.get()});
        session.builder().input("x", {2});
        session.builder().add("Neg", {"x"}, {"n"});
        session.builder().add("Abs", {"n"}, {"y"});
        session.builder().outputs({"y"});
        run_all(session, c.frames);
        EXPECT_EQ(session.read("y"), (Floats{1, 2}));
        char what[64];
        std::snprintf(what, sizeof what, "A (%d) -> B (%d) with %d frames", static_cast<int>(c.a),
                      static_cast<int>(c.b), c.frames);
        EXPECT_GE(report_overlap(what, clock, (kRuns - 1) * std::min(c.a, c.b)), 0.8);
        EXPECT_GE(clock.now(), kRuns * std::max(c.a, c.b) + std::min(c.a, c.b));
    }
}

// A and B read x: they work on the same run at the same time.
TEST(Overlap, TwoDevicesWorkOnPartsThatDoNotNeedEachOther)
{
    VirtualClock clock(2);
    SleepingDevice a("A", "Neg", clock, 0, 10), b("B", "Abs", clock, 1, 10);
    Session session({a.get(), b.get()});
    session.builder().input("x", {2});
    session.builder().add("Neg", {"x"}, {"n"});
    session.builder().add("Abs", {"x"}, {"m"});
    session.builder().outputs({"n", "m"});
    run_all(session, 1);
    EXPECT_EQ(session.read("n"), (Floats{-1, 2}));
    EXPECT_GE(report_overlap("A beside B with 1 frame", clock, kRuns * 10), 0.8);
}

}  // namespace
