// SPDX-License-Identifier: Apache-2.0
// The memory that parts share (set_ir_part_scratch): which parts have the same, and that results do
// not depend on what other parts have left there.
#include "scheduler/lane.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>

#include "base/alloc.h"
#include "graph/graph.h"
#include "scheduler/fixture.h"
#include "scheduler/memory.h"
#include "scheduler/runner.h"
#include "scheduler/watchdog.h"

namespace {

using namespace tengine::test;

// Notes the memory of each part of its device, and overwrites it before the part runs.
class Spoiler
{
  public:
    explicit Spoiler(TestDevice& device)
    {
        device.on_run = [this](subgraph* part) { return note(part); };
        device.on_async_run = device.on_run;
    }

    // By the name of a part's first node.
    std::map<std::string, void*> places() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return places_;
    }

  private:
    int note(subgraph* part)
    {
        void* memory = get_ir_part_scratch(part, 0);
        if (memory) std::memset(memory, 0xff, part->plan_bytes);
        const std::lock_guard<std::mutex> lock(mutex_);
        places_[get_ir_graph_node(part->graph, part->node_list[0])->name] = memory;
        return TENGINE_OK;
    }

    mutable std::mutex mutex_;
    std::map<std::string, void*> places_;
};

// Six parts by turns of A (Relu, Neg), B (Abs, Sqrt) and the default device (Exp, Sin), each with a
// tensor inside.
void add_parts(Session& session, int size)
{
    IrBuilder& builder = session.builder();
    builder.input("x", {size});
    const char* operators[] = {"Relu", "Neg", "Exp", "Sin", "Abs", "Sqrt",
                               "Relu", "Neg", "Exp", "Sin", "Abs", "Sqrt"};
    std::string last = "x";
    for (size_t i = 0; i < std::size(operators); ++i) {
        const std::string next = i + 1 == std::size(operators) ? "y" : "t" + std::to_string(i);
        builder.add(operators[i], {last}, {next});
        last = next;
    }
    builder.outputs({"y"});
}

float expected_of(float x)
{
    for (int i = 0; i < 2; ++i)
        x = std::sqrt(std::abs(std::sin(std::exp(-std::max(x, 0.0f)))));
    return x;
}

class LaneTest : public testing::Test
{
  protected:
    void prepare(int size)
    {
        const int dims[] = {size};
        if (!session_.source()->tensor_num) add_parts(session_, size);
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), dims, 1), TENGINE_OK);
        session_.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    }

    void run(int size, float first = 0.5f)
    {
        Floats values(static_cast<size_t>(size));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = first + static_cast<float>(i % 7);
        session_.feed("x", values);
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        const Floats results = session_.read("y");
        ASSERT_EQ(results.size(), values.size());
        for (size_t i = 0; i < values.size(); ++i)
            ASSERT_NEAR(results[i], expected_of(values[i]), 1e-6) << i;
    }

    // Counts those of all devices.
    int64_t count_arenas()
    {
        vector* devices = create_vector(sizeof(ir_device_memory_t), nullptr);
        EXPECT_EQ(count_ir_device_memory(session_.source(), devices), TENGINE_OK);
        int64_t bytes = 0;
        for (int i = 0; i < get_vector_num(devices); ++i)
            bytes +=
                static_cast<const ir_device_memory_t*>(get_vector_data(devices, i))->held.arena;
        release_vector(devices);
        return bytes;
    }

    int64_t largest_part()
    {
        int64_t most = 0;
        for (int i = 0; i < get_vector_num(session_.execution()->subgraph_list); ++i)
            most = std::max(most, static_cast<int64_t>(session_.part(i)->plan_bytes));
        return most;
    }

    const LogCapture log_;
    TestDevice a_{"A", {"Relu", "Neg"}}, b_{"B", {"Abs", "Sqrt"}};
    Spoiler spoiler_a_{a_}, spoiler_b_{b_};
    Session session_{&a_, &b_};
};

TEST_F(LaneTest, AllPartsOfASynchronousGraphHaveOneMemory)
{
    prepare(1000);
    run(1000);
    ASSERT_EQ(get_vector_num(session_.execution()->subgraph_list), 6);
    std::set<void*> places;
    for (const Spoiler* spoiler : {&spoiler_a_, &spoiler_b_})
        for (const auto& [part, place] : spoiler->places())
            places.insert(place);
    EXPECT_EQ(places.size(), 1u);
    EXPECT_NE(*places.begin(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*places.begin()) % ALLOC_ALIGNMENT, 0u);
    EXPECT_EQ(count_arenas(), largest_part());
}

