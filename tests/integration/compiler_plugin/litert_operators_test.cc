// SPDX-License-Identifier: Apache-2.0
// Operators in LiteRT's interface: codes of those with the meaning of TFLite's, with their options;
// ONNX's name for those without, or with other attributes and inputs.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class LiteRtOperatorTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        ASSERT_EQ(tengine_plugin_load(TENGINE_PLUGIN_DIR "/litert_operators.so"), 1)
            << get_tengine_error();
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "OPERATORS"), 0) << get_tengine_error();
        graph_ = create_graph(context, nullptr, nullptr);
        destroy_context(context);
        x_ = add_input(graph_, "x", {2, 3});
        y_ = add_input(graph_, "y", {2, 3});
        truth_ = add_input(graph_, "truth", {2, 3}, TENGINE_DT_BOOL);
        number_ = add_input(graph_, "number", {2, 3}, TENGINE_DT_INT32);
        vector_ = add_input(graph_, "vector", {3});
    }

    void TearDown() override
    {
        destroy_graph(graph_);
        ApiTest::TearDown();
    }

    // Adds an operator with its expected description. Its result is an output of the graph.
    void expect(const char* op, std::initializer_list<tensor_t> inputs, const char* wanted,
                int data_type = TENGINE_DT_FP32)
    {
        const std::string name = std::string(op) + std::to_string(wanted_.size());
        const std::string onnx = std::string("ai.onnx.") + op;
        ASSERT_NE(add_node(graph_, name.c_str(), onnx.c_str(), inputs, data_type), nullptr)
            << get_tengine_error();
        wanted_[name] = wanted;
        last_ = get_graph_node(graph_, name.c_str());
    }

    // Sets an attribute of the operator that was added last.
    void set(const char* attribute, float value)
    {
        ASSERT_EQ(set_node_attr_float(last_, attribute, &value), 0) << get_tengine_error();
    }
    void set(const char* attribute, int value)
    {
        ASSERT_EQ(set_node_attr_int(last_, attribute, &value), 0) << get_tengine_error();
    }

    tensor_t constant(const std::vector<int>& dims, const std::vector<float>& values)
    {
        return add_constant(graph_, next_name().c_str(), dims, values.data());
    }
    template <class Integer>
    tensor_t constant(const std::vector<int>& dims, const std::vector<Integer>& values, int type)
    {
        return add_constant(graph_, next_name().c_str(), dims, values.data(), type);
    }
    std::string next_name() { return "constant " + std::to_string(constants_++); }

    // Prepares the graph, and compares the descriptions.
    void check()
    {
        std::vector<const char*> outputs;
        for (const auto& entry : wanted_)
            outputs.push_back(entry.first.c_str());
        ASSERT_TRUE(set_borders(graph_, {"x", "y", "truth", "number", "vector"}, outputs))
            << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        std::map<std::string, std::string> found;
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph_); ++i) {
            tengine_execution_node node{};
            tengine_refusal refusal{};
            ASSERT_EQ(tengine_graph_get_execution_node(graph_, i, &node), 0);
            ASSERT_EQ(tengine_graph_get_refusal(graph_, i, 0, &refusal), 0) << node.name;
            found[node.name] = refusal.message;
        }
        EXPECT_EQ(found, wanted_);
    }

    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr, y_ = nullptr, truth_ = nullptr, number_ = nullptr, vector_ = nullptr;
    node_t last_ = nullptr;
    std::map<std::string, std::string> wanted_;
    int constants_ = 0;
};

