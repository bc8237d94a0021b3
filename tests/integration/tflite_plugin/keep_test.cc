// SPDX-License-Identifier: Apache-2.0
// A compiler that knows TensorFlow Lite's operators sees the nodes of a .tflite, and the CPU
// computes those that the device fails with.
#include <gmock/gmock.h>

#include "integration/tflite_plugin/vendor.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kConv2d = 3, kDepthwiseConv2d = 4, kTanh = 28, kCustom = 32, kMean = 40;

std::string noise(size_t size, unsigned seed)
{
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        seed = seed * 1664525u + 1013904223u;
        byte = static_cast<char>(seed >> 24);
    }
    return bytes;
}

std::string small_floats(size_t number, unsigned seed)
{
    std::vector<float> values;
    for (const char byte : noise(number, seed))
        values.push_back(static_cast<float>(static_cast<signed char>(byte)) / 64);
    return bytes_of(values);
}

// A convolution of three channels to four with a stride of 2 and Relu6, one of each channel, a sum
// of the two and the mean of each channel.
TfliteModel make_network(bool is_quantized)
{
    const int8_t type = is_quantized ? kTfliteInt8 : kTfliteFloat;
    const int8_t bias = is_quantized ? kTfliteInt32 : kTfliteFloat;
    const auto values = [&](size_t number, unsigned seed) {
        return is_quantized ? noise(number, seed) : small_floats(number, seed);
    };
    TfliteModel model;
    model.tensors = {{"x", {1, 6, 6, 3}, type},
                     {"filter", {4, 3, 3, 3}, type, values(108, 1)},
                     {"bias",
                      {4},
                      bias,
                      is_quantized ? bytes_of<int32_t>({100, -50, 7, 0}) : small_floats(4, 3)},
                     {"conv", {1, 3, 3, 4}, type},
                     {"planes", {1, 3, 3, 4}, type, values(36, 2)},
                     {"depth", {1, 3, 3, 4}, type},
                     {"sum", {1, 3, 3, 4}, type},
                     {"axes", {2}, kTfliteInt32, bytes_of<int32_t>({1, 2})},
                     {"y", {1, 4}, type}};
    if (is_quantized) {
        const auto scale = [&](int tensor, std::vector<float> scales, std::vector<int64_t> points,
                               int axis = 0) {
            auto& to = model.tensors[static_cast<size_t>(tensor)];
            to.scales = std::move(scales);
            to.zero_points = std::move(points);
            to.axis = axis;
        };
        scale(0, {0.5f}, {3});
        scale(1, {0.01f, 0.02f, 0.03f, 0.04f}, {0, 0, 0, 0});
        scale(2, {0.005f, 0.01f, 0.015f, 0.02f}, {0, 0, 0, 0});
        scale(3, {0.025f}, {-128});
        scale(4, {0.01f, 0.02f, 0.03f, 0.04f}, {0, 0, 0, 0}, 3);
        scale(5, {0.5f}, {5});
        scale(6, {0.25f}, {-3});
        scale(8, {0.125f}, {1});
    }
    model.operators = {
        {kConv2d, {0, 1, 2}, {3}, {{0, 1, 0}, {1, 4, 2}, {2, 4, 2}, {3, 1, 3}}},
        {kDepthwiseConv2d, {3, 4, -1}, {5}, {{0, 1, 0}, {1, 4, 1}, {2, 4, 1}, {3, 4, 1}}},
        {kAdd, {3, 5}, {6}},
        {kMean, {6, 7}, {8}}};
    model.inputs = {0};
    model.outputs = {8};
    return model;
}

class KeepTest : public VendorTest
{
  protected:
    std::string input(bool is_quantized, int batch = 1) const
    {
        const size_t number = static_cast<size_t>(batch) * 108;
        return is_quantized ? noise(number, 9) : small_floats(number, 9);
    }
};

TEST_F(KeepTest, ACompilerSeesTheOperatorsOfTheFile)
{
    add_compiler();
    ASSERT_TRUE(load(encode_tflite(make_network(true)), "VENDOR"));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_THAT(
        vendor.seen,
        testing::ElementsAre(
            "3 CONV_2D(int8 1x6x6x3 by 0.500 from 3, int8 4x3x3x3 by 4 along 0, int32 4 by 4 along "
            "0) -> int8 1x3x3x4 by 0.025 from -128",
            "4 DEPTHWISE_CONV_2D(int8 1x3x3x4 by 0.025 from -128, int8 1x3x3x4 by 4 along 3) -> "
            "int8 "
            "1x3x3x4 by 0.500 from 5",
            "0 ADD(int8 1x3x3x4 by 0.025 from -128, int8 1x3x3x4 by 0.500 from 5) -> int8 1x3x3x4 "
            "by 0.250 from -3",
            "40 MEAN(int8 1x3x3x4 by 0.250 from -3, int32 2) -> int8 1x4 by 0.125 from 1"));
    EXPECT_EQ(list_nodes(), "VENDOR CONV_2D, VENDOR DEPTHWISE_CONV_2D, VENDOR ADD, VENDOR MEAN");
    EXPECT_THAT(vendor.compiled, testing::ElementsAre("CONV_2D DEPTHWISE_CONV_2D ADD MEAN "));
    EXPECT_EQ(vendor.partitions, 1);
}

