// SPDX-License-Identifier: Apache-2.0
// The default split of random graphs: every node once, no cycle, as few parts as possible, and
// independent of the numbering of the graph.
#include "optimizer/split_oracle.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "graph/core.h"
#include "optimizer/split/split.h"

namespace {

using namespace tengine::test;

int number_of(const node* node)
{
    return std::stoi(node->name + 1);  // "n12"
}

// Checks that parts are a partition of the DAG by kind and group; returns the part of each node.
std::vector<int> check_partition(const Dag& dag, const DagSplitter& splitter, const graph& graph)
{
    std::vector<int> part_of(dag.kind.size(), -1);
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p) {
        const subgraph* part = get_ir_graph_subgraph(&graph, p);
        EXPECT_EQ(part->index, p);
        EXPECT_GT(part->node_num, 0);
        int group = 0;
        for (int i = 0; i < part->node_num; ++i) {
            const node* node = graph.node_list[part->node_list[i]];
            const int number = number_of(node);
            EXPECT_EQ(part_of[number], -1) << node->name << " is in two parts";
            EXPECT_EQ(node->subgraph_idx, p);
            EXPECT_EQ(node->device, part->device);
            EXPECT_EQ(part->device, splitter.at(dag.kind[number])) << node->name;
            part_of[number] = p;
            const int its_group = dag.group_of(number);
            EXPECT_TRUE(group == 0 || its_group == 0 || group == its_group)
                << "groups " << group << " and " << its_group << " share part " << p;
            if (its_group != 0) group = its_group;
        }
    }
    EXPECT_EQ(std::count(part_of.begin(), part_of.end(), -1), 0) << "nodes without a part";
    return part_of;
}

// Walks the parts as a scheduler does.
void check_execution(const Dag& dag, const graph& graph)
{
    std::vector<bool> is_done(dag.kind.size());
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p) {
        const subgraph* part = get_ir_graph_subgraph(&graph, p);
        for (int i = 0; i < part->node_num; ++i) {
            const int number = number_of(graph.node_list[part->node_list[i]]);
            for (const int from : dag.producers[number])
                EXPECT_TRUE(is_done[from]) << "n" << number << " runs before n" << from;
            is_done[number] = true;
        }
    }
}

PartCount count_parts(const graph& graph)
{
    PartCount count = {get_vector_num(graph.subgraph_list), 0};
    for (int p = 0; p < count.parts; ++p)
        if (get_ir_graph_subgraph(&graph, p)->device != find_default_device())
            ++count.accelerator_parts;
    return count;
}

// Counts of the graphs that were tested, for the log.
struct Tally
{
    int graphs = 0, brute_force = 0, parity = 0, below_levels = 0, most_nodes = 0, most_parts = 0;

    void print(const char* what) const
    {
        std::printf(
            "%s: %d graphs, up to %d nodes and %d parts; fewest parts by brute force for "
            "%d, by parity for %d; fewer than one per (device, level) in %d\n",
            what, graphs, most_nodes, most_parts, brute_force, parity, below_levels);
        testing::Test::RecordProperty("graphs", graphs);
        testing::Test::RecordProperty("brute_force", brute_force);
        testing::Test::RecordProperty("parity", parity);
        testing::Test::RecordProperty("below_levels", below_levels);
    }
};

constexpr int kBruteForceNodes = 12;

void check_counts(const Dag& dag, const PartCount& found, Tally* tally)
{
    const auto expect = [&](const PartCount& fewest) {
        EXPECT_EQ(found.parts, fewest.parts);
        EXPECT_EQ(found.accelerator_parts, fewest.accelerator_parts);
    };
    const PartCount levels = count_by_levels(dag);
    EXPECT_LE(found.parts, levels.parts);
    tally->below_levels += found.parts < levels.parts;
    if (dag.size() <= kBruteForceNodes) {
        expect(count_by_brute_force(dag));
        ++tally->brute_force;
    }
    if (dag.kind_num == 2 && dag.group.empty()) {
        expect(count_by_parity(dag));
        ++tally->parity;
    }
    ++tally->graphs;
    tally->most_nodes = std::max(tally->most_nodes, dag.size());
    tally->most_parts = std::max(tally->most_parts, found.parts);
}

