// SPDX-License-Identifier: Apache-2.0
// Memories of a board (option CPU.memories) with everything that they meet: kernels of the program,
// which see the addresses, threads, compiled files, states, and allocations that fail.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/custom_kernel.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/state.h"

namespace tengine {
namespace {

// A block of the program that is the memory "SRAM" during its lifetime.
class Region
{
  public:
    explicit Region(size_t size) : bytes_(size + 64, 0x5a)
    {
        EXPECT_EQ(tengine_memory_set("SRAM", bytes_.data(), size), 0) << get_tengine_error();
    }
    ~Region()
    {
        EXPECT_EQ(tengine_memory_set("SRAM", nullptr, 0), 0) << get_tengine_error();
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

class CrossedMemoriesTest : public ApiTest
{
  protected:
    static std::string digits()
    {
        return std::string(TENGINE_SOURCE_DIR) + "/examples/data/digits.onnx";
    }

    static context_t make_context(const std::string& memories)
    {
        const context_t context = create_context("memories", 1);
        EXPECT_EQ(add_context_device(context, get_default_device()), 0) << get_tengine_error();
        EXPECT_EQ(tengine_context_set_option(context, "CPU.memories", memories.c_str()), 0);
        return context;
    }

    static bool set_shape(graph_t graph)
    {
        const int shape[] = {1, 1, 8, 8};
        return set_tensor_shape(tengine_graph_get_input(graph, 0), shape, 4) == 0;
    }

    static std::vector<float> run(graph_t graph)
    {
        std::vector<float> pixels(64);
        for (size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<float>(i * 37 % 101) / 100;
        if (!write_floats(tengine_graph_get_input(graph, 0), pixels) || run_graph(graph, 1) != 0)
            return {};
        return read_floats(tengine_graph_get_output(graph, 0));
    }
};

// ---- addresses ----

// A kernel that copies its input, and notes the address of its output.
struct Noter
{
    custom_kernel_ops ops = {};
    const void* written = nullptr;
};

int copy_and_note(custom_kernel_ops* ops, custom_kernel_tensor* inputs[], int,
                  custom_kernel_tensor* outputs[], int)
{
    std::copy_n(static_cast<const char*>(inputs[0]->data),
                static_cast<size_t>(outputs[0]->element_num) * sizeof(float),
                static_cast<char*>(outputs[0]->data));
    static_cast<Noter*>(ops->kernel_param)->written = outputs[0]->data;
    return 0;
}

constexpr int kChain = 7;

// A chain, each of whose tensors the next two nodes read.
std::string make_chain()
{
    using namespace onnx;
    std::vector<std::string> nodes;
    std::string last = "x";
    for (int i = 0; i < kChain; ++i) {
        const std::string next = i + 1 == kChain ? "y" : "t" + std::to_string(i);
        nodes.push_back(node("Abs", {last}, {next}));
        last = next;
    }
    return graph(nodes, {value("x", kFloat, {500})}, {value("y", kFloat, {500})});
}

std::map<std::string, bool> list_fast(graph_t graph)
{
    std::map<std::string, bool> fast;
    const int number = tengine_graph_get_plan_block_number(graph);
    for (int i = 0; i < number; ++i) {
        tengine_plan_block block;
        tengine_plan_arena arena;
        tengine_execution_tensor tensor;
        EXPECT_EQ(tengine_graph_get_plan_block(graph, i, &block, sizeof block), 0);
        EXPECT_EQ(tengine_graph_get_plan_arena(graph, block.arena, &arena, sizeof arena), 0);
        if (block.tensor < 0 || arena.is_kept) continue;
        EXPECT_EQ(tengine_graph_get_execution_tensor(graph, block.tensor, &tensor), 0);
        fast[tensor.name] = std::string(arena.name) == "SRAM";
    }
    return fast;
}

TEST_F(CrossedMemoriesTest, EachTensorLiesWhereThePlanSays)
{
    int fast_num = 0, slow_num = 0;
    for (const int size : {1000, 2100, 4200, 6400, 20000}) {
        const Region region(static_cast<size_t>(size));
        const context_t context = make_context("SRAM:30000:1,DRAM:0:8");
        const graph_t graph = onnx::load(make_chain(), context);
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        std::vector<Noter> noters(kChain);
        std::map<std::string, const Noter*> by_name;
        for (int i = 0; i < kChain; ++i) {
            Noter& noter = noters[static_cast<size_t>(i)];
            noter.ops.kernel_name = "note";
            noter.ops.kernel_param = &noter;
            noter.ops.run = copy_and_note;
            const std::string name = i + 1 == kChain ? "y" : "t" + std::to_string(i);
            by_name[name] = &noter;
            const node_t node = tengine_tensor_get_producer(get_graph_tensor(graph, name.c_str()));
            ASSERT_EQ(set_custom_kernel(node, "CPU", &noter.ops), 0) << get_tengine_error();
        }
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        std::vector<float> x(500);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(i) - 100;
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), x));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), x);
        const std::map<std::string, bool> fast = list_fast(graph);
        ASSERT_EQ(fast.size(), size_t{kChain});
        for (const auto& [name, is_fast] : fast) {
            EXPECT_EQ(region.has(by_name.at(name)->written), is_fast) << name << ' ' << size;
            ++(is_fast ? fast_num : slow_num);
        }
        EXPECT_EQ(destroy_graph(graph), 0);
        destroy_context(context);
    }
    EXPECT_GT(fast_num, kChain);
    EXPECT_GT(slow_num, kChain);
}

