// SPDX-License-Identifier: Apache-2.0
// Steps with shapes that depend on values: inputs of the same shapes with other values, repeatedly,
// against graphs that have the values as constants.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

struct Result
{
    std::vector<int> dims;
    std::vector<float> values;
};

Result read(const tensor* y)
{
    return {{y->dims, y->dims + y->dim_num}, {y->f32, y->f32 + y->elem_num}};
}

// y = op of x, 4 x 6, and p.
struct ValueCase
{
    const char* op;
    std::vector<std::string> inputs;           // by name; "ends" are x's
    std::vector<std::vector<int64_t>> values;  // of p, one after the other
    const char* attribute = nullptr;
    int64_t attribute_value = 0;
};

class ValueGraph
{
  public:
    ValueGraph(const ValueCase& how, const std::vector<int64_t>* constant)
    {
        x_ = builder_.input("x", {4, 6});
        const int number = static_cast<int>(how.values[0].size());
        if (constant)
            builder_.ints("p", *constant);
        else
            p_ = builder_.input("p", {number}, TENGINE_DT_INT64);
        builder_.ints("ends", {4, 6});
        const bool has_places = how.op == std::string("TopK");
        node* made = builder_.add(
            how.op, how.inputs,
            has_places ? std::vector<std::string>{"y", "places"} : std::vector<std::string>{"y"});
        if (how.attribute) {
            EXPECT_EQ(set_node_int(made, how.attribute, how.attribute_value), TENGINE_OK);
        }
        // A following node, whose shapes follow.
        builder_.add("Relu", {"y"}, {"z"});
        builder_.outputs({"z"});
        EXPECT_EQ(allocate_ir_tensor(x_), TENGINE_OK);
        for (int i = 0; i < 24; ++i)
            x_->f32[i] = static_cast<float>(i * 7 % 24);
        ir_run_options_t options = {};
        options.num_thread = 1;
        EXPECT_EQ(prerun_ir_graph(builder_.get(), &options), TENGINE_OK) << tengine_error_message();
    }

    Result run(const std::vector<int64_t>& values)
    {
        if (p_) {
            EXPECT_EQ(allocate_ir_tensor(p_), TENGINE_OK);
            std::copy(values.begin(), values.end(), p_->i64);
        }
        EXPECT_EQ(run_ir_graph(builder_.get(), 1), TENGINE_OK) << tengine_error_message();
        return read(builder_.find("z"));
    }

  private:
    IrBuilder builder_;
    tensor* x_;
    tensor* p_ = nullptr;
};

class ValueStep : public testing::TestWithParam<ValueCase>
{
};

TEST_P(ValueStep, FollowsTheValues)
{
    const ValueCase& param = GetParam();
    ValueGraph graph(param, nullptr);
    for (int round = 0; round < 2; ++round)
        for (const std::vector<int64_t>& values : param.values)
            for (int again = 0; again < 2; ++again) {
                SCOPED_TRACE(testing::PrintToString(values));
                const Result expected = ValueGraph(param, &values).run(values);
                const Result result = graph.run(values);
                EXPECT_EQ(result.dims, expected.dims);
                EXPECT_EQ(result.values, expected.values);
            }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, ValueStep,
    testing::Values(ValueCase{"Reshape", {"x", "p"}, {{3, 8}, {8, 3}, {2, 12}}},
                    ValueCase{"Expand", {"x", "p"}, {{2, 1, 1}, {3, 4, 6}, {1, 1, 1}}},
                    ValueCase{"Tile", {"x", "p"}, {{1, 2}, {2, 1}, {3, 2}}},
                    ValueCase{"Pad", {"x", "p"}, {{0, 1, 2, 0}, {1, 0, 0, 2}, {0, -1, 0, -2}}},
                    ValueCase{"Slice", {"x", "p", "ends"}, {{0, 0}, {2, 1}, {1, 5}}},
                    ValueCase{"ReduceSum", {"x", "p"}, {{0}, {1}, {-1}}, "keepdims", 0},
                    ValueCase{"ReduceMax", {"x", "p"}, {{1}, {0}}, "keepdims", 1},
                    ValueCase{"Unsqueeze", {"x", "p"}, {{0}, {2}, {1}}},
                    ValueCase{"TopK", {"x", "p"}, {{2}, {5}, {1}}},
                    ValueCase{"Resize", {"x", "", "", "p"}, {{8, 12}, {4, 6}, {2, 3}, {12, 8}}}),
    [](const testing::TestParamInfo<ValueCase>& named) { return std::string(named.param.op); });

}  // namespace
}  // namespace tengine::test
