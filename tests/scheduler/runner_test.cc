// SPDX-License-Identifier: Apache-2.0
// Boundary tensors of parts: memory of the device's own, shapes known only at run time, times.
#include "scheduler/runner.h"

#include <gtest/gtest.h>
#include <numeric>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "scheduler/fixture.h"
#include "scheduler/watchdog.h"

namespace {

using namespace tengine::test;

int allocate_list(graph* part, const int32_t* tensors, int number)
{
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(part->tensor_list[tensors[i]]));
    return TENGINE_OK;
}

int allocate_boundaries(device*, subgraph* part)
{
    TENGINE_RETURN_IF_ERROR(allocate_list(part->graph, part->input_tensor_list, part->input_num));
    return allocate_list(part->graph, part->output_tensor_list, part->output_num);
}

TEST(Runner, ADeviceMayHaveMemoryOfItsOwnAtTheBorders)
{
    TestDevice device("A", {"Relu", "Neg"});
    device.get()->allocator->allocate = allocate_boundaries;
    for (const char* scheduler : {"sync", "pipeline"}) {
        Session session({&device});
        add_three_steps(session);
        session.set("scheduler", scheduler);
        ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        Floats mine(4);
        set_ir_tensor_data(session.at("y"), mine.data(), false);
        for (int i = 0; i < 3; ++i) {
            session.feed("x", Floats(4, static_cast<float>(i)));
            ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
            EXPECT_FLOAT_EQ(mine[3], three_steps_of(static_cast<float>(i)));
            EXPECT_EQ(session.read("r")[0], static_cast<float>(i));
        }
    }
}

// Makes each node a part of its own, all on the first device of the context.
int split_into_nodes(graph* graph)
{
    device* device = find_device_via_name("A");
    for (int i = 0; i < graph->node_num; ++i) {
        subgraph* part = create_ir_subgraph(graph, device);
        if (!part) return TENGINE_ENOMEM;
        part->node_list = static_cast<int32_t*>(alloc_memory(sizeof(int32_t)));
        part->node_list[0] = i;
        part->node_num = 1;
        graph->node_list[i]->subgraph_idx = part->index;
        graph->node_list[i]->device = device;
    }
    return TENGINE_OK;
}

// x -> NonZero -> where -> Neg -> negated -> Abs -> again, each a part of device A.
void add_dynamic_steps(Session& session)
{
    session.builder().input("x", {6});
    session.builder().add("NonZero", {"x"}, {"where"});
    session.builder().add("Neg", {"where"}, {"negated"});
    session.builder().add("Abs", {"negated"}, {"again"});
    session.builder().outputs({"negated", "again"});
}

class DynamicTest : public testing::TestWithParam<const char*>
{
};

// Shapes known only at run time reach every boundary tensor, also if values are copied.
TEST_P(DynamicTest, ShapesAndDataTravelTogether)
{
    const LogCapture log;
    TestDevice device("A", {"NonZero", "Neg", "Abs"});
    device.split = split_into_nodes;
    device.use_optimizer();
    Session session({&device});
    add_dynamic_steps(session);
    session.set("run.watchdog_ms", GetParam());
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(get_vector_num(session.execution()->subgraph_list), 3);
    device.script.fail_run = 8;  // the second part of the third run
    for (int number = 0; number <= 6; ++number) {
        Floats data(6, 0);
        std::fill(data.begin(), data.begin() + number, 1.0f);
        session.feed("x", data);
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
        for (const char* name : {"negated", "again"}) {
            const tensor* result = session.at(name);
            ASSERT_EQ(result->elem_num, number) << name;
            for (int i = 0; i < number; ++i)
                EXPECT_EQ(result->i64[i], name[0] == 'n' ? -i : i);
        }
    }
    EXPECT_EQ(session.part(1)->core->redo_num, 5);
    EXPECT_EQ(log.count("told to fail"), 1);
}

INSTANTIATE_TEST_SUITE_P(Watched, DynamicTest, testing::Values("0", "60000"));

// A call that hangs reads its input after everything else is destroyed.
TEST(Runner, AHungCallHasItsOwnInputsWhateverTheirShape)
{
    const LogCapture log;
    TestDevice device("A", {"NonZero", "Neg", "Abs"});
    device.split = split_into_nodes;
    device.use_optimizer();
    device.script.hang_ms = -1;
    device.script.hang_run = 5;
    Session session({&device});
    add_dynamic_steps(session);
    session.set("run.watchdog_ms", "500");
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    session.feed("x", {1, 0, 1, 0, 1, 0});
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(session.at("again")->i64[2], 4);
    EXPECT_EQ(device.hanging, 1);
    ASSERT_EQ(session.postrun(), TENGINE_OK);
    device.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
}

// A device fails in a run, and compiling its part for another runs out of memory.
TEST(Runner, TheDefaultDeviceIsAskedAgainWhenItLackedMemory)
{
    const LogCapture log;
    TestDevice device("A", {"Relu"});
    Session session({&device});
    session.builder().input("x", {2});
    session.builder().add("Relu", {"x"}, {"y"});
    session.builder().outputs({"y"});
    session.feed("x", {-1, 2});
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    struct interface& interface = *find_default_device()->interface;
    const auto pre_run = interface.pre_run;
    device.fail_run = 1;
    interface.pre_run = [](struct device*, subgraph*, void*) {
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a plan");
    };
    for (int run = 0; run < 2; ++run) {
        EXPECT_LT(session.run(), 0);
        EXPECT_TRUE(says("told to fail") && says("out of memory for a plan"))
            << tengine_error_message();
    }
    interface.pre_run = pre_run;
    for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session.read("y"), (Floats{0, 2}));
    }
}

// ---- times ----

int measure_as_index(device*, subgraph* part, int64_t* out_node_ns)
{
    std::iota(out_node_ns, out_node_ns + part->node_num, int64_t{10});
    return TENGINE_OK;
}

TEST(Runner, TimesOfNodesAreTakenOnDemand)
{
    TestDevice device("A", {"Relu", "Neg"});
    device.get()->interface->measure = measure_as_index;
    Session session({&device});
    session.builder().input("x", {2});
    session.builder().add("Relu", {"x"}, {"r"});
    session.builder().add("Neg", {"r"}, {"y"});
    session.builder().outputs({"y"});
    session.feed("x", {1, 2});
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    const node* const* nodes = session.execution()->node_list;
    EXPECT_EQ(session.part(0)->core->measured_ns, -1);
    ASSERT_EQ(session.run(), TENGINE_OK);
    EXPECT_GT(session.part(0)->core->measured_ns, 0) << "always";
    EXPECT_EQ(nodes[0]->core->measured_ns, -1) << "on demand only";

    session.set("run.profile", "1");
    ASSERT_EQ(session.prerun(), TENGINE_OK);
    nodes = session.execution()->node_list;
    EXPECT_EQ(nodes[1]->core->measured_ns, -1);
    ASSERT_EQ(session.run(), TENGINE_OK);
    EXPECT_EQ(nodes[0]->core->measured_ns, 10);
    EXPECT_EQ(nodes[1]->core->measured_ns, 11);
    device.get()->interface->measure = [](struct device*, subgraph*, int64_t*) { return -1; };
    ASSERT_EQ(session.run(), TENGINE_OK) << "a device that cannot tell has not failed";
    EXPECT_EQ(nodes[0]->core->measured_ns, -1);
    device.get()->interface->measure = nullptr;
    ASSERT_EQ(session.run(), TENGINE_OK);
    EXPECT_EQ(nodes[1]->core->measured_ns, -1);
}

}  // namespace
