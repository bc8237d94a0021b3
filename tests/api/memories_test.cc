// SPDX-License-Identifier: Apache-2.0
// Memories of a board (option CPU.memories, tengine_memory_set): results do not depend on them, the
// plan stays within their sizes and gives its reasons, and graphs share the program's block.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

struct Way
{
    std::string memories;
    const char* scheduler = "sync";
    int precision = TENGINE_MODE_FP32;
    int threads = 1;
    int batch = 1;
};

// A block of the program that is the memory "SRAM" during its lifetime.
class Block
{
  public:
    explicit Block(size_t size) : memory_(size + 64, 0x5a)
    {
        EXPECT_EQ(tengine_memory_set("SRAM", memory_.data(), size), 0) << get_tengine_error();
    }
    ~Block() { EXPECT_EQ(tengine_memory_set("SRAM", nullptr, 0), 0) << get_tengine_error(); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    const std::vector<char>& bytes() const { return memory_; }
    bool is_overrun() const
    {
        return std::any_of(memory_.end() - 64, memory_.end(), [](char c) { return c != 0x5a; });
    }

  private:
    std::vector<char> memory_;
};

class MemoriesTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        for (const graph_t graph : graphs_)
            destroy_graph(graph);
        for (const context_t context : contexts_)
            destroy_context(context);
        ApiTest::TearDown();
    }

    static std::string data(const std::string& name)
    {
        return std::string(TENGINE_SOURCE_DIR) + "/examples/data/" + name;
    }

    // The model digits, or one of these bytes.
    graph_t load(const Way& way, const std::string& model = "")
    {
        const context_t context = create_context("memories", 1);
        contexts_.push_back(context);
        EXPECT_EQ(add_context_device(context, get_default_device()), 0) << get_tengine_error();
        EXPECT_EQ(tengine_context_set_option(context, "scheduler", way.scheduler), 0);
        if (way.precision == TENGINE_MODE_INT8) {
            EXPECT_EQ(tengine_context_set_option(context, "precision.table",
                                                 data("digits.table").c_str()),
                      0);
        }
        if (!way.memories.empty()) {
            EXPECT_EQ(tengine_context_set_option(context, "CPU.memories", way.memories.c_str()), 0)
                << get_tengine_error();
        }
        graphs_.push_back(model.empty() ? create_graph(context, "onnx", data("digits.onnx").c_str())
                                        : onnx::load(model, context));
        return graphs_.back();
    }

    static int prepare(graph_t graph, const Way& way)
    {
        const int shape[] = {way.batch, 1, 8, 8};
        EXPECT_EQ(set_tensor_shape(tengine_graph_get_input(graph, 0), shape, 4), 0);
        return prerun_graph_multithread(graph,
                                        {way.threads, TENGINE_CLUSTER_ALL, way.precision, 0});
    }

    static std::vector<float> run(graph_t graph, int batch)
    {
        std::vector<float> pixels(static_cast<size_t>(batch) * 64);
        for (size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<float>(i * 37 % 101) / 100;
        EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), pixels));
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(tengine_graph_get_output(graph, 0));
    }

    std::vector<float> use(const Way& way)
    {
        const graph_t graph = load(way);
        EXPECT_EQ(prepare(graph, way), 0) << get_tengine_error();
        return run(graph, way.batch);
    }

    static std::vector<tengine_plan_arena> list_arenas(graph_t graph)
    {
        std::vector<tengine_plan_arena> arenas(
            static_cast<size_t>(tengine_graph_get_plan_arena_number(graph)));
        for (size_t i = 0; i < arenas.size(); ++i)
            EXPECT_EQ(tengine_graph_get_plan_arena(graph, static_cast<int>(i), &arenas[i],
                                                   sizeof arenas[i]),
                      0);
        return arenas;
    }

    static std::vector<tengine_plan_block> list_blocks(graph_t graph)
    {
        std::vector<tengine_plan_block> blocks(
            static_cast<size_t>(tengine_graph_get_plan_block_number(graph)));
        for (size_t i = 0; i < blocks.size(); ++i)
            EXPECT_EQ(tengine_graph_get_plan_block(graph, static_cast<int>(i), &blocks[i],
                                                   sizeof blocks[i]),
                      0);
        return blocks;
    }

    // The bytes that all arenas in memories of this name take.
    static int64_t count_bytes(graph_t graph, const std::string& name)
    {
        std::map<int, int64_t> memories;
        for (const tengine_plan_arena& arena : list_arenas(graph))
            if (arena.name == name)
                memories[arena.memory] = std::max(memories[arena.memory], arena.bytes);
        int64_t sum = 0;
        for (const auto& [memory, bytes] : memories)
            sum += bytes;
        return sum;
    }

    // Blocks with different numbers do not meet, and each reason is true.
    static void check_plan(graph_t graph)
    {
        const std::vector<tengine_plan_arena> arenas = list_arenas(graph);
        const std::vector<tengine_plan_block> blocks = list_blocks(graph);
        for (const tengine_plan_block& a : blocks) {
            const tengine_plan_arena& arena = arenas[static_cast<size_t>(a.arena)];
            EXPECT_LE(a.offset + a.bytes, arena.bytes);
            if (arena.memory_bytes > 0) {
                EXPECT_LE(arena.bytes, arena.memory_bytes);
            }
            for (const tengine_plan_block& b : blocks) {
                if (a.arena != b.arena || a.block == b.block) continue;
                const bool in_time = a.first <= b.last && b.first <= a.last;
                EXPECT_FALSE(in_time && a.offset < b.offset + b.bytes &&
                             b.offset < a.offset + a.bytes);
            }
            if (a.reason == TENGINE_PLACE_CHOSEN) continue;
            const tengine_plan_arena& faster = arenas[static_cast<size_t>(a.arena) - 1];
            EXPECT_EQ(faster.subgraph, arena.subgraph);
            EXPECT_LE(a.reason_bytes, faster.memory_bytes);
            if (a.reason == TENGINE_PLACE_TOO_LARGE) {
                EXPECT_GT(a.bytes, a.reason_bytes);
            } else {
                EXPECT_GT(a.reason_bytes, 0);
            }
        }
    }

  private:
    std::vector<graph_t> graphs_;
    std::vector<context_t> contexts_;
};

