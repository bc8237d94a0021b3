// SPDX-License-Identifier: Apache-2.0
// Graphs of Tengine's operators built by hand whose parameters are arrays, given as programs gave
// them to the parameter structs: through pointers.
#include "fixture.h"
#include "tengine/vector.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

class HandBuiltTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_graph(nullptr, nullptr, nullptr);
    }

    // The list, and the attribute that counts it, as a program sets a struct's members.
    bool set_list(const char* node, const char* name, const char* count, std::vector<int> values)
    {
        const node_t target = get_graph_node(graph_, node);
        const int number = static_cast<int>(values.size());
        int* pointer = values.data();
        return set_node_attr_int(target, count, &number) == 0 &&
               set_node_attr_pointer(target, name, &pointer) == 0;
    }

    bool set_int(const char* node, const char* name, int value)
    {
        return set_node_attr_int(get_graph_node(graph_, node), name, &value) == 0;
    }

    bool run(tensor_t x, const Floats& values, const char* output)
    {
        return set_borders(graph_, {"x"}, {output}) && write_floats(x, values) &&
               prerun_graph(graph_) == 0 && run_graph(graph_, 1) == 0;
    }

    std::vector<int> dims_of(const char* tensor)
    {
        std::vector<int> dims(MAX_SHAPE_DIM_NUM);
        dims.resize(static_cast<size_t>(
            get_tensor_shape(get_graph_tensor(graph_, tensor), dims.data(), MAX_SHAPE_DIM_NUM)));
        return dims;
    }

    graph_t graph_ = nullptr;
};

TEST_F(HandBuiltTest, ReshapeAndTranspose)
{
    const tensor_t x = add_input(graph_, "x", {1, 2, 3});
    const tensor_t shaped = add_node(graph_, "shaped", "Reshape", {x});
    const tensor_t turned = add_node(graph_, "turned", "Transpose", {shaped});
    ASSERT_TRUE(set_list("shaped", "re_shape", "dim_size", {3, -1})) << get_tengine_error();
    ASSERT_TRUE(set_list("turned", "tr_shape", "tr_shape_size", {1, 0})) << get_tengine_error();
    ASSERT_TRUE(run(x, {1, 2, 3, 4, 5, 6}, "turned")) << get_tengine_error();
    EXPECT_EQ(dims_of("shaped"), (std::vector<int>{3, 2}));
    EXPECT_EQ(dims_of("turned"), (std::vector<int>{2, 3}));
    EXPECT_EQ(read_floats(turned), (Floats{1, 3, 5, 2, 4, 6}));
}

TEST_F(HandBuiltTest, Unsqueeze)
{
    const tensor_t x = add_input(graph_, "x", {3});
    const tensor_t y = add_node(graph_, "y", "Unsqueeze", {x});
    ASSERT_TRUE(set_list("y", "axises", "axises_size", {0, 2})) << get_tengine_error();
    ASSERT_TRUE(run(x, {1, 2, 3}, "y")) << get_tengine_error();
    EXPECT_EQ(dims_of("y"), (std::vector<int>{1, 3, 1}));
    EXPECT_EQ(read_floats(y), (Floats{1, 2, 3}));
}

TEST_F(HandBuiltTest, SplitByAVector)
{
    const tensor_t x = add_input(graph_, "x", {5, 1});
    ASSERT_NE(add_node(graph_, "a", "Split", {x}), nullptr);
    const node_t split = get_graph_node(graph_, "a");
    const tensor_t b = create_graph_tensor(graph_, "b", TENGINE_DT_FP32);
    ASSERT_EQ(set_node_output_tensor(split, 1, b, TENSOR_TYPE_VAR), 0);
    vector_t* sizes = create_vector(sizeof(int), nullptr);
    for (const int size : {2, 3})
        ASSERT_EQ(push_vector_data(sizes, &size), 0);
    ASSERT_EQ(set_node_attr_pointer(split, "split_sizes_", &sizes), 0) << get_tengine_error();
    release_vector(sizes);
    ASSERT_TRUE(set_int("a", "axis", 0) && set_int("a", "split_dim", 2));
    ASSERT_TRUE(run(x, {1, 2, 3, 4, 5}, "a")) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_tensor(graph_, "a")), (Floats{1, 2}));
    EXPECT_EQ(read_floats(b), (Floats{3, 4, 5}));
}

}  // namespace
}  // namespace tengine
