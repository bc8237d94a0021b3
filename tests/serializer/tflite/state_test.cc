// SPDX-License-Identifier: Apache-2.0
// Resources, which a model keeps from run to run.
#include "tengine/state.h"

#include "serializer/tflite/state_fixture.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kIf = 118, kCallOnce = 129, kVarHandle = 142, kReadVariable = 143,
              kAssignVariable = 144;

TfliteOperator make_handle(int32_t output, const char* name)
{
    return {kVarHandle, {}, {output}, {{0, 0, 0, {}, "box"}, {1, 0, 0, {}, name}}};
}

// once: v = {5, 6}; y = v = v + x
TfliteModel make_sum()
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"handle", {}, kTfliteResource}, {"old", {2}}, {"y", {2}}};
    model.operators = {{kCallOnce, {}, {}, {{0, 4, 1, {}}}},
                       make_handle(1, "v"),
                       {kReadVariable, {1}, {2}},
                       {kAdd, {2, 0}, {3}},
                       {kAssignVariable, {1, 3}, {}}};
    model.inputs = {0};
    model.outputs = {3};
    TfliteModel once;
    once.tensors = {{"handle", {}, kTfliteResource},
                    {"first", {2}, kTfliteFloat, bytes_of<float>({5, 6})}};
    once.operators = {make_handle(0, "v"), {kAssignVariable, {0, 1}, {}}};
    model.called = {once};
    return model;
}

TEST_F(TfliteStateTest, ResourcesAreKept)
{
    ASSERT_TRUE(begin(make_sum())) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_input_number(graph_), 1);
    EXPECT_EQ(tengine_graph_get_output_number(graph_), 1);
    ASSERT_EQ(tengine_graph_get_state_number(graph_), 1);
    EXPECT_EQ(step({1, 2}), (std::vector<float>{6, 8}));
    EXPECT_EQ(step({1, 2}), (std::vector<float>{7, 10}));
    ASSERT_EQ(tengine_graph_reset_states(graph_), 0);
    EXPECT_EQ(step({0, 0}), (std::vector<float>{5, 6}));
}

TEST_F(TfliteStateTest, AReadSeesTheAssignmentBeforeIt)
{
    // v = v + x; y = v; v = v + v
    TfliteModel model = make_sum();
    model.tensors.push_back({"new", {2}});
    model.tensors.push_back({"twice", {2}});
    model.operators.push_back({kReadVariable, {1}, {4}});
    model.operators.push_back({kAdd, {4, 4}, {5}});
    model.operators.push_back({kAssignVariable, {1, 5}, {}});
    model.outputs = {4};
    ASSERT_TRUE(begin(model)) << get_tengine_error();
    EXPECT_EQ(step({1, 2}), (std::vector<float>{6, 8}));
    EXPECT_EQ(step({1, 2}), (std::vector<float>{13, 18}));
}

TEST_F(TfliteStateTest, VariablesThatAreOnlyReadOrOnlyAssigned)
{
    TfliteModel model = make_sum();
    model.operators.pop_back();
    ASSERT_TRUE(begin(model)) << get_tengine_error();
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(step({1, 2}), (std::vector<float>{6, 8}));
    model = make_sum();
    model.operators[2] = {kAdd, {0, 0}, {2}};
    ASSERT_TRUE(begin(model)) << get_tengine_error();
    EXPECT_EQ(step({1, 2}), (std::vector<float>{3, 6}));
    EXPECT_EQ(step({1, 2}), (std::vector<float>{3, 6}));
}

TEST_F(TfliteStateTest, WrongResources)
{
    TfliteModel model = make_sum();
    model.operators[2].inputs = {0};
    expect_refusal(model, TENGINE_EGRAPH,
                   "input 0 is tensor 0, expected the output of a VAR_HANDLE");
    model = make_sum();
    model.operators[4].inputs = {1};
    expect_refusal(model, TENGINE_EFORMAT, "ASSIGN_VARIABLE: tensor -1, expected one of 4");
    model = make_sum();
    model.operators[4].inputs = {1, 9};
    expect_refusal(model, TENGINE_EFORMAT, "tensor 9, expected one of 4");
    model = make_sum();
    model.called[0].tensors[1].values.clear();
    expect_refusal(model, TENGINE_ENOTSUP, "assigns to a resource, expected a constant");
    model = make_sum();
    model.operators[0].options[0].value = 7;
    expect_refusal(model, TENGINE_EFORMAT, "it calls subgraph 7, the model has 2");
    model = make_sum();
    model.called[0].tensors[1] = {"first", {3}, kTfliteFloat, bytes_of<float>({5, 6, 7})};
    expect_refusal(model, TENGINE_ERANGE, "24 digits, expected 8 or 16");
    model = make_sum();
    model.tensors[2].shape = {1};
    model.tensors[2].name = "narrow";
    EXPECT_FALSE(prepare(model));
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("v"));
}

TEST_F(TfliteStateTest, NotInBodies)
{
    TfliteModel model;
    model.tensors = {{"c", {}, kTfliteBool}, {"x", {2}}, {"y", {2}}};
    model.operators = {{kIf, {0, 1}, {2}, {{0, 4, 1, {}}, {1, 4, 1, {}}}}};
    model.inputs = {0, 1};
    model.outputs = {2};
    TfliteModel branch = make_sum();
    branch.operators.erase(branch.operators.begin());
    branch.called.clear();
    model.called = {branch};
    expect_refusal(model, TENGINE_ENOTSUP,
                   "variables and hash tables inside of the subgraphs of IF and WHILE");
}

TEST_F(TfliteStateTest, DamagedFiles)
{
    expect_bounds(make_sum());
}

}  // namespace
}  // namespace tengine::test
