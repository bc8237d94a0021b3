// SPDX-License-Identifier: Apache-2.0
// Boundary tensors in the memories of a board (option CPU.memories): devices see them at the
// addresses that the plan states, inside the program's block, and results do not depend on it.
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "base/alloc.h"
#include "base/named_memory.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"
#include "scheduler/fixture.h"
#include "scheduler/memory.h"

namespace {

using namespace tengine::test;

constexpr int kPartNum = 6;

// A block of the program that is the memory "SRAM".
class Region
{
  public:
    explicit Region(size_t size) : bytes_(size + 64, 0x5a)
    {
        EXPECT_EQ(set_named_memory("SRAM", bytes_.data(), size), TENGINE_OK);
    }
    ~Region()
    {
        EXPECT_EQ(set_named_memory("SRAM", nullptr, 0), TENGINE_OK) << "it is in use";
        EXPECT_EQ(std::count(bytes_.end() - 64, bytes_.end(), 0x5a), 64) << "overrun";
    }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    bool has(const void* address) const
    {
        const auto* at = static_cast<const char*>(address);
        return at >= bytes_.data() && at < bytes_.data() + bytes_.size() - 64;
    }

  private:
    std::vector<char> bytes_;
};

class BoardMemoryTest : public testing::Test
{
  protected:
    BoardMemoryTest()
    {
        for (TestDevice* device : {&a_, &b_})
            device->on_run = [this](subgraph* part) { return note(part); };
    }

    // The addresses of the part's boundary tensors, by their names.
    int note(const subgraph* part)
    {
        const graph& graph = *part->graph;
        for (int i = 0; i < part->input_num; ++i) {
            const tensor& value = *graph.tensor_list[part->input_tensor_list[i]];
            seen_[value.name] = value.data;
        }
        for (int i = 0; i < part->output_num; ++i) {
            const tensor& value = *graph.tensor_list[part->output_tensor_list[i]];
            seen_[value.name] = value.data;
        }
        return TENGINE_OK;
    }

    // Parts by turns of A and B, and of the default device.
    void prepare(int size, const char* memories)
    {
        const char* operators[kPartNum] = {"Relu", "Exp", "Abs", "Sin", "Neg", "Cos"};
        IrBuilder& builder = session_.builder();
        if (!session_.source()->tensor_num) {
            builder.input("x", {size});
            std::string last = "x";
            for (int i = 0; i < kPartNum; ++i) {
                const std::string next = i + 1 == kPartNum ? "y" : "t" + std::to_string(i);
                builder.add(operators[i], {last}, {next});
                last = next;
            }
            builder.outputs({"y"});
        }
        const int dims[] = {size};
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), dims, 1), TENGINE_OK);
        session_.set_default("memories", memories);
        session_.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        seen_.clear();
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(get_vector_num(session_.execution()->subgraph_list), kPartNum);
    }

    void run(int size)
    {
        Floats values(static_cast<size_t>(size));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 7) - 3;
        session_.feed("x", values);
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        const Floats results = session_.read("y");
        ASSERT_EQ(results.size(), values.size());
        for (size_t i = 0; i < values.size(); ++i) {
            const float x = std::exp(std::max(values[i], 0.0f));
            ASSERT_NEAR(results[i], std::cos(-std::sin(std::abs(x))), 1e-5) << i;
        }
    }

    // The number of tensors that the plan has in the fastest memory; each is where the plan has it.
    int check_places(const Region& region)
    {
        vector* blocks = create_vector(sizeof(ir_part_block_t), nullptr);
        vector* places = create_vector(sizeof(ir_block_place_t), nullptr);
        EXPECT_EQ(list_ir_boundary_blocks(session_.execution(), blocks, places), TENGINE_OK);
        int fast = 0;
        for (int i = 0; i < get_vector_num(blocks); ++i) {
            const auto& block = *static_cast<const ir_part_block_t*>(get_vector_data(blocks, i));
            const auto& place = *static_cast<const ir_block_place_t*>(get_vector_data(places, i));
            const tensor& value = *session_.execution()->tensor_list[block.tensor];
            const bool is_fast = place.memory == 0 && session_.execution()->core->plan_need_num > 1;
            fast += is_fast;
            EXPECT_EQ(region.has(value.data), is_fast) << value.name;
            EXPECT_EQ(region.has(static_cast<const char*>(value.data) + block.bytes - 1), is_fast);
            if (seen_.count(value.name) > 0) {
                EXPECT_EQ(seen_[value.name], value.data) << value.name;
            }
        }
        release_vector(blocks);
        release_vector(places);
        return fast;
    }

    int64_t count_boundary() { return count_ir_boundary_memory(session_.execution()); }

    const LogCapture log_;
    TestDevice a_{"A", {"Relu", "Neg"}}, b_{"B", {"Abs"}};
    std::map<std::string, const void*> seen_;
    Session session_{&a_, &b_};
};

