// SPDX-License-Identifier: Apache-2.0
// save_graph: from each format to the other and back. The contents of the files are tested with the
// serializers, the conversion of operators here.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fixture.h"
#include "tengine/file.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class SaveTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        bool has_onnx = false, has_tengine = false;
        for (int i = 0; i < tengine_format_get_number(); ++i) {
            has_onnx |= std::string(tengine_format_get_name(i)) == "onnx";
            has_tengine |= std::string(tengine_format_get_name(i)) == "tengine";
        }
        if (!has_onnx || !has_tengine) GTEST_SKIP() << "a serializer is not compiled in";
        folder_ = testing::TempDir() + "save_test_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override
    {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
        ApiTest::TearDown();
    }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    // Returns the graph after saving to and loading from a file of `format`; the original is
    // destroyed.
    graph_t journey(graph_t graph, const char* format)
    {
        const std::string file = path(format);
        EXPECT_EQ(save_graph(graph, format, file.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        const graph_t loaded = create_graph(nullptr, format, file.c_str());
        EXPECT_NE(loaded, nullptr) << get_tengine_error();
        return loaded;
    }

    static std::vector<float> run(graph_t graph)
    {
        if (prerun_graph(graph) < 0 || run_graph(graph, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_floats(tengine_graph_get_output(graph, 0));
    }

    // y = ReLU(convolution of x [1,1,3,3] with 2x2 weights), stride 1, by Tengine's operators.
    static graph_t create_convolution()
    {
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        const tensor_t x = add_input(graph, "x", {1, 1, 3, 3});
        const float weights[] = {1, -2, 3, 0.5f};
        const tensor_t w = add_constant(graph, "w", {1, 1, 2, 2}, weights);
        const tensor_t c = add_node(graph, "c", "Convolution", {x, w});
        add_node(graph, "y", "ReLU", {c});
        const node_t node = get_graph_node(graph, "c");
        for (const char* name : {"kernel_h", "kernel_w"}) {
            const int two = 2;
            EXPECT_EQ(set_node_attr_int(node, name, &two), 0) << get_tengine_error();
        }
        const int one = 1;
        EXPECT_EQ(set_node_attr_int(node, "output_channel", &one), 0) << get_tengine_error();
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"}));
        return graph;
    }

    static bool feed(graph_t graph)
    {
        return write_floats(tengine_graph_get_input(graph, 0), {1, 2, 3, 4, 5, 6, 7, 8, 9});
    }

    std::string folder_;
};

// 1*1 - 2*2 + 3*4 + .5*5 and so on.
const std::vector<float> kResult = {11.5f, 14, 19, 21.5f};

TEST_F(SaveTest, TenginesOperatorsStayInATmfile)
{
    const graph_t graph = journey(create_convolution(), "tengine");
    const node_t node = get_graph_node(graph, "c");
    EXPECT_STREQ(get_node_op(node), "Convolution");
    int kernel = 0;
    EXPECT_EQ(get_node_attr_int(node, "kernel_h", &kernel), 0);
    EXPECT_EQ(kernel, 2);
    ASSERT_TRUE(feed(graph));
    EXPECT_EQ(run(graph), kResult);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(SaveTest, ThereAndBackThroughOnnx)
{
    graph_t graph = journey(create_convolution(), "onnx");
    EXPECT_STREQ(get_node_op(get_graph_node(graph, "c")), "Conv");
    EXPECT_STREQ(get_node_op(get_graph_node(graph, "y")), "Relu");
    ASSERT_TRUE(feed(graph));
    EXPECT_EQ(run(graph), kResult);
    graph = journey(graph, "tengine");
    EXPECT_STREQ(get_node_op(get_graph_node(graph, "c")), "Convolution");
    EXPECT_STREQ(get_node_op(get_graph_node(graph, "y")), "ReLU");
    ASSERT_TRUE(feed(graph));
    EXPECT_EQ(run(graph), kResult);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(SaveTest, AnOnnxFileIsForTheOpsetOfTheContext)
{
    ASSERT_EQ(destroy_graph(journey(create_convolution(), "onnx")), 0);
    const std::string file = path("given");
    std::filesystem::rename(path("onnx"), file);
    const context_t context = create_context("opset", 1);
    for (const char* opset : {"0", "7", "12", "28"}) {
        ASSERT_EQ(tengine_context_set_option(context, "model.opset", opset), 0);
        const graph_t given = create_graph(context, "onnx", file.c_str());
        ASSERT_NE(given, nullptr) << get_tengine_error();
        const graph_t graph = journey(given, "onnx");
        ASSERT_TRUE(feed(graph));
        EXPECT_EQ(run(graph), kResult) << opset;
        EXPECT_EQ(destroy_graph(graph), 0);
    }
    for (const char* opset : {"6", "29", "-1", "13.5", ""}) {
        EXPECT_EQ(tengine_context_set_option(context, "model.opset", opset), -1) << opset;
        EXPECT_NE(take_logged_failures().size(), 0u);
    }
    destroy_context(context);
}

TEST_F(SaveTest, ConstantsAreSavedAsTheyAreNow)
{
    graph_t graph = create_convolution();
    ASSERT_TRUE(write_floats(get_graph_tensor(graph, "w"), {1, 0, 0, 0}));
    graph = journey(graph, "tengine");
    ASSERT_TRUE(feed(graph));
    EXPECT_EQ(run(graph), (std::vector<float>{1, 2, 4, 5}));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(SaveTest, APreparedGraphStaysPrepared)
{
    const graph_t graph = create_convolution();
    ASSERT_TRUE(feed(graph));
    EXPECT_EQ(run(graph), kResult);
    for (const char* format : {"onnx", "tengine"})
        EXPECT_EQ(save_graph(graph, format, path(format).c_str()), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), kResult);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(SaveTest, WhatTengineCannotSayIsStoredUnderItsOnnxName)
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {4});
    add_node(graph, "y", "Erf", {x});
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"}));
    ASSERT_TRUE(write_floats(x, {-1, 0, 0.5f, 2}));
    const std::vector<float> expected = run(graph);
    graph = journey(graph, "tengine");
    EXPECT_STREQ(get_node_op(get_graph_node(graph, "y")), "Erf");
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 0, 0.5f, 2}));
    EXPECT_EQ(run(graph), expected);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(SaveTest, OfAGraphThatIsCutShortOnnxGetsWhatLiesBetween)
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {2});
    const float ones[] = {1, 1};
    const tensor_t before = add_node(graph, "before", "Neg", {x});
    const tensor_t one = add_constant(graph, "one", {2}, ones);
    const tensor_t between = add_node(graph, "between", "ai.onnx.Add", {before, one});
    const tensor_t two = add_constant(graph, "two", {2}, ones);
    add_node(graph, "behind", "ai.onnx.Add", {between, two});
    ASSERT_TRUE(set_borders(graph, {"x"}, {"behind"}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_TRUE(set_borders(graph, {"before"}, {"between"}));
    graph = journey(graph, "onnx");
    tengine_graph_stats stats = {};
    ASSERT_EQ(tengine_graph_get_stats(graph, &stats), 0);
    EXPECT_EQ(stats.node_number, 1);
    EXPECT_EQ(stats.parameter_number, 2);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {3, 4}));
    EXPECT_EQ(run(graph), (std::vector<float>{4, 5}));
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Any name works. A program may save to the file that it has loaded: the graph keeps the old file.
TEST_F(SaveTest, AGraphKnowsTheFileThatItWasLoadedFrom)
{
    const graph_t made = create_convolution();
    for (const std::string format : {"onnx", "tengine"}) {
        const std::string file = path(format);
        ASSERT_EQ(save_graph(made, format.c_str(), file.c_str()), 0) << get_tengine_error();
        const std::string link = path(format + ".link"), hard = path(format + ".hard");
        std::filesystem::create_symlink(file, link);
        std::filesystem::create_hard_link(file, hard);
        const graph_t graph = create_graph(nullptr, format.c_str(), link.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        for (const std::string& name : {file, link, hard})
            EXPECT_EQ(tengine_graph_has_file(graph, name.c_str()), 1) << name;
        EXPECT_EQ(tengine_graph_has_file(graph, path("other").c_str()), 0);
        EXPECT_EQ(tengine_graph_has_file(made, file.c_str()), 0);
        EXPECT_EQ(save_graph(graph, format.c_str(), file.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(tengine_graph_has_file(graph, file.c_str()), 0) << "it is another now";
        ASSERT_TRUE(feed(graph));
        EXPECT_EQ(run(graph), kResult);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
    EXPECT_EQ(destroy_graph(made), 0);
}

TEST_F(SaveTest, FailuresAreToldAndLeaveNothing)
{
    const graph_t graph = create_convolution();
    const std::string file = path("file");
    EXPECT_EQ(save_graph(nullptr, "onnx", file.c_str()), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(save_graph(graph, nullptr, file.c_str()), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(save_graph(graph, "onnx", ""), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(save_graph(graph, "caffe", file.c_str()), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    for (const char* format : {"onnx", "tengine"}) {
        EXPECT_EQ(save_graph(graph, format, path("no/such/folder").c_str()), -1);
        EXPECT_TRUE(failed_with(TENGINE_EIO));
    }
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// An existing file stays if it cannot be written again.
TEST_F(SaveTest, AnOldFileSurvivesAFailure)
{
    const std::string file = path("old.onnx");
    std::ofstream(file) << "old";
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const node_t input = create_graph_node(graph, "x", "InputOp");
    const tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);  // has no shape yet
    ASSERT_EQ(set_node_output_tensor(input, 0, x, TENSOR_TYPE_INPUT), 0) << get_tengine_error();
    add_node(graph, "y", "ReLU", {x});
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"}));
    EXPECT_EQ(save_graph(graph, "onnx", file.c_str()), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    std::string text;
    std::ifstream(file) >> text;
    EXPECT_EQ(text, "old");
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
