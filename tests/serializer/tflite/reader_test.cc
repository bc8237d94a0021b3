// SPDX-License-Identifier: Apache-2.0
// Reading of .tflite: the source graph, results of small models, and files that are damaged or
// wrong. models/tflite_data_test.cc has whole networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serializer/tflite/model_builder.h"
#include "support/allocation_count.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"
#include "tengine/ir.h"

namespace tengine::test {
namespace {

constexpr int kConv = 3, kRelu = 19, kReshape = 22;

// x, NHWC 1 x 3 x 3 x 1 → CONV_2D with a filter of 2 x 2, SAME, RELU → y
TfliteModel make_conv()
{
    TfliteModel model;
    model.tensors = {{"x", {1, 3, 3, 1}},
                     {"w", {1, 2, 2, 1}, kTfliteFloat, bytes_of<float>({1, 2, 3, 4})},
                     {"b", {1}, kTfliteFloat, bytes_of<float>({-20})},
                     {"y", {1, 3, 3, 1}}};
    // padding SAME is 0; strides, activation
    model.operators = {{kConv, {0, 1, 2}, {3}, {{1, 4, 1}, {2, 4, 1}, {3, 1, 1}}}};
    model.inputs = {0};
    model.outputs = {3};
    return model;
}

class TfliteReaderTest : public testing::Test
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }
    void TearDown() override
    {
        if (graph) destroy_graph(graph);
    }

    bool load(const std::string& bytes)
    {
        if (graph) destroy_graph(graph);
        graph = tengine_graph_load(nullptr, "tflite", bytes.data(), bytes.size());
        return graph != nullptr;
    }

    std::vector<float> run(std::vector<float> input)
    {
        const int size = static_cast<int>(input.size() * sizeof(float));
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph, 0), input.data(), size), 0);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        tensor_t output = tengine_graph_get_output(graph, 0);
        std::vector<float> result(static_cast<size_t>(get_tensor_buffer_size(output)) /
                                  sizeof(float));
        EXPECT_EQ(get_tensor_data(output, result.data(), get_tensor_buffer_size(output)), 0);
        return result;
    }

    // Loading fails with this part of the message.
    void expect_refusal(const TfliteModel& model, int code, const char* text)
    {
        EXPECT_FALSE(load(encode_tflite(model)));
        EXPECT_EQ(get_tengine_errno(), code) << get_tengine_error();
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr(text));
    }

    graph_t graph = nullptr;
};

TEST_F(TfliteReaderTest, TheSourceGraphIsTheFile)
{
    ASSERT_TRUE(load(encode_tflite(make_conv()))) << get_tengine_error();
    const auto* source = static_cast<struct graph*>(graph);
    ASSERT_EQ(source->node_num, 2);
    const struct node* conv = source->node_list[1];
    EXPECT_STREQ(conv->name, "y");
    EXPECT_STREQ(get_ir_node_op(conv), "CONV_2D");
    EXPECT_STREQ(get_ir_node_domain(conv), "tflite");
    EXPECT_EQ(get_ir_node_int(conv, "stride_w", 0), 1);
    EXPECT_EQ(get_ir_node_int(conv, "activation", 0), 1);
    EXPECT_EQ(get_ir_node_int(conv, "dilation_h", 0), 1);
    const struct tensor* weight = get_ir_graph_tensor(source, 1);
    EXPECT_EQ(weight->tensor_type, TENSOR_TYPE_CONST);
    EXPECT_EQ(weight->f32[3], 4);
}

