// SPDX-License-Identifier: Apache-2.0
// Pruning on graphs of many parts: no device is asked twice, and the order of nodes does not
// matter. Single parts, with their reasons, are in split_fault_test.cc.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/option.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

class SplitPrune : public testing::Test
{
  protected:
    SplitPrune() : context_(create_ir_context("test"), destroy_ir_context)
    {
        a_.use_estimate();
        EXPECT_EQ(add_ir_context_device(context_.get(), a_.get(), nullptr, 0), TENGINE_OK);
    }

    // Returns the device of each node by name, and the number of parts as "".
    std::map<std::string, std::string> split(IrBuilder& source)
    {
        std::map<std::string, std::string> placed;
        const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                            destroy_ir_graph);
        EXPECT_NE(made, nullptr) << tengine_error_message();
        for (int i = 0; made && i < made->node_num; ++i)
            placed[made->node_list[i]->name] = made->node_list[i]->device->name;
        if (made) placed[""] = std::to_string(get_vector_num(made->subgraph_list));
        return placed;
    }

    // Returns the time of each node by the default device's estimate, in ms.
    std::map<std::string, double> estimate_by_default(IrBuilder& source)
    {
        std::map<std::string, double> ms;
        const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                            destroy_ir_graph);
        EXPECT_NE(made, nullptr) << tengine_error_message();
        struct device* const device = find_default_device();
        for (int i = 0; made && i < made->node_num; ++i) {
            const struct node* const node = made->node_list[i];
            EXPECT_EQ(device->allocator->estimate(device, node, &ms[node->name]), TENGINE_OK);
        }
        return ms;
    }

    TestDevice a_ = TestDevice("A", {"MatMul", "Relu"});
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
};

TEST_F(SplitPrune, ALongRowOfPartsThatDoNotPayIsAskedForOnce)
{
    constexpr int kPairs = 500;
    a_.script.estimate_ms = 1000;
    IrBuilder source(context_.get());
    std::string last = "x";
    source.input(last, {64});
    for (int i = 0; i < kPairs; ++i) {
        const std::string name = std::to_string(i);
        source.add("Relu", {last}, {"relu" + name});
        source.add("Exp", {"relu" + name}, {last = "exp" + name});
    }
    source.outputs({last.c_str()});
    const auto placed = split(source);
    EXPECT_EQ(placed.at(""), "1");
    EXPECT_EQ(placed.at("relu0"), "CPU");
    EXPECT_EQ(placed.at("relu499"), "CPU");
    EXPECT_EQ(a_.estimates, kPairs);
}

constexpr int kPairs = 3;

// Adds products of 4 x n by n x n in a row, small ones "s0"… and large ones "l0"…, with Tile and
// Slice between them that set n.
void add_products(const std::vector<int>& order, IrBuilder* source)
{
    constexpr int kSmall = 16, kLarge = 1024;
    const std::vector<float> weights(kLarge * kLarge, 0.5f);
    source->input("x0", {4, kSmall});
    source->ints("repeats", {1, kLarge / kSmall});
    source->ints("zeros", {0, 0});
    source->ints("ends", {4, kSmall});
    source->floats("small", {kSmall, kSmall}, {weights.begin(), weights.begin() + 256});
    source->floats("large", {kLarge, kLarge}, weights);
    for (const int i : order) {
        const std::string at = std::to_string(i), next = std::to_string(i + 1);
        source->add("Slice", {"l" + at, "zeros", "ends"}, {"x" + next});
        source->add("MatMul", {"t" + at, "large"}, {"l" + at});
        source->add("Tile", {"s" + at, "repeats"}, {"t" + at});
        source->add("MatMul", {"x" + at, "small"}, {"s" + at});
    }
    source->outputs({"x3"});
}

// A is slower than the default device for a small product and faster for a large one, on every
// machine.
TEST_F(SplitPrune, TheOrderOfNodesDoesNotMatter)
{
    ASSERT_EQ(set_ir_context_option(context_.get(), "split.bandwidth", "1000"), TENGINE_OK);
    std::vector<int> order(kPairs);
    std::iota(order.begin(), order.end(), 0);
    {
        IrBuilder source(context_.get());
        add_products(order, &source);
        const auto ms = estimate_by_default(source);
        a_.script.estimate_ms = std::sqrt(ms.at("s0") * ms.at("l0"));
    }
    std::map<std::string, std::string> first;
    std::mt19937 random(7);
    for (int round = 0; round < 10; ++round) {
        IrBuilder source(context_.get());
        add_products(order, &source);
        const auto placed = split(source);
        if (round == 0) first = placed;
        EXPECT_EQ(placed, first) << round;
        std::shuffle(order.begin(), order.end(), random);
    }
    EXPECT_EQ(first.at("s1"), "CPU");
    EXPECT_EQ(first.at("l1"), "A");
    EXPECT_EQ(first.at(""), std::to_string(2 * kPairs + 1));
}

}  // namespace
