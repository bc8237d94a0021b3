// SPDX-License-Identifier: Apache-2.0
// string.h: strings as inputs, constants and results, and their lifetime.
#include "tengine/string.h"

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/sequence.h"

namespace tengine {
namespace {

constexpr int kBool = 9, kString = 8;  // of ONNX

// TypeProto of a tensor of this type with one dimension, which is free.
std::string vector_type(int type)
{
    const std::string shape = Message().bytes(1, Message().bytes(2, "N").text()).text();
    return Message().bytes(1, Message().number(1, type).bytes(2, shape).text()).text();
}

std::string value(const std::string& name, const std::string& type)
{
    return Message().bytes(1, name).bytes(2, type).text();
}

std::string initializer(const std::string& name, const std::vector<std::string>& texts)
{
    Message tensor;
    tensor.number(1, texts.size()).number(2, kString);
    for (const std::string& text : texts)
        tensor.bytes(6, text);
    return tensor.bytes(8, name).text();
}

class StringTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        if (context_) destroy_context(context_);
        ApiTest::TearDown();
    }

    // y = op(x, w), where w exists only if it has strings.
    void make(const std::string& op, int output_type, const std::vector<std::string>& w = {},
              const std::string& type = vector_type(kString))
    {
        Message node;
        node.bytes(1, "x");
        if (!w.empty()) node.bytes(1, "w");
        node.bytes(2, "y").bytes(3, "n").bytes(4, op);
        Message graph;
        graph.bytes(1, node.text()).bytes(2, "g");
        if (!w.empty()) graph.bytes(5, initializer("w", w));
        const bool same = output_type == kString;
        graph.bytes(11, value("x", type))
            .bytes(12, value("y", same ? type : vector_type(output_type)));
        const std::string opset = Message().bytes(1, "").number(2, 20).text();
        const std::string model =
            Message().number(1, 9).bytes(8, opset).bytes(7, graph.text()).text();
        graph_ = create_graph(context_, "onnx:m", model.data(), static_cast<int>(model.size()));
        if (!graph_) return;
        x_ = tengine_graph_get_input(graph_, 0);
        y_ = tengine_graph_get_output(graph_, 0);
    }

    void feed(std::vector<const char*> texts)
    {
        const int dims[] = {static_cast<int>(texts.size())};
        ASSERT_EQ(set_tensor_shape(x_, dims, 1), 0);
        ASSERT_EQ(tengine_string_set(x_, texts.data(), dims[0]), 0) << get_tengine_error();
    }

