// SPDX-License-Identifier: Apache-2.0
#include "optimizer/split_oracle.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "graph/option.h"
#include "operator/affinity.h"

namespace tengine::test {
namespace {

// Operators of any number of inputs, by kind; the default device has all of them.
constexpr const char* kOperators[] = {"Sum", "Max", "Min", "Mean"};
constexpr const char* kDevices[] = {"A", "B", "C"};

// `kinds`: of each part.
PartCount count(const Dag& dag, const std::vector<int>& kinds)
{
    const auto is_accelerator = [&](int kind) { return kind != dag.kind_num - 1; };
    return {static_cast<int>(kinds.size()),
            static_cast<int>(std::count_if(kinds.begin(), kinds.end(), is_accelerator))};
}

bool is_less(const PartCount& a, const PartCount& b)
{
    return std::make_pair(a.parts, a.accelerator_parts) <
           std::make_pair(b.parts, b.accelerator_parts);
}

// Computes levels if a node without producers has the level `first(node)`.
PartCount count_levels(const Dag& dag, const std::function<int(int)>& first)
{
    std::vector<int> level(dag.kind.size());
    std::set<std::tuple<int, int, int>> parts;
    for (int i = 0; i < dag.size(); ++i) {
        level[i] = first(i);
        for (const int from : dag.producers[i]) {
            const bool shares =
                dag.kind[from] == dag.kind[i] && dag.group_of(from) == dag.group_of(i);
            level[i] = std::max(level[i], level[from] + !shares);
        }
        parts.insert({dag.kind[i], dag.group_of(i), level[i]});
    }
    std::vector<int> kinds;
    for (const auto& part : parts)
        kinds.push_back(std::get<0>(part));
    return count(dag, kinds);
}

// Assigns nodes to parts, one after the other, in all ways that may still be optimal.
class BruteForce
{
  public:
    explicit BruteForce(const Dag& dag) : dag_(dag), best_(count_by_levels(dag)) {}

    PartCount run()
    {
        place(0);
        return best_;
    }

  private:
    void place(int node)
    {
        if (static_cast<int>(kind_of_part_.size()) > best_.parts) return;
        if (node == dag_.size()) return judge();
        for (size_t part = 0; part < kind_of_part_.size(); ++part) {
            const int before = group_of_part_[part], group = dag_.group_of(node);
            const bool fits = before == 0 || group == 0 || before == group;
            if (kind_of_part_[part] != dag_.kind[node] || !fits) continue;
            if (group != 0) group_of_part_[part] = group;
            part_.push_back(static_cast<int>(part));
            place(node + 1);
            part_.pop_back();
            group_of_part_[part] = before;
        }
        part_.push_back(static_cast<int>(kind_of_part_.size()));
        kind_of_part_.push_back(dag_.kind[node]);
        group_of_part_.push_back(dag_.group_of(node));
        place(node + 1);
        group_of_part_.pop_back();
        kind_of_part_.pop_back();
        part_.pop_back();
    }

    void judge()
    {
        const PartCount found = count(dag_, kind_of_part_);
        if (is_less(found, best_) && is_acyclic(dag_, part_)) best_ = found;
    }

