// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace {

class TensorTest : public testing::Test
{
  protected:
    TensorTest() : graph_(create_ir_graph(nullptr)) {}
    ~TensorTest() override { destroy_ir_graph(graph_); }
    struct graph* graph_;
};

TEST_F(TensorTest, StartsWithoutShapeOrData)
{
    const struct tensor* tensor = create_ir_tensor(graph_, "t", TENGINE_DT_INT64);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->tensor_type, TENSOR_TYPE_VAR);
    EXPECT_EQ(tensor->elem_size, 8);
    EXPECT_EQ(tensor->data, nullptr);
    EXPECT_FALSE(is_ir_tensor_shape_known(tensor));
    EXPECT_EQ(get_ir_tensor_bytes(tensor), 0u);
}

TEST_F(TensorTest, MakesUpAName)
{
    EXPECT_STREQ(create_ir_tensor(graph_, nullptr, 0)->name, "tensor_0");
    EXPECT_STREQ(create_ir_tensor(graph_, "", 0)->name, "tensor_1");
}

TEST_F(TensorTest, RejectsUnknownTypes)
{
    EXPECT_EQ(create_ir_tensor(graph_, "t", 63), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_EDTYPE);
    struct tensor* tensor = create_ir_tensor(graph_, "t", 0);
    EXPECT_EQ(set_ir_tensor_data_type(tensor, -1), TENGINE_EDTYPE);
    EXPECT_EQ(set_ir_tensor_data_type(tensor, TENGINE_DT_FP64), TENGINE_OK);
    EXPECT_EQ(tensor->elem_size, 8);
}

TEST_F(TensorTest, ScalarsEmptyAndSymbolicShapesDiffer)
{
    struct tensor* tensor = create_ir_tensor(graph_, "t", TENGINE_DT_FP32);
    EXPECT_EQ(set_ir_tensor_shape(tensor, nullptr, 0), TENGINE_OK);
    EXPECT_TRUE(is_ir_tensor_shape_known(tensor));
    EXPECT_EQ(get_ir_tensor_bytes(tensor), 4u);
    // Without the 0 it may be as large as the address space.
    const int empty[] = {3, 0, sizeof(size_t) > 4 ? INT_MAX : INT_MAX / 16};
    EXPECT_EQ(set_ir_tensor_shape(tensor, empty, 3), TENGINE_OK);
    EXPECT_TRUE(is_ir_tensor_shape_known(tensor));
    EXPECT_EQ(tensor->elem_num, 0);
    const int symbolic[] = {-1, 3};
    EXPECT_EQ(set_ir_tensor_shape(tensor, symbolic, 2), TENGINE_OK);
    EXPECT_FALSE(is_ir_tensor_shape_known(tensor));
    EXPECT_EQ(get_ir_tensor_bytes(tensor), 0u);
}

TEST_F(TensorTest, RejectsShapesThatCannotBe)
{
    struct tensor* tensor = create_ir_tensor(graph_, "t", TENGINE_DT_FP32);
    const int dims[MAX_SHAPE_DIM_NUM + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_EQ(set_ir_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM), TENGINE_OK);
    EXPECT_EQ(set_ir_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM + 1), TENGINE_ERANGE);
    EXPECT_EQ(set_ir_tensor_shape(tensor, dims, -1), TENGINE_ERANGE);
    const int negative[] = {-2};
    EXPECT_EQ(set_ir_tensor_shape(tensor, negative, 1), TENGINE_ERANGE);
    const int huge[] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX};
    EXPECT_EQ(set_ir_tensor_shape(tensor, huge, 5), TENGINE_ERANGE);
    // A zero dimension does not excuse an overflowing product of the others.
    const int huge_empty[] = {0, INT_MAX, INT_MAX, INT_MAX};
    EXPECT_EQ(set_ir_tensor_shape(tensor, huge_empty, 4), TENGINE_ERANGE);
    EXPECT_EQ(tensor->dim_num, MAX_SHAPE_DIM_NUM);  // the last valid shape is kept
}

TEST_F(TensorTest, OwnsOrBorrowsData)
{
    struct tensor* tensor = create_ir_tensor(graph_, "t", TENGINE_DT_FP32);
    const int dims[] = {4};
    ASSERT_EQ(set_ir_tensor_shape(tensor, dims, 1), TENGINE_OK);
    ASSERT_EQ(allocate_ir_tensor(tensor), TENGINE_OK);
    EXPECT_TRUE(tensor->free_host_mem);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % 64, 0u);
    float borrowed[4];
    set_ir_tensor_data(tensor, borrowed, false);  // frees the first block; ASan checks
    EXPECT_EQ(tensor->data, borrowed);
    release_ir_tensor_data(tensor);
    EXPECT_EQ(tensor->data, nullptr);
}

TEST_F(TensorTest, QuantisationPerTensorAndPerChannel)
{
    struct tensor* tensor = create_ir_tensor(graph_, "t", TENGINE_DT_INT8);
    const float scales[] = {0.5f, 0.25f, 2.0f};
    const int zeros[] = {1, 2, 3};
    float scale_out[3];
    int zero_out[3];
    EXPECT_EQ(get_ir_tensor_quantization_parameter(tensor, scale_out, zero_out, 3), 0);
    for (int number : {3, 1, 3, 0}) {
        ASSERT_EQ(set_ir_tensor_quantization_parameter(tensor, scales, zeros, number), TENGINE_OK);
        ASSERT_EQ(get_ir_tensor_quantization_parameter(tensor, scale_out, zero_out, 3), number);
        for (int i = 0; i < number; ++i) {
            EXPECT_EQ(scale_out[i], scales[i]);
            EXPECT_EQ(zero_out[i], zeros[i]);
        }
    }
    ASSERT_EQ(set_ir_tensor_quantization_parameter(tensor, scales, zeros, 3), TENGINE_OK);
    EXPECT_EQ(get_ir_tensor_quantization_parameter(tensor, scale_out, zero_out, 2), TENGINE_ERANGE);
    EXPECT_EQ(set_ir_tensor_quantization_parameter(tensor, nullptr, zeros, 1), TENGINE_EINVAL);
}

TEST_F(TensorTest, CountsEveryUseByAConsumer)
{
    struct tensor* tensor = create_ir_tensor(graph_, "t", 0);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(set_ir_tensor_consumer(tensor, i), TENGINE_OK);
    EXPECT_EQ(tensor->consumer_num, 100);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(tensor->consumer[i], i);
}

TEST(DataType, SizesAndNames)
{
    EXPECT_EQ(get_data_type_size(TENGINE_DT_FP16), 2);
    EXPECT_EQ(get_data_type_size(TENGINE_DT_BOOL), 1);
    EXPECT_EQ(get_data_type_size(99), 0);
    EXPECT_EQ(get_data_type_size(TENGINE_DT_INT2), 1);
    EXPECT_EQ(get_data_type_bits(TENGINE_DT_INT2), 2);
    EXPECT_EQ(get_data_type_bits(TENGINE_DT_FP64), 64);
    EXPECT_EQ(get_data_type_bits(99), 0);
    EXPECT_STREQ(get_data_type_name(TENGINE_DT_UINT64), "uint64");
    EXPECT_STREQ(get_data_type_name(-3), "unknown");
}

}  // namespace
