// SPDX-License-Identifier: Apache-2.0
// LiteRT's compiler plug-ins on a .tflite: the guide's, from compilation to dispatch, and one that
// describes each operator.
#include <gmock/gmock.h>

#include "integration/tflite_plugin/vendor.h"
#include "tengine/log.h"
#include "tengine/plugin.h"

namespace tengine::test {
namespace {

using Option = TfliteOperator::Option;

std::vector<std::string> lines;

void keep_line(int level, const char* line)
{
    if (level == TENGINE_LOG_WARNING) lines.emplace_back(line);
}

class LiteRtFileTest : public VendorTest
{
  protected:
    void load_plugin(const char* name)
    {
        const std::string path = std::string(TENGINE_PLUGIN_DIR "/litert_") + name + ".so";
        ASSERT_EQ(tengine_plugin_load(path.c_str()), 1) << get_tengine_error();
    }
};

// y = tanh(a * b + c) - a, channels last.
TEST_F(LiteRtFileTest, TheGuidesPluginCompilesAndRuns)
{
    TfliteModel model;
    const std::vector<int32_t> shape = {1, 2, 2, 3};
    model.tensors = {{"a", shape},       {"b", {3}, kTfliteFloat, bytes_of<float>({1, 2, 3})},
                     {"product", shape}, {"c", shape},
                     {"sum", shape},     {"t", shape},
                     {"y", shape}};
    model.operators = {{18, {0, 1}, {2}, {{0, 1, 0}}},
                       {0, {2, 3}, {4}, {{0, 1, 0}}},
                       {28, {4}, {5}},
                       {41, {5, 0}, {6}, {{0, 1, 0}}}};
    model.inputs = {0, 3};
    model.outputs = {6};
    const std::string file = encode_tflite(model);
    std::vector<float> a, c;
    for (int i = 0; i < 12; ++i) {
        a.push_back(0.125f * static_cast<float>(i - 6));
        c.push_back(0.25f * static_cast<float>(i));
    }
    ASSERT_TRUE(load(file, nullptr));
    const std::vector<std::string> expected = run({bytes_of(a), bytes_of(c)});
    load_plugin("compiler");
    load_plugin("dispatch");
    ASSERT_TRUE(load(file, "EXAMPLE", {{"EXAMPLE.soc", "ExampleSocModel"}}));
    EXPECT_EQ(run({bytes_of(a), bytes_of(c)}), expected);
    EXPECT_EQ(list_nodes(), "EXAMPLE MUL, EXAMPLE ADD, CPU Tanh, EXAMPLE SUB");
    unload();
}

struct FileCase
{
    int code;
    std::vector<std::vector<int32_t>> inputs;  // shapes
    std::vector<int32_t> output;
    std::vector<Option> options;
    const char* description;
};

// Options are by their numbers in the file.
const FileCase kCases[] = {
    {0, {{2}, {2}}, {2}, {{0, 1, 1}}, "Add 0 of 2 activation 1"},
    {1,
     {{1, 4, 4, 2}},
     {1, 2, 1, 2},
     {{0, 1, 1}, {1, 4, 3}, {2, 4, 2}, {3, 4, 2}, {4, 4, 1}, {5, 1, 3}},
     "AveragePool2d 1 of 1 padding 1 stride 3 x 2 filter 2 x 1 activation 3"},
    {2, {{2}, {2}}, {4}, {{0, 4, -1}, {1, 1, 1}}, "Concatenation 2 of 2 activation 1 axis -1"},
    {3,
     {{1, 4, 4, 2}, {3, 1, 1, 2}, {3}},
     {1, 2, 1, 3},
     {{0, 1, 1}, {1, 4, 3}, {2, 4, 2}, {3, 1, 1}, {4, 4, 5}, {5, 4, 6}},
     "Conv2d 3 of 3 padding 1 stride 3 x 2 activation 1 dilation 5 x 6"},
    {4,
     {{1, 4, 4, 2}, {1, 1, 1, 6}},
     {1, 4, 4, 6},
     {{0, 1, 0}, {1, 4, 1}, {2, 4, 1}, {3, 4, 3}, {4, 1, 3}, {5, 4, 2}, {6, 4, 4}},
     "DepthwiseConv2d 4 of 2 padding 0 stride 1 x 1 activation 3 dilation 2 x 4 multiplier 3"},
    {5, {{1, 1, 1, 4}}, {1, 2, 2, 1}, {{0, 4, 2}}, "DepthToSpace 5 of 1 block 2"},
    {9,
     {{1, 3}, {2, 3}},
     {1, 2},
     {{0, 1, 1}, {2, 1, 1}},
     "FullyConnected 9 of 2 activation 1 format 0 dims kept 1 bias type 0 asymmetric 0"},
    {12,
     {{1, 4, 4, 2}},
     {1, 4, 4, 2},
     {{0, 1, 0}, {1, 4, 1}, {2, 4, 1}, {3, 4, 3}, {4, 4, 2}, {5, 1, 0}},
     "L2Pool2d 12 of 1 padding 0 stride 1 x 1 filter 3 x 2 activation 0"},
    {17,
     {{1, 4, 4, 2}},
     {1, 4, 4, 2},
     {{0, 1, 0}, {1, 4, 1}, {2, 4, 1}, {3, 4, 2}, {4, 4, 3}, {5, 1, 1}},
     "MaxPool2d 17 of 1 padding 0 stride 1 x 1 filter 2 x 3 activation 1"},
    {22, {{4}}, {2, 2}, {{0, 0, 0, {2, 2}}}, "Reshape 22 of 1 list 2 2"},
    {23,
     {{1, 2, 2, 1}, {2}},
     {1, 4, 4, 1},
     {{2, 1, 1}, {3, 1, 0}},
     "ResizeBilinear 23 of 2 aligned 1 half 0"},
    {25, {{2, 2}}, {2, 2}, {{0, 4, 0x40000000}}, "Softmax 25 of 1 beta 2"},
    {26, {{1, 2, 2, 1}}, {1, 1, 1, 4}, {{0, 4, 2}}, "SpaceToDepth 26 of 1 block 2"},
    {36, {{2, 3}, {2, 2}}, {2, 2}, {{0, 4, 1}, {1, 4, 1}}, "Gather 36 of 2 axis 1 batch 1"},
    {40, {{2, 3}, {1}}, {2, 1}, {{0, 1, 1}}, "Mean 40 of 2 kept 1"},
    {43, {{1, 2, 1}}, {2}, {{0, 0, 0, {0, -1}}}, "Squeeze 43 of 1 list 0 -1"},
    {45,
     {{2, 3}, {2}, {2}, {2}},
     {2, 3},
     {{0, 4, 1}, {1, 4, 2}, {2, 4, 4}, {3, 4, 8}, {4, 4, 16}, {5, 1, 1}},
     "StridedSlice 45 of 4 masks 1 / 2 / 4 / 8 / 16 offset 1"},
    {49, {{}, {4}}, {4}, {{0, 4, 1}}, "Split 49 of 2 splits 1"},
    {67,
     {{4}, {3, 1, 1, 2}, {1, 2, 2, 2}},
     {1, 4, 4, 3},
     {{0, 1, 1}, {1, 4, 3}, {2, 4, 2}, {3, 1, 1}},
     "TransposeConv 67 of 3 padding 1 stride 3 x 2 activation 1"},
    {74, {{2, 3}, {1}}, {2, 1}, {{0, 1, 1}}, "Sum 74 of 2 kept 1"},
    {82, {{2, 3}, {1}}, {2}, {{0, 1, 0}}, "ReduceMax 82 of 2 kept 0"},
    {83, {{3}, {3}}, {3, 2}, {{0, 4, 2}, {1, 4, 1}}, "Pack 83 of 2 axis 1 values 2"},
    {85, {{2}, {}, {}, {}}, {2, 3}, {{0, 4, -1}}, "OneHot 85 of 4 axis -1"},
    {88, {{3, 1}}, {3}, {{0, 4, 1}, {1, 4, 1}}, "Unpack 88 of 1 axis 1 num 1"},
    {89, {{2, 3}, {1}}, {2, 1}, {{0, 1, 1}}, "ReduceMin 89 of 2 kept 1"},
    {97,
     {{1, 2, 2, 1}, {2}},
     {1, 4, 4, 1},
     {{0, 1, 0}, {1, 1, 1}},
     "ResizeNearestNeighbor 97 of 2 aligned 0 half 1"},
    {98, {{2}}, {2}, {{0, 4, 0x3e800000}}, "LeakyRelu 98 of 1 alpha 0.25"},
    {100, {{2}, {1, 2}}, {4}, {{0, 1, 1}}, "MirrorPad 100 of 2 mode 1"},
    {102, {{4}, {1}, {}}, {4}, {{0, 4, 1}}, "SplitV 102 of 3 splits 1"},
    {126,
     {{2, 3}, {2, 3}},
     {2, 2},
     {{0, 1, 0}, {1, 1, 1}},
     "BatchMatmul 126 of 2 adj 0 1 asymmetric 0"},
    {128, {{3}, {}}, {3}, {{0, 1, 1}, {1, 1, 0}}, "Cumsum 128 of 2 exclusive 1 reverse 0"},
    {132,
     {{1, 2, 2, 2, 1}, {1, 1, 1, 1, 3}},
     {1, 1, 1, 2, 3},
     {{0, 1, 1}, {1, 4, 2}, {2, 4, 1}, {3, 4, 3}, {4, 1, 1}, {5, 4, 4}, {6, 4, 5}, {7, 4, 6}},
     "Conv3d 132 of 2 padding 1 stride 2 stride 1 x 3 activation 1 dilation 4 dilation 5 x 6"},
    {150, {{2}}, {2}, {{0, 1, 1}}, "Gelu 150 of 1 approximate 1"},
};

TEST_F(LiteRtFileTest, OperatorsHaveTheCodesAndOptionsOfTheFile)
{
    load_plugin("operators");
    tengine_log_set_sink(keep_line);
    for (const FileCase& each : kCases) {
        TfliteModel model;
        TfliteOperator op;
        op.code = each.code;
        op.options = each.options;
        for (const std::vector<int32_t>& shape : each.inputs) {
            op.inputs.push_back(static_cast<int32_t>(model.tensors.size()));
            model.tensors.push_back({"i" + std::to_string(model.tensors.size()), shape});
        }
        model.inputs = op.inputs;
        op.outputs = model.outputs = {static_cast<int32_t>(model.tensors.size())};
        model.tensors.push_back({"y", each.output});
        model.operators = {op};
        lines.clear();
        // Some models are not valid: the compiler sees them all the same.
        if (load(encode_tflite(model), "OPERATORS")) static_cast<void>(prerun_graph(graph_));
        const bool is_described =
            std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
                return line.find(each.description) != std::string::npos;
            });
        EXPECT_TRUE(is_described) << each.description << "; logged "
                                  << testing::PrintToString(lines) << "; " << get_tengine_error();
        unload();
    }
    tengine_log_set_sink(nullptr);
}

TEST_F(LiteRtFileTest, CustomOperatorsHaveNameAndOptions)
{
    load_plugin("operators");
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.operators = {{32, {0}, {1}, {}, "Vendor", bytes_of<int32_t>({7, -8})}};
    model.inputs = {0};
    model.outputs = {1};
    lines.clear();
    tengine_log_set_sink(keep_line);
    ASSERT_TRUE(load(encode_tflite(model), "OPERATORS"));
    EXPECT_LT(prerun_graph(graph_), 0);
    tengine_log_set_sink(nullptr);
    EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("Custom Vendor list 7 -8")));
    unload();
}

}  // namespace
}  // namespace tengine::test
