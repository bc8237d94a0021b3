// SPDX-License-Identifier: Apache-2.0
// Nodes: creation, look-up, connections, and their attributes.
#include <cstring>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class NodeTest : public ReluTest
{
  protected:
    node_t create(const char* op) { return create_graph_node(graph_, op, op); }
};

TEST_F(NodeTest, CreationChecksNames)
{
    EXPECT_EQ(create_graph_node(graph_, "x", "Relu"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(create_graph_node(graph_, "n", "NoSuchOperator"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    for (const char* bad : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(create_graph_node(graph_, bad, "Relu"), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(create_graph_node(graph_, "n", bad), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(get_graph_node(graph_, bad), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(get_graph_node_num(graph_), 2);
}

TEST_F(NodeTest, ANodeIsAddedInTheVersionThatAFileNames)
{
    for (const char* domain : {"", "ai.onnx"}) {
        const std::string name = std::string("softmax ") + domain;
        const node_t node = tengine_graph_add_node(graph_, name.c_str(), domain, "Softmax", 11);
        ASSERT_NE(node, nullptr) << get_tengine_error();
        EXPECT_EQ(tengine_node_get_version(node), 11);
        EXPECT_STREQ(tengine_node_get_domain(node), "");
        int axis = 0;
        ASSERT_EQ(get_node_attr_int(node, "axis", &axis), 0) << get_tengine_error();
        EXPECT_EQ(axis, 1) << "from opset 13 on it is -1";
    }
    const node_t gemm = tengine_graph_add_node(graph_, "gemm", "com.microsoft", "QGemm", 1);
    ASSERT_NE(gemm, nullptr) << get_tengine_error();
    EXPECT_STREQ(tengine_node_get_domain(gemm), "com.microsoft");
    EXPECT_NE(tengine_graph_add_node(graph_, "newest", "", "Relu", 0), nullptr);
}

TEST_F(NodeTest, AnOperatorThatTheVersionDoesNotHaveIsRefused)
{
    EXPECT_EQ(tengine_graph_add_node(graph_, "n", "", "Gelu", 19), nullptr);
    EXPECT_TRUE(std::strstr(get_tengine_error(), "opsets 20 to ")) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    EXPECT_EQ(tengine_graph_add_node(graph_, "n", "com.example", "Relu", 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    EXPECT_EQ(tengine_graph_add_node(graph_, "n", "", "Relu", -1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_add_node(graph_, "n", nullptr, "Relu", 14), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_add_node(graph_, "n", "", "", 14), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_add_node(graph_, "y", "", "Relu", 14), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(get_graph_node_num(graph_), 2);
}

TEST_F(NodeTest, LookUpByNameAndIndex)
{
    EXPECT_EQ(get_graph_node_num(graph_), 2);
    const node_t x = get_graph_node_by_idx(graph_, 0);
    const node_t y = get_graph_node_by_idx(graph_, 1);
    EXPECT_EQ(x, get_graph_node(graph_, "x"));
    EXPECT_STREQ(get_node_name(y), "y");
    EXPECT_STREQ(get_node_op(x), "InputOp");
    EXPECT_STREQ(get_node_op(y), "Relu");
    EXPECT_STREQ(get_node_device(y), get_default_device());
    for (int index : {-1, 2}) {
        EXPECT_EQ(get_graph_node_by_idx(graph_, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(get_graph_node(graph_, "z"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

TEST_F(NodeTest, ConnectionsAreReadBack)
{
    const node_t y = get_graph_node(graph_, "y");
    EXPECT_EQ(get_node_input_number(y), 1);
    EXPECT_EQ(get_node_output_number(y), 1);
    EXPECT_EQ(get_node_input_tensor(y, 0), get_graph_tensor(graph_, "x"));
    EXPECT_EQ(get_node_output_tensor(y, 0), get_graph_tensor(graph_, "y"));
    for (int index : {-1, 1}) {
        EXPECT_EQ(get_node_input_tensor(y, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(get_node_output_tensor(y, index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
}

TEST_F(NodeTest, OptionalInputsMayBeLeftOut)
{
    const node_t clip = create("ai.onnx.Clip");
    const tensor_t x = get_graph_tensor(graph_, "x");
    EXPECT_EQ(set_node_input_tensor(clip, 2, x), 0);
    EXPECT_EQ(get_node_input_number(clip), 3);
    EXPECT_EQ(get_node_input_tensor(clip, 1), nullptr);
    EXPECT_TRUE(answered_with(TENGINE_ENOENT));
    EXPECT_EQ(get_node_input_tensor(clip, 2), x);
}

TEST_F(NodeTest, IndicesAreBoundedByTheOperator)
{
    const node_t y = get_graph_node(graph_, "y");
    const tensor_t x = get_graph_tensor(graph_, "x");
    const tensor_t fresh = create_graph_tensor(graph_, "fresh", TENGINE_DT_FP32);
    for (int index : {-1, 1, 1 << 30}) {
        EXPECT_EQ(set_node_input_tensor(y, index, x), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(set_node_output_tensor(y, index, fresh, TENSOR_TYPE_VAR), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    const node_t concat = create("Concat");
    EXPECT_EQ(set_node_input_tensor(concat, 1 << 30, x), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(set_node_input_tensor(concat, 100, x), 0);
}

TEST_F(NodeTest, OutputsHaveOneProducerAndAType)
{
    const node_t y = get_graph_node(graph_, "y");
    const tensor_t fresh = create_graph_tensor(graph_, "fresh", TENGINE_DT_FP32);
    EXPECT_EQ(set_node_output_tensor(y, 0, get_graph_tensor(graph_, "x"), TENSOR_TYPE_VAR), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    for (int type : {-1, TENSOR_TYPE_UNKNOWN, 5}) {
        EXPECT_EQ(set_node_output_tensor(y, 0, fresh, type), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(set_node_output_tensor(y, 0, fresh, TENSOR_TYPE_VAR), 0);
    EXPECT_EQ(set_node_output_tensor(y, 0, fresh, TENSOR_TYPE_VAR), 0);
    EXPECT_EQ(get_node_output_tensor(y, 0), fresh);
    // The tensor that was replaced can be connected again.
    const node_t other = create("Neg");
    EXPECT_EQ(set_node_output_tensor(other, 0, get_graph_tensor(graph_, "y"), TENSOR_TYPE_VAR), 0);
}

// ---- attributes ----

TEST_F(NodeTest, IntegersAndFloats)
{
    const node_t conv = create("Conv");
    int value = 0;
    EXPECT_EQ(get_node_attr_int(conv, "group", &value), 0);
    EXPECT_EQ(value, 1) << "ONNX's default";
    value = 4;
    EXPECT_EQ(set_node_attr_int(conv, "group", &value), 0);
    value = 0;
    EXPECT_EQ(get_node_attr_generic(conv, "group", "int", &value, sizeof value), 0);
    EXPECT_EQ(value, 4);

    const node_t leaky = create("LeakyRelu");
    float alpha = 0;
    EXPECT_EQ(get_node_attr_float(leaky, "alpha", &alpha), 0);
    EXPECT_FLOAT_EQ(alpha, 0.01f);
    alpha = 0.25f;
    EXPECT_EQ(set_node_attr_float(leaky, "alpha", &alpha), 0);
    alpha = 0;
    EXPECT_EQ(get_node_attr_generic(leaky, "alpha", "float", &alpha, sizeof alpha), 0);
    EXPECT_EQ(alpha, 0.25f);
    EXPECT_EQ(tengine_node_get_attr_number(leaky, "alpha"), 1);
}

TEST_F(NodeTest, Lists)
{
    const node_t conv = create("Conv");
    EXPECT_EQ(tengine_node_get_attr_number(conv, "strides"), 0);
    const int strides[] = {2, 3};
    EXPECT_EQ(set_node_attr_generic(conv, "strides", "int[]", strides, sizeof strides), 0);
    EXPECT_EQ(tengine_node_get_attr_number(conv, "strides"), 2);
    int64_t wide[2] = {};
    EXPECT_EQ(get_node_attr_generic(conv, "strides", "int64[]", wide, sizeof wide), 0);
    EXPECT_EQ(wide[0], 2);
    EXPECT_EQ(wide[1], 3);
    wide[1] = 5;
    EXPECT_EQ(set_node_attr_generic(conv, "strides", "int64[]", wide, sizeof wide), 0);
    int narrow[2] = {};
    EXPECT_EQ(get_node_attr_generic(conv, "strides", "int[]", narrow, sizeof narrow), 0);
    EXPECT_EQ(narrow[1], 5);
    EXPECT_EQ(get_node_attr_generic(conv, "strides", "int[]", narrow, sizeof narrow - 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(set_node_attr_generic(conv, "strides", "int[]", strides, 7), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_generic(conv, "strides", "int[]", strides, -4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(NodeTest, Strings)
{
    const node_t conv = create("Conv");
    EXPECT_EQ(set_node_attr_generic(conv, "auto_pad", "string", "SAME_UPPER", 10), 0);
    EXPECT_EQ(tengine_node_get_attr_number(conv, "auto_pad"), 10);
    char text[11];
    EXPECT_EQ(get_node_attr_generic(conv, "auto_pad", "string", text, sizeof text), 0);
    EXPECT_STREQ(text, "SAME_UPPER");
    EXPECT_EQ(get_node_attr_generic(conv, "auto_pad", "string", text, 10), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(set_node_attr_generic(conv, "auto_pad", "string", "VALID\0and more", 14), 0);
    EXPECT_EQ(get_node_attr_generic(conv, "auto_pad", "string", text, sizeof text), 0);
    EXPECT_STREQ(text, "VALID");
    EXPECT_EQ(set_node_attr_generic(conv, "auto_pad", "string", "SOMEHOW", 7), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

TEST_F(NodeTest, ListsOfStrings)
{
    const node_t rnn = create("ai.onnx.RNN");
    const char* const activations[] = {"Tanh", "Relu"};
    EXPECT_EQ(
        set_node_attr_generic(rnn, "activations", "string[]", activations, sizeof activations), 0);
    EXPECT_EQ(tengine_node_get_attr_number(rnn, "activations"), 2);
    const char* read[2] = {};
    EXPECT_EQ(get_node_attr_generic(rnn, "activations", "string[]", read, sizeof read), 0);
    EXPECT_STREQ(read[0], "Tanh");
    EXPECT_STREQ(read[1], "Relu");
    const char* const with_null[] = {"Tanh", nullptr};
    EXPECT_EQ(set_node_attr_generic(rnn, "activations", "string[]", with_null, sizeof with_null),
              -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(NodeTest, TensorsAreCopiedIn)
{
    const node_t node = create("ConstantOfShape");
    const float seven = 7;
    const tensor_t value = add_constant(graph_, "value", {1}, &seven);
    EXPECT_EQ(tengine_node_get_attr_number(node, "value"), 0);
    EXPECT_EQ(set_node_attr_generic(node, "value", "tensor", &value, sizeof value), 0);
    EXPECT_EQ(tengine_node_get_attr_number(node, "value"), 1);
    tensor_t out = nullptr;
    EXPECT_EQ(get_node_attr_generic(node, "value", "tensor", &out, sizeof out), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    const tensor_t no_data = create_graph_tensor(graph_, "no data", TENGINE_DT_FP32);
    EXPECT_EQ(set_node_attr_generic(node, "value", "tensor", &no_data, sizeof no_data), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_generic(node, "value", "tensor", &graph_, sizeof graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

TEST_F(NodeTest, WrongAttributesAreExplained)
{
    const node_t conv = create("Conv");
    int value = 1;
    float real = 1;
    EXPECT_EQ(set_node_attr_int(conv, "kernel_h", &value), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "kernel_shape"), nullptr)
        << "lists what there is: " << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(get_node_attr_int(conv, "alpha", &value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(set_node_attr_float(conv, "group", &real), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_node_attr_float(conv, "group", &real), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_int(conv, "strides", &value), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_generic(conv, "group", "double", &value, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_generic(conv, "group", nullptr, &value, 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_generic(conv, "group", "int", &value, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const char* name : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(set_node_attr_int(conv, name, &value), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(tengine_node_get_attr_number(conv, name), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(set_node_attr_int(conv, "group", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_node_attr_int(conv, "group", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    value = 0;
    EXPECT_EQ(set_node_attr_int(conv, "group", &value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

TEST_F(NodeTest, OnlyTheOperatorsOwnAttributes)
{
    const node_t conv = create("Conv");
    EXPECT_EQ(add_node_attr(conv, "group", "int", 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(add_node_attr(conv, "mine", "int", 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(add_node_attr(conv, nullptr, "int", 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(add_node_attr(conv, "mine", nullptr, 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

}  // namespace
}  // namespace tengine
