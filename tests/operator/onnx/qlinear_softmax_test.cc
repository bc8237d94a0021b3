// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax against exact results.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

const std::vector<std::string> kInputs = {"x", "x_scale", "x_zero", "y_scale", "y_zero"};

TEST(QLinearSoftmax, OfTheNewMeaningOnly)
{
    for (const int opset : {13, 12}) {
        ConstantGraph graph;
        add_tensor<uint8_t>(&graph, "x", {1, 2, 2}, {10, 10, 0, 255}, 1, 0);
        add_result<uint8_t>(&graph, 1.0f / 256, 0);
        node* node = graph.add("com.microsoft.QLinearSoftmax", kInputs);
        set_node_int(node, "opset", opset);
        set_node_int(node, "axis", 2);
        if (opset < 13)
            graph.expect_failure(TENGINE_ENOTSUP, "opset is 12, expected 13 or newer");
        else
            EXPECT_EQ(values_of<uint8_t>(graph.evaluate()),
                      (std::vector<uint8_t>{128, 128, 0, 255}));
    }
}

// Along a middle axis. The error of an exponential is half of 2^-23 of the largest, that of a sum
// as much for each of its 40 values: together less than 0.001 steps.
TEST(QLinearSoftmax, IsTheNearestByte)
{
    constexpr int kRow = 40, kInner = 3, kRows = 2 * kInner;
    constexpr double kScale = 0.04, kResultScale = 1.0 / 1000;
    ConstantGraph graph;
    const auto x = random_bytes<int8_t>(kRows * kRow, 5);
    add_tensor<int8_t>(&graph, "x", {2, kRow, kInner}, x, kScale, 7);
    add_result<uint8_t>(&graph, kResultScale, 20);
    node* node = graph.add("com.microsoft.QLinearSoftmax", kInputs);
    set_node_int(node, "opset", 13);
    set_node_int(node, "axis", 1);
    const auto y = values_of<uint8_t>(graph.evaluate());
    ASSERT_EQ(y.size(), x.size());
    for (int row = 0; row < kRows; ++row) {
        const auto at = [&](int i) {
            return static_cast<size_t>((row / kInner * kRow + i) * kInner + row % kInner);
        };
        double sum = 0;
        for (int i = 0; i < kRow; ++i)
            sum += std::exp(double{float{kScale}} * x[at(i)]);
        for (int i = 0; i < kRow; ++i) {
            const double share = std::exp(double{float{kScale}} * x[at(i)]) / sum;
            EXPECT_NEAR(y[at(i)], std::min(20 + share / float{kResultScale}, 255.0), 0.501);
        }
    }
}

}  // namespace
}  // namespace tengine::test