    const Dag& dag_;
    PartCount best_;
    std::vector<int> part_;  // of the nodes placed so far
    std::vector<int> kind_of_part_, group_of_part_;
};

}  // namespace

Dag make_random_dag(unsigned seed, int node_num, int kind_num)
{
    std::mt19937 random(seed);
    const auto below = [&](int limit) { return static_cast<int>(random() % limit); };
    const int most_producers = 1 + below(4);
    const int reach = 2 + below(node_num);
    const int loyalty = below(3) * 40;  // in percent
    Dag dag = {kind_num, {}, {}};
    for (int i = 0; i < node_num; ++i) {
        std::set<int> producers;
        for (int k = i > 0 ? below(most_producers + 1) : 0; k > 0; --k)
            producers.insert(i - 1 - below(std::min(i, reach)));
        const bool follows = !producers.empty() && below(100) < loyalty;
        dag.kind.push_back(follows ? dag.kind[*producers.begin()] : below(kind_num));
        dag.producers.emplace_back(producers.begin(), producers.end());
    }
    return dag;
}

void add_random_groups(unsigned seed, int group_num, Dag* dag)
{
    std::mt19937 random(seed);
    for (int i = 0; i < dag->size(); ++i)
        dag->group.push_back(static_cast<int>(random() % (group_num + 1)));
}

Dag make_random_chains(unsigned seed, int chain_num, int length, int kind_num)
{
    std::mt19937 random(seed);
    Dag dag = {kind_num, {}, {}};
    for (int i = 0; i < chain_num * length; ++i) {
        dag.kind.push_back(static_cast<int>(random() % kind_num));
        dag.producers.emplace_back();
        if (i >= chain_num) dag.producers[i].push_back(i - chain_num);
    }
    return dag;
}

PartCount count_by_levels(const Dag& dag)
{
    return count_levels(dag, [](int) { return 0; });
}

PartCount count_by_parity(const Dag& dag)
{
    const auto starting_with = [&](int kind) {
        return count_levels(dag, [&](int node) { return dag.kind[node] == kind ? 0 : 1; });
    };
    return std::min(starting_with(0), starting_with(1), is_less);
}

PartCount count_by_brute_force(const Dag& dag)
{
    return BruteForce(dag).run();
}

bool is_acyclic(const Dag& dag, const std::vector<int>& part)
{
    const int part_num = part.empty() ? 0 : *std::max_element(part.begin(), part.end()) + 1;
    std::vector<std::set<int>> needs(part_num);
    for (int i = 0; i < dag.size(); ++i)
        for (const int from : dag.producers[i])
            if (part[from] != part[i]) needs[part[i]].insert(part[from]);
    // Removes parts that depend on no other, until there is none.
    std::set<int> left;
    for (int p = 0; p < part_num; ++p)
        left.insert(p);
    for (bool found = true; found;) {
        found = false;
        for (auto p = left.begin(); p != left.end();) {
            const auto is_left = [&](int other) { return left.count(other) > 0; };
            const bool waits = std::any_of(needs[*p].begin(), needs[*p].end(), is_left);
            found = found || !waits;
            p = waits ? std::next(p) : left.erase(p);
        }
    }
    return left.empty();
}

std::vector<tensor*> add_dag(graph* graph, const Dag& dag, tensor* input, std::vector<int> order)
{
    if (order.empty()) {
        order.resize(dag.kind.size());
        std::iota(order.begin(), order.end(), 0);
    }
    std::vector<node*> nodes(order.size());
    std::vector<tensor*> tensors(order.size());
    for (const int i : order) {
        const std::string name = "n" + std::to_string(i);
        const int type = get_op_type("", kOperators[dag.kind[i]]);
        nodes[i] = create_ir_node(graph, name.c_str(), type, 0);
        tensors[i] = create_ir_tensor(graph, name.c_str(), TENGINE_DT_FP32);
        EXPECT_EQ(set_ir_node_output_tensor(nodes[i], 0, tensors[i]), TENGINE_OK);
    }
    for (const int i : order) {
        int slot = 0;
        for (const int from : dag.producers[i])
            EXPECT_EQ(set_ir_node_input_tensor(nodes[i], slot++, tensors[from]), TENGINE_OK);
        if (slot == 0) {
            EXPECT_EQ(set_ir_node_input_tensor(nodes[i], 0, input), TENGINE_OK);
        }
    }
    return tensors;
}

std::vector<SplitPart> read_parts(const graph* execution)
{
    std::vector<SplitPart> parts;
    for (int p = 0; p < get_vector_num(execution->subgraph_list); ++p) {
        const subgraph* part = get_ir_graph_subgraph(execution, p);
        SplitPart read = {part->device->name, {}};
        for (int i = 0; i < part->node_num; ++i)
            read.nodes.emplace_back(execution->node_list[part->node_list[i]]->name);
        std::sort(read.nodes.begin(), read.nodes.end());
        parts.push_back(std::move(read));
    }
    return parts;
}

DagSplitter::DagSplitter(int kind_num) : context_(create_ir_context("oracle"), destroy_ir_context)
{
    for (int kind = 0; kind + 1 < kind_num; ++kind) {
        devices_.push_back(std::make_unique<TestDevice>(
            kDevices[kind], std::vector<std::string>{kOperators[kind]}));
        devices_.back()->group = [this](const node& node) {
            return dag_.group_of(std::stoi(node.name + 1));  // "n12"
        };
        EXPECT_EQ(add_ir_context_device(context_.get(), at(kind), nullptr, 0), TENGINE_OK);
    }
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.prune", "0"), TENGINE_OK);
}

device* DagSplitter::at(int kind) const
{
    const auto is_accelerator = static_cast<size_t>(kind) < devices_.size();
    return is_accelerator ? devices_[kind]->get() : find_default_device();
}

SplitGraph DagSplitter::split(const Dag& dag, std::vector<int> order)
{
    SplitGraph made;
    dag_ = dag;
    made.source = std::make_unique<IrBuilder>(context_.get());
    tensor* input = made.source->input("x", {2});
    std::vector<int32_t> outputs;
    for (const tensor* tensor : add_dag(made.source->get(), dag, input, std::move(order)))
        if (tensor->consumer_num == 0) outputs.push_back(tensor->index);
    EXPECT_EQ(set_ir_graph_output_tensor(made.source->get(), outputs.data(),
                                         static_cast<int>(outputs.size())),
              TENGINE_OK);
    for (int i = 0; i < dag.size(); ++i) {
        if (dag.kind[i] != dag.kind_num - 1 || dag.group_of(i) == 0) continue;
        const std::string name = "n" + std::to_string(i);
        const std::string affinity =
            std::string(find_default_device()->name) + "#" + std::to_string(dag.group_of(i));
        EXPECT_EQ(add_ir_graph_affinity(made.source->get(), name.c_str(), affinity.c_str()),
                  TENGINE_OK);
    }
    made.execution.reset(make_execution_graph(made.source->get()));
    return made;
}

}  // namespace tengine::test
