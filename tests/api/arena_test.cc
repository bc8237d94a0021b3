// SPDX-License-Identifier: Apache-2.0
// The library in an arena of the program's: it takes nothing from the heap, gives everything back,
// and if the arena is too small, reports it and stays usable.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/allocation_count.h"
#include "support/emulated.h"

namespace tengine {
namespace {

constexpr size_t kAmple = 8 << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Use
{
    size_t now = 0, peak = 0;
};

Use arena_use()
{
    Use use;
    EXPECT_EQ(tengine_arena_get_use(&use.now, &use.peak), 0);
    return use;
}

// Selects the elements of x that are not 0, twice: shape and memory are known only in the run.
graph_t create_dynamic_network()
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {1, 3, 13, 17});
    const tensor_t found = add_node(graph, "found", "NonZero", {x}, TENGINE_DT_INT64);
    const tensor_t places =
        add_node(graph, "places", "ai.onnx.Transpose", {found}, TENGINE_DT_INT64);
    const tensor_t twice =
        add_node(graph, "twice", "ai.onnx.Concat", {places, places}, TENGINE_DT_INT64);
    const int axis = 0;
    const node_t concat = get_graph_node(graph, "twice");
    const bool has_axis = set_node_attr_int(concat, "axis", &axis) == 0;
    release_graph_node(concat);
    add_node(graph, "y", "ai.onnx.GatherND", {x, twice});
    return has_axis && set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
}

// Does the same in a branch of an If, through a sequence.
graph_t create_network_with_bodies()
{
    using namespace onnx;
    const std::string many =
        graph({node("SequenceConstruct", {"some", "some"}, {"list"}),
               node("ConcatFromSequence", {"list"}, {"both"}, {number_attribute("axis", 0)})},
              {}, {value("both", kFloat, {-1})});
    const std::string few =
        graph({node("Neg", {"some"}, {"less"})}, {}, {value("less", kFloat, {-1})});
    return load(
        graph({node("NonZero", {"x"}, {"found"}), node("Transpose", {"found"}, {"places"}),
               node("GatherND", {"x", "places"}, {"some"}), node("Size", {"some"}, {"number"}),
               node("Greater", {"number", "limit"}, {"is_many"}),
               node("If", {"is_many"}, {"y"},
                    {graph_attribute("then_branch", many), graph_attribute("else_branch", few)})},
              {value("x", kFloat, {1, 3, 13, 17})}, {value("y", kFloat, {-1})},
              {constant<int64_t>("limit", kInt64, {}, {700})}));
}

class ArenaTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        path_ = testing::TempDir() + "arena_test_" + std::to_string(getpid()) + ".tmfile";
        image_.assign(2 * 3 * 13 * 17, 0.5f);
    }

    void TearDown() override
    {
        release_tengine();
        EXPECT_EQ(arena_use().now, 0u) << "something stays after release_tengine";
        EXPECT_EQ(tengine_arena_set(nullptr, 0), 0) << get_tengine_error();
        std::remove(path_.c_str());
    }

    // Saves a graph without an arena.
    bool save(graph_t (*create)())
    {
        if (init_tengine() != 0) return false;
        const graph_t graph = create();
        const bool saved = graph && save_graph(graph, "tengine", path_.c_str()) == 0;
        release_tengine();
        return saved;
    }

    bool set_arena(size_t size)
    {
        memory_ = std::make_unique<char[]>(size);
        return tengine_arena_set(memory_.get(), size) == 0;
    }

    // Uses the library once from the file to the result and another shape; false if a call fails.
    // `loaded` gets the graph and lets a test inspect it before it is destroyed.
    bool use_model(int threads)
    {
        if (!memories_ || make_context()) graph_ = create_graph(context_, "tengine", path_.c_str());
        if (!graph_) drop_graph();
        return graph_ && run_batch(1, threads) && run_batch(2, threads) && run_batch(1, threads);
    }

    bool make_context()
    {
        context_ = create_context("arena", 1);
        return context_ && add_context_device(context_, get_default_device()) == 0 &&
               tengine_context_set_option(context_, "CPU.memories", memories_) == 0;
    }

    bool run_batch(int batch, int threads)
    {
        const int dims[] = {batch, 3, 13, 17};
        const tensor_t x = get_graph_input_tensor(graph_, 0, 0);
        if (!x || set_tensor_shape(x, dims, 4) != 0 ||
            prerun_graph_multithread(graph_, {threads, TENGINE_CLUSTER_ALL, 0, 0}) != 0 ||
            set_tensor_buffer(x, image_.data(), get_tensor_buffer_size(x)) != 0)
            return false;
        for (int run = 0; run < 3; ++run)
            if (run_graph(graph_, 1) != 0) return false;
        const tensor_t y = get_graph_output_tensor(graph_, 0, 0);
        return y && get_tensor_buffer(y) && postrun_graph(graph_) == 0;
    }

    void drop_graph()
    {
        EXPECT_TRUE(!graph_ || destroy_graph(graph_) == 0);
        graph_ = nullptr;
        if (context_) destroy_context(context_);
        context_ = nullptr;
    }

    std::string path_;
    std::vector<float> image_;
    graph_t graph_ = nullptr;
    context_t context_ = nullptr;
    const char* memories_ = nullptr;  // the option of the CPU, or none
    std::unique_ptr<char[]> memory_;
};