TEST_F(MemoriesTest, ResultsAreTheSameInAllWays)
{
    for (const int precision :
         {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_INT8})
        for (const char* scheduler : {"sync", "pipeline"})
            for (const int threads : {1, 2})
                for (const int batch : {1, 7}) {
                    const std::vector<float> expected =
                        use({"", scheduler, precision, threads, batch});
                    for (const char* memories :
                         {"SRAM:8192:1,DRAM:0:8", "SRAM:100000:1,DRAM:0:8", "A:64:1,B:0:1",
                          "A:1024:1,B:4000:2,C:9000:2.5,D:0:3"}) {
                        const Way way = {memories, scheduler, precision, threads, batch};
                        const graph_t graph = load(way);
                        ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
                        EXPECT_EQ(run(graph, batch), expected) << memories << ' ' << scheduler;
                        check_plan(graph);
                    }
                }
}

TEST_F(MemoriesTest, APlanPrefersTheFastMemory)
{
    const Way way = {"SRAM:8192:1,DRAM:0:8"};
    const graph_t graph = load(way);
    ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
    EXPECT_GT(count_bytes(graph, "SRAM"), 4096);
    EXPECT_LE(count_bytes(graph, "SRAM"), 8192);
    EXPECT_GT(count_bytes(graph, "DRAM"), 0);
    std::set<int> reasons;
    for (const tengine_plan_block& block : list_blocks(graph))
        reasons.insert(block.reason);
    EXPECT_EQ(reasons, (std::set<int>{TENGINE_PLACE_CHOSEN, TENGINE_PLACE_TOO_LARGE,
                                      TENGINE_PLACE_NO_ROOM}));
    const Way large = {"SRAM:1000000:1,DRAM:0:8"};
    const graph_t fast = load(large);
    ASSERT_EQ(prepare(fast, large), 0);
    EXPECT_EQ(count_bytes(fast, "DRAM"), 0);
    tengine_graph_stats stats;
    ASSERT_EQ(tengine_graph_get_stats(graph, &stats), 0);
    EXPECT_EQ(stats.arena_bytes,
              count_bytes(graph, "SRAM") + count_bytes(graph, "DRAM") + count_bytes(graph, ""));
}

