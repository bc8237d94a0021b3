// SPDX-License-Identifier: Apache-2.0
// NHWC pools in int8 and uint8 against the reference, bit by bit.
#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/byte_node.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

struct Case
{
    std::vector<int> x;
    std::vector<int64_t> kernel, strides, dilations, pads;
};

// Channels around the lengths of vectors; windows at and beyond the edges, dilated, of a power of
// two values, and of more than 16 bits can sum.
const std::vector<Case> kCases = {
    {{1, 64, 9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{2, 3, 5, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{1, 7, 8, 8}, {3, 2}, {1, 1}, {2, 3}, {1, 0, 2, 1}},
    {{1, 8, 6, 6}, {2, 4}, {1, 2}, {1, 1}, {0, 0, 0, 0}},
    {{1, 17, 4, 5}, {4, 5}, {1, 1}, {1, 1}, {3, 4, 3, 4}},
    {{3, 33, 5, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{1, 72, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 130, 17, 16}, {17, 16}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 16, 20, 19}, {1, 259}, {1, 1}, {1, 1}, {0, 128, 0, 130}},
    {{1, 24, 40, 21}, {18, 20}, {3, 1}, {1, 1}, {0, 0, 0, 0}},
};

void describe(ByteNode& node, const Case& c)
{
    node.set("kernel_shape", c.kernel);
    node.set("strides", c.strides);
    node.set("dilations", c.dilations);
    node.set("pads", c.pads);
    node.infer();
}

class MeanNode : public ByteNode
{
  public:
    MeanNode(const char* op, const std::vector<int>& shape, int x_type, int y_type, float x_scale)
    {
        bytes("x", shape, x_type);
        bytes("x_zero", {}, x_type);
        bytes("y_zero", {}, y_type);
        floats("x_scale", {}, {x_scale});
        floats("y_scale", {}, {1});
        make(std::string("com.microsoft.") + op, {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
    }

    // Makes the largest sums: all elements are as far from the zero point as possible.
    void fill_with_extremes(bool is_high)
    {
        const tensor* x = find("x");
        const int lowest = x->data_type == TENGINE_DT_INT8 ? -128 : 0;
        std::memset(x->data, lowest + (is_high ? 255 : 0), static_cast<size_t>(x->elem_num));
        std::memset(find("x_zero")->data, lowest + (is_high ? 0 : 255), 1);
    }
};

TEST(Int8Pool, HasTheMaximaOfTheReference)
{
    for (size_t number = 0; number < kCases.size(); ++number)
        for (const int type : kTypes) {
            SCOPED_TRACE(number);
            ByteNode node;
            node.bytes("x", kCases[number].x, type);
            node.make("MaxPool", {"x"});
            describe(node, kCases[number]);
            node.compare("max_pool.s8.nhwc");
        }
}

// The factors divide by the number of values, make ties, make all results 0, and all the largest.
TEST(Int8Pool, HasTheMeansOfTheReference)
{
    for (size_t number = 0; number < kCases.size(); ++number)
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const float scale : {0.9f, 1.0f, 0.25f, 1e-7f, 2e9f})
                    for (const bool counts_padding : {false, true}) {
                        SCOPED_TRACE(number);
                        SCOPED_TRACE(scale);
                        MeanNode node("QLinearAveragePool", kCases[number].x, x_type, y_type,
                                      scale);
                        node.set("count_include_pad", counts_padding);
                        describe(node, kCases[number]);
                        node.compare("average_pool.s8.nhwc", {1, 3});
                    }
}

TEST(Int8Pool, TakesTheLargestSums)
{
    for (const Case& c : kCases)
        for (const int type : kTypes)
            for (const bool is_high : {false, true}) {
                MeanNode node("QLinearAveragePool", c.x, type, TENGINE_DT_INT8, 0.3f);
                describe(node, c);
                node.fill_with_extremes(is_high);
                node.compare("average_pool.s8.nhwc", {1});
            }
}

TEST(Int8Pool, HasTheMeansOfTheReferenceOverChannels)
{
    const std::vector<std::vector<int>> shapes = {
        {1, 3, 4, 4},   {2, 64, 1, 7},   {1, 129, 16, 16}, {3, 70, 8, 8},
        {1, 16, 31, 9}, {1, 257, 57, 9}, {1, 7, 30, 30},
    };
    for (const std::vector<int>& shape : shapes)
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const float scale : {0.7f, 1.0f, 300.0f}) {
                    SCOPED_TRACE(testing::PrintToString(shape));
                    MeanNode node("QLinearGlobalAveragePool", shape, x_type, y_type, scale);
                    node.infer();
                    node.compare("global_average_pool.s8.nhwc");
                    node.fill_with_extremes(x_type == y_type);
                    node.compare("global_average_pool.s8.nhwc", {1});
                }
}

TEST(Int8Pool, LeavesOtherShapesAndIndicesToTheReference)
{
    ByteNode line;
    line.bytes("x", {1, 8, 9}, TENGINE_DT_INT8);
    line.make("MaxPool", {"x"});
    line.set("kernel_shape", std::vector<int64_t>{2});
    line.infer();
    line.compare("reference");
    ByteNode node;
    node.bytes("x", {1, 8, 9, 9}, TENGINE_DT_UINT8);
    node.make("MaxPool", {"x"}, {"y", "indices"});
    node.set("kernel_shape", std::vector<int64_t>{2, 2});
    node.infer();
    node.compare("reference");
}

}  // namespace
}  // namespace tengine::test
