// SPDX-License-Identifier: Apache-2.0
// Graphs on several threads, with contexts of their own or a shared one. Most useful with the
// thread sanitizer.
#include <atomic>
#include <thread>
#include <vector>

#include "fixture.h"

namespace tengine {
namespace {

using ThreadTest = ApiTest;

constexpr int kThreads = 4;
constexpr int kRounds = 10;

// Builds, runs and destroys graphs, with failures in between; returns the number of errors.
int use_graphs(context_t context, int thread)
{
    int wrong = 0;
    for (int round = 0; round < kRounds; ++round) {
        const graph_t graph = create_relu_graph(context);
        const tensor_t x = get_graph_tensor(graph, "x");
        const tensor_t y = get_graph_tensor(graph, "y");
        const float value = static_cast<float>(thread * kRounds + round + 1);
        wrong += prerun_graph_multithread(graph, {2, TENGINE_CLUSTER_ALL, 0, 0}) != 0;
        wrong += !write_floats(x, {value, -value, value, -value});
        wrong += run_graph(graph, 1) != 0;
        wrong += read_floats(y) != std::vector<float>{value, 0, value, 0};
        wrong += get_tensor_shape(y, nullptr, 8) != -1 || get_tengine_errno() != TENGINE_EINVAL;
        if (round % 2) wrong += postrun_graph(graph) != 0;
        wrong += destroy_graph(graph) != 0;
    }
    return wrong;
}

int use_graphs_on_threads(context_t context)
{
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&wrong, context, i] { wrong += use_graphs(context, i); });
    for (std::thread& thread : threads)
        thread.join();
    return wrong;
}

TEST_F(ThreadTest, GraphsWithContextsOfTheirOwn)
{
    EXPECT_EQ(use_graphs_on_threads(nullptr), 0);
}

TEST_F(ThreadTest, GraphsThatShareAContext)
{
    const context_t context = create_context("shared", 0);
    EXPECT_EQ(use_graphs_on_threads(context), 0);
    destroy_context(context);
}

TEST_F(ThreadTest, GraphsRunAtOnce)
{
    std::vector<graph_t> graphs;
    for (int i = 0; i < kThreads; ++i) {
        graphs.push_back(create_relu_graph());
        ASSERT_EQ(prerun_graph(graphs.back()), 0) << get_tengine_error();
        ASSERT_TRUE(write_floats(get_graph_tensor(graphs.back(), "x"), {1, -2, 3, -4}));
    }
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (graph_t graph : graphs)
        threads.emplace_back([&wrong, graph] {
            for (int i = 0; i < 100; ++i)
                wrong += run_graph(graph, 1) != 0;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
    for (graph_t graph : graphs) {
        EXPECT_EQ(read_floats(get_graph_tensor(graph, "y")), (std::vector<float>{1, 0, 3, 0}));
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

// The last graph of a context that its program has destroyed frees it, whichever graph that is.
TEST_F(ThreadTest, GraphsOfADestroyedContextEndTogether)
{
    for (int round = 0; round < 20; ++round) {
        const context_t context = create_context("left behind", 0);
        std::vector<std::thread> threads;
        std::vector<graph_t> graphs;
        for (int i = 0; i < kThreads; ++i)
            graphs.push_back(create_relu_graph(context));
        destroy_context(context);
        for (graph_t graph : graphs)
            threads.emplace_back([graph] { destroy_graph(graph); });
        for (std::thread& thread : threads)
            thread.join();
    }
}

}  // namespace
}  // namespace tengine
