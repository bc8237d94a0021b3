// SPDX-License-Identifier: Apache-2.0
// Operators that call subgraphs, and subgraphs that do not fit them.
#include <unistd.h>

#include <cstdio>

#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kMul = 18, kCall = 31, kLess = 58, kIf = 118, kWhile = 119, kCallOnce = 129,
              kCase = 209, kComposite = 206;

// y = x op x
TfliteModel make_pair(int code)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.operators = {{code, {0, 0}, {1}}};
    model.inputs = {0};
    model.outputs = {1};
    return model;
}

// y = subgraph(x)
TfliteModel make_call(int code, int32_t number)
{
    TfliteModel model = make_pair(code);
    model.operators[0].inputs = {0};
    model.operators[0].options = {{code == kComposite ? 1 : 0, 4, number, {}}};
    model.called = {make_pair(kAdd), make_pair(kMul)};
    return model;
}

// c ? x + x : x * x
TfliteModel make_choice()
{
    TfliteModel model;
    model.tensors = {{"c", {}, kTfliteBool}, {"x", {2}}, {"y", {2}}};
    model.operators = {{kIf, {0, 1}, {2}, {{0, 4, 1, {}}, {1, 4, 2, {}}}}};
    model.inputs = {0, 1};
    model.outputs = {2};
    model.called = {make_pair(kAdd), make_pair(kMul)};
    return model;
}

// while (n < 3) { n = n + 1; x = x + x; }
TfliteModel make_loop()
{
    TfliteModel model;
    model.tensors = {{"n", {}, kTfliteInt32}, {"x", {2}}, {"m", {}, kTfliteInt32}, {"y", {2}}};
    model.operators = {{kWhile, {0, 1}, {2, 3}, {{0, 4, 1, {}}, {1, 4, 2, {}}}}};
    model.inputs = {0, 1};
    model.outputs = {2, 3};
    TfliteModel condition;
    condition.tensors = {{"n", {}, kTfliteInt32},
                         {"x", {2}},
                         {"three", {}, kTfliteInt32, bytes_of<int32_t>({3})},
                         {"more", {}, kTfliteBool}};
    condition.operators = {{kLess, {0, 2}, {3}}};
    condition.inputs = {0, 1};
    condition.outputs = {3};
    TfliteModel work;
    work.tensors = {{"n", {}, kTfliteInt32},
                    {"x", {2}},
                    {"one", {}, kTfliteInt32, bytes_of<int32_t>({1})},
                    {"next", {}, kTfliteInt32},
                    {"twice", {2}}};
    work.operators = {{kAdd, {0, 2}, {3}}, {kAdd, {1, 1}, {4}}};
    work.inputs = {0, 1};
    work.outputs = {3, 4};
    model.called = {condition, work};
    return model;
}

class TfliteControlTest : public TfliteModelTest
{
  protected:
    std::vector<float> run_pair(const TfliteModel& model, std::vector<std::string> inputs)
    {
        const auto results = run(model, std::move(inputs));
        return results.empty() ? std::vector<float>() : values_of<float>(results.back());
    }
};

TEST_F(TfliteControlTest, CallsAreReplaced)
{
    const std::string x = bytes_of<float>({3, 5});
    EXPECT_THAT(run_pair(make_call(kCall, 1), {x}), testing::ElementsAre(6, 10));
    EXPECT_THAT(run_pair(make_call(kCall, 2), {x}), testing::ElementsAre(9, 25));
    EXPECT_THAT(run_pair(make_call(kComposite, 2), {x}), testing::ElementsAre(9, 25));
}

// Subgraph 1 calls subgraph 2 twice.
TEST_F(TfliteControlTest, CallsInCalls)
{
    TfliteModel model = make_call(kCall, 1);
    TfliteModel& outer = model.called[0];
    outer.tensors = {{"x", {2}}, {"x/y", {2}}, {"y", {2}}};
    outer.operators = {{kCall, {0}, {1}, {{0, 4, 2, {}}}}, {kCall, {1}, {2}, {{0, 4, 2, {}}}}};
    outer.outputs = {2};
    EXPECT_THAT(run_pair(model, {bytes_of<float>({2, 3})}), testing::ElementsAre(16, 81));
}

TEST_F(TfliteControlTest, Branches)
{
    const std::string x = bytes_of<float>({3, 5});
    EXPECT_THAT(run_pair(make_choice(), {"\x01", x}), testing::ElementsAre(6, 10));
    EXPECT_THAT(run_pair(make_choice(), {std::string(1, '\0'), x}), testing::ElementsAre(9, 25));
}

