// SPDX-License-Identifier: Apache-2.0
// Tensors before a run: shape, type, data, quantisation. Data around runs: execution_test.cc.
#include <cstdint>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class TensorTest : public ReluTest
{
};

TEST_F(TensorTest, CreationChecksNameAndType)
{
    EXPECT_EQ(create_graph_tensor(graph_, "x", TENGINE_DT_FP32), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    for (const char* name : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(create_graph_tensor(graph_, name, TENGINE_DT_FP32), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(get_graph_tensor(graph_, name), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    for (int type : {-1, 63, 1 << 20}) {
        EXPECT_EQ(create_graph_tensor(graph_, "t", type), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    }
    EXPECT_EQ(get_graph_tensor(graph_, "t"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

TEST_F(TensorTest, NewTensorIsBare)
{
    const tensor_t tensor = create_graph_tensor(graph_, "t", TENGINE_DT_INT64);
    int dims[8];
    EXPECT_STREQ(get_tensor_name(tensor), "t");
    EXPECT_EQ(get_tensor_data_type(tensor), TENGINE_DT_INT64);
    EXPECT_EQ(get_tensor_layout(tensor), TENGINE_LAYOUT_NCHW);
    EXPECT_EQ(tengine_tensor_get_type(tensor), TENSOR_TYPE_VAR);
    EXPECT_EQ(get_tensor_shape(tensor, dims, 8), 0);
    EXPECT_EQ(get_tensor_buffer_size(tensor), 0);
    EXPECT_EQ(get_tensor_quant_param(tensor, nullptr, nullptr, 0), 0);
    EXPECT_EQ(get_tensor_buffer(tensor), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(TensorTest, ElementTypesHaveTheirSizes)
{
    const std::vector<int> sizes = {4, 2, 1, 1, 4, 2, 8, 1, 8, 2, 2, 4, 8};
    for (int type = 0; type < static_cast<int>(sizes.size()); ++type) {
        EXPECT_EQ(set_tensor_data_type(x_, type), 0);
        EXPECT_EQ(get_tensor_data_type(x_), type);
        EXPECT_EQ(get_tensor_buffer_size(x_), 4 * sizes[static_cast<size_t>(type)]);
        EXPECT_EQ(tengine_data_type_get_size(type), sizes[static_cast<size_t>(type)]);
    }
    for (int type = TENGINE_DT_UINT4; type <= TENGINE_DT_FLOAT8E8M0; ++type) {
        EXPECT_EQ(set_tensor_data_type(x_, type), 0);
        EXPECT_EQ(get_tensor_buffer_size(x_), (4 * tengine_data_type_get_bits(type) + 7) / 8);
        EXPECT_EQ(tengine_data_type_get_size(type), 1);
    }
    for (int type : {-1, 63}) {
        EXPECT_EQ(set_tensor_data_type(x_, type), -1);
        EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    }
}

TEST_F(TensorTest, ShapesOfUpToEightDimensions)
{
    const int dims[] = {1, 2, 3, 1, 1, 1, 1, 2, 1};
    int read[8] = {};
    for (int rank = 0; rank <= MAX_SHAPE_DIM_NUM; ++rank) {
        EXPECT_EQ(set_tensor_shape(x_, dims, rank), 0);
        EXPECT_EQ(get_tensor_shape(x_, read, 8), rank);
        EXPECT_EQ(std::vector<int>(read, read + rank), std::vector<int>(dims, dims + rank));
    }
    EXPECT_EQ(get_tensor_buffer_size(x_), 12 * 4);
    for (int rank : {9, 10, -1, 1 << 30}) {
        EXPECT_EQ(set_tensor_shape(x_, dims, rank), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(get_tensor_shape(x_, read, 7), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(get_tensor_shape(x_, nullptr, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_tensor_shape(x_, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(TensorTest, ShapesThatCannotBe)
{
    for (int bad : {-1, INT32_MIN}) {
        const int dims[] = {2, bad};
        EXPECT_EQ(set_tensor_shape(x_, dims, 2), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    const int huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
    EXPECT_EQ(set_tensor_shape(x_, huge, 3), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(get_tensor_buffer_size(x_), 16) << "the old shape stays";
    const int large[] = {INT32_MAX};
    if (sizeof(size_t) > 4) {
        EXPECT_EQ(set_tensor_shape(x_, large, 1), 0);
        EXPECT_EQ(tengine_tensor_get_buffer_size(x_), 4ll * INT32_MAX);
        EXPECT_EQ(get_tensor_buffer_size(x_), -1);
    } else {
        EXPECT_EQ(set_tensor_shape(x_, large, 1), -1) << "no size says how many bytes";
    }
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    const int none[] = {3, 0};
    EXPECT_EQ(set_tensor_shape(x_, none, 2), 0);
    EXPECT_EQ(get_tensor_buffer_size(x_), 0);
}

TEST_F(TensorTest, BuffersFitExactly)
{
    float data[8] = {1, 2, 3, 4};
    EXPECT_EQ(set_tensor_buffer(x_, data, 16), 0);
    EXPECT_EQ(get_tensor_buffer(x_), data);
    for (int size : {0, 12, 20, -1}) {
        EXPECT_EQ(set_tensor_buffer(x_, data, size), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(set_tensor_buffer(x_, reinterpret_cast<char*>(data) + 1, 16), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_tensor_buffer(x_, nullptr, 16), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_tensor_buffer(x_), data);
    EXPECT_EQ(set_tensor_buffer(x_, nullptr, 0), 0);
    EXPECT_EQ(get_tensor_buffer(x_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(set_tensor_buffer(y_, data, 16), -1) << "its shape is not known yet";
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(TensorTest, DataIsCopied)
{
    float data[5] = {1, 2, 3, 4, 5};
    float read[4] = {};
    EXPECT_EQ(get_tensor_data(x_, read, sizeof read), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(set_tensor_data(x_, data, 16), 0) << "memory is allocated";
    data[0] = 9;
    EXPECT_EQ(set_tensor_data(x_, data, 8), 0) << "only the first bytes";
    EXPECT_EQ(get_tensor_data(x_, read, sizeof read), 0);
    EXPECT_EQ(std::vector<float>(read, read + 4), (std::vector<float>{9, 2, 3, 4}));
    EXPECT_EQ(set_tensor_data(x_, data, 20), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(set_tensor_data(x_, data, -1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(set_tensor_data(x_, nullptr, 16), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_tensor_data(y_, data, 16), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_tensor_data(x_, read, 15), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(get_tensor_data(x_, nullptr, 16), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(TensorTest, DataGoesIntoTheUsersBuffer)
{
    float buffer[4] = {};
    ASSERT_EQ(set_tensor_buffer(x_, buffer, sizeof buffer), 0);
    EXPECT_TRUE(write_floats(x_, {5, 6, 7, 8}));
    EXPECT_EQ(buffer[3], 8);
}

TEST_F(TensorTest, AnotherSizeDropsTheData)
{
    float buffer[4] = {};
    ASSERT_EQ(set_tensor_buffer(x_, buffer, sizeof buffer), 0);
    const int same_size[] = {2, 2};
    EXPECT_EQ(set_tensor_shape(x_, same_size, 2), 0);
    EXPECT_EQ(get_tensor_buffer(x_), buffer);
    const int other_size[] = {2, 3};
    EXPECT_EQ(set_tensor_shape(x_, other_size, 2), 0);
    EXPECT_EQ(get_tensor_buffer(x_), nullptr);
    ASSERT_TRUE(write_floats(x_, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(set_tensor_data_type(x_, TENGINE_DT_INT32), 0);
    EXPECT_NE(get_tensor_buffer(x_), nullptr);
    EXPECT_EQ(set_tensor_data_type(x_, TENGINE_DT_INT64), 0);
    EXPECT_EQ(get_tensor_buffer(x_), nullptr);
}

TEST_F(TensorTest, LayoutIsATag)
{
    EXPECT_EQ(set_tensor_layout(x_, TENGINE_LAYOUT_NHWC), 0);
    EXPECT_EQ(get_tensor_layout(x_), TENGINE_LAYOUT_NHWC);
    EXPECT_EQ(set_tensor_layout(x_, 2), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_tensor_layout(x_), TENGINE_LAYOUT_NHWC);
}

TEST_F(TensorTest, QuantisationOfTensorAndChannels)
{
    const float scales[] = {0.5f, 0.25f, 0.125f};
    const int zero_points[] = {1, -2, 3};
    float scale_read[3] = {};
    int zero_point_read[3] = {};
    for (int number : {1, 3, 1, 2}) {
        EXPECT_EQ(set_tensor_quant_param(x_, scales, zero_points, number), 0);
        EXPECT_EQ(get_tensor_quant_param(x_, scale_read, zero_point_read, 3), number);
        EXPECT_EQ(scale_read[number - 1], scales[number - 1]);
        EXPECT_EQ(zero_point_read[number - 1], zero_points[number - 1]);
    }
    EXPECT_EQ(get_tensor_quant_param(x_, scale_read, zero_point_read, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(get_tensor_quant_param(x_, nullptr, zero_point_read, 3), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_tensor_quant_param(x_, nullptr, zero_points, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_tensor_quant_param(x_, scales, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (int number : {0, -1}) {
        EXPECT_EQ(set_tensor_quant_param(x_, scales, zero_points, number), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
}

}  // namespace
}  // namespace tengine
