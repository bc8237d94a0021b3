// SPDX-License-Identifier: Apache-2.0
// Graphs: creation by format, layouts, inputs and outputs, look-up.
#include <cstring>
#include <gmock/gmock.h>
#include <string>

#include "fixture.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class GraphTest : public ReluTest
{
};

TEST_F(GraphTest, EmptyGraphHasNothing)
{
    const graph_t empty = create_graph(nullptr, nullptr, nullptr);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(get_graph_node_num(empty), 0);
    EXPECT_EQ(get_graph_input_node_number(empty), 0);
    EXPECT_EQ(get_graph_output_node_number(empty), 0);
    EXPECT_EQ(tengine_graph_get_input_number(empty), 0);
    EXPECT_EQ(tengine_graph_get_output_number(empty), 0);
    EXPECT_EQ(get_graph_exec_status(empty), GRAPH_STAT_CREATED);
    EXPECT_EQ(prerun_graph(empty), -1);
    EXPECT_TRUE(failed_with(TENGINE_EGRAPH));
    EXPECT_EQ(destroy_graph(empty), 0);
}

TEST_F(GraphTest, FormatsAreLookedUpByName)
{
    for (const char* format :
         {"caffe", "", "caffe:view", "onnx:x", "m", "a name that is longer than any"}) {
        EXPECT_EQ(create_graph(nullptr, format, "model"), nullptr) << format;
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << format;
    }
}