TEST_F(TfliteControlTest, Iterations)
{
    const std::string x = bytes_of<float>({3, 5});
    const std::vector<std::pair<int32_t, float>> cases = {{0, 8}, {2, 2}, {3, 1}, {9, 1}};
    for (const auto& [begin, factor] : cases) {
        const auto results = run(make_loop(), {bytes_of<int32_t>({begin}), x});
        ASSERT_EQ(results.size(), 2U);
        EXPECT_THAT(values_of<int32_t>(results[0]), testing::ElementsAre(begin < 3 ? 3 : begin));
        EXPECT_THAT(values_of<float>(results[1]), testing::ElementsAre(3 * factor, 5 * factor));
    }
}

// Branches 0 to 3 give x + x, x * x, x + x and x * x; other numbers are the last one.
TfliteModel make_case(std::vector<int32_t> branches)
{
    TfliteModel model;
    model.tensors = {{"i", {}, kTfliteInt32}, {"x", {2}}, {"y", {2}}};
    model.operators = {{kCase, {0, 1}, {2}, {{0, 0, 0, std::move(branches)}}}};
    model.inputs = {0, 1};
    model.outputs = {2};
    model.called = {make_pair(kAdd), make_pair(kMul)};
    return model;
}

TEST_F(TfliteControlTest, Cases)
{
    const std::string x = bytes_of<float>({3, 5});
    const std::string path = testing::TempDir() + "case_" + std::to_string(getpid()) + ".tflite";
    for (const auto& branches :
         std::vector<std::vector<int32_t>>{{1}, {2, 1}, {1, 2, 2}, {1, 2, 1, 1, 2}})
        for (const int32_t index : {0, 1, 2, 3, 4, 5, 1000000, -1, INT32_MIN}) {
            const auto last = static_cast<int32_t>(branches.size()) - 1;
            const int32_t chosen =
                branches[static_cast<size_t>(index < 0 || index > last ? last : index)];
            const std::vector<float> expected =
                chosen == 1 ? std::vector<float>{6, 10} : std::vector<float>{9, 25};
            std::string i = bytes_of<int32_t>({index}), values = x;
            EXPECT_EQ(run_pair(make_case(branches), {i, x}), expected) << index;
            ASSERT_EQ(save_graph(graph_, "tflite", path.c_str()), 0) << get_tengine_error();
            unload();
            graph_ = create_graph(nullptr, "tflite", path.c_str());
            ASSERT_NE(graph_, nullptr) << get_tengine_error();
            ASSERT_EQ(set_tensor_buffer(get_graph_tensor(graph_, "i"), i.data(), 4), 0);
            ASSERT_EQ(set_tensor_buffer(get_graph_tensor(graph_, "x"), values.data(), 8), 0);
            ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
            ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
            EXPECT_EQ(values_of<float>(read_results(graph_).at(0)), expected) << index;
        }
    std::remove(path.c_str());
}

TEST_F(TfliteControlTest, CasesThatAreRefused)
{
    expect_refusal(make_case({}), TENGINE_EGRAPH, "it has 0 subgraphs");
    expect_refusal(make_case({1, 9}), TENGINE_EFORMAT, "it calls subgraph 9, the model has 3");
    expect_refusal(make_case({1, 0}), TENGINE_EGRAPH, "its subgraph has 2 inputs");
    expect_refusal(make_case(std::vector<int32_t>(300, 1)), TENGINE_ELIMIT, "nested");
    TfliteModel model = make_case({1, 2});
    model.tensors[0].type = kTfliteInt64;
    expect_refusal(model, TENGINE_EGRAPH, "expected at least one, and first an int32");
    expect_bounds(make_case({1, 2, 1}));
}

// A branch in a loop in a branch.
TEST_F(TfliteControlTest, NestedBodies)
{
    TfliteModel model;
    model.tensors = {{"n", {}, kTfliteInt32},
                     {"x", {2}},
                     {"c", {}, kTfliteBool},
                     {"m", {}, kTfliteInt32},
                     {"y", {2}}};
    model.operators = {{kIf, {2, 0, 1}, {3, 4}, {{0, 4, 3, {}}, {1, 4, 3, {}}}}};
    model.inputs = {2, 0, 1};
    model.outputs = {3, 4};
    model.called = make_loop().called;
    TfliteModel body = make_loop();
    body.called.clear();
    model.called.push_back(body);
    EXPECT_THAT(run_pair(model, {"\x01", bytes_of<int32_t>({1}), bytes_of<float>({3, 5})}),
                testing::ElementsAre(12, 20));
}

// ---- what must be refused ----