TEST_F(LiteRtOperatorTest, OperatorsOfOneInput)
{
    expect("Abs", {x_}, "Abs 101 of 1");
    expect("Ceil", {x_}, "Ceil 104 of 1");
    expect("Cos", {x_}, "Cos 108 of 1");
    expect("Exp", {x_}, "Exp 47 of 1");
    expect("Floor", {x_}, "Floor 8 of 1");
    expect("HardSwish", {x_}, "HardSwish 117 of 1");
    expect("Log", {x_}, "Log 73 of 1");
    expect("Neg", {x_}, "Neg 59 of 1");
    expect("Not", {truth_}, "LogicalNot 87 of 1", TENGINE_DT_BOOL);
    expect("Relu", {x_}, "Relu 19 of 1");
    expect("Round", {x_}, "Round 116 of 1");
    expect("Sigmoid", {x_}, "Logistic 14 of 1");
    expect("Sign", {x_}, "Sign 158 of 1");
    expect("Sin", {x_}, "Sin 66 of 1");
    expect("Sqrt", {x_}, "Sqrt 75 of 1");
    expect("Tanh", {x_}, "Tanh 28 of 1");
    expect("Cast", {x_}, "Cast 53 of 1", TENGINE_DT_INT32);
    set("to", 6);
    expect("Softplus", {x_}, "Custom Softplus");
    check();
}

TEST_F(LiteRtOperatorTest, OperatorsOfTwoInputs)
{
    expect("Add", {x_, y_}, "Add 0 of 2 activation 0");
    expect("Sub", {x_, y_}, "Sub 41 of 2 activation 0");
    expect("Mul", {x_, y_}, "Mul 18 of 2 activation 0");
    expect("Div", {x_, y_}, "Div 42 of 2 activation 0");
    expect("Max", {x_, y_}, "Maximum 55 of 2");
    expect("Max", {x_, y_, x_}, "Custom Max");
    expect("Min", {x_, y_}, "Minimum 57 of 2");
    expect("Pow", {x_, y_}, "Pow 78 of 2");
    expect("Pow", {x_, number_}, "Custom Pow");
    expect("Mod", {number_, constant<int32_t>({1}, {5}, TENGINE_DT_INT32)}, "FloorMod 95 of 2",
           TENGINE_DT_INT32);
    expect("Mod", {x_, y_}, "Custom Mod");
    set("fmod", 1);
    expect("Sum", {x_, y_, x_}, "AddN 106 of 3");
    expect("Sum", {x_, vector_}, "Custom Sum");
    expect("And", {truth_, truth_}, "LogicalAnd 86 of 2", TENGINE_DT_BOOL);
    expect("Or", {truth_, truth_}, "LogicalOr 84 of 2", TENGINE_DT_BOOL);
    expect("Xor", {truth_, truth_}, "Custom Xor", TENGINE_DT_BOOL);
    expect("Equal", {x_, y_}, "Equal 71 of 2", TENGINE_DT_BOOL);
    expect("Less", {x_, y_}, "Less 58 of 2", TENGINE_DT_BOOL);
    expect("LessOrEqual", {x_, y_}, "LessEqual 63 of 2", TENGINE_DT_BOOL);
    expect("Greater", {x_, y_}, "Greater 61 of 2", TENGINE_DT_BOOL);
    expect("GreaterOrEqual", {x_, y_}, "GreaterEqual 62 of 2", TENGINE_DT_BOOL);
    expect("Where", {truth_, x_, y_}, "SelectV2 123 of 3");
    check();
}

TEST_F(LiteRtOperatorTest, Activations)
{
    expect("LeakyRelu", {x_}, "LeakyRelu 98 of 1 alpha 0.01");
    expect("LeakyRelu", {x_}, "LeakyRelu 98 of 1 alpha 0.25");
    set("alpha", 0.25f);
    expect("Elu", {x_}, "Elu 111 of 1");
    expect("Elu", {x_}, "Custom Elu");
    set("alpha", 0.5f);
    expect("Gelu", {x_}, "Gelu 150 of 1 approximate 0");
    expect("Gelu", {x_}, "Gelu 150 of 1 approximate 1");
    ASSERT_EQ(set_node_attr_generic(last_, "approximate", "string", "tanh", 5), 0)
        << get_tengine_error();
    const tensor_t zero = constant({}, {0}), one = constant({}, {1}), six = constant({}, {6});
    expect("Clip", {x_, zero, six}, "Relu6 21 of 1");
    expect("Clip", {x_, zero, one}, "Relu0To1 152 of 1");
    expect("Clip", {x_, constant({}, {-1}), one}, "ReluN1To1 20 of 1");
    expect("Clip", {x_, zero, constant({}, {5})}, "Custom Clip");
    expect("Clip", {x_, zero}, "Custom Clip");
    expect("PRelu", {x_, vector_}, "Prelu 54 of 2");
    expect("PRelu", {x_, y_}, "Custom PRelu");
    check();
}

