// SPDX-License-Identifier: Apache-2.0
// Models from memory and from files through create_graph. The possible contents of files are tested
// with the serializers.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class ModelTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        bool has_onnx = false;
        for (int i = 0; i < tengine_format_get_number(); ++i)
            has_onnx |= std::strcmp(tengine_format_get_name(i), "onnx") == 0;
        if (!has_onnx) GTEST_SKIP() << "the ONNX serializer is not compiled in";
    }

    static void expect_relu(graph_t graph)
    {
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        ASSERT_EQ(tengine_graph_get_input_number(graph), 1);
        ASSERT_EQ(tengine_graph_get_output_number(graph), 1);
        const tensor_t x = tengine_graph_get_input(graph, 0);
        EXPECT_EQ(x, get_graph_input_tensor(graph, 0, 0));
        EXPECT_STREQ(get_tensor_name(x), "x");
        ASSERT_TRUE(write_floats(x, {-1, 2, -3, 4})) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)),
                  (std::vector<float>{0, 2, 0, 4}));
        EXPECT_STREQ(get_node_op(get_graph_node(graph, "n")), "Relu");
    }
};

TEST_F(ModelTest, BytesStayTheCallers)
{
    std::string bytes = make_unary_model("Relu");
    const graph_t first =
        create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    const graph_t second =
        create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    bytes.assign(bytes.size(), '\xff');
    bytes.clear();
    bytes.shrink_to_fit();
    expect_relu(first);
    EXPECT_EQ(destroy_graph(first), 0);
    expect_relu(second);
    EXPECT_EQ(destroy_graph(second), 0);
}

TEST_F(ModelTest, SizeIsChecked)
{
    const std::string bytes = make_unary_model("Relu");
    for (int size : {0, -1}) {
        EXPECT_EQ(create_graph(nullptr, "onnx:m", bytes.data(), size), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(create_graph(nullptr, "onnx:m", nullptr, 10), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (size_t size = 1; size < bytes.size(); ++size) {
        const graph_t graph = create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(size));
        const bool as_told = !graph ? get_tengine_errno() != 0 : destroy_graph(graph) == 0;
        EXPECT_TRUE(as_told) << size;
    }
}

TEST_F(ModelTest, FreeDimensionsHaveNames)
{
    std::string bytes = make_unary_model("Relu", {"batch", "", "width"});
    graph_t graph = create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    const tensor_t x = tengine_graph_get_input(graph, 0);
    int dims[MAX_SHAPE_DIM_NUM];
    ASSERT_EQ(get_tensor_shape(x, dims, MAX_SHAPE_DIM_NUM), 3);
    EXPECT_EQ(dims[0], -1);
    EXPECT_EQ(tengine_tensor_has_rank(x), 1);
    const int shape[] = {2, 3, 4};
    ASSERT_EQ(set_tensor_shape(x, shape, 3), 0);
    EXPECT_STREQ(tengine_tensor_get_dim_name(x, 0), "batch");
    EXPECT_STREQ(tengine_tensor_get_dim_name(x, 1), "");
    EXPECT_STREQ(tengine_tensor_get_dim_name(x, 2), "width");
    EXPECT_STREQ(tengine_tensor_get_dim_name(x, MAX_SHAPE_DIM_NUM - 1), "");
    EXPECT_STREQ(tengine_tensor_get_dim_name(tengine_graph_get_output(graph, 0), 0), "");
    for (int index : {-1, MAX_SHAPE_DIM_NUM}) {
        EXPECT_EQ(tengine_tensor_get_dim_name(x, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(ModelTest, UnknownFormatsAreToldTheKnown)
{
    EXPECT_EQ(create_graph(nullptr, "caffe", "net.caffemodel"), nullptr);
    EXPECT_NE(std::strstr(get_tengine_error(), "unknown model format 'caffe': expected "), nullptr);
    EXPECT_NE(std::strstr(get_tengine_error(), "'onnx'"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

TEST_F(ModelTest, UnknownOperatorsAreNamed)
{
    const std::string bytes = make_unary_model("Frobnicate");
    EXPECT_EQ(create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size())),
              nullptr);
    EXPECT_NE(std::strstr(get_tengine_error(), "Frobnicate"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
}

TEST_F(ModelTest, FilesAreRead)
{
    const std::string file = "api_model_test_" + std::to_string(getpid()) + ".onnx";
    const std::string path = testing::TempDir() + file;
    std::ofstream(path, std::ios::binary) << make_unary_model("Relu");
    const graph_t graph = create_graph(nullptr, "onnx", path.c_str());
    expect_relu(graph);
    EXPECT_EQ(destroy_graph(graph), 0);
    std::remove(path.c_str());
    EXPECT_EQ(create_graph(nullptr, "onnx", path.c_str()), nullptr);
    EXPECT_NE(std::strstr(get_tengine_error(), file.c_str()), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EIO));
    for (const char* name : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(create_graph(nullptr, "onnx", name), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
}

}  // namespace
}  // namespace tengine