TEST_F(BoardMemoryTest, BoundaryTensorsAreWhereThePlanHasThem)
{
    std::map<size_t, int> fast;
    prepare(1000, "");
    const int64_t expected = count_boundary();
    for (const size_t size : {256, 1000, 4200, 9000, 13000, 30000}) {
        const Region region(size);
        prepare(1000, "SRAM:100000:1,DRAM:0:8");
        run(1000);
        fast[size] = check_places(region);
        EXPECT_LE(count_boundary(), expected + 6 * ALLOC_ALIGNMENT);
        EXPECT_EQ(session_.postrun(), TENGINE_OK);
    }
    EXPECT_EQ(fast[256], 0);
    EXPECT_EQ(fast[1000], 0);
    EXPECT_GE(fast[4200], 1);
    EXPECT_EQ(fast[30000], kPartNum) << "all of them fit";
}

TEST_F(BoardMemoryTest, TheOptionLimitsTheUseOfTheBlock)
{
    const Region region(30000);
    for (const char* memories : {"SRAM:64:1,DRAM:0:8", "SRAM:3999:1,DRAM:0:8", "SRAM:0:1",
                                 "SRAM:1:1,OTHER:2:1,DRAM:0:8"}) {
        prepare(1000, memories);
        run(1000);
        EXPECT_EQ(check_places(region), 0) << memories;
    }
    prepare(1000, "SRAM:4100:1,DRAM:0:8");
    EXPECT_GE(check_places(region), 1);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

// Runs that are in flight at the same time have memory of their own.
TEST_F(BoardMemoryTest, APipelineHasThemInTheLastMemory)
{
    const Region region(30000);
    session_.set("scheduler", "pipeline");
    prepare(1000, "SRAM:30000:1,DRAM:0:8");
    for (int i = 0; i < 5; ++i)
        run(1000);
    for (const auto& [name, address] : seen_)
        EXPECT_FALSE(region.has(address)) << name;
    seen_.clear();
    EXPECT_EQ(check_places(region), 0);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

// A call that never returns accesses no memory of others: watched parts have copies.
TEST_F(BoardMemoryTest, WatchedPartsHaveCopies)
{
    const Region region(30000);
    session_.set("run.watchdog_ms", "60000");
    session_.set("run.deadline_ms", "60000");
    prepare(1000, "SRAM:30000:1,DRAM:0:8");
    run(1000);
    for (const auto& [name, address] : seen_)
        EXPECT_FALSE(region.has(address)) << name;
    seen_.clear();
    EXPECT_GT(check_places(region), 0);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

TEST_F(BoardMemoryTest, ACancelledRunLeavesThem)
{
    const Region region(30000);
    prepare(1000, "SRAM:30000:1,DRAM:0:8");
    b_.on_run = [this](subgraph* part) {
        EXPECT_TRUE(cancel_ir_runs(session_.source()));
        return note(part);
    };
    session_.feed("x", Floats(1000, 1.0f));
    EXPECT_EQ(session_.run(), TENGINE_ECANCELED);
    b_.on_run = [this](subgraph* part) { return note(part); };
    run(1000);
    EXPECT_EQ(check_places(region), kPartNum);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

// A device that fails is replaced by the CPU, which reads and writes the same tensors.
TEST_F(BoardMemoryTest, TheCpuTakesOverAPart)
{
    const Region region(30000);
    prepare(1000, "SRAM:30000:1,DRAM:0:8");
    b_.on_run = [](subgraph*) { return tengine_error_set(TENGINE_EDEVICE, "broken"); };
    for (int i = 0; i < 3; ++i)
        run(1000);
    EXPECT_EQ(check_places(region), kPartNum);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

TEST_F(BoardMemoryTest, KeptShapesDivideTheBlock)
{
    const Region region(20000);
    session_.set("run.shape_cache", "2");
    for (const int size : {500, 900, 700, 500, 1100, 900, 500, 100}) {
        prepare(size, "SRAM:20000:1,DRAM:0:8");
        run(size);
        check_places(region);
    }
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
}

}  // namespace