TEST_F(LaneTest, PartsOfThreadsOfAPipelineHaveTheirOwn)
{
    session_.set("scheduler", "pipeline");
    prepare(1000);
    for (int i = 0; i < 20; ++i)
        run(1000, static_cast<float>(i));
    const auto of_a = spoiler_a_.places(), of_b = spoiler_b_.places();
    ASSERT_EQ(of_a.size(), 2u);
    ASSERT_EQ(of_b.size(), 2u);
    EXPECT_EQ(of_a.begin()->second, of_a.rbegin()->second) << "a device has one thread";
    EXPECT_EQ(of_b.begin()->second, of_b.rbegin()->second);
    EXPECT_NE(of_a.begin()->second, of_b.begin()->second);
    EXPECT_EQ(count_arenas(), 3 * largest_part());
}

TEST_F(LaneTest, PartsThatAreStartedWithoutWaitingShareNothing)
{
    a_.use_async();
    session_.set("scheduler", "pipeline");
    prepare(1000);
    for (int i = 0; i < 20; ++i)
        run(1000, static_cast<float>(i));
    const auto of_a = spoiler_a_.places();
    ASSERT_EQ(of_a.size(), 2u);
    EXPECT_NE(of_a.begin()->second, of_a.rbegin()->second);
    EXPECT_EQ(count_arenas(), 4 * largest_part());
}

TEST_F(LaneTest, ShapesThatAreKeptShareTheMemoryOfTheLargest)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        session_.set("scheduler", scheduler);
        prepare(4000);
        const int64_t alone = count_arenas();
        for (const int size : {1000, 3000, 4000, 2000}) {
            prepare(size);
            run(size);
            EXPECT_EQ(count_arenas(), alone) << scheduler << ", " << size;
        }
        prepare(5000);  // 4000 is kept
        EXPECT_GT(count_arenas(), alone);
        for (const int size : {10, 20, 30, 40})
            prepare(size);
        EXPECT_LT(count_arenas(), alone) << "the large ones are dropped";
        run(40);
    }
}

TEST_F(LaneTest, NothingIsLeftAfterPostrun)
{
    prepare(1000);
    run(1000);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(count_arenas(), 0);
    prepare(1000);
    run(1000);
}

// The device writes to its memory after the call was given up, while others use theirs.
TEST_F(LaneTest, ACallThatIsGivenUpWritesToNoOtherMemory)
{
    session_.set("run.watchdog_ms", "60000");
    prepare(1000);
    run(1000);
    const auto of_a = spoiler_a_.places();
    EXPECT_NE(of_a.begin()->second, of_a.rbegin()->second);
    EXPECT_EQ(session_.part(0)->core->shared_scratch[0].lender, nullptr);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);

    session_.set("run.watchdog_ms", "500");
    a_.script.hang_ms = -1;
    a_.script.hang_run = a_.runs + 1;
    prepare(1000);
    run(1000);
    EXPECT_EQ(a_.hanging, 1);
    a_.release_hangs();
    for (int i = 0; i < 20; ++i)
        run(1000, static_cast<float>(i));
    EXPECT_EQ(wait_hung_calls(10000), 0);
}

TEST_F(LaneTest, ADeviceThatFailsLeavesItsMemory)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        session_.set("scheduler", scheduler);
        a_.fail_run = 0;
        prepare(1000);
        run(1000);
        a_.fail_run = 1;
        for (int i = 0; i < 3; ++i)
            run(1000, static_cast<float>(i));
        EXPECT_EQ(get_ir_compiled_part(session_.part(0))->device, find_default_device());
        EXPECT_GT(count_arenas(), 0);
        ASSERT_EQ(session_.postrun(), TENGINE_OK);
    }
}

TEST_F(LaneTest, TheLimitOfMemoryCountsWhatIsSharedOnce)
{
    constexpr int kSize = 1 << 20;
    session_.set("memory.limit_mb", "20");  // 4 MiB for each of three tensors between parts
    prepare(kSize);
    run(kSize);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    session_.set("memory.limit_mb", "15");
    EXPECT_EQ(session_.prerun(), TENGINE_ELIMIT) << tengine_error_message();
}

// Two instances run at the same time.
TEST_F(LaneTest, OtherGraphsHaveOtherMemory)
{
    Session other({&a_, &b_});
    add_parts(other, 1000);
    prepare(1000);
    run(1000);
    void* mine = spoiler_a_.places().begin()->second;
    other.feed("x", Floats(1000, 0.5f));
    ASSERT_EQ(other.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(other.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_NE(spoiler_a_.places().begin()->second, mine);
    run(1000);
}

}  // namespace