void check_split(const Dag& dag, DagSplitter& splitter, Tally* tally)
{
    const SplitGraph split = splitter.split(dag);
    ASSERT_NE(split.execution, nullptr) << tengine_error_message();
    const graph& graph = *split.execution;
    ASSERT_EQ(graph.node_num, dag.size());
    EXPECT_TRUE(is_acyclic(dag, check_partition(dag, splitter, graph)));
    check_execution(dag, graph);
    check_counts(dag, count_parts(graph), tally);
}

// 2 to 4 kinds of nodes in turn; a fifth of the graphs is small enough for brute force.
TEST(SplitOracle, FiveHundredRandomGraphs)
{
    Tally tally;
    for (int kind_num = 2; kind_num <= 4; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (unsigned seed = kind_num - 2; seed < 500; seed += 3) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            std::mt19937 random(seed);
            const int limit = seed % 5 == 0 ? kBruteForceNodes - 9 : 191;
            const int node_num = 10 + static_cast<int>(random() % limit);
            check_split(make_random_dag(seed, node_num, kind_num), splitter, &tally);
        }
    }
    EXPECT_EQ(tally.graphs, 500);
    tally.print("random graphs");
}

TEST(SplitOracle, SmallGraphsAgainstBruteForce)
{
    Tally tally;
    for (int kind_num = 2; kind_num <= 4; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (unsigned seed = 1000; seed < 1200; ++seed) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            const int node_num = 1 + static_cast<int>(seed % kBruteForceNodes);
            check_split(make_random_dag(seed, node_num, kind_num), splitter, &tally);
        }
    }
    EXPECT_EQ(tally.brute_force, 600);
    tally.print("small graphs");
}

// Up to four groups of every kind, and nodes without one, which may be anywhere.
TEST(SplitOracle, TwoHundredRandomGraphsWithGroups)
{
    Tally tally;
    for (int kind_num = 2; kind_num <= 4; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (unsigned seed = 4000 + kind_num - 2; seed < 4200; seed += 3) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            Dag dag = make_random_dag(seed, 10 + static_cast<int>(seed % 61), kind_num);
            add_random_groups(seed, 1 + static_cast<int>(seed % 4), &dag);
            check_split(dag, splitter, &tally);
        }
    }
    EXPECT_EQ(tally.graphs, 200);
    tally.print("random graphs with groups");
}

TEST(SplitOracle, SmallGraphsWithGroupsAgainstBruteForce)
{
    Tally tally;
    for (int kind_num = 1; kind_num <= 3; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (unsigned seed = 5000; seed < 5300; ++seed) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            Dag dag =
                make_random_dag(seed, 1 + static_cast<int>(seed % kBruteForceNodes), kind_num);
            add_random_groups(seed, 1 + static_cast<int>(seed % 3), &dag);
            check_split(dag, splitter, &tally);
        }
    }
    EXPECT_EQ(tally.brute_force, 900);
    EXPECT_GT(tally.below_levels, 100) << "nodes without a group spare parts";
    tally.print("small graphs with groups");
}

// Starting with A is ahead of starting on the host, but then A needs three parts.
TEST(SplitOracle, BeingAheadDoesNotMakeUpForBeingDearer)
{
    DagSplitter splitter(3);
    Tally tally;
    check_split({3, {2, 0, 1, 0, 1, 2, 0, 0}, {{}, {0}, {0, 1}, {}, {2, 3}, {3}, {4}, {5}}},
                splitter, &tally);
}