TEST_F(GraphTest, LayoutIsOneOfTwo)
{
    EXPECT_EQ(set_graph_layout(graph_, TENGINE_LAYOUT_NHWC), 0);
    const tensor_t tensor = create_graph_tensor(graph_, "nhwc", TENGINE_DT_FP32);
    EXPECT_EQ(get_tensor_layout(tensor), TENGINE_LAYOUT_NHWC);
    EXPECT_EQ(set_graph_layout(graph_, TENGINE_LAYOUT_NCHW), 0);
    for (int layout : {-1, 2, 100}) {
        EXPECT_EQ(set_graph_layout(graph_, layout), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
}

TEST_F(GraphTest, BordersAreNodesAndTensors)
{
    EXPECT_EQ(get_graph_input_node_number(graph_), 1);
    EXPECT_EQ(get_graph_input_node(graph_, 0), get_graph_node(graph_, "x"));
    EXPECT_EQ(get_graph_output_node(graph_, 0), get_graph_node(graph_, "y"));
    EXPECT_EQ(get_graph_input_tensor(graph_, 0, 0), get_graph_tensor(graph_, "x"));
    EXPECT_EQ(get_graph_output_tensor(graph_, 0, 0), get_graph_tensor(graph_, "y"));
    EXPECT_EQ(tengine_graph_get_input(graph_, 0), get_graph_tensor(graph_, "x"));
    EXPECT_EQ(tengine_graph_get_output(graph_, 0), get_graph_tensor(graph_, "y"));
    for (int index : {-1, 1, 1 << 30}) {
        EXPECT_EQ(get_graph_input_node(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(get_graph_output_node(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(get_graph_input_tensor(graph_, index, 0), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(get_graph_output_tensor(graph_, 0, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_input(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_output(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
}

TEST_F(GraphTest, BordersAreReplaced)
{
    const tensor_t z = add_node(graph_, "z", "Neg", {get_graph_tensor(graph_, "y")});
    ASSERT_NE(z, nullptr);
    const char* both[] = {"z", "y"};
    EXPECT_EQ(set_graph_output_node(graph_, both, 2), 0);
    EXPECT_EQ(get_graph_output_node_number(graph_), 2);
    EXPECT_EQ(tengine_graph_get_output(graph_, 0), z);
    EXPECT_EQ(get_graph_output_tensor(graph_, 1, 0), get_graph_tensor(graph_, "y"));
}

TEST_F(GraphTest, BadBordersLeaveTheOldOnes)
{
    const char* unknown[] = {"y", "no such node"};
    const char* twice[] = {"y", "y"};
    const char* null_name[] = {nullptr};
    for (auto set : {set_graph_input_node, set_graph_output_node}) {
        EXPECT_EQ(set(graph_, unknown, 2), -1);
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
        EXPECT_EQ(set(graph_, twice, 2), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(set(graph_, null_name, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(set(graph_, nullptr, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        for (int number : {0, -1}) {
            EXPECT_EQ(set(graph_, twice, number), -1);
            EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        }
    }
    EXPECT_EQ(get_graph_input_tensor(graph_, 0, 0), get_graph_tensor(graph_, "x"));
    EXPECT_EQ(get_graph_output_tensor(graph_, 0, 0), get_graph_tensor(graph_, "y"));
}

TEST_F(GraphTest, AttributesAreNotSupportedYet)
{
    int value = 0;
    EXPECT_EQ(set_graph_attr(graph_, "a", &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(get_graph_attr(graph_, "a", &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(get_graph_attr(graph_, nullptr, &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(GraphTest, DeviceIsSetByName)
{
    EXPECT_EQ(set_graph_device(graph_, get_default_device()), 0);
    EXPECT_STREQ(get_node_device(get_graph_node(graph_, "y")), get_default_device());
    EXPECT_EQ(set_graph_device(graph_, "no such device"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(set_graph_device(graph_, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(GraphTest, WrongAffinitiesAreRefused)
{
    const std::string device = get_default_device();
    for (const char* text : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(tengine_graph_set_affinity(graph_, text, device.c_str()), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(tengine_graph_set_affinity(graph_, "*", text), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    for (const std::string& devices : {device + ",", device + ",!" + device, std::string(",")}) {
        EXPECT_EQ(tengine_graph_set_affinity(graph_, "*", devices.c_str()), -1) << devices;
        EXPECT_TRUE(failed_with(TENGINE_EINVAL)) << devices;
    }
    for (const std::string& devices : {std::string("NPU"), device + ",!NPU", device + ", NPU",
                                       device + " " + device, std::string(100000, 'x')}) {
        EXPECT_EQ(tengine_graph_set_affinity(graph_, "*", devices.c_str()), -1) << devices;
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr("unknown device"));
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << devices;
    }
    for (const char* nodes : {"z", "z*", "op:Conv", "y?"}) {
        EXPECT_EQ(tengine_graph_set_affinity(graph_, nodes, device.c_str()), -1) << nodes;
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr(nodes));
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << nodes;
    }
}

// y = Relu(x) on A, B or the default device.
class AffinityTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("c", 1);
        ASSERT_EQ(add_context_device(context_, "A"), 0);
        ASSERT_EQ(add_context_device(context_, "B"), 0);
        ASSERT_EQ(tengine_context_set_option(context_, "split.prune", "0"), 0);
        ASSERT_EQ(tengine_context_set_option(context_, "split.report", "none"), 0);
        graph_ = create_relu_graph(context_);
        ASSERT_NE(graph_, nullptr);
    }
    // The devices outlive the fixture's TearDown(), so the library is not released here.
    void TearDown() override
    {
        destroy_graph(graph_);
        destroy_context(context_);
    }

    // Returns the device that gets the Relu with this affinity.
    std::string placed(const char* nodes, const char* devices)
    {
        if (tengine_graph_set_affinity(graph_, nodes, devices) < 0 || prerun_graph(graph_) < 0)
            return get_tengine_error();
        tengine_execution_node node;
        return tengine_graph_get_execution_node(graph_, 0, &node) < 0 ? get_tengine_error()
                                                                      : node.device;
    }

    test::TestDevice a_{"A", {"Relu"}};
    test::TestDevice b_{"B", {"Relu"}};
    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
};

TEST_F(AffinityTest, DecidesWhoGetsANode)
{
    EXPECT_EQ(placed("y", "B"), "B");
    EXPECT_EQ(placed("*", "!B"), "A");
    EXPECT_EQ(placed("op:Relu", "!A"), "B");
    EXPECT_EQ(placed("op:R*", "B,A"), "A") << "the order is the context's";
    EXPECT_EQ(placed("y", "!A,B"), "CPU");
    EXPECT_EQ(placed("y", "CPU"), "CPU");
}

TEST_F(AffinityTest, CountsFromTheNextPrerunOn)
{
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), {-1, 0, 1, 2}));
    ASSERT_EQ(placed("y", "A"), "A");
    EXPECT_EQ(tengine_graph_set_affinity(graph_, "none", "B"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_set_affinity(graph_, "y", "B"), 0);
    EXPECT_EQ(run_graph(graph_, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(b_.runs, 1);
}

}  // namespace
}  // namespace tengine
