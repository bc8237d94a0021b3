// SPDX-License-Identifier: Apache-2.0
// Names are found after any change of the lists, and a list of twice the length takes twice the
// time.
#include "graph/name_index.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "graph/graph.h"

namespace {

class NameIndex : public testing::Test
{
  protected:
    NameIndex() : graph_(create_ir_graph(nullptr)) {}
    ~NameIndex() override { destroy_ir_graph(graph_); }

    struct tensor* add(const std::string& name)
    {
        return create_ir_tensor(graph_, name.c_str(), TENGINE_DT_FP32);
    }
    struct node* add_node(const std::string& name) { return append_ir_node(graph_, name.c_str()); }
    void add_many(const std::string& prefix, int number)
    {
        for (int i = 0; i < number; ++i) {
            add(prefix + std::to_string(i));
            add_node(prefix + std::to_string(i));
        }
    }

    int find(const std::string& name) const
    {
        return get_ir_tensor_index_from_name(graph_, name.c_str());
    }
    int find_node(const std::string& name) const
    {
        return get_ir_node_index_from_name(graph_, name.c_str());
    }

    // Compares with a search through the lists.
    void expect_right(const std::string& name) const
    {
        int tensor = -1, node = -1;
        for (int i = graph_->tensor_num - 1; i >= 0; --i)
            if (graph_->tensor_list[i] && name == graph_->tensor_list[i]->name) tensor = i;
        for (int i = graph_->node_num - 1; i >= 0; --i)
            if (graph_->node_list[i] && name == graph_->node_list[i]->name) node = i;
        EXPECT_EQ(find(name), tensor) << name;
        EXPECT_EQ(find_node(name), node) << name;
    }

    struct graph* graph_;
};

TEST_F(NameIndex, FindsTheFirstOfAName)
{
    add_many("v", 100);
    add("v7");
    EXPECT_EQ(find("v7"), 7);
    EXPECT_EQ(find("v99"), 99);
    EXPECT_EQ(find("v100"), -1);
    EXPECT_EQ(find_node("v42"), 42);
    add("v100");
    EXPECT_EQ(find("v100"), 101);
}

TEST_F(NameIndex, FindsTheNextOneWhenTheFirstIsGone)
{
    add_many("v", 100);
    add("v7");
    add_node("v7");
    ASSERT_EQ(find("v7"), 7);
    ASSERT_EQ(find_node("v7"), 7);
    destroy_ir_tensor(graph_, graph_->tensor_list[7]);
    destroy_ir_node(graph_, graph_->node_list[7]);
    EXPECT_EQ(find("v7"), 100);
    EXPECT_EQ(find_node("v7"), 100);
    ASSERT_EQ(compact_ir_graph(graph_), TENGINE_OK);
    EXPECT_EQ(find("v7"), 99);
    EXPECT_EQ(find_node("v8"), 7);
}

TEST_F(NameIndex, FollowsNewNames)
{
    add_many("v", 100);
    ASSERT_EQ(find("v3"), 3);
    ASSERT_EQ(set_ir_tensor_name(graph_, graph_->tensor_list[3], "w"), TENGINE_OK);
    EXPECT_EQ(find("v3"), -1);
    EXPECT_EQ(find("w"), 3);
    exchange_ir_tensor_names(graph_, graph_->tensor_list[3], graph_->tensor_list[60]);
    EXPECT_EQ(find("w"), 60);
    EXPECT_EQ(find("v60"), 3);
}

TEST_F(NameIndex, FollowsTheOrderOfNodes)
{
    add_many("v", 100);
    ASSERT_EQ(set_ir_node_input_tensor(graph_->node_list[0], 0, graph_->tensor_list[99]), 0);
    ASSERT_EQ(set_ir_node_output_tensor(graph_->node_list[99], 0, graph_->tensor_list[99]), 0);
    ASSERT_EQ(find_node("v0"), 0);
    ASSERT_EQ(sort_ir_graph(graph_), TENGINE_OK);
    ASSERT_STRNE(graph_->node_list[0]->name, "v0");
    for (const char* name : {"v0", "v1", "v99"})
        expect_right(name);
}

TEST_F(NameIndex, IsRightAfterAnyChange)
{
    std::mt19937 random(1);
    for (int step = 0; step < 3000; ++step) {
        const std::string name = "v" + std::to_string(random() % 150);
        const int place = graph_->tensor_num ? int(random() % unsigned(graph_->tensor_num)) : 0;
        switch (random() % 8) {
            case 0:
                if (graph_->tensor_num && graph_->tensor_list[place]) {
                    ASSERT_EQ(set_ir_tensor_name(graph_, graph_->tensor_list[place], name.c_str()),
                              TENGINE_OK);
                }
                break;
            case 1:
                if (graph_->tensor_num) destroy_ir_tensor(graph_, graph_->tensor_list[place]);
                break;
            case 2:
                if (place < graph_->node_num) destroy_ir_node(graph_, graph_->node_list[place]);
                break;
            case 3:
                if (step % 50 == 0) {
                    ASSERT_EQ(compact_ir_graph(graph_), TENGINE_OK);
                }
                break;
            default:
                add(name);
                add_node(name);
        }
        expect_right(name);
    }
    EXPECT_GT(graph_->tensor_num, 100);
}

// Returns the seconds in which a graph of that many tensors and nodes is built and each is looked
// up; the least of three measurements.
double time_names(int number)
{
    double least = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto begin = std::chrono::steady_clock::now();
        struct graph* graph = create_ir_graph(nullptr);
        for (int i = 0; i < number; ++i) {
            const std::string name = "v" + std::to_string(i);
            EXPECT_EQ(get_ir_node_index_from_name(graph, name.c_str()), -1);
            append_ir_node(graph, name.c_str());
            create_ir_tensor(graph, name.c_str(), TENGINE_DT_FP32);
            EXPECT_EQ(get_ir_tensor_index_from_name(graph, name.c_str()), i);
        }
        destroy_ir_graph(graph);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        least = std::min(least, passed.count());
    }
    return least;
}

// 4 times as many names take 4 times as long; if each look-up read the list, they would take 16
// times as long. Both lists exceed the processor's caches.
TEST_F(NameIndex, TakesNoLongerInALongList)
{
    EXPECT_LT(time_names(100000), 10 * time_names(25000));
}

}  // namespace
