// SPDX-License-Identifier: Apache-2.0
// ConvTranspose in integers: a Conv with more channels, whose results are moved.
#include <gtest/gtest.h>
#include <random>

#include "graph/graph.h"
#include "optimizer/precision/subpixel_conv.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;
using Ints = std::vector<int64_t>;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

struct Case
{
    std::vector<int> x, weight;
    Ints strides, pads, output_padding;
    int64_t group;
    const char* operators;  // after the first
};

// Strides as wide as the window, narrower and wider; one axis; another stride for each axis;
// groups, depthwise; padding beyond a stride.
const std::vector<Case> kCases = {
    {{2, 6, 3, 4}, {6, 5, 2, 2}, {2, 2}, {0, 0, 0, 0}, {0, 0}, 1, "QLinearConv DepthToSpace"},
    {{1, 3, 4, 3}, {3, 4, 4, 4}, {2, 2}, {1, 1, 1, 1}, {0, 0}, 1, "QLinearConv DepthToSpace Slice"},
    {{1, 3, 4, 3}, {3, 4, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 1, "QLinearConv DepthToSpace"},
    {{1, 3, 4, 3}, {3, 4, 3, 3}, {2, 2}, {1, 1, 1, 1}, {0, 0}, 1, "QLinearConv DepthToSpace Slice"},
    {{1, 3, 5, 4}, {3, 2, 3, 3}, {1, 1}, {1, 0, 2, 1}, {0, 0}, 1, "QLinearConv"},
    {{1, 3, 4, 3}, {3, 2, 2, 3}, {3, 3}, {0, 1, 0, 0}, {0, 2}, 1, "QLinearConv DepthToSpace Slice"},
    {{1, 4, 4, 5},
     {4, 3, 4, 3},
     {2, 3},
     {0, 0, 0, 0},
     {1, 0},
     2,
     "QLinearConv Reshape Transpose Reshape Slice"},
    {{1, 4, 3, 5}, {4, 2, 4, 4}, {2, 2}, {1, 1, 1, 1}, {0, 0}, 2, "QLinearConv DepthToSpace Slice"},
    {{1, 4, 3, 5}, {4, 1, 4, 4}, {2, 2}, {1, 1, 1, 1}, {0, 0}, 4, "QLinearConv DepthToSpace Slice"},
    {{2, 3, 7}, {3, 4, 4}, {2}, {1, 1}, {0}, 1, "QLinearConv Reshape Transpose Reshape Slice"},
    {{1, 2, 5, 5}, {2, 3, 5, 5}, {2, 2}, {3, 4, 2, 3}, {0, 0}, 1, "QLinearConv "},
};

class SubpixelNet
{
  public:
    SubpixelNet(const Case& tested, int x_type, int weight_type, bool has_many_scales)
    {
        size_t number = 1;
        for (const int dim : tested.x)
            number *= static_cast<size_t>(dim);
        Floats values;
        for (size_t i = 0; i < number; ++i)
            values.push_back(real(-2, 2));
        net_.input("x", tested.x, values);
        const std::string x = net_.pair("x", 0.017f, x_type == TENGINE_DT_UINT8 ? 120 : -9, x_type);
        node* conv = net_.builder().add(
            "ConvTranspose", {x, weight(tested, weight_type, has_many_scales), "bias"}, {"c"});
        set(conv, "strides", tested.strides);
        set(conv, "pads", tested.pads);
        set(conv, "output_padding", tested.output_padding);
        EXPECT_EQ(set_node_int(conv, "group", tested.group), TENGINE_OK);
        net_.quantize("c", "y", 0.031f, 5);
        net_.builder().outputs({"y"});
    }

    PrecisionGraph& net() { return net_; }

  private:
    float real(float low, float high)
    {
        return std::uniform_real_distribution<float>(low, high)(random_);
    }

    std::string weight(const Case& tested, int type, bool has_many_scales)
    {
        size_t number = 1;
        for (const int dim : tested.weight)
            number *= static_cast<size_t>(dim);
        const int lowest = type == TENGINE_DT_INT8 ? -127 : 1;
        std::vector<int> values;
        for (size_t i = 0; i < number; ++i)
            values.push_back(lowest + static_cast<int>(random_() % 255));
        const int channels = tested.weight[1] * static_cast<int>(tested.group);
        Floats scales, bias;
        for (int i = 0; i < channels; ++i) {
            scales.push_back(real(0.001f, 0.01f));
            bias.push_back(real(-1, 1));
        }
        if (!has_many_scales) scales.resize(1);
        net_.builder().floats("bias", {channels}, bias);
        return net_.bytes("w", tested.weight, values, scales, 1, type);
    }

    static void set(node* node, const char* name, const Ints& values)
    {
        EXPECT_EQ(set_node_ints(node, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }

    std::mt19937 random_{7};
    PrecisionGraph net_;
};

TEST(PrecisionSubpixel, ConvTransposeIsAConv)
{
    for (const Case& tested : kCases)
        for (const int x_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (const int weight_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
                for (const bool has_many_scales : {false, true}) {
                    if (has_many_scales && tested.group > 1) continue;
                    SCOPED_TRACE(testing::PrintToString(tested.weight) +
                                 testing::PrintToString(tested.pads));
                    SubpixelNet made(tested, x_type, weight_type, has_many_scales);
                    PrecisionGraph& net = made.net();
                    const Floats expected = net.run(kFloat);
                    EXPECT_LE(steps_between(net.run(kInt8), expected, 1), 1);
                    const std::string operators = net.operators();
                    const std::string expected_operators =
                        std::string("QuantizeLinear ") + tested.operators;
                    EXPECT_EQ(operators.substr(0, expected_operators.size()), expected_operators);
                }
}

// Windows with gaps, and strides that leave most positions without a weight.
TEST(PrecisionSubpixel, OthersStayInFloat)
{
    for (const bool is_dilated : {false, true}) {
        Case tested = {{1, 2, 4, 4}, {2, 3, 2, 2}, {5, 5}, {0, 0, 0, 0}, {0, 0}, 1, ""};
        if (is_dilated) tested.strides = {1, 1};
        SubpixelNet made(tested, TENGINE_DT_INT8, TENGINE_DT_INT8, true);
        const int64_t dilations[] = {2, 2};
        node* conv = find_node(made.net().builder().get(), "c");
        if (is_dilated) {
            ASSERT_EQ(set_node_ints(conv, "dilations", dilations, 2), TENGINE_OK);
        }
        made.net().run(kInt8);
        EXPECT_NE(made.net().operators().find("ConvTranspose"), std::string::npos);
    }
}

}  // namespace