// The costs are those of the option, and each arena saves what its blocks move.
TEST_F(MemoriesTest, APlanHasCostsAndSavings)
{
    for (const auto& [size, cost] : std::map<int, double>{{8192, 1}, {60000, 1.5}}) {
        const Way way = {"SRAM:" + std::to_string(size) + ":" + std::to_string(cost) + ",DRAM:0:8"};
        const graph_t graph = load(way);
        ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
        const std::vector<tengine_plan_arena> arenas = list_arenas(graph);
        std::vector<int64_t> moved(arenas.size());
        for (const tengine_plan_block& block : list_blocks(graph)) {
            EXPECT_GT(block.moved_bytes, 0);
            moved[static_cast<size_t>(block.arena)] += block.moved_bytes;
        }
        for (size_t i = 0; i < arenas.size(); ++i) {
            EXPECT_EQ(arenas[i].moved_bytes, moved[i]);
            EXPECT_EQ(arenas[i].slowest_ns_per_kib, 8);
            EXPECT_EQ(arenas[i].ns_per_kib, std::string(arenas[i].name) == "SRAM" ? cost : 8);
        }
    }
}

// Weights are copied where they save more than tensors that would lie there, and stay there.
TEST_F(MemoriesTest, HotWeightsAreKept)
{
    const std::vector<float> expected = use({});
    const Way none = {};
    const graph_t in_one = load(none);
    ASSERT_EQ(prepare(in_one, none), 0) << get_tengine_error();
    tengine_graph_memory slow;
    ASSERT_EQ(get_graph_memory(in_one, &slow, sizeof slow), 0);
    int64_t last = 0;
    for (const int size : {1000, 20000, 40000, 80000, 200000}) {
        Block block(static_cast<size_t>(size) + 1000);
        const Way way = {"SRAM:" + std::to_string(size) + ":1,DRAM:0:8"};
        const graph_t graph = load(way);
        ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
        int64_t kept = 0;
        for (const tengine_plan_arena& arena : list_arenas(graph))
            if (arena.is_kept) kept += arena.bytes;
        EXPECT_GE(kept, last) << size;
        // Copies count beside the originals, which stay where they were packed.
        tengine_graph_memory memory;
        ASSERT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0);
        EXPECT_GE(memory.device_bytes - slow.device_bytes, kept - 16384 - 2048) << size;
        last = kept;
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(run(graph, 1), expected);
        check_plan(graph);
        EXPECT_LE(count_bytes(graph, "SRAM"), size);
        EXPECT_EQ(postrun_graph(graph), 0);
        EXPECT_FALSE(block.is_overrun());
    }
    EXPECT_GT(last, 100000) << "all packed weights";
}

