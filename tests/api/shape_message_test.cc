// SPDX-License-Identifier: Apache-2.0
// Messages of the API about a shape that the model declares by names.
#include "fixture.h"
#include "onnx_bytes.h"

namespace tengine {
namespace {

// x of batch x width, and y = Relu(x).
class ShapeMessageTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        const std::string bytes = make_unary_model("Relu", {"batch", "width"});
        graph_ = create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
        if (!graph_) GTEST_SKIP() << "the serializer is not compiled in";
        x_ = tengine_graph_get_input(graph_, 0);
    }

    static void expect_sentence(int result, const std::string& sentence)
    {
        EXPECT_EQ(result, -1);
        EXPECT_EQ(get_tengine_error(), sentence);
    }

    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    float data_[8] = {};
};

TEST_F(ShapeMessageTest, DataBeforeAShape)
{
    const std::string words =
        ": the shape of tensor 'x' is not known yet; it is declared as batch x width";
    expect_sentence(set_tensor_buffer(x_, data_, sizeof data_), "set_tensor_buffer" + words);
    expect_sentence(set_tensor_data(x_, data_, sizeof data_), "set_tensor_data" + words);
    expect_sentence(prerun_graph(graph_),
                    "input 'x' is declared as batch x width; set its shape with set_tensor_shape "
                    "before prerun");
}

TEST_F(ShapeMessageTest, DataOfAnotherSize)
{
    const int dims[] = {2, 3};
    ASSERT_EQ(set_tensor_shape(x_, dims, 2), 0);
    expect_sentence(set_tensor_buffer(x_, data_, sizeof data_),
                    "set_tensor_buffer: tensor 'x': 32 bytes, expected 24; it is declared as batch "
                    "x width, given 2x3");
    expect_sentence(set_tensor_data(x_, data_, sizeof data_),
                    "set_tensor_data: tensor 'x': 32 bytes, expected 0 to 24; it is declared as "
                    "batch x width, given 2x3");
}

// Two inputs whose lengths are compared only in a run.
TEST_F(ShapeMessageTest, AFailureOfARun)
{
    const std::string bytes =
        make_model({make_node("NonZero", {"a"}, "a_places", "of_a"),
                    make_node("NonZero", {"b"}, "b_places", "of_b"),
                    make_node("Add", {"a_places", "b_places"}, "sum", "sum")},
                   {make_value_info("a", {"tokens"}), make_value_info("b", {"tokens"})},
                   make_value_info("sum", {"", ""}, 7));
    const graph_t graph =
        create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    for (int i = 0; i < 2; ++i) {
        const int length = 4 - i;
        const tensor_t input = tengine_graph_get_input(graph, i);
        ASSERT_EQ(set_tensor_shape(input, &length, 1), 0);
        ASSERT_TRUE(write_floats(input, std::vector<float>(static_cast<size_t>(length), 1)));
    }
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_sentence(
        run_graph(graph, 1),
        "device 'CPU', run of part 0 (3 nodes): Add 'sum': 'b_places' does not "
        "broadcast: dimension 1 from the end is 3, others have 4; dimension 'tokens' is "
        "4 of input 'a' and 3 of input 'b'");
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
