// SPDX-License-Identifier: Apache-2.0
// Buckets of models with bodies: a body is a reason, except where the shapes alone decide which
// branch there is. The oracle is the same graph without buckets.
#include <cmath>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/bucket.h"
#include "tengine/graph.h"

namespace tengine {
namespace {

using namespace onnx;

class BucketBodyTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        for (const graph_t graph : {with_, without_})
            EXPECT_TRUE(!graph || destroy_graph(graph) == 0);
        ApiTest::TearDown();
    }

    void load(const std::string& model, const char* bucket)
    {
        with_ = onnx::load(model);
        without_ = onnx::load(model);
        ASSERT_TRUE(with_ && without_) << get_tengine_error();
        ASSERT_EQ(tengine_graph_add_bucket(with_, bucket), 0) << get_tengine_error();
    }

    // Runs both for x of these dimensions and expects equal results. Returns the reason.
    std::string compare(const std::vector<int>& dims)
    {
        std::vector<std::vector<float>> results;
        for (const graph_t graph : {without_, with_}) {
            const tensor_t x = tengine_graph_get_input(graph, 0);
            EXPECT_EQ(set_tensor_shape(x, dims.data(), static_cast<int>(dims.size())), 0);
            EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
            std::vector<float> values(get_tensor_buffer_size(x) / sizeof(float));
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = std::sin(static_cast<float>(i + 1));
            EXPECT_TRUE(write_floats(x, values));
            EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            results.push_back(read_floats(tengine_graph_get_output(graph, 0)));
        }
        EXPECT_FALSE(results[0].empty());
        EXPECT_EQ(results[1], results[0]);
        int bucket;
        const char* reason = tengine_graph_explain_bucket(with_, &bucket);
        return reason ? reason : "";
    }

    graph_t with_ = nullptr;
    graph_t without_ = nullptr;
};

// `then_nodes` make "t" if x has more than 3 rows, else `else_nodes` make "e".
std::string make_choice(Names nodes, const Names& then_nodes, const Names& else_nodes)
{
    const std::string many = graph(then_nodes, {}, {value("t", kFloat, {-1, -1})});
    const std::string few = graph(else_nodes, {}, {value("e", kFloat, {-1, -1})});
    nodes.push_back(node("Shape", {"x"}, {"shape"}));
    nodes.push_back(node("Gather", {"shape", "zero"}, {"rows"}));
    nodes.push_back(node("Greater", {"rows", "three"}, {"is_many"}));
    nodes.push_back(
        node("If", {"is_many"}, {"y"},
             {graph_attribute("then_branch", many), graph_attribute("else_branch", few)}));
    return graph(
        nodes, {value("x", kFloat, {-1, 4})}, {value("y", kFloat, {-1, -1})},
        {constant<int64_t>("zero", kInt64, {}, {0}), constant<int64_t>("three", kInt64, {}, {3})});
}

// Both graphs have the same Split, and read another one of its results.
TEST_F(BucketBodyTest, ABranchThatReadsAnotherResultOfANode)
{
    load(make_choice({node("Split", {"x"}, {"a", "b"}, {number_attribute("axis", 1)})},
                     {node("Neg", {"a"}, {"t"})}, {node("Neg", {"b"}, {"e"})}),
         "x=4x4");
    EXPECT_EQ(compare({2, 4}).find("no bucket: tensor '"), 0u) << compare({2, 4});
}

TEST_F(BucketBodyTest, ABranchThatComputesSomethingElse)
{
    load(make_choice({}, {node("Neg", {"x"}, {"t"})}, {node("Abs", {"x"}, {"e"})}), "x=4x4");
    EXPECT_EQ(compare({2, 4}).find("no bucket: tensor '"), 0u) << compare({2, 4});
}

TEST_F(BucketBodyTest, BranchesOfTheSameSizeClass)
{
    load(make_choice({}, {node("Neg", {"x"}, {"t"})}, {node("Abs", {"x"}, {"e"})}), "x=8x4");
    EXPECT_EQ(compare({5, 4}), "input 'x' of 5x4 is padded to 8x4");
    EXPECT_EQ(compare({2, 4}).find("no bucket: "), 0u);
}

// A condition that a run computes from all rows.
TEST_F(BucketBodyTest, AConditionOfARun)
{
    const std::string more = graph({node("Neg", {"x"}, {"t"})}, {}, {value("t", kFloat, {-1})});
    const std::string less = graph({node("Abs", {"x"}, {"e"})}, {}, {value("e", kFloat, {-1})});
    load(graph({node("ReduceMax", {"x"}, {"most"}, {number_attribute("keepdims", 0)}),
                node("Greater", {"most", "limit"}, {"is_more"}),
                node("If", {"is_more"}, {"y"},
                     {graph_attribute("then_branch", more), graph_attribute("else_branch", less)})},
               {value("x", kFloat, {-1})}, {value("y", kFloat, {-1})},
               {constant<float>("limit", kFloat, {}, {0.5f})}),
         "x=8");
    EXPECT_NE(compare({5}).find("(If) has a body"), std::string::npos) << compare({5});
}

// A scan over time, whose last state is a result.
TEST_F(BucketBodyTest, AScanOverTime)
{
    const std::string body =
        graph({node("Add", {"sum", "row"}, {"next"}), node("Identity", {"next"}, {"kept"})},
              {value("sum", kFloat, {2}), value("row", kFloat, {2})},
              {value("next", kFloat, {2}), value("kept", kFloat, {2})});
    load(graph({node("Scan", {"zeros", "x"}, {"y", "all"},
                     {number_attribute("num_scan_inputs", 1), graph_attribute("body", body)})},
               {value("x", kFloat, {-1, 2})}, {value("y", kFloat, {2})},
               {constant<float>("zeros", kFloat, {2}, {0, 0})}),
         "x=8x2");
    EXPECT_NE(compare({5, 2}).find("(Scan) has a body"), std::string::npos) << compare({5, 2});
}

// The bucket's own graph has more places than the table of positions, which is a constant.
TEST_F(BucketBodyTest, ABucketLongerThanATableOfPlaces)
{
    load(graph(
             {node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "zero"}, {"rows"}),
              node("Range", {"zero", "rows", "one"}, {"places"}),
              node("Gather", {"table", "places"}, {"place"}), node("Add", {"x", "place"}, {"y"})},
             {value("x", kFloat, {-1, 2})}, {value("y", kFloat, {-1, 2})},
             {constant<int64_t>("zero", kInt64, {}, {0}), constant<int64_t>("one", kInt64, {}, {1}),
              constant<float>("table", kFloat, {6, 2}, std::vector<float>(12, 3))}),
         "x=8x2");
    EXPECT_EQ(compare({5, 2}).find("no bucket: "), 0u) << compare({5, 2});
    ASSERT_EQ(tengine_graph_add_bucket(with_, "x=6x2"), 0);
    EXPECT_EQ(compare({5, 2}), "input 'x' of 5x2 is padded to 6x2");
}

}  // namespace
}  // namespace tengine