TEST_F(MemoriesTest, OfTheProgramsBlockPartsTakeTheirShare)
{
    const std::vector<float> expected = use({});
    const Way way = {"SRAM:8192:1,DRAM:0:8"};
    Block block(6000);
    {
        const graph_t graph = load(way);
        ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
        EXPECT_GT(count_bytes(graph, "SRAM"), 0);
        EXPECT_LE(count_bytes(graph, "SRAM"), 6000) << "less than the option states";
        const std::vector<char> before(block.bytes().begin(), block.bytes().end());
        EXPECT_EQ(run(graph, 1), expected);
        EXPECT_NE(block.bytes(), before) << "tensors lie in it";
        EXPECT_LT(tengine_memory_set("SRAM", nullptr, 0), 0);
        EXPECT_EQ(get_tengine_errno(), TENGINE_ESTATE) << get_tengine_error();

        // A second graph, and an instance of the first, have what is left.
        const graph_t second = load(way);
        const graph_t instance = tengine_graph_share(graph);
        ASSERT_EQ(prepare(second, way), 0) << get_tengine_error();
        ASSERT_EQ(prepare(instance, way), 0) << get_tengine_error();
        EXPECT_LE(count_bytes(graph, "SRAM") + count_bytes(second, "SRAM") +
                      count_bytes(instance, "SRAM"),
                  6000);
        EXPECT_EQ(run(second, 1), expected);
        EXPECT_EQ(run(instance, 1), expected);
        EXPECT_EQ(run(graph, 1), expected);
        for (const graph_t each : {graph, second})
            EXPECT_EQ(postrun_graph(each), 0);
        EXPECT_EQ(destroy_graph(instance), 0);
    }
    EXPECT_FALSE(block.is_overrun());
}

TEST_F(MemoriesTest, ShapesThatAreKeptStayInTheMemory)
{
    const Way way = {"SRAM:20000:1,DRAM:0:8"};
    Block block(20000 + 128);
    std::map<int, std::vector<float>> expected;
    for (const int batch : {1, 2, 4})
        expected[batch] = use({"", "sync", TENGINE_MODE_FP32, 1, batch});
    const graph_t graph = load(way);
    for (const int batch : {4, 1, 2, 4, 2, 1}) {
        Way now = way;
        now.batch = batch;
        ASSERT_EQ(prepare(graph, now), 0) << get_tengine_error();
        EXPECT_EQ(run(graph, batch), expected[batch]);
        check_plan(graph);
    }
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_FALSE(block.is_overrun());
}

TEST_F(MemoriesTest, APartThatCannotRunAloneHasItsOwnShare)
{
    const Way way = {"SRAM:8192:1,DRAM:0:8", "pipeline"};
    Block block(8192);
    const graph_t graph = load(way);
    ASSERT_EQ(prepare(graph, way), 0) << get_tengine_error();
    EXPECT_LE(count_bytes(graph, "SRAM"), 8192);
    for (int i = 0; i < 5; ++i)
        run(graph, 1);
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_FALSE(block.is_overrun());
}

// The exponential of x and, added to it, the value of -|x| after two rounds of a Loop.
std::string make_loop_around()
{
    using namespace onnx;
    const std::string body = graph(
        {node("Abs", {"v"}, {"a"}), node("Neg", {"a"}, {"w"}), node("Identity", {"c"}, {"d"})},
        {value("i", kInt64), value("c", kBool), value("v", kFloat, {300})},
        {value("d", kBool), value("w", kFloat, {300})});
    return graph({node("Exp", {"x"}, {"kept"}),
                  node("Loop", {"rounds", "", "x"}, {"l"}, {graph_attribute("body", body)}),
                  node("Add", {"kept", "l"}, {"y"})},
                 {value("x", kFloat, {300})}, {value("y", kFloat, {300})},
                 {constant<int64_t>("rounds", kInt64, {}, {2})});
}

// A body runs while the part around it does: together they stay within the memory.
TEST_F(MemoriesTest, BodiesHaveTheRestOfAMemory)
{
    std::vector<float> x(300);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 9) / 4 - 1;
    const std::string model = make_loop_around();
    for (const char* scheduler : {"sync", "pipeline"})
        for (const int size : {100, 1300, 2500, 2700, 4000, 10000}) {
            // The program has less than the option states.
            Block block(static_cast<size_t>(size > 2500 ? 2600 : 20000));
            const Way way = {"SRAM:" + std::to_string(size) + ":1,DRAM:0:8", scheduler};
            const graph_t graph = load(way, model);
            ASSERT_NE(graph, nullptr) << get_tengine_error();
            ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
            ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), x));
            ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            const std::vector<float> y = read_floats(tengine_graph_get_output(graph, 0));
            for (size_t i = 0; i < x.size(); ++i)
                ASSERT_NEAR(y[i], std::exp(x[i]) - std::abs(x[i]), 1e-5) << size;
            EXPECT_LE(count_bytes(graph, "SRAM"), std::min(size, size > 2500 ? 2600 : 20000));
            check_plan(graph);
            EXPECT_EQ(postrun_graph(graph), 0);
            EXPECT_FALSE(block.is_overrun());
        }
}

