// SPDX-License-Identifier: Apache-2.0
// sequence.h: sequences and optional values as inputs and results.
#include "tengine/sequence.h"

#include <algorithm>

#include "fixture.h"
#include "onnx_bytes.h"

namespace tengine {
namespace {

constexpr int kFloat = 1;  // of ONNX

std::string tensor_type()
{
    const std::string tensor = Message().number(1, kFloat).text();
    return Message().bytes(1, tensor).text();
}

// TypeProto's fields: 4 is a sequence, 9 an optional value; both have one of type.
std::string wrapped(int field, const std::string& type)
{
    return Message().bytes(field, Message().bytes(1, type).text()).text();
}

std::string value(const std::string& name, const std::string& type)
{
    return Message().bytes(1, name).bytes(2, type).text();
}

graph_t load(const std::string& op, const std::string& input, const std::string& output)
{
    const std::string node =
        Message().bytes(1, "x").bytes(2, "y").bytes(3, "n").bytes(4, op).text();
    const std::string graph = Message()
                                  .bytes(1, node)
                                  .bytes(2, "g")
                                  .bytes(11, value("x", input))
                                  .bytes(12, value("y", output))
                                  .text();
    const std::string opset = Message().bytes(1, "").number(2, 18).text();
    const std::string model = Message().number(1, 8).bytes(8, opset).bytes(7, graph).text();
    return create_graph(nullptr, "onnx:m", model.data(), static_cast<int>(model.size()));
}

class SequenceTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        ApiTest::TearDown();
    }

    void make(const std::string& op, const std::string& input, const std::string& output)
    {
        graph_ = load(op, input, output);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        x_ = tengine_graph_get_input(graph_, 0);
        y_ = tengine_graph_get_output(graph_, 0);
    }
    void run()
    {
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    }

    const float numbers_[4] = {1, 2, 3, 4};
    const tengine_element pair_ = {TENGINE_DT_FP32, 1, {2}, numbers_};
    const tengine_element square_ = {TENGINE_DT_FP32, 2, {2, 2}, numbers_};
    const tengine_element nothing_ = {TENGINE_DT_FP32, 2, {0, 5}, nullptr};
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    tensor_t y_ = nullptr;
};

TEST_F(SequenceTest, GoesInAndComesOut)
{
    const std::string sequence = wrapped(4, tensor_type());
    make("Identity", sequence, sequence);
    EXPECT_EQ(get_tensor_data_type(x_), TENGINE_DT_SEQUENCE + TENGINE_DT_FP32);
    const tengine_element elements[] = {pair_, nothing_, square_};
    for (const int number : {3, 0, 1, 3}) {
        ASSERT_EQ(tengine_sequence_set(x_, elements, number), 0) << get_tengine_error();
        run();
        ASSERT_EQ(tengine_sequence_get_number(y_), number);
        EXPECT_EQ(tengine_sequence_is_absent(y_), 0);
        for (int i = 0; i < number; ++i) {
            tengine_element element = {};
            ASSERT_EQ(tengine_sequence_get(y_, i, &element), 0);
            EXPECT_EQ(element.data_type, TENGINE_DT_FP32);
            EXPECT_EQ(element.dim_number, elements[i].dim_number);
            EXPECT_EQ(element.dims[0], elements[i].dims[0]);
            const auto* data = static_cast<const float*>(element.data);
            if (elements[i].data) {
                EXPECT_EQ(data[1], 2);
            }
        }
    }
}

TEST_F(SequenceTest, AnOptionalValueMayBeAbsent)
{
    make("OptionalHasElement", wrapped(9, tensor_type()),
         Message().bytes(1, Message().number(1, 9).text()).text());
    uint8_t has = 2;
    ASSERT_EQ(tengine_sequence_set(x_, nullptr, -1), 0) << get_tengine_error();
    run();
    EXPECT_EQ(tengine_sequence_is_absent(x_), 1);
    ASSERT_EQ(get_tensor_data(y_, &has, 1), 0);
    EXPECT_EQ(has, 0);
    ASSERT_EQ(tengine_sequence_set(x_, &square_, 1), 0) << get_tengine_error();
    run();
    ASSERT_EQ(get_tensor_data(y_, &has, 1), 0);
    EXPECT_EQ(has, 1);
}

TEST_F(SequenceTest, WrongElementsAreRefused)
{
    make("SequenceLength", wrapped(4, tensor_type()),
         Message().bytes(1, Message().number(1, 7).text()).text());
    tengine_element wrong = pair_;
    wrong.data_type = TENGINE_DT_INT64;
    EXPECT_EQ(tengine_sequence_set(x_, &wrong, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    wrong = pair_;
    wrong.dim_number = 9;
    EXPECT_EQ(tengine_sequence_set(x_, &wrong, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    // Their product is a multiple of 2^64.
    wrong = pair_;
    wrong.dim_number = 4;
    std::fill_n(wrong.dims, 4, 65536);
    EXPECT_EQ(tengine_sequence_set(x_, &wrong, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    wrong = pair_;
    wrong.dims[0] = -1;
    EXPECT_EQ(tengine_sequence_set(x_, &wrong, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    wrong = pair_;
    wrong.data = nullptr;
    EXPECT_EQ(tengine_sequence_set(x_, &wrong, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_sequence_set(x_, &pair_, -1), -1) << "a sequence is always there";
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_sequence_set(x_, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_sequence_set(y_, &pair_, 1), -1) << "a tensor";
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
}

TEST_F(SequenceTest, ItsBytesAreNotTheProgramsToSet)
{
    const std::string sequence = wrapped(4, tensor_type());
    make("Identity", sequence, sequence);
    EXPECT_EQ(tengine_sequence_get_number(x_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(tengine_sequence_set(x_, &pair_, 1), 0);
    tengine_element element = {};
    EXPECT_EQ(tengine_sequence_get(x_, 1, &element), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_sequence_get(x_, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    const int shape[] = {8};
    char bytes[8] = {};
    EXPECT_EQ(set_tensor_shape(x_, shape, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    EXPECT_EQ(set_tensor_data(x_, bytes, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    EXPECT_EQ(set_tensor_buffer(x_, bytes, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
}

}  // namespace
}  // namespace tengine
