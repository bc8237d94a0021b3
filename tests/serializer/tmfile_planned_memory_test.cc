// SPDX-License-Identifier: Apache-2.0
// The memory plan in a tmfile: a start uses the offsets of the file, for the arenas of parts and
// for the memory between them. Offsets that are no plan are not used, and results are the same.
#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/alloc.h"
#include "base/cpu.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/prepared.h"
#include "scheduler/part_report.h"
#include "scheduler/scheduler.h"
#include "serializer/own_tmfile.h"
#include "serializer/prepared_fixture.h"
#include "serializer/tmfile/format.h"

namespace tengine::test {
namespace {

using tmfile::PreparedBlockRecord;
using tmfile::PreparedRecord;
using tmfile::PreparedTensorRecord;
using Blocks = std::vector<PreparedBlockRecord>;
using Places = std::vector<PreparedTensorRecord>;

uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
}

// The preparation of a file, which the test changes and hashes again.
class Forgery
{
  public:
    explicit Forgery(const LoadedTmfile& loaded)
        : found_(preparation_of(loaded)),
          original_(found_),
          bytes_(static_cast<const char*>(found_.data),
                 static_cast<const char*>(found_.data) + found_.size)
    {
        std::memcpy(&head_, bytes_.data(), sizeof head_);
        found_.data = bytes_.data();
    }
    ~Forgery() { found_ = original_; }
    Forgery(const Forgery&) = delete;
    Forgery& operator=(const Forgery&) = delete;

    Blocks blocks() const { return read<PreparedBlockRecord>(head_.blocks); }
    Places places() const { return read<PreparedTensorRecord>(head_.tensors); }
    void write(const Blocks& list) { write(head_.blocks, list); }
    void write(const Places& list) { write(head_.tensors, list); }
    // A vector that was, is no more.
    void drop_blocks()
    {
        head_.blocks = 0;
        std::memcpy(bytes_.data(), &head_, sizeof head_);
        hash();
    }

  private:
    template <class Record>
    std::vector<Record> read(uint32_t offset) const
    {
        uint32_t number = 0;
        if (offset > 0) std::memcpy(&number, bytes_.data() + offset, sizeof number);
        std::vector<Record> list(number);
        if (number > 0)
            std::memcpy(list.data(), bytes_.data() + offset + sizeof number,
                        sizeof(Record) * number);
        return list;
    }

    // As many or fewer.
    template <class Record>
    void write(uint32_t offset, const std::vector<Record>& list)
    {
        const auto number = static_cast<uint32_t>(list.size());
        std::memcpy(bytes_.data() + offset, &number, sizeof number);
        std::memcpy(bytes_.data() + offset + sizeof number, list.data(), sizeof(Record) * number);
        hash();
    }

    void hash() { find_sha256_of_pieces(nullptr, found_.data, found_.size, found_.digest); }

    ir_model_bytes_t& found_;
    const ir_model_bytes_t original_;
    std::vector<char> bytes_;
    PreparedRecord head_;
};

// Turns each memory upside down, which is a plan that plan_memory() does not make.
Blocks turn(Blocks blocks)
{
    const auto is_together = [](const auto& one, const auto& other) {
        return one.part == other.part && one.memory == other.memory;
    };
    const Blocks given = blocks;
    for (PreparedBlockRecord& block : blocks) {
        uint64_t end = 0;
        for (const PreparedBlockRecord& other : given)
            if (is_together(block, other))
                end = std::max(end, other.offset + round_up(other.bytes));
        block.offset = end - block.offset - round_up(block.bytes);
    }
    return blocks;
}

Places turn(Places places, const struct graph& execution)
{
    uint64_t end = 0;
    const auto bytes = [&](size_t i) {
        return round_up(std::max<uint64_t>(get_ir_tensor_bytes(execution.tensor_list[i]), 1));
    };
    for (size_t i = 0; i < places.size(); ++i)
        if (places[i].place != tmfile::kNoPlace) end = std::max(end, places[i].place + bytes(i));
    for (size_t i = 0; i < places.size(); ++i)
        if (places[i].place != tmfile::kNoPlace) places[i].place = end - places[i].place - bytes(i);
    return places;
}

Blocks list_blocks(const struct graph* execution)
{
    struct vector* list = create_vector(sizeof(ir_arena_block_t), nullptr);
    EXPECT_EQ(list_ir_arena_blocks(execution, list), 0) << tengine_error_message();
    Blocks blocks;
    for (int i = 0; i < get_vector_num(list); ++i) {
        const auto* block = static_cast<const ir_arena_block_t*>(get_vector_data(list, i));
        blocks.push_back({block->offset, block->bytes, block->memory, block->part});
    }
    release_vector(list);
    return blocks;
}

bool is_same(const Blocks& one, const Blocks& other)
{
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const auto& a, const auto& b) {
                          return a.offset == b.offset && a.bytes == b.bytes &&
                                 a.memory == b.memory && a.part == b.part;
                      });
}