    void run()
    {
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    tensor_t y_ = nullptr;
};

TEST_F(StringTest, GoInAndComeOut)
{
    make("Identity", kString);
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    EXPECT_EQ(get_tensor_data_type(x_), TENGINE_DT_STRING);
    char text[] = "own";
    feed({text, "", "h\xc3\xa4user", "own"});
    text[0] = 'X';  // the string was copied
    run();
    const char* expected[] = {"own", "", "h\xc3\xa4user", "own"};
    for (int i = 0; i < 4; ++i)
        EXPECT_STREQ(tengine_string_get(y_, i), expected[i]);
    EXPECT_EQ(tengine_string_get(y_, 4), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

TEST_F(StringTest, AreComparedWithAConstant)
{
    make("Equal", kBool, {"a", "bc", ""});
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    feed({"a", "b", ""});
    run();
    uint8_t equal[3] = {};
    ASSERT_EQ(get_tensor_data(y_, equal, 3), 0) << get_tengine_error();
    EXPECT_EQ(equal[0] * 100 + equal[1] * 10 + equal[2], 101);
    tensor_t w = get_graph_tensor(graph_, "w");
    const char* others[] = {"b", "b", "b"};
    ASSERT_EQ(tengine_string_set(w, others, 3), 0) << get_tengine_error();
    run();
    ASSERT_EQ(get_tensor_data(y_, equal, 3), 0);
    EXPECT_EQ(equal[0] * 100 + equal[1] * 10 + equal[2], 10);
    EXPECT_STREQ(tengine_string_get(w, 2), "b");
}

TEST_F(StringTest, LastUntilTheNextRunBegins)
{
    make("Identity", kString);
    feed({"first"});
    run();
    const char* first = tengine_string_get(y_, 0);
    feed({"second"});
    EXPECT_STREQ(first, "first") << "the next run has not begun";
    EXPECT_STREQ(tengine_string_get(y_, 0), "first");
    ASSERT_EQ(run_graph(graph_, 1), 0);
    EXPECT_STREQ(tengine_string_get(y_, 0), "second");
    EXPECT_STREQ(tengine_string_get(x_, 0), "second");
}

TEST_F(StringTest, AreHeldWithinTheLimitOfMemory)
{
    context_ = create_context("small", 1);
    ASSERT_EQ(tengine_context_set_option(context_, "memory.limit_mb", "1"), 0);
    make("StringConcat", kString, {std::string(600000, 'b')});
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    feed({"a"});
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_LT(run_graph(graph_, 1), 0);
    EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
}

TEST_F(StringTest, AreNotThereBeforeARun)
{
    make("Identity", kString);
    EXPECT_EQ(tengine_string_get(x_, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    feed({"a"});
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(tengine_string_get(y_, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(StringTest, WrongOnesAreRefused)
{
    make("Identity", kString);
    feed({"a", "b"});
    const char* not_utf8[] = {"a", "\xc3"};
    const char* surrogate[] = {"a", "\xed\xa0\x80"};
    const char* none[] = {"a", nullptr};
    EXPECT_EQ(tengine_string_set(x_, not_utf8, 2), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_string_set(x_, surrogate, 2), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_string_set(x_, none, 2), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_string_set(x_, nullptr, 2), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_string_set(x_, none, 1), -1) << "another number";
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_string_set(y_, none, 1), -1) << "a result";
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_STREQ(tengine_string_get(x_, 1), "b") << "what it had is still there";
}

TEST_F(StringTest, TheirPointersAreNotTheProgramsToSet)
{
    make("Identity", kString);
    feed({"a"});
    char bytes[8] = {};
    EXPECT_EQ(set_tensor_data(x_, bytes, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    EXPECT_EQ(set_tensor_buffer(x_, bytes, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    EXPECT_EQ(get_tensor_data(x_, bytes, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    EXPECT_EQ(get_tensor_buffer(x_), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
    // Numbers are not interpreted as pointers.
    ASSERT_EQ(set_tensor_data_type(x_, TENGINE_DT_INT64), 0);
    ASSERT_EQ(set_tensor_data(x_, bytes, 8), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_data_type(x_, TENGINE_DT_STRING), 0);
    EXPECT_EQ(tengine_string_get(x_, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(StringTest, LieInSequences)
{
    const std::string sequence =
        Message().bytes(4, Message().bytes(1, vector_type(kString)).text()).text();
    make("Identity", kString, {}, sequence);
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    EXPECT_EQ(get_tensor_data_type(x_), TENGINE_DT_SEQUENCE + TENGINE_DT_STRING);
    char text[] = "own";
    const char* texts[] = {text, "b"};
    const tengine_element element = {TENGINE_DT_STRING, 1, {2}, texts};
    ASSERT_EQ(tengine_sequence_set(x_, &element, 1), 0) << get_tengine_error();
    text[0] = 'X';
    run();
    tengine_element result = {};
    ASSERT_EQ(tengine_sequence_get(y_, 0, &result), 0) << get_tengine_error();
    EXPECT_STREQ(static_cast<const char* const*>(result.data)[0], "own");
    texts[1] = "\xff";
    EXPECT_EQ(tengine_sequence_set(x_, &element, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(StringTest, FilesWithWrongOnesAreRefused)
{
    make("Equal", kBool, {std::string("a\0b", 3)});
    EXPECT_EQ(graph_, nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    make("Equal", kBool, {"\xc0\x80"});
    EXPECT_EQ(graph_, nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(StringTest, OperatorsThatDoNotTakeThemSaySo)
{
    make("Relu", kString);
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    feed({"a"});
    EXPECT_EQ(prerun_graph(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
}

}  // namespace
}  // namespace tengine