TEST_F(LiteRtOperatorTest, OperatorsAlongAnAxis)
{
    expect("Softmax", {x_}, "Softmax 25 of 1 beta 1");
    expect("Softmax", {x_}, "Softmax 25 of 1 beta 1");
    set("axis", 1);
    expect("Softmax", {x_}, "Custom Softmax");
    set("axis", 0);
    expect("LogSoftmax", {x_}, "LogSoftmax 50 of 1");
    expect("LogSoftmax", {x_}, "Custom LogSoftmax");
    set("axis", -2);
    expect("Concat", {x_, y_, x_}, "Concatenation 2 of 3 activation 0 axis 1");
    set("axis", 1);
    expect("CumSum", {x_, constant<int32_t>({}, {1}, TENGINE_DT_INT32)},
           "Cumsum 128 of 2 exclusive 0 reverse 1");
    set("reverse", 1);
    expect("CumSum", {x_, constant<int64_t>({}, {1}, TENGINE_DT_INT64)}, "Custom CumSum");
    expect("RMSNormalization", {x_, vector_}, "Composite 206 of 2");
    expect("RMSNormalization", {x_, y_}, "Custom RMSNormalization");
    set("axis", 0);
    check();
}

TEST_F(LiteRtOperatorTest, Products)
{
    const tensor_t weights = constant({4, 3}, std::vector<float>(12, 0.5f));
    const tensor_t matrix = constant({3, 4}, std::vector<float>(12, 0.5f));
    const tensor_t bias = constant({4}, {1, 2, 3, 4});
    const char* connected = " activation 0 format 0 dims kept 0 bias type 0 asymmetric 0";
    expect("Gemm", {x_, weights, bias}, (std::string("FullyConnected 9 of 3") + connected).c_str());
    set("transB", 1);
    expect("Gemm", {x_, weights}, (std::string("FullyConnected 9 of 2") + connected).c_str());
    set("transB", 1);
    expect("Gemm", {x_, matrix, bias}, "Custom Gemm");
    expect("Gemm", {x_, weights, bias}, "Custom Gemm");
    set("transB", 1);
    set("alpha", 0.5f);
    expect("Gemm", {x_, weights, constant({1}, {1})}, "Custom Gemm");
    set("transB", 1);
    expect("MatMul", {x_, matrix}, "BatchMatmul 126 of 2 adj 0 0 asymmetric 0");
    expect("MatMul", {x_, vector_}, "Custom MatMul");
    check();
}

TEST_F(LiteRtOperatorTest, Shapes)
{
    const auto integers = [&](const std::vector<int64_t>& values) {
        return constant({static_cast<int>(values.size())}, values, TENGINE_DT_INT64);
    };
    expect("Tile", {x_, integers({2, 1})}, "Tile 69 of 2");
    expect("Expand", {x_, integers({4, 2, 3})}, "BroadcastTo 130 of 2");
    expect("Expand", {x_, integers({4, 1, 1})}, "Custom Expand");
    expect("Unsqueeze", {x_, integers({1})}, "ExpandDims 70 of 2");
    expect("Unsqueeze", {x_, integers({0, 1})}, "Custom Unsqueeze");
    expect("Reshape", {x_, integers({3, 2})}, "Custom Reshape");
    expect("Transpose", {x_}, "Custom Transpose");
    check();
}

}  // namespace
}  // namespace tengine