// The place of each tensor between parts.
bool has_places(const struct graph& execution, const Places& places)
{
    for (size_t i = 0; i < places.size(); ++i) {
        const char* data = static_cast<const char*>(execution.tensor_list[i]->data);
        const char* begin = static_cast<const char*>(execution.core->plan);
        if (places[i].place != tmfile::kNoPlace && data != begin + places[i].place) return false;
    }
    return true;
}

class PlannedMemoryTest : public TmfilePreparedTest
{
  protected:
    // Whether a start uses this plan of the file, and another valid one in its place.
    void check_use(const std::string& file, const std::vector<int>& batches, int threads)
    {
        const LoadedTmfile loaded(compile(file, batches));
        if (!batches.empty()) set_batch(loaded.graph, batches[0]);
        ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_FP32, threads), 0) << tengine_error_message();
        EXPECT_FALSE(has_said("planned again"));
        const std::vector<std::string> results = run(loaded.graph);
        Forgery forgery(loaded);
        ASSERT_GT(forgery.blocks().size(), 2u);
        EXPECT_TRUE(is_same(list_blocks(loaded.graph->core->execution), forgery.blocks()));
        EXPECT_TRUE(has_places(*loaded.graph->core->execution, forgery.places()));
        const Blocks blocks = turn(forgery.blocks());
        const Places places = turn(forgery.places(), *loaded.graph->core->execution);
        EXPECT_FALSE(is_same(blocks, forgery.blocks()));
        end(loaded.graph);
        forgery.write(blocks);
        forgery.write(places);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_FP32, threads), 0) << tengine_error_message();
        EXPECT_FALSE(has_said("planned again"));
        EXPECT_TRUE(is_same(list_blocks(loaded.graph->core->execution), blocks));
        EXPECT_TRUE(has_places(*loaded.graph->core->execution, places));
        EXPECT_EQ(run(loaded.graph), results);
        EXPECT_EQ(run(loaded.graph), results) << "again";
        end(loaded.graph);
    }
};

TEST_F(PlannedMemoryTest, AStartUsesThePlanOfItsFile)
{
    for (const std::string name : {"digits", "quantised"})
        for (const int threads : {1, 2}) {
            SCOPED_TRACE(name + " on " + std::to_string(threads));
            check_use(make_own_tmfile(name), {}, threads);
        }
}

TEST_F(PlannedMemoryTest, EachShapeHasItsOwn)
{
    const std::string file = make_own_tmfile("digits");
    const LoadedTmfile loaded(compile(file, {1, 3}));
    for (const int batch : {3, 1}) {
        const LoadedTmfile plain(file);
        set_batch(plain.graph, batch);
        ASSERT_EQ(prerun(plain.graph), 0) << tengine_error_message();
        const Blocks expected = list_blocks(plain.graph->core->execution);
        end(plain.graph);
        set_batch(loaded.graph, batch);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
        EXPECT_FALSE(has_said("planned again"));
        EXPECT_TRUE(is_same(list_blocks(loaded.graph->core->execution), expected)) << batch;
        end(loaded.graph);
    }
}

TEST_F(PlannedMemoryTest, InTheMemoriesOfABoard)
{
    set_cpu("memories", "SRAM:4096:1,DRAM:0:8");
    check_use(make_own_tmfile("digits"), {}, 1);
}

// Tensors of a few pictures at a time: the arena grows less than the batch.
TEST_F(PlannedMemoryTest, OfABatchThatIsDivided)
{
    const auto sum = [this](int batch) {
        const LoadedTmfile plain(make_own_tmfile("digits"));
        set_batch(plain.graph, batch);
        EXPECT_EQ(prerun(plain.graph), 0) << tengine_error_message();
        uint64_t bytes = 0;
        for (const PreparedBlockRecord& block : list_blocks(plain.graph->core->execution))
            bytes += block.bytes;
        end(plain.graph);
        return bytes;
    };
    const auto l2 = static_cast<int>(get_cpu_cache_size().l2);
    const int batch = std::max(64, l2 / 1024);  // 16 channels of 8x8
    EXPECT_LT(sum(batch), sum(1) * static_cast<uint64_t>(batch) / 2);
    check_use(make_own_tmfile("digits"), {batch}, 1);
    check_use(make_own_tmfile("digits"), {batch}, 2);
}

