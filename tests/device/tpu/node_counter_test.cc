// SPDX-License-Identifier: Apache-2.0
// Counters of nodes: those that are amounts add up to the part's, and each node has its own work.
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"
#include "graph/graph.h"
#include "scheduler/part_report.h"
#include "scheduler/runner.h"
#include "tengine/device.h"

namespace tengine::tpu {
namespace {

using Values = std::map<std::string, double>;

template <class Count>
Values read(const Count& count)
{
    vector* list = create_vector(sizeof(ir_counter_t), nullptr);
    EXPECT_EQ(count(list), TENGINE_OK) << tengine_error_message();
    Values values;
    for (int i = 0; i < get_vector_num(list); ++i) {
        const auto& counter = *static_cast<const ir_counter_t*>(get_vector_data(list, i));
        if (std::string(counter.unit) != "%" && std::string(counter.unit) != "TOPS")
            values[counter.name] = counter.value;
    }
    release_vector(list);
    return values;
}

void build(test::IrBuilder& builder)
{
    QuantizedModel model(builder, 3);
    std::string x = model.input({1, 13, 17, 7});
    const std::string first = model.conv(x, 13);
    x = model.conv(first, 8);
    x = model.pair("QLinearAdd", x, first);
    x = model.max_pool(x, 3, 2, 1);
    model.finish(model.global_average_pool(x));
}

class NodeCounters : public ::testing::TestWithParam<const char*>
{
};

TEST_P(NodeCounters, AddUpToThoseOfThePart)
{
    DeviceRun run("TPU", {{"config", GetParam()}}, build);
    run.feed_all(1);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    const graph& execution = *run.execution();
    const auto count_of = [&](int node) {
        return read([&](vector* list) { return count_ir_node(execution.node_list[node], list); });
    };
    EXPECT_TRUE(count_of(0).empty()) << "not run";
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    int parts = 0;
    for (int i = 0; i < get_vector_num(execution.subgraph_list); ++i) {
        subgraph* part = get_ir_graph_subgraph(&execution, i);
        if (std::string(part->device->name) != "TPU") continue;
        ++parts;
        Values sum;
        for (int k = 0; k < part->node_num; ++k) {
            const Values node = count_of(part->node_list[k]);
            EXPECT_GE(node.at("time"), 0);
            for (const auto& [name, value] : node)
                sum[name] += value;
            EXPECT_EQ(
                node.at("macs"),
                static_cast<double>(get_ir_node_macs(execution.node_list[part->node_list[k]])));
        }
        const Values whole = read([&](vector* list) { return count_ir_part(part, list); });
        ASSERT_FALSE(whole.empty());
        for (const auto& [name, value] : whole)
            EXPECT_NEAR(sum[name], value, 1e-9 * std::fabs(value)) << name;
        EXPECT_EQ(sum.size(), whole.size());
    }
    EXPECT_GT(parts, 0);
}

// The array multiplies for convolutions alone. Weights may be fetched in the node before.
TEST_P(NodeCounters, BelongToTheNodesThatCauseThem)
{
    DeviceRun run("TPU", {{"config", GetParam()}}, build);
    run.feed_all(1);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    const graph& execution = *run.execution();
    int convolutions = 0;
    for (int i = 0; i < execution.node_num; ++i) {
        const node* node = execution.node_list[i];
        const Values values =
            read([&](vector* list) { return count_ir_node(execution.node_list[i], list); });
        if (values.empty()) continue;
        const bool is_conv = std::string(get_ir_node_op(node)) == "QLinearConv";
        convolutions += is_conv;
        EXPECT_EQ(values.at("array active") > 0, is_conv) << node->name;
        EXPECT_EQ(values.at("macs") > 0, is_conv) << node->name;
    }
    EXPECT_EQ(convolutions, 2);
}

// The times of the array by cause, and those of other units, are the counters; none overlap.
TEST_P(NodeCounters, AreTheTimesOfTheUnits)
{
    DeviceRun run("TPU", {{"config", GetParam()}}, build);
    run.feed_all(1);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    const graph& execution = *run.execution();
    for (int i = 0; i < get_vector_num(execution.subgraph_list); ++i) {
        subgraph* part = get_ir_graph_subgraph(&execution, i);
        if (std::string(part->device->name) != "TPU") continue;
        subgraph* compiled = get_ir_compiled_part(part);
        vector* list = create_vector(sizeof(ir_interval_t), nullptr);
        ASSERT_EQ(compiled->device->interface->timeline(compiled->device, compiled, list), 0);
        std::map<std::string, int64_t> ends;
        Values times;
        for (int k = 0; k < get_vector_num(list); ++k) {
            const auto& interval = *static_cast<const ir_interval_t*>(get_vector_data(list, k));
            EXPECT_LT(interval.node, part->node_num);
            EXPECT_LE(ends[interval.unit], interval.begin_ns) << interval.unit;
            ends[interval.unit] = interval.end_ns;
            times[std::string(interval.unit) + ":" + interval.cause] +=
                static_cast<double>(interval.end_ns - interval.begin_ns);
        }
        release_vector(list);
        const Values counted =
            read([&](vector* counters) { return count_ir_part(part, counters); });
        const double cycle_ns = counted.at("time") * 1e6 / counted.at("cycles");
        const auto near = [&](const char* unit, const char* counter) {
            EXPECT_NEAR(times[unit], counted.at(counter) * cycle_ns, 0.01 * times[unit] + 2)
                << unit;
        };
        near("array:", "array active");
        near("array:weight stall", "weight stall");
        near("array:weight shift", "weight shift");
        near("array:raw stall", "raw stall");
        near("array:input stall", "input stall");
        near("vector:", "vector unit busy");
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, NodeCounters, testing::Values("edge", "tpu-v1"),
                         [](const auto& machine) { return std::to_string(machine.index); });

}  // namespace
}  // namespace tengine::tpu
