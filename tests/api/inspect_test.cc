// SPDX-License-Identifier: Apache-2.0
// inspect.h: compiled-in parts, the content of a graph, and that of its execution graph. With
// devices and runs: placement_test.cc.
#include "tengine/inspect.h"

#include <bitset>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fixture.h"

namespace tengine {
namespace {

using InspectTest = ApiTest;

TEST_F(InspectTest, Devices)
{
    const int number = tengine_device_get_number();
    ASSERT_GE(number, 1);
    std::set<std::string> names;
    for (int i = 0; i < number; ++i)
        names.insert(tengine_device_get_name(i));
    EXPECT_EQ(names.size(), static_cast<size_t>(number));
    EXPECT_EQ(names.count(get_default_device()), 1u);
    for (int index : {-1, number}) {
        EXPECT_EQ(tengine_device_get_name(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
}

TEST_F(InspectTest, WhatADeviceTakes)
{
    const char* device = get_default_device();
    std::set<std::string> operators;
    const int number = tengine_device_get_operator_number(device);
    for (int i = 0; i < number; ++i)
        operators.insert(tengine_device_get_operator(device, i));
    EXPECT_EQ(operators.count("Conv"), 1u);
    EXPECT_EQ(operators.count("Relu"), 1u);
    std::set<int> types;
    const int type_num = tengine_device_get_data_type_number(device);
    for (int i = 0; i < type_num; ++i)
        types.insert(tengine_device_get_data_type(device, i));
    EXPECT_EQ(types.count(TENGINE_DT_FP32), 1u);
    for (int index : {-1, 10000}) {
        EXPECT_EQ(tengine_device_get_operator(device, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_device_get_data_type(device, index), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_device_get_operator_number("no such device"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_device_get_operator("no such device", 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_device_get_data_type_number(nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_device_get_data_type("no such device", 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

TEST_F(InspectTest, OperatorsOfNodesAreUsed)
{
    const auto is_used = [](const std::string& name) {
        for (int i = 0; i < tengine_operator_get_number(); ++i)
            if (*tengine_operator_get_domain(i) == '\0' && name == tengine_operator_get_name(i))
                return tengine_operator_is_used(i);
        return -1;
    };
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    ASSERT_NE(create_graph_node(graph, "node", "Hardmax"), nullptr);
    EXPECT_EQ(is_used("Hardmax"), 1);
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(is_used("Hardmax"), 1);
    EXPECT_EQ(is_used("Cnov"), -1);
}

TEST_F(InspectTest, OperatorsAndFormats)
{
    const int number = tengine_operator_get_number();
    std::set<std::string> names;
    for (int i = 0; i < number; ++i)
        names.insert(std::string(tengine_operator_get_domain(i)) + ":" +
                     tengine_operator_get_name(i));
    EXPECT_EQ(names.size(), static_cast<size_t>(number)) << "each once";
    EXPECT_EQ(names.count(":Conv"), 1u);
    for (int index : {-1, number}) {
        EXPECT_EQ(tengine_operator_get_name(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_operator_get_domain(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_operator_is_used(index), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
}

TEST_F(InspectTest, FormatsHaveNamesAndFileEndings)
{
    const std::map<std::string, std::string> known = {
        {"onnx", ".onnx"}, {"tengine", ".tmfile"}, {"tflite", ".tflite"}};
    const int formats = tengine_format_get_number();
    for (int i = 0; i < formats; ++i) {
        const auto format = known.find(tengine_format_get_name(i));
        ASSERT_NE(format, known.end()) << tengine_format_get_name(i);
        EXPECT_EQ(tengine_format_get_file_ending(i), format->second);
    }
    for (int index : {-1, formats}) {
        EXPECT_EQ(tengine_format_get_name(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_format_get_file_ending(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
}

TEST_F(InspectTest, DataTypesAndProcessor)
{
    EXPECT_STREQ(tengine_data_type_get_name(TENGINE_DT_FP32), "fp32");
    EXPECT_EQ(tengine_data_type_get_size(TENGINE_DT_UINT64), 8);
    EXPECT_EQ(tengine_data_type_get_bits(TENGINE_DT_UINT64), 64);
    EXPECT_EQ(tengine_data_type_get_bits(TENGINE_DT_INT2), 2);
    EXPECT_STREQ(tengine_data_type_get_name(TENGINE_DT_FLOAT8E8M0), "float8e8m0");
    for (int type : {-1, 63}) {
        EXPECT_EQ(tengine_data_type_get_bits(type), -1);
        EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
        EXPECT_EQ(tengine_data_type_get_name(type), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
        EXPECT_EQ(tengine_data_type_get_size(type), -1);
        EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    }
    EXPECT_NE(tengine_cpu_get_features(), nullptr);
}

TEST_F(InspectTest, ADeviceSaysWhatItRunsOn)
{
    EXPECT_NE(tengine_device_get_features("CPU"), nullptr);
    EXPECT_EQ(tengine_device_get_features("absent"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_device_get_features(nullptr), nullptr);
}

TEST_F(InspectTest, OptionsOfDevices)
{
    EXPECT_EQ(tengine_device_get_option_number("CPU"), 4);
    EXPECT_STREQ(tengine_device_get_option_name("CPU", 0), "winograd");
    EXPECT_STREQ(tengine_device_get_option_name("CPU", 1), "timing");
    EXPECT_STREQ(tengine_device_get_option_name("CPU", 2), "kernels");
    EXPECT_STREQ(tengine_device_get_option_name("CPU", 3), "memories");
    EXPECT_EQ(tengine_device_get_option_number("absent"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    for (int i = 0; i < tengine_device_get_number(); ++i) {
        const char* device = tengine_device_get_name(i);
        const int number = tengine_device_get_option_number(device);
        const context_t context = create_context("options", 1);
        add_context_device(context, device);
        for (int k = 0; k < number; ++k) {
            const std::string key = tengine_device_get_option_name(device, k);
            EXPECT_NE(*tengine_device_get_option_help(device, k), '\0') << key;
            const char* initial = tengine_device_get_option_default(device, k);
            if (*initial == '\0') continue;
            const std::string whole = std::string(device) + "." + key;
            EXPECT_EQ(tengine_context_set_option(context, whole.c_str(), initial), 0)
                << get_tengine_error();
        }
        EXPECT_EQ(tengine_device_get_option_name(device, number), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_device_get_option_default(device, -1), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_device_get_option_help(device, -1), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        destroy_context(context);
    }
}

class GraphInspectTest : public ApiTest
{
  protected:
    // y = Relu(x) * w
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_graph(nullptr, nullptr, nullptr);
        x_ = add_input(graph_, "x", {2, 3});
        const std::vector<float> weights(12, 1.f);
        w_ = add_constant(graph_, "w", {3, 4}, weights.data());
        relu_ = add_node(graph_, "relu", "Relu", {x_});
        y_ = add_node(graph_, "y", "MatMul", {relu_, w_});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    }
    void TearDown() override
    {
        destroy_graph(graph_);
        ApiTest::TearDown();
    }
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr, w_ = nullptr, relu_ = nullptr, y_ = nullptr;
};

TEST_F(GraphInspectTest, TensorsAndTheirNodes)
{
    const int number = tengine_graph_get_tensor_number(graph_);
    std::set<tensor_t> tensors;
    for (int i = 0; i < number; ++i)
        tensors.insert(tengine_graph_get_tensor(graph_, i));
    EXPECT_EQ(tensors, (std::set<tensor_t>{x_, w_, relu_, y_}));
    EXPECT_EQ(tengine_tensor_get_type(x_), TENSOR_TYPE_INPUT);
    EXPECT_EQ(tengine_tensor_get_type(w_), TENSOR_TYPE_CONST);
    EXPECT_EQ(tengine_tensor_get_type(y_), TENSOR_TYPE_VAR);
    EXPECT_EQ(tengine_tensor_get_producer(y_), get_graph_node(graph_, "y"));
    EXPECT_EQ(tengine_tensor_get_consumer_number(relu_), 1);
    EXPECT_EQ(tengine_tensor_get_consumer(relu_, 0), get_graph_node(graph_, "y"));
    EXPECT_EQ(tengine_tensor_get_consumer_number(y_), 0);
    EXPECT_EQ(tengine_tensor_get_consumer(y_, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    for (int index : {-1, number}) {
        EXPECT_EQ(tengine_graph_get_tensor(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    const tensor_t alone = create_graph_tensor(graph_, "alone", TENGINE_DT_FP32);
    EXPECT_EQ(tengine_tensor_get_producer(alone), nullptr);
    EXPECT_TRUE(answered_with(TENGINE_ENOENT));
    EXPECT_STREQ(tengine_node_get_domain(get_graph_node(graph_, "y")), "");
    EXPECT_GE(tengine_node_get_version(get_graph_node(graph_, "y")), 13);
}

TEST_F(GraphInspectTest, StatisticsGrowWithPrerun)
{
    tengine_graph_stats stats;
    ASSERT_EQ(tengine_graph_get_stats(graph_, &stats), 0);
    EXPECT_EQ(stats.node_number, 2);
    EXPECT_EQ(stats.parameter_number, 12);
    EXPECT_EQ(stats.constant_bytes, 48);
    EXPECT_EQ(stats.execution_node_number, 0);
    EXPECT_EQ(stats.mac_number, 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(tengine_graph_get_stats(graph_, &stats), 0);
    EXPECT_EQ(stats.node_number, 2);
    EXPECT_EQ(stats.execution_node_number, 2);
    EXPECT_EQ(stats.subgraph_number, 1);
    EXPECT_EQ(stats.mac_number, 2 * 3 * 4);
    EXPECT_GE(stats.arena_bytes, 2 * 4 * 4);
    EXPECT_EQ(tengine_graph_get_stats(graph_, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(GraphInspectTest, ThreadsAreThoseThatRun)
{
    EXPECT_EQ(tengine_graph_get_thread_number(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_thread_number(graph_), 1);
    const size_t mask = get_cluster_affinity_mask(TENGINE_CLUSTER_ALL);
    const int cores = static_cast<int>(std::bitset<64>(mask).count());
    for (const int wanted : {0, 1000}) {
        ASSERT_EQ(prerun_graph_multithread(graph_, {wanted, TENGINE_CLUSTER_ALL, 0, 0}), 0);
        EXPECT_EQ(tengine_graph_get_thread_number(graph_), cores) << wanted;
    }
}

TEST_F(GraphInspectTest, ExecutionNodesAndParts)
{
    tengine_execution_node node;
    tengine_subgraph part;
    tengine_refusal refusal;
    EXPECT_EQ(tengine_graph_get_execution_node_number(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_graph_get_execution_node(graph_, 0, &node), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_graph_get_subgraph(graph_, 0, &part), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_graph_get_scheduler(graph_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_STREQ(tengine_graph_get_scheduler(graph_), "sync");
    ASSERT_EQ(tengine_graph_get_execution_node_number(graph_), 2);
    ASSERT_EQ(tengine_graph_get_execution_node(graph_, 1, &node), 0);
    EXPECT_STREQ(node.name, "y");
    EXPECT_STREQ(node.op, "MatMul");
    EXPECT_STREQ(node.domain, "");
    EXPECT_STREQ(node.device, get_default_device());
    EXPECT_EQ(node.subgraph, 0);
    EXPECT_EQ(node.mac_number, 24);
    EXPECT_EQ(node.source, get_graph_node(graph_, "y"));
    EXPECT_EQ(node.refusal_number, 0);
    EXPECT_EQ(node.input_number, 2);
    ASSERT_EQ(tengine_graph_get_subgraph(graph_, 0, &part), 0);
    EXPECT_STREQ(part.device, get_default_device());
    EXPECT_EQ(part.node_number, 2);
    EXPECT_EQ(part.input_number, 1);
    EXPECT_EQ(part.output_number, 1);
    EXPECT_EQ(part.mac_number, 24);
    EXPECT_EQ(part.bytes_in, 2 * 3 * 4);
    EXPECT_EQ(part.bytes_out, 2 * 4 * 4);
    EXPECT_EQ(part.redo_number, 0);
    EXPECT_EQ(tengine_graph_get_refusal(graph_, 0, 0, &refusal), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    for (int index : {-1, 2}) {
        EXPECT_EQ(tengine_graph_get_execution_node(graph_, index, &node), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_subgraph(graph_, index, &part), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_refusal(graph_, index, 0, &refusal), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_execution_node(graph_, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_subgraph(graph_, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_refusal(graph_, 0, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(GraphInspectTest, WhatExecutionNodesRead)
{
    tengine_execution_tensor tensor;
    EXPECT_EQ(tengine_graph_get_execution_input(graph_, 0, 0, &tensor), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_graph_get_execution_output(graph_, 0, &tensor), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();

    ASSERT_EQ(tengine_graph_get_execution_input(graph_, 0, 0, &tensor), 0);
    EXPECT_STREQ(tensor.name, "x");
    EXPECT_EQ(tensor.type, TENSOR_TYPE_INPUT);
    EXPECT_EQ(tensor.producer, -1);
    ASSERT_EQ(tengine_graph_get_execution_input(graph_, 1, 0, &tensor), 0);
    EXPECT_STREQ(tensor.name, "relu");
    EXPECT_EQ(tensor.data_type, TENGINE_DT_FP32);
    EXPECT_EQ(tensor.producer, 0);
    ASSERT_EQ(tensor.dim_number, 2);
    EXPECT_EQ(tensor.dims[0], 2);
    EXPECT_EQ(tensor.dims[1], 3);
    EXPECT_EQ(tensor.bytes, 2 * 3 * 4);
    ASSERT_EQ(tengine_graph_get_execution_input(graph_, 1, 1, &tensor), 0);
    EXPECT_STREQ(tensor.name, "w");
    EXPECT_EQ(tensor.type, TENSOR_TYPE_CONST);
    ASSERT_EQ(tengine_graph_get_execution_output(graph_, 0, &tensor), 0);
    EXPECT_STREQ(tensor.name, "y");
    EXPECT_EQ(tensor.producer, 1);

    for (int index : {-1, 2}) {
        EXPECT_EQ(tengine_graph_get_execution_input(graph_, index, 0, &tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_execution_input(graph_, 1, index, &tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_execution_output(graph_, index, &tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_execution_input(graph_, 0, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_execution_output(graph_, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

// A device in front of the default one that takes nothing leaves its reason with each node.
TEST_F(GraphInspectTest, RefusalsAreReported)
{
    std::string refusing;
    for (int i = 0; i < tengine_device_get_number() && refusing.empty(); ++i) {
        const char* name = tengine_device_get_name(i);
        if (tengine_device_get_operator_number(name) == 0) refusing = name;
    }
    if (refusing.empty()) GTEST_SKIP() << "no device that takes nothing is compiled in";
    ASSERT_EQ(set_graph_device(graph_, refusing.c_str()), 0);
    EXPECT_EQ(get_node_device(get_graph_node(graph_, "y")), refusing);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_STREQ(get_node_device(get_graph_node(graph_, "y")), get_default_device());
    tengine_execution_node node;
    ASSERT_EQ(tengine_graph_get_execution_node(graph_, 0, &node), 0);
    ASSERT_EQ(node.refusal_number, 1);
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph_, 0, 0, &refusal), 0);
    EXPECT_EQ(refusal.device, refusing);
    EXPECT_STREQ(refusal.reason, "operator");
    EXPECT_STRNE(refusal.message, "");
}

}  // namespace
}  // namespace tengine