TEST_F(KeepTest, ACompilerSeesTheShapesOfTheRun)
{
    add_compiler();
    ASSERT_TRUE(load(encode_tflite(make_network(false)), "VENDOR"));
    const int dims[] = {2, 8, 6, 3};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), dims, 4), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(vendor.seen.size(), 4u);
    EXPECT_EQ(vendor.seen[3], "40 MEAN(fp32 2x4x3x4, int32 2) -> fp32 2x4");
}

// A refusal of a node of the file is the reason for the nodes that it becomes.
TEST_F(KeepTest, OtherNodesAreOnnxs)
{
    vendor.chosen = {"ADD"};
    add_compiler();
    ASSERT_TRUE(load(encode_tflite(make_network(false)), "VENDOR"));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const std::string nodes = list_nodes();
    EXPECT_THAT(nodes, testing::HasSubstr("VENDOR ADD"));
    EXPECT_THAT(nodes, testing::HasSubstr("CPU Conv"));
    EXPECT_EQ(nodes.find("CONV_2D"), std::string::npos) << nodes;
    tengine_execution_node node{};
    for (int i = 0; tengine_graph_get_execution_node(graph_, i, &node) == 0; ++i)
        if (std::strcmp(node.op, "ReduceMean") == 0) {
            EXPECT_EQ(refusal(i), "too slow");
        }
    take_logged_failures();
}

struct Fault
{
    int step;  // see VendorScript::fails_in
    const char* device;
};

// In all cases the results are those of the CPU alone, bit by bit.
class FallbackTest : public KeepTest, public testing::WithParamInterface<Fault>
{
};

TEST_P(FallbackTest, TheCpuComputesWhatTheDeviceFailsWith)
{
    for (const bool is_quantized : {false, true}) {
        const std::string file = encode_tflite(make_network(is_quantized));
        const std::vector<std::string> inputs = {input(is_quantized)};
        ASSERT_TRUE(load(file, nullptr));
        const std::vector<std::string> expected = run(inputs);
        vendor = {};
        vendor.fails_in = GetParam().step;
        if (!has_compiler_) add_compiler();
        if (!has_dispatch_) add_dispatch();
        ASSERT_TRUE(load(file, "VENDOR"));
        EXPECT_EQ(run(inputs), expected);
        EXPECT_EQ(run(inputs), expected) << "the second run";
        EXPECT_NE(list_nodes().find(GetParam().device), std::string::npos) << list_nodes();
        EXPECT_GE(vendor.compiled.size(), 1u);
        unload();
    }
    take_logged_failures();
}

INSTANTIATE_TEST_SUITE_P(Steps, FallbackTest,
                         testing::Values(Fault{'c', "CPU CONV_2D"}, Fault{'l', "CPU CONV_2D"},
                                         Fault{'i', "CPU CONV_2D"}));

TEST_F(KeepTest, TheCpuComputesThemInOtherPrecisions)
{
    const std::string file = encode_tflite(make_network(false));
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
        ASSERT_TRUE(load(file, nullptr));
        const std::vector<std::string> expected = run({input(false)}, precision);
        vendor = {};
        vendor.fails_in = 'l';
        if (!has_compiler_) add_compiler();
        if (!has_dispatch_) add_dispatch();
        ASSERT_TRUE(load(file, "VENDOR"));
        EXPECT_EQ(run({input(false)}, precision), expected) << precision;
        unload();
    }
    take_logged_failures();
}

TEST_F(KeepTest, ReportsAndSchedulersKnowThem)
{
    const std::string file = encode_tflite(make_network(true));
    ASSERT_TRUE(load(file, nullptr));
    const std::vector<std::string> expected = run({input(true)});
    vendor.fails_in = 'i';
    add_compiler();
    add_dispatch();
    ASSERT_TRUE(
        load(file, "VENDOR",
             {{"run.profile", "1"}, {"scheduler", "pipeline"}, {"prerun.watchdog_ms", "9000"}}));
    EXPECT_EQ(run({input(true)}), expected);
    EXPECT_EQ(run({input(true)}), expected);
    double sum = 0;
    tengine_execution_node node{};
    for (int i = 0; tengine_graph_get_execution_node(graph_, i, &node) == 0; ++i)
        sum += node.measured_ms;
    EXPECT_GT(sum, 0);
    tengine_node_kernel kernel{};
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph_); ++i)
        EXPECT_EQ(tengine_graph_get_execution_kernel(graph_, i, &kernel, sizeof kernel), 0);
    take_logged_failures();
}

// An operator that only the vendor has, with its options.
TEST_F(KeepTest, OperatorsOfTheVendorAreChosen)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"t", {2}}, {"y", {2}}};
    model.operators = {{kTanh, {0}, {1}}, {kCustom, {1}, {2}, {}, "Twice", "\x01\x02"}};
    model.inputs = {0};
    model.outputs = {2};
    vendor.chosen = {"Generic"};
    add_compiler();
    add_dispatch();
    ASSERT_TRUE(load(encode_tflite(model), "VENDOR"));
    const std::vector<std::string> results = run({bytes_of<float>({0, 100})});
    EXPECT_EQ(results, std::vector<std::string>{bytes_of<float>({0, 2})});
    EXPECT_EQ(vendor.seen.back(), "32 Generic(fp32 2) -> fp32 2");
    EXPECT_EQ(list_nodes(), "CPU Tanh, VENDOR Generic");
}

}  // namespace
}  // namespace tengine::test