TEST_F(MemoriesTest, WrongOptionsAreRefused)
{
    const context_t context = create_context("memories", 1);
    ASSERT_EQ(add_context_device(context, get_default_device()), 0);
    const std::map<std::string, std::string> faults = {
        {"SRAM", "a name has"},
        {":1:1", "a name has"},
        {"A NAME:1:1", "a name has"},
        {"A234567890123456:1:1,B:0:2", "a name has"},
        {"SRAM:1", "a size is"},
        {"SRAM:-1:1", "a size is"},
        {"SRAM:x:1", "a size is"},
        {"SRAM:99999999999999999999:1", "a size is"},
        {"SRAM:1:", "a time is"},
        {"SRAM:1:0", "a time is"},
        {"SRAM:1:-2", "a time is"},
        {"SRAM:1:1e3", "a time is"},
        {"SRAM:1:1.2.3", "a time is"},
        {"SRAM:1:nan", "a time is"},
        {"SRAM:1:1", "the last memory must"},
        {"SRAM:1:1,", "a name has"},
        {"A:0:1,B:0:2", "the last memory alone"},
        {"A:1:2,B:0:1", "slower than"},
        {"A:1:1,A:0:2", "twice"},
        {"A:1:1,B:1:1,C:1:1,D:1:1,E:0:1", "more than four"},
    };
    set_log_level(LOG_EMERG);
    for (const auto& [value, fault] : faults) {
        EXPECT_LT(tengine_context_set_option(context, "CPU.memories", value.c_str()), 0) << value;
        EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
        EXPECT_NE(std::string(get_tengine_error()).find(fault), std::string::npos)
            << value << ": " << get_tengine_error();
    }
    set_log_level(LOG_NOTICE);
    EXPECT_EQ(tengine_context_set_option(context, "CPU.memories", ""), 0);
    EXPECT_EQ(tengine_context_set_option(context, "CPU.memories", "A_1:0:.5"), 0)
        << get_tengine_error();
    destroy_context(context);
}

TEST_F(MemoriesTest, WrongBlocksAreRefused)
{
    std::vector<char> memory(1000);
    const auto fails = [&](const char* name, void* block, size_t size, int code) {
        EXPECT_LT(tengine_memory_set(name, block, size), 0);
        EXPECT_EQ(get_tengine_errno(), code) << get_tengine_error();
    };
    fails(nullptr, memory.data(), 1000, TENGINE_EINVAL);
    fails("", memory.data(), 1000, TENGINE_EINVAL);
    fails("a name of sixteen", memory.data(), 1000, TENGINE_EINVAL);
    fails("SRAM", nullptr, 1000, TENGINE_EINVAL);
    fails("SRAM", memory.data(), 0, TENGINE_EINVAL);
    fails("SRAM", memory.data(), 255, TENGINE_EINVAL);
    for (const char* name : {"A", "B", "C", "D"})
        EXPECT_EQ(tengine_memory_set(name, memory.data(), 1000), 0);
    fails("SRAM", memory.data(), 1000, TENGINE_ELIMIT);
    EXPECT_EQ(tengine_memory_set("A", memory.data(), 500), 0) << "it is replaced";
    for (const char* name : {"A", "B", "C", "D", "E"})
        EXPECT_EQ(tengine_memory_set(name, nullptr, 0), 0);
}

}  // namespace
}  // namespace tengine