// Rows and columns past the end are 0; the sums less 20, and 0 where that is negative.
TEST_F(TfliteReaderTest, ConvInNhwc)
{
    ASSERT_TRUE(load(encode_tflite(make_conv()))) << get_tengine_error();
    EXPECT_THAT(run({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                testing::ElementsAre(17, 27, 1, 47, 57, 13, 3, 6, 0));
}

// Bytes at any address, which a view uses in place if they are aligned.
TEST_F(TfliteReaderTest, ViewsAtAnyAddress)
{
    const std::string model = encode_tflite(make_conv());
    for (size_t at = 0; at < 9; ++at) {
        std::vector<char> room(model.size() + 16);
        std::copy(model.begin(), model.end(), room.begin() + static_cast<long>(at));
        graph = tengine_graph_load(nullptr, "tflite:view", room.data() + at, model.size());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        EXPECT_THAT(run({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                    testing::ElementsAre(17, 27, 1, 47, 57, 13, 3, 6, 0));
        destroy_graph(graph);
        graph = nullptr;
    }
}

TEST_F(TfliteReaderTest, NamesAreThoseOfTheSignature)
{
    TfliteModel model = make_conv();
    model.named_inputs = {{0, "image"}};
    model.named_outputs = {{3, "scores"}};
    ASSERT_TRUE(load(encode_tflite(model))) << get_tengine_error();
    EXPECT_NE(get_graph_tensor(graph, "image"), nullptr);
    EXPECT_NE(get_graph_tensor(graph, "scores"), nullptr);
}

TEST_F(TfliteReaderTest, AnOutputThatIsAnInputHasATensorOfItsOwn)
{
    TfliteModel model = make_conv();
    model.outputs = {0};
    model.named_inputs = {{0, "in"}};
    model.named_outputs = {{0, "out"}};
    ASSERT_TRUE(load(encode_tflite(model))) << get_tengine_error();
    EXPECT_NE(get_graph_tensor(graph, "out"), nullptr);
    EXPECT_THAT(run({1, 2, 3, 4, 5, 6, 7, 8, 9}), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(TfliteReaderTest, DuplicateAndEmptyNamesBecomeUnique)
{
    TfliteModel model = make_conv();
    model.tensors[1].name = model.tensors[2].name = "";
    model.tensors[3].name = "x";
    ASSERT_TRUE(load(encode_tflite(model))) << get_tengine_error();
    EXPECT_NE(get_graph_tensor(graph, "x"), nullptr);
    EXPECT_NE(get_graph_tensor(graph, "x_3"), nullptr);
}

TEST_F(TfliteReaderTest, WrongIndices)
{
    TfliteModel model = make_conv();
    model.operators[0].inputs[1] = 9;
    expect_refusal(model, TENGINE_EFORMAT, "input 1 is tensor 9, expected one of 4");
    model = make_conv();
    model.operators[0].outputs = {3, -1};
    expect_refusal(model, TENGINE_EFORMAT, "output 1 is tensor -1, expected one of 4");
    model = make_conv();
    model.operators[0].inputs[1] = -1;
    expect_refusal(model, TENGINE_EFORMAT, "input 1 is tensor -1, expected one of 4");
    model = make_conv();
    model.inputs = {0, 4};
    expect_refusal(model, TENGINE_EFORMAT, "input 1 is tensor 4, expected one of 4");
    model = make_conv();
    model.outputs = {-2};
    expect_refusal(model, TENGINE_EFORMAT, "output 0 is tensor -2, expected one of 4");
}

TEST_F(TfliteReaderTest, GraphsThatAreNone)
{
    TfliteModel model = make_conv();
    model.outputs = {};
    expect_refusal(model, TENGINE_EGRAPH, "the model has no outputs");
    model = make_conv();
    model.inputs = {0, 0};
    expect_refusal(model, TENGINE_EGRAPH, "'x' is an input twice or a constant");
    model = make_conv();
    model.inputs = {};
    expect_refusal(model, TENGINE_EGRAPH, "input 0, tensor 'x', has no values and no operator");
    model = make_conv();
    model.inputs = {0, 1};
    expect_refusal(model, TENGINE_EGRAPH, "has values, and is an input");
    model = make_conv();
    model.operators.push_back({kRelu, {0}, {3}});
    expect_refusal(model, TENGINE_EGRAPH,
                   "output 0, tensor 'y', is an input, a constant or written");
    model = make_conv();
    model.operators[0].inputs[0] = 3;
    expect_refusal(model, TENGINE_EGRAPH, "cycle");
    model = make_conv();
    model.operators[0].code = 9999;
    expect_refusal(model, TENGINE_EOPERATOR, "code 9999");
    model = make_conv();
    model.operators[0].inputs = {0};
    expect_refusal(model, TENGINE_EGRAPH, "input");
}

TEST_F(TfliteReaderTest, WrongTensors)
{
    TfliteModel model = make_conv();
    model.tensors[1].shape = {1, 2, 2, 2};
    expect_refusal(model, TENGINE_EFORMAT, "has 16 bytes of values, expected 32");
    model = make_conv();
    model.tensors[0].shape = {1, -3, 3, 1};
    expect_refusal(model, TENGINE_ERANGE, "dimension 1 is -3");
    model = make_conv();
    model.tensors[0].shape = std::vector<int32_t>(9, 1);
    expect_refusal(model, TENGINE_ERANGE, "has 9 dimensions, expected 0 to 8");
    model = make_conv();
    model.tensors[0].type = 14;
    expect_refusal(model, TENGINE_EDTYPE, "type 14");
    model = make_conv();
    model.tensors[3] = {"y", {1, 3, 3, 1}, kTfliteInt8, "", {1, 2}, {0, 0, 0}};
    expect_refusal(model, TENGINE_EFORMAT, "has 2 scales and 3 zero points");
    model.tensors[3] = {"y", {1, 3, 3, 1}, kTfliteInt8, "", {-1}, {0}};
    expect_refusal(model, TENGINE_EFORMAT, "scale 0 is -1");
    model.tensors[3] = {"y", {1, 3, 3, 1}, kTfliteInt8, "", {1, 2}, {0, 0}};
    expect_refusal(model, TENGINE_EFORMAT, "has 2 scales along axis 0");
}

TEST_F(TfliteReaderTest, WrongOptions)
{
    TfliteModel model = make_conv();
    model.operators[0].options = {{0, 1, 7}, {1, 4, 1}, {2, 4, 1}};
    expect_refusal(model, TENGINE_ERANGE, "padding");
    model.operators[0].options = {{1, 4, -1}, {2, 4, 1}};
    expect_refusal(model, TENGINE_ERANGE, "stride_w");
    // A stride that the file does not have is 0.
    model.operators[0].options = {};
    ASSERT_TRUE(load(encode_tflite(model))) << get_tengine_error();
    EXPECT_LT(prerun_graph(graph), 0);
    EXPECT_THAT(get_tengine_error(),
                testing::HasSubstr("its stride of axis 1 is 0, expected at least 1"));
}

TEST_F(TfliteReaderTest, FilesOfOtherFormats)
{
    for (const std::string& bytes :
         {std::string("x"), std::string("TFL3TFL3"), std::string("\x08\0\0\0TFL2aaaaaaaa", 16)}) {
        EXPECT_FALSE(load(bytes));
        EXPECT_EQ(get_tengine_errno(), TENGINE_EFORMAT);
    }
}

// Every length, and every byte with all bits or one bit changed: a status, and no memory that the
// size of the file does not bound.
TEST_F(TfliteReaderTest, DamagedFiles)
{
    TfliteModel model = make_conv();
    model.tensors.push_back({"shape", {2}, kTfliteInt32, bytes_of<int32_t>({1, 9})});
    model.tensors.push_back({"flat", {1, 9}});
    model.operators.push_back({kReshape, {3, 4}, {5}});
    model.outputs = {5};
    const std::string whole = encode_tflite(model);
    ASSERT_TRUE(load(whole)) << get_tengine_error();
    int refused = 0;
    const auto try_load = [&](const std::string& bytes) {
        const long before = measure_live_memory().bytes;
        reset_peak_memory();
        if (!load(bytes)) {
            ++refused;
            EXPECT_NE(get_tengine_errno(), 0);
            EXPECT_STRNE(get_tengine_error(), "");
        }
        if (!can_count_allocations()) return;
        EXPECT_LE(measure_peak_memory() - before, 16 * static_cast<long>(bytes.size()) + 32768);
    };
    for (size_t length = 0; length < whole.size(); ++length)
        try_load(whole.substr(0, length));
    EXPECT_GT(refused, static_cast<int>(whole.size()) - 32);
    for (size_t i = 0; i < whole.size(); ++i)
        for (const char change : {'\xff', '\x01', '\x80', '\x10'}) {
            std::string bytes = whole;
            bytes[i] = static_cast<char>(bytes[i] ^ change);
            try_load(bytes);
        }
}

}  // namespace
}  // namespace tengine::test