TEST_F(TfliteControlTest, SubgraphsOutOfRange)
{
    for (const int code : {kCall, kComposite})
        for (const int32_t number : {-1, 3, 0x7fffffff})
            expect_refusal(make_call(code, number), TENGINE_EFORMAT, "it calls subgraph");
    TfliteModel model = make_choice();
    model.operators[0].options[1].value = 9;
    expect_refusal(model, TENGINE_EFORMAT, "it calls subgraph 9, the model has 3");
}

// A subgraph that calls itself, also through a body, and one that calls the model.
TEST_F(TfliteControlTest, Recursion)
{
    expect_refusal(make_call(kCall, 0), TENGINE_ELIMIT, "");
    TfliteModel model = make_call(kCall, 1);
    model.called[0] = make_call(kCall, 2);
    model.called[0].called.clear();
    model.called[1] = make_call(kCall, 1);
    model.called[1].called.clear();
    EXPECT_FALSE(load(model));
    EXPECT_EQ(get_tengine_errno(), TENGINE_ELIMIT) << get_tengine_error();
    model = make_choice();
    model.operators[0].options[0].value = 0;
    expect_refusal(model, TENGINE_EGRAPH, "its subgraph has 2 inputs and 1 outputs");
    TfliteModel& branch = model.called[0];
    branch.tensors = {{"x", {2}}, {"c", {}, kTfliteBool, std::string(1, '\1')}, {"y", {2}}};
    branch.operators = {{kIf, {1, 0}, {2}, {{0, 4, 1, {}}, {1, 4, 1, {}}}}};
    branch.outputs = {2};
    model.operators[0].options[0].value = 1;
    EXPECT_FALSE(load(model));
    EXPECT_EQ(get_tengine_errno(), TENGINE_ELIMIT) << get_tengine_error();
}

// Each level doubles the operators.
TEST_F(TfliteControlTest, CallsThatMultiply)
{
    TfliteModel model = make_call(kCall, 1);
    model.called.clear();
    for (int32_t i = 1; i < 60; ++i) {
        TfliteModel level;
        level.tensors = {{"x", {2}}, {"y", {2}}, {"z", {2}}};
        level.operators = {{kCall, {0}, {1}, {{0, 4, i + 1, {}}}},
                           {kCall, {1}, {2}, {{0, 4, i + 1, {}}}}};
        level.inputs = {0};
        level.outputs = {2};
        model.called.push_back(level);
    }
    model.called.push_back(make_pair(kAdd));
    expect_refusal(model, TENGINE_ELIMIT, "many times its own size");
}

TEST_F(TfliteControlTest, SubgraphsThatDoNotFit)
{
    TfliteModel model = make_loop();
    model.called[0].outputs = {3, 3};
    expect_refusal(model, TENGINE_EGRAPH, "2 inputs and 2 outputs, expected 2 and 1");
    model = make_loop();
    model.tensors.pop_back();
    model.operators[0].outputs = model.outputs = {2};
    expect_refusal(model, TENGINE_EGRAPH, "2 inputs and 1 outputs");
    model = make_choice();
    model.operators[0].inputs = {0, 1, 1};
    model.called[0].inputs = model.called[1].inputs = {0, 0};
    expect_refusal(model, TENGINE_EGRAPH, "an input twice");
    model = make_loop();
    model.called[0].inputs = {0, 77};
    expect_refusal(model, TENGINE_EFORMAT, "is tensor 77");
    model = make_call(kCall, 1);
    model.called[0].inputs = {-1};
    expect_refusal(model, TENGINE_EFORMAT, "is tensor -1");
    model = make_call(kCall, 1);
    model.called[0].outputs = {9};
    expect_refusal(model, TENGINE_EFORMAT, "is tensor 9, expected one of 2");
    model = make_call(kCall, 1);
    model.tensors[1].type = kTfliteInt32;
    expect_refusal(model, TENGINE_EGRAPH, "output 0 is int32, that of its subgraph fp32");
    model = make_call(kCall, 1);
    model.tensors.pop_back();
    model.operators[0].outputs = model.outputs = {0};
    expect_refusal(model, TENGINE_EGRAPH, "an input, a constant or written before");
    model = make_choice();
    model.operators[0].inputs = {};
    expect_refusal(model, TENGINE_EGRAPH, "no condition");
    model = make_call(kCallOnce, 1);
    expect_refusal(model, TENGINE_ENOTSUP, "operator 0 of its subgraph is ADD");
}

TEST_F(TfliteControlTest, DamagedFiles)
{
    expect_bounds(make_choice());
    expect_bounds(make_loop());
    expect_bounds(make_call(kComposite, 1));
}

}  // namespace
}  // namespace tengine::test