// ---- threads ----

// Graphs that are prepared at the same time find room for each other, or do without.
TEST_F(CrossedMemoriesTest, GraphsArePreparedInThreads)
{
    const Region region(12000);
    const context_t context = make_context("SRAM:12000:1,DRAM:0:8");
    const graph_t first = create_graph(context, "onnx", digits().c_str());
    ASSERT_TRUE(first && set_shape(first)) << get_tengine_error();
    ASSERT_EQ(prerun_graph(first), 0);
    const std::vector<float> expected = run(first);
    ASSERT_EQ(postrun_graph(first), 0);
    std::atomic<int> failures{0};
    std::vector<graph_t> graphs;
    for (int i = 0; i < 6; ++i)
        graphs.push_back(tengine_graph_share(first));
    std::vector<std::thread> threads;
    for (const graph_t graph : graphs)
        threads.emplace_back([&, graph] {
            for (int round = 0; round < 25; ++round) {
                const bool good = graph && prerun_graph(graph) == 0 && run(graph) == expected &&
                                  postrun_graph(graph) == 0;
                if (!good) ++failures;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(failures, 0) << get_tengine_error();
    for (const graph_t graph : graphs)
        EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(destroy_graph(first), 0);
    destroy_context(context);
}

// ---- compiled files ----

// A compiled file for these memories, for others and for none: results are those of the model.
TEST_F(CrossedMemoriesTest, CompiledFilesArePlannedForTheMemoriesOfTheRun)
{
    const std::string path = testing::TempDir() + "memories" + std::to_string(getpid()) + ".tmfile";
    const char* ways[] = {"", "SRAM:8192:1,DRAM:0:8", "SRAM:60000:1,DRAM:0:8",
                          "A:4096:1,B:20000:2,C:0:3"};
    std::vector<float> expected;
    for (const char* made : ways) {
        const context_t maker = make_context(made);
        ASSERT_EQ(tengine_context_set_option(maker, "model.keep_parts", "1"), 0);
        const graph_t source = create_graph(maker, "onnx", digits().c_str());
        ASSERT_TRUE(source && set_shape(source)) << get_tengine_error();
        ASSERT_EQ(save_graph(source, "tengine", path.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(source), 0);
        const graph_t graph = create_graph(maker, "tengine", path.c_str());
        ASSERT_TRUE(graph && set_shape(graph)) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        if (expected.empty()) expected = run(graph);
        const std::map<std::string, bool> planned = list_fast(graph);
        ASSERT_EQ(save_graph(graph, "tengine", path.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        destroy_context(maker);
        for (const char* used : ways) {
            const Region region(50000);
            const context_t user = make_context(used);
            const graph_t loaded = create_graph(user, "tengine", path.c_str());
            ASSERT_TRUE(loaded && set_shape(loaded)) << get_tengine_error();
            ASSERT_EQ(prerun_graph(loaded), 0) << get_tengine_error();
            EXPECT_EQ(run(loaded), expected) << made << " as " << used;
            if (std::string(made) == used && std::string(used).find("60000") == std::string::npos) {
                EXPECT_EQ(list_fast(loaded), planned) << made;
            }
            EXPECT_EQ(destroy_graph(loaded), 0);
            destroy_context(user);
        }
    }
    std::remove(path.c_str());
}

// ---- states ----

TEST_F(CrossedMemoriesTest, StatesAreKeptBesideThem)
{
    using namespace onnx;
    const std::string model =
        onnx::graph({node("Add", {"x", "before"}, {"sum"}), node("Neg", {"sum"}, {"n"}),
                     node("Neg", {"n"}, {"after"}), node("Identity", {"sum"}, {"y"})},
                    {value("x", kFloat, {300}), value("before", kFloat, {300})},
                    {value("y", kFloat, {300}), value("after", kFloat, {300})});
    const Region region(6000);
    const context_t context = make_context("SRAM:6000:1,DRAM:0:8");
    const graph_t graph = onnx::load(model, context);
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    tengine_graph_memory before, after;
    ASSERT_EQ(tengine_graph_keep_state(graph, "before", "after"), 0) << get_tengine_error();
    ASSERT_EQ(get_graph_memory(graph, &before, sizeof before), 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(get_graph_memory(graph, &after, sizeof after), 0);
    EXPECT_EQ(after.value_bytes - before.value_bytes, 2 * 300 * 4) << "both values";
    for (int i = 1; i <= 4; ++i) {
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), std::vector<float>(300, 2)));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)),
                  std::vector<float>(300, 2.0f * static_cast<float>(i)));
    }
    EXPECT_EQ(destroy_graph(graph), 0);
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
