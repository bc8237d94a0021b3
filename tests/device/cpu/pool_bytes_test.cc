// SPDX-License-Identifier: Apache-2.0
// NHWC pools in int8 and uint8 against the reference, bit by bit, for the windows of the table and
// scales that make ties and reach the ends. The cases as they are run in quantized_case_test.cc.
#include <cstring>
#include <gtest/gtest.h>

#include "cases/case.h"
#include "device/cpu/byte_node.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

using tools::Case;

// The cases of the table with images and with one of its pairs of scales: a window has them once.
std::vector<Case> list_means(const std::string& op)
{
    std::vector<Case> chosen;
    for (const Case& each : tools::list_quantized_cases())
        if (each.op == op && each.inputs[0].dims.size() == 4 &&
            each.inputs[3].values == std::vector<double>{0.057})
            chosen.push_back(each);
    EXPECT_FALSE(chosen.empty()) << op;
    return chosen;
}

class MeanNode : public ByteNode
{
  public:
    MeanNode(Case of, int x_type, int y_type, double x_scale)
    {
        of.inputs[1] = tools::scales({x_scale});
        of.inputs[3] = tools::scales({1});
        of.inputs[4].data_type = y_type;
        of.outputs = {y_type};
        make(of, x_type);
    }

    // Makes the largest sums: all elements are as far from the zero point as possible.
    void fill_with_extremes(bool is_high)
    {
        const tensor* x = find("i0");
        const int lowest = x->data_type == TENGINE_DT_INT8 ? -128 : 0;
        std::memset(x->data, lowest + (is_high ? 255 : 0), static_cast<size_t>(x->elem_num));
        std::memset(find("i2")->data, lowest + (is_high ? 0 : 255), 1);
    }
};

// The factors divide by the number of values, make ties, make all results 0, and all the largest.
TEST(Int8Pool, HasTheMeansOfTheReference)
{
    for (const Case& each : list_means("com.microsoft.QLinearAveragePool"))
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const double scale : {0.9, 1.0, 0.25, 1e-7, 2e9}) {
                    SCOPED_TRACE(each.name());
                    SCOPED_TRACE(scale);
                    MeanNode node(each, x_type, y_type, scale);
                    node.compare("average_pool.s8.nhwc", {1, 3});
                }
}

TEST(Int8Pool, TakesTheLargestSums)
{
    for (const Case& each : list_means("com.microsoft.QLinearAveragePool"))
        for (const int type : kTypes)
            for (const bool is_high : {false, true}) {
                SCOPED_TRACE(each.name());
                MeanNode node(each, type, TENGINE_DT_INT8, 0.3);
                node.fill_with_extremes(is_high);
                node.compare("average_pool.s8.nhwc", {1});
            }
}

TEST(Int8Pool, HasTheMeansOfTheReferenceOverChannels)
{
    for (const Case& each : list_means("com.microsoft.QLinearGlobalAveragePool"))
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const double scale : {0.7, 1.0, 300.0}) {
                    SCOPED_TRACE(each.name());
                    MeanNode node(each, x_type, y_type, scale);
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