// Splits the graph in many orders of its nodes and tensors.
void check_orders(const Dag& dag, DagSplitter& splitter, int order_num)
{
    const SplitGraph reference = splitter.split(dag);
    ASSERT_NE(reference.execution, nullptr) << tengine_error_message();
    const std::vector<SplitPart> parts = read_parts(reference.execution.get());
    std::vector<int> order(dag.kind.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(7);
    for (int i = 0; i < order_num; ++i) {
        for (size_t left = order.size(); left > 1; --left)
            std::swap(order[left - 1], order[random() % left]);
        const SplitGraph other = splitter.split(dag, order);
        ASSERT_NE(other.execution, nullptr) << tengine_error_message();
        ASSERT_EQ(read_parts(other.execution.get()), parts) << "order " << i;
    }
}

TEST(SplitOracle, NumberingDoesNotMatter)
{
    constexpr int kOrders = 100;
    int graphs = 0;
    for (int kind_num = 2; kind_num <= 4; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (const int node_num : {12, 40, 90}) {
            check_orders(make_random_dag(2000 + node_num, node_num, kind_num), splitter, kOrders);
            ++graphs;
        }
    }
    std::printf("numbering: %d orders of each of %d graphs\n", kOrders, graphs);
}

TEST(SplitOracle, NumberingDoesNotMatterWithGroups)
{
    for (int kind_num = 1; kind_num <= 3; ++kind_num) {
        DagSplitter splitter(kind_num);
        for (const int node_num : {12, 40, 70}) {
            Dag dag = make_random_dag(6000 + node_num, node_num, kind_num);
            add_random_groups(node_num, 3, &dag);
            check_orders(dag, splitter, 20);
        }
    }
}

// The same holds if there are more sequences than the search considers.
TEST(SplitOracle, NumberingDoesNotMatterWhenTheBeamOverflows)
{
    DagSplitter splitter(4);
    check_orders(make_random_chains(5, 10, 20, 4), splitter, 20);
}

// A graph as a splitter gets it: without source nodes, with devices assigned.
struct BareGraph
{
    BareGraph(const Dag& dag, const DagSplitter& splitter)
        : value(create_ir_graph(nullptr), destroy_ir_graph)
    {
        add_dag(value.get(), dag, create_ir_tensor(value.get(), "x", TENGINE_DT_FP32));
        for (int i = 0; i < dag.size(); ++i) {
            value->node_list[i]->device = splitter.at(dag.kind[i]);
            value->node_list[i]->core->group = dag.group_of(i);
        }
    }
    std::unique_ptr<graph, void (*)(graph*)> value;
};

void check_large(const char* what, const Dag& dag)
{
    const DagSplitter splitter(dag.kind_num);
    const BareGraph bare(dag, splitter);
    const graph& graph = *bare.value;
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(tengine::group_parts(*bare.value), TENGINE_OK) << tengine_error_message();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(tengine::check_parts(*bare.value, "test"), TENGINE_OK) << tengine_error_message();
    Tally tally;
    check_partition(dag, splitter, graph);
    check_execution(dag, graph);
    check_counts(dag, count_parts(graph), &tally);
    std::printf("%s: %d nodes, %d kinds, %d parts (one per device and level: %d), %.0f ms\n", what,
                dag.size(), dag.kind_num, count_parts(graph).parts, count_by_levels(dag).parts,
                time.count());
}

// Sizes for which the search is not exhaustive, and the longest chains.
TEST(SplitOracle, LargeGraphs)
{
    for (unsigned seed = 3000; seed < 3004; ++seed) {
        check_large("random", make_random_dag(seed, 20000, 2));
        check_large("random", make_random_dag(seed, 5000, 4));
    }
    Dag grouped = make_random_dag(3005, 5000, 3);
    add_random_groups(3005, 9, &grouped);
    check_large("random, 9 groups", grouped);
    check_large("100 chains", make_random_chains(1, 100, 200, 2));
    check_large("50 chains", make_random_chains(2, 50, 100, 4));
    check_large("chain", make_random_chains(3, 1, 20000, 2));
    check_large("chain", make_random_chains(4, 1, 20000, 3));
}

}  // namespace