TEST_F(ArenaTest, IsSetBetweenReleaseAndInit)
{
    ASSERT_TRUE(set_arena(kAmple));
    ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
    EXPECT_EQ(tengine_arena_set(nullptr, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_arena_set(memory_.get(), kAmple), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    release_tengine();
    EXPECT_EQ(tengine_arena_set(memory_.get(), kAmple), 0);
    for (const size_t size : {size_t{0}, size_t{255}}) {
        EXPECT_EQ(tengine_arena_set(memory_.get(), size), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(tengine_arena_set(nullptr, kAmple), -1);
    EXPECT_NE(std::string(tengine_error_message()).find("invalid arena of"), std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(ArenaTest, UseIsZeroWithoutOne)
{
    ASSERT_EQ(init_tengine(), 0);
    EXPECT_EQ(arena_use().now, 0u);
    EXPECT_EQ(arena_use().peak, 0u);
    EXPECT_EQ(tengine_arena_get_use(nullptr, nullptr), 0);
}

TEST_F(ArenaTest, NothingIsTakenFromTheHeap)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    ASSERT_TRUE(save(create_small_network));
    // The C library keeps the stack of an ended thread, with the table that it takes from the heap
    // for each new one. After this, threads that the library starts allocate nothing.
    std::thread([] {}).join();
    for (int threads : {1, 2}) {
        ASSERT_TRUE(set_arena(kAmple));
        ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
        const size_t used = arena_use().now;
        EXPECT_GT(used, 0u);
        const long before = count_allocations();
        const bool worked = use_model(threads);
        const long after_use = count_allocations();
        const size_t used_by_graph = arena_use().now - used;
        drop_graph();
        const long after = count_allocations();
        EXPECT_TRUE(worked) << get_tengine_error();
        EXPECT_EQ(after_use, before) << threads << " threads";
        EXPECT_EQ(after, after_use) << threads << " threads";
        EXPECT_GT(used_by_graph, 7u * 3 * 3 * 3);
        EXPECT_EQ(arena_use().now, used) << "a graph leaves something";
        EXPECT_GT(arena_use().peak, used + used_by_graph / 2);
        release_tengine();
        EXPECT_EQ(count_allocations(), after);
    }
}

TEST_F(ArenaTest, FailuresTakeNothingFromTheHeap)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    ASSERT_TRUE(set_arena(kAmple));
    ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
    set_log_output(nullptr);  // the log itself, not the lines that the tests keep
    const size_t used = arena_use().now;
    const long before = count_allocations();
    const graph_t missing = create_graph(nullptr, "tengine", "/nonexistent/model.tmfile");
    const context_t context = create_context("context", 0);
    const int status = add_context_device(context, "no such device");
    destroy_context(context);
    const long after = count_allocations();
    EXPECT_EQ(missing, nullptr);
    EXPECT_EQ(status, -1);
    EXPECT_EQ(after, before);
    EXPECT_EQ(arena_use().now, used);
}

class ArenaSizeTest : public ArenaTest
{
  protected:
    void SetUp() override
    {
        ArenaTest::SetUp();
        set_log_level(LOG_EMERG);  // every failed start logs an error
    }

    void TearDown() override
    {
        set_log_level(LOG_NOTICE);
        ArenaTest::TearDown();
    }

    // Tries sizes from `first` on until the whole use works; smaller ones must fail cleanly.
    // Returns the size that works, 0 if none does. On slow machines, steps are larger.
    size_t find_least(size_t first, size_t last, size_t step, int threads)
    {
        if (test::kEmulated) step *= 8;
        if (kSanitized) step *= 4;
        for (size_t size = first; size <= last; size += step) {
            SCOPED_TRACE("an arena of " + std::to_string(size) + " bytes");
            if (!set_arena(size)) ADD_FAILURE() << get_tengine_error();
            const bool works = try_model(threads);
            release_tengine();
            EXPECT_EQ(arena_use().now, 0u);
            if (!works && !HasFailure()) continue;
            std::printf("%zu sizes are too small\n", (size - first) / step);
            return size;
        }
        return 0;
    }

    bool try_model(int threads)
    {
        clr_tengine_errno();
        if (init_tengine() != 0) return expect_shortage();
        const size_t used = arena_use().now;
        clr_tengine_errno();
        if (use_model(threads)) {
            drop_graph();
            EXPECT_EQ(arena_use().now, used);
            return true;
        }
        expect_shortage();
        EXPECT_TRUE(graph_ || arena_use().now == used) << "a failed load leaves something";
        drop_graph();
        EXPECT_EQ(arena_use().now, used) << "a failed graph leaves something";
        // The arena is still usable for requests that fit: an empty graph is a few hundred bytes.
        const graph_t empty = create_graph(nullptr, nullptr, nullptr);
        EXPECT_TRUE(!empty || destroy_graph(empty) == 0);
        EXPECT_EQ(arena_use().now, used);
        return false;
    }

    static bool expect_shortage()
    {
        EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << get_tengine_error();
        EXPECT_NE(std::strstr(get_tengine_error(), "the arena has "), nullptr)
            << get_tengine_error();
        return false;
    }
};

// Sizes grow by a grain, so that each request in turn is the first that fails.
TEST_F(ArenaSizeTest, EverySizeWorksOrFailsCleanly)
{
    ASSERT_TRUE(save(create_small_network));
    const size_t least = find_least(256, kAmple, 64, 1);
    ASSERT_GT(least, 0u);
    // The peak is a close estimate of the size.
    EXPECT_LE(arena_use().peak, least);
    EXPECT_GT(arena_use().peak, least * 3 / 4);
}

TEST_F(ArenaSizeTest, EverySizeWorksOrFailsCleanlyWithMemories)
{
    ASSERT_TRUE(save(create_small_network));
    memories_ = "SRAM:2000:1,DRAM:0:8";
    EXPECT_GT(find_least(4096, kAmple, 256, 1), 0u);
}

TEST_F(ArenaSizeTest, EverySizeWorksOrFailsCleanlyWithTwoThreads)
{
    ASSERT_TRUE(save(create_small_network));
    EXPECT_GT(find_least(4096, kAmple, 1024, 2), 0u);
}

TEST_F(ArenaSizeTest, EverySizeWorksOrFailsCleanlyAtTheRun)
{
    ASSERT_TRUE(save(create_dynamic_network));
    EXPECT_GT(find_least(4096, kAmple, 64, 1), 0u);
}

// The bodies are prepared again in runs.
TEST_F(ArenaSizeTest, EverySizeWorksOrFailsCleanlyWithBodies)
{
    ASSERT_TRUE(save(create_network_with_bodies)) << get_tengine_error();
    EXPECT_GT(find_least(4096, kAmple, 64, 1), 0u);
}

}  // namespace
}  // namespace tengine
