// SPDX-License-Identifier: Apache-2.0
// Nodes with shapes that depend on data: a run with the sizes of the run before plans nothing.
#include <cmath>

#include "fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

constexpr int kRows = 16;

// y is the rows of x whose mask is not 0, after `layers` times a product with constant weights and
// a Softmax. Without a mask: all rows, with known shapes.
class DynamicRunTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        set_columns(8);
    }

    void set_columns(int columns)
    {
        columns_ = columns;
        x_.resize(static_cast<size_t>(kRows) * static_cast<size_t>(columns));
        weights_.resize(static_cast<size_t>(columns) * static_cast<size_t>(columns));
        for (size_t i = 0; i < x_.size(); ++i)
            x_[i] = std::sin(static_cast<float>(3 * i));
        for (size_t i = 0; i < weights_.size(); ++i)
            weights_[i] = 4 * std::cos(static_cast<float>(5 * i));
    }

    graph_t create(int layers, bool masked)
    {
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        tensor_t value = add_input(graph, "x", {kRows, columns_});
        EXPECT_TRUE(write_floats(value, x_));
        if (masked) {
            const tensor_t mask = add_input(graph, "mask", {kRows});
            const tensor_t found = add_node(graph, "found", "NonZero", {mask}, TENGINE_DT_INT64);
            const int64_t line[] = {-1};
            const tensor_t shape = add_constant(graph, "shape", {1}, line, TENGINE_DT_INT64);
            const tensor_t places =
                add_node(graph, "places", "ai.onnx.Reshape", {found, shape}, TENGINE_DT_INT64);
            value = add_node(graph, "rows", "ai.onnx.Gather", {value, places});
        }
        for (int i = 0; i < layers; ++i) {
            const std::string number = std::to_string(i);
            const tensor_t weight =
                add_constant(graph, ("w" + number).c_str(), {columns_, columns_}, weights_.data());
            value =
                add_node(graph, ("product" + number).c_str(), "ai.onnx.MatMul", {value, weight});
            last_ = "softmax" + number;
            value = add_node(graph, last_.c_str(), "ai.onnx.Softmax", {value});
        }
        EXPECT_TRUE(masked ? set_borders(graph, {"x", "mask"}, {last_.c_str()})
                           : set_borders(graph, {"x"}, {last_.c_str()}));
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        return graph;
    }

    // Lists every `step`-th row, `number` of them, from `first`.
    static std::vector<int> list_rows(int first, int step, int number)
    {
        std::vector<int> rows;
        for (int i = 0; i < number; ++i)
            rows.push_back(first + i * step);
        return rows;
    }

    // Runs with these rows and returns the number of allocations.
    static long run(graph_t graph, const std::vector<int>& rows)
    {
        std::vector<float> mask(kRows, 0);
        for (const int row : rows)
            mask[static_cast<size_t>(row)] = 1;
        EXPECT_TRUE(write_floats(get_graph_tensor(graph, "mask"), mask));
        const long before = count_allocations();
        const int status = run_graph(graph, 1);
        const long after = count_allocations();
        EXPECT_EQ(status, 0) << get_tengine_error();
        return after - before;
    }

    int columns_ = 0;
    std::vector<float> x_;
    std::vector<float> weights_;
    std::string last_;
};

TEST_F(DynamicRunTest, SizesMayComeAgainAndChange)
{
    const graph_t all = create(3, false);
    ASSERT_EQ(run_graph(all, 1), 0) << get_tengine_error();
    const std::vector<float> expected = read_floats(tengine_graph_get_output(all, 0));
    const graph_t some = create(3, true);
    for (const std::vector<int>& rows :
         {list_rows(0, 3, 5), list_rows(1, 2, 5), list_rows(0, 1, 6), list_rows(11, 1, 5),
          list_rows(0, 1, 0), list_rows(4, 1, 5), list_rows(0, 1, kRows), list_rows(7, 1, 1),
          list_rows(9, 1, 1), list_rows(0, 1, kRows)}) {
        SCOPED_TRACE(rows.size());
        run(some, rows);
        const tensor_t result = tengine_graph_get_output(some, 0);
        const std::vector<float> values = rows.empty() ? std::vector<float>() : read_floats(result);
        ASSERT_EQ(get_tensor_buffer_size(result), static_cast<int>(rows.size()) * columns_ * 4);
        // Other kernels may add in another order: 8 products up to 4, and the exponent of their
        // sums.
        const auto columns = static_cast<size_t>(columns_);
        for (size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(values[i],
                        expected[static_cast<size_t>(rows[i / columns]) * columns + i % columns],
                        1e-4f);
    }
    EXPECT_EQ(destroy_graph(all), 0);
    EXPECT_EQ(destroy_graph(some), 0);
}

// The nodes in the middle allocate nothing, for any number of them, so nothing is packed again;
// after a change of sizes, each of them allocates.
TEST_F(DynamicRunTest, TheSameSizesAreNotPlannedAgain)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    long same[2], other[2];
    for (const int longer : {0, 1}) {
        const graph_t graph = create(longer ? 9 : 2, true);
        run(graph, list_rows(0, 3, 5));
        run(graph, list_rows(1, 2, 5));
        same[longer] = run(graph, list_rows(2, 1, 5));
        EXPECT_EQ(run(graph, list_rows(0, 3, 5)), same[longer]);
        other[longer] = run(graph, list_rows(2, 1, 6));
        EXPECT_EQ(destroy_graph(graph), 0);
    }
    // The result of NonZero, and that of the graph.
    EXPECT_EQ(same[0], 2);
    EXPECT_EQ(same[1], same[0]);
    EXPECT_GE(other[1], other[0] + 7);
}

// Other sizes use the same packed weights: a run has less memory at a time than one pack takes.
TEST_F(DynamicRunTest, OtherSizesFindPackedWeights)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    set_columns(256);
    const graph_t graph = create(2, true);
    run(graph, list_rows(0, 1, 9));
    for (const int number : {8, 11, 10}) {
        reset_peak_memory();
        const long before = measure_peak_memory();
        run(graph, list_rows(0, 1, number));
        EXPECT_LT(measure_peak_memory() - before, 256 * 256 * 4) << number;
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