// The scratch of kernels depends on the threads, so that the plan may be for other blocks.
TEST_F(PlannedMemoryTest, InTheMemoriesOfABoardOnMoreThreads)
{
    set_cpu("memories", "SRAM:4096:1,DRAM:0:8");
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    ASSERT_EQ(prerun(loaded.graph), 0);
    const std::vector<std::string> results = run(loaded.graph);
    end(loaded.graph);
    ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_FP32, 2), 0) << tengine_error_message();
    EXPECT_EQ(run(loaded.graph), results);
    end(loaded.graph);
}

// Forged offsets: a start plans the memory itself, and says so.
TEST_F(PlannedMemoryTest, OffsetsThatAreNoPlan)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    ASSERT_EQ(prerun(loaded.graph), 0);
    const std::vector<std::string> results = run(loaded.graph);
    const Blocks planned = list_blocks(loaded.graph->core->execution);
    end(loaded.graph);
    const std::vector<std::pair<const char*, std::function<void(Blocks&)>>> changes = {
        {"has bytes of another one in step",
         [](Blocks& list) {
             for (PreparedBlockRecord& block : list)
                 block.offset = 0;
         }},
        {", expected a multiple of ", [](Blocks& list) { list[1].offset += 4; }},
        {", expected a multiple of ", [](Blocks& list) { list[0].offset = ~uint64_t{63}; }},
        {", expected a multiple of ", [](Blocks& list) { list[0].offset = uint64_t{1} << 40; }},
        {"is in memory 1", [](Blocks& list) { list[2].memory = 1; }},
        {"is in memory -1", [](Blocks& list) { list[2].memory = -1; }},
        {"blocks are not those of this plan", [](Blocks& list) { list[1].bytes -= 1; }},
        {"blocks are not those of this plan", [](Blocks& list) { list.pop_back(); }},
    };
    for (const auto& [sentence, change] : changes) {
        Forgery forgery(loaded);
        Blocks blocks = forgery.blocks();
        ASSERT_GT(blocks.size(), 2u);
        change(blocks);
        forgery.write(blocks);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
        EXPECT_TRUE(has_said("the memory of the CPU is planned again: ")) << sentence;
        EXPECT_TRUE(says(sentence));
        EXPECT_TRUE(is_same(list_blocks(loaded.graph->core->execution), planned));
        EXPECT_EQ(run(loaded.graph), results) << sentence;
        end(loaded.graph);
    }
}

TEST_F(PlannedMemoryTest, BlocksOfPartsThatAreNotThere)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    for (const int part : {-1, 1, 0x7fffffff}) {
        Forgery forgery(loaded);
        Blocks blocks = forgery.blocks();
        blocks.back().part = part;
        forgery.write(blocks);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
        EXPECT_TRUE(says("is not used: a block of memory is in part "));
        end(loaded.graph);
    }
}

TEST_F(PlannedMemoryTest, PlacesBetweenPartsThatAreNoPlan)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("quantised")));
    ASSERT_EQ(prerun(loaded.graph), 0);
    const std::vector<std::string> results = run(loaded.graph);
    end(loaded.graph);
    for (const uint64_t place : {tmfile::kNoPlace, uint64_t{1}, uint64_t{1} << 50}) {
        Forgery forgery(loaded);
        Places places = forgery.places();
        for (PreparedTensorRecord& each : places)
            if (each.place != tmfile::kNoPlace) each.place = place;
        forgery.write(places);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
        EXPECT_TRUE(says("the memory between parts is planned again: memory plan: block "));
        EXPECT_EQ(run(loaded.graph), results) << place;
        end(loaded.graph);
    }
}

// As in a file of a library that stored none.
TEST_F(PlannedMemoryTest, APreparationWithoutBlocks)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    ASSERT_EQ(prerun(loaded.graph), 0);
    const std::vector<std::string> results = run(loaded.graph);
    end(loaded.graph);
    Forgery forgery(loaded);
    forgery.drop_blocks();
    forget_log();
    ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
    EXPECT_TRUE(has_said("is prepared in its file for "));
    EXPECT_FALSE(has_said("planned again"));
    EXPECT_EQ(run(loaded.graph), results);
    end(loaded.graph);
}

}  // namespace
}  // namespace tengine::test
