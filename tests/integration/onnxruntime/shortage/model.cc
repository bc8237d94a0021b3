// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include "onnx_graph.h"

namespace tengine::ort_host {
namespace {

using namespace onnx;

constexpr int kFree = -1;

std::string float_attribute(const std::string& name, float number)
{
    const std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
    return Message().bytes(1, name).text() + "\x15" + bytes + Message().number(20, 1).text();
}

std::string numbers_attribute(const std::string& name, const std::vector<int>& numbers)
{
    Message message;
    message.bytes(1, name).number(20, 7);
    for (const int number : numbers)
        message.number(8, static_cast<uint64_t>(number));
    return message.text();
}

std::string text_attribute(const std::string& name, const std::string& text)
{
    return Message().bytes(1, name).bytes(4, text).number(20, 3).text();
}

std::string tensor_attribute(const std::string& name, const std::string& tensor)
{
    return Message().bytes(1, name).bytes(5, tensor).number(20, 4).text();
}

std::string finish(const std::string& contents)
{
    const std::string opset = Message().bytes(1, "").number(2, 20).text();
    return Message().number(1, 8).bytes(8, opset).bytes(7, contents).text();
}

}  // namespace

// The model has constants, and attributes of each kind.
std::string make_fixed_model()
{
    return finish(graph({node("Reshape", {"x", "shape"}, {"a"}), node("MatMul", {"a", "w"}, {"b"}),
                         node("Transpose", {"b"}, {"c"}, {numbers_attribute("perm", {1, 0})}),
                         node("LeakyRelu", {"c"}, {"d"}, {float_attribute("alpha", 0.25f)}),
                         node("ConstantOfShape", {"size"}, {"e"},
                              {tensor_attribute("value", constant<float>("", kFloat, {1}, {3}))}),
                         node("Mod", {"d", "e"}, {"f"}, {number_attribute("fmod", 1)}),
                         node("Gelu", {"f"}, {"y"}, {text_attribute("approximate", "tanh")})},
                        {value("x", kFloat, {6})}, {value("y", kFloat, {2, 2})},
                        {constant<int64_t>("shape", kInt64, {2}, {2, 3}),
                         constant<int64_t>("size", kInt64, {2}, {2, 2}),
                         constant<float>("w", kFloat, {3, 2}, {1, -2, 3, 4, -5, 6})}));
}

std::string make_free_model()
{
    return finish(graph(
        {node("Relu", {"x"}, {"a"}), node("NonZero", {"a"}, {"b"}), node("Transpose", {"b"}, {"c"}),
         node("GatherND", {"a", "c"}, {"d"}), node("Exp", {"d"}, {"y"})},
        {value("x", kFloat, {kFree})}, {value("y", kFloat, {kFree})}));
}

std::string make_choosing_model()
{
    const std::string some = graph({node("Neg", {"a"}, {"s"})}, {}, {value("s", kFloat, {kFree})});
    const std::string other =
        graph({node("Tanh", {"a"}, {"o"})}, {}, {value("o", kFloat, {kFree})});
    return finish(
        graph({node("Abs", {"x"}, {"a"}),
               node("ReduceSum", {"x"}, {"sum"}, {number_attribute("keepdims", 0)}),
               node("Greater", {"sum", "limit"}, {"is_large"}),
               node("If", {"is_large"}, {"b"},
                    {graph_attribute("then_branch", some), graph_attribute("else_branch", other)}),
               node("Sigmoid", {"b"}, {"y"})},
              {value("x", kFloat, {kFree})}, {value("y", kFloat, {kFree})},
              {constant<float>("limit", kFloat, {}, {3})}));
}

}  // namespace tengine::ort_host
