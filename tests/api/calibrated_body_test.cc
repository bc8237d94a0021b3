// SPDX-License-Identifier: Apache-2.0
// Calibration tables and nodes that stay in float, of models with bodies.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using namespace onnx;

std::vector<std::string> lines;

void keep_line(int, const char* line)
{
    lines.emplace_back(line);
}

class CalibratedBodyTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        lines.clear();
        context_ = create_context("calibrated", 0);
    }
    void TearDown() override
    {
        destroy_context(context_);
        std::filesystem::remove(path_);
        ApiTest::TearDown();
    }

    // Loads y = c if `positive` is true, c·w else, c = x·w, in tables with scales of 1/128.
    graph_t load_if() const
    {
        const std::string as_it_is =
            graph({node("Relu", {"c"}, {"kept"})}, {}, {value("kept", kFloat, {1, 2})});
        const std::string once_more =
            graph({node("MatMul", {"c", "w"}, {"more"})}, {}, {value("more", kFloat, {1, 2})});
        return load(graph({node("MatMul", {"x", "w"}, {"c"}),
                           node("If", {"positive"}, {"y"},
                                {graph_attribute("then_branch", as_it_is),
                                 graph_attribute("else_branch", once_more)})},
                          {value("x", kFloat, {1, 2}), value("positive", kBool)},
                          {value("y", kFloat, {1, 2})},
                          {constant<float>("w", kFloat, {2, 2}, {0.5f, 0.25f, 0.25f, 0.5f})}),
                    context_);
    }

    void write_table(const std::string& rows)
    {
        std::ofstream(path_) << "# tengine calibration table 1\n" << rows;
        ASSERT_EQ(tengine_context_set_option(context_, "precision.table", path_.c_str()), 0);
    }

    static int prerun(graph_t graph)
    {
        return prerun_graph_multithread(graph, {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0});
    }

    static std::vector<float> run(graph_t graph, bool positive)
    {
        const float x[] = {0.5f, -0.125f};
        float y[2] = {};
        EXPECT_EQ(set_tensor_data(get_graph_tensor(graph, "x"), x, sizeof x), 0);
        EXPECT_EQ(set_tensor_data(get_graph_tensor(graph, "positive"), &positive, 1), 0);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(get_tensor_data(get_graph_tensor(graph, "y"), y, sizeof y), 0);
        return {y[0], y[1]};
    }

    const std::string path_ =
        testing::TempDir() + "calibrated_body_" + std::to_string(getpid()) + ".table";
    context_t context_ = nullptr;
};

TEST_F(CalibratedBodyTest, ATableOfAModelWithBodiesIsTaken)
{
    // A table of the outer graph alone, as `tengine quantize` writes it, then also of a tensor of a
    // body.
    for (const char* rows :
         {"0.0078125 0 x\n0.0078125 0 c\n", "0.0078125 0 more\n0.0078125 0 x\n0.0078125 0 c\n"}) {
        write_table(rows);
        const graph_t graph = load_if();
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        ASSERT_EQ(prerun(graph), 0) << get_tengine_error();
        const std::vector<float> once = run(graph, true), twice = run(graph, false);
        EXPECT_NEAR(once[0], 0.21875, 0.0079);
        EXPECT_NEAR(once[1], 0.0625, 0.0079);
        EXPECT_NEAR(twice[0], 0.125, 0.0159);
        EXPECT_NEAR(twice[1], 0.0859375, 0.0159);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

TEST_F(CalibratedBodyTest, ANameThatNoGraphHasIsRefused)
{
    write_table("0.0078125 0 x\n0.0078125 0 nowhere\n0.0078125 0 c\n");
    const graph_t graph = load_if();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    EXPECT_NE(prerun(graph), 0);
    EXPECT_NE(std::string(get_tengine_error()).find("line 3: tensor 'nowhere' is not in the model"),
              std::string::npos)
        << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(destroy_graph(graph), 0);
}

// The nodes are searched in each graph of the model; the warning is about all of them.
TEST_F(CalibratedBodyTest, NodesThatStayInFloatMayBeAnywhere)
{
    write_table("0.0078125 0 more\n0.0078125 0 x\n0.0078125 0 c\n");
    ASSERT_EQ(tengine_context_set_option(context_, "precision.keep_float",
                                         "op:Relu,If_1/*,op:If,op:Conv"),
              0);
    const graph_t graph = load_if();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    tengine_log_set_sink(keep_line);
    EXPECT_EQ(prerun(graph), 0) << get_tengine_error();
    tengine_log_set_sink(nullptr);
    int warnings = 0;
    for (const std::string& line : lines)
        warnings += line.find("matches no node") != std::string::npos ? 1 : 0;
    EXPECT_EQ(warnings, 1) << "for op:Conv";
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
