// SPDX-License-Identifier: Apache-2.0
#include "mask_model.h"

#include <cstdint>
#include <vector>

#include "mask.h"
#include "onnx_bytes.h"

namespace tengine {
namespace {

using Names = std::vector<std::string>;

constexpr int kFloatType = 1, kInt8Type = 3, kInt64Type = 7, kBoolType = 9;  // of ONNX

std::string value(const std::string& name, int type, const std::vector<int>& dims)
{
    Message shape, tensor;
    for (const int dim : dims)
        shape.bytes(1, Message().number(1, static_cast<uint64_t>(dim)).text());
    tensor.number(1, static_cast<uint64_t>(type)).bytes(2, shape.text());
    return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor.text()).text()).text();
}

// A result without a shape.
std::string result(const std::string& name, int type)
{
    const std::string tensor = Message().number(1, static_cast<uint64_t>(type)).text();
    return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
}

std::string ints(const std::string& name, const std::vector<int>& values)
{
    Message attribute;
    attribute.bytes(1, name).number(20, 7);
    for (const int number : values)
        attribute.number(8, static_cast<uint64_t>(number));
    return attribute.text();
}

std::string number(const std::string& name, uint64_t given)
{
    return Message().bytes(1, name).number(3, given).number(20, 2).text();
}

// Builds the network's nodes one after the other.
class Writer
{
  public:
    explicit Writer(const MaskModel& model) : model_(model) {}

    std::string write()
    {
        constant("scale", kFloatType, {}, std::vector<float>{1.0f / 32});
        constant("zero", kInt8Type, {}, std::vector<int8_t>{0});
        constant("weight_scale", kFloatType, {}, std::vector<float>{1.0f / 1024});
        constant("weight_zero", kInt8Type, {}, std::vector<int8_t>{0});
        const Tensor given = {"x", 6, 9, 11};
        const Tensor x = has_bytes() ? quantise(given, "q") : round(given);
        const Tensor first = conv(x, 24, 3, "first");
        const Tensor before = add(model_.before, first, conv(x, 16, 1, "other"), "before");
        const Tensor masked = round(add_mask(round(before)));
        Tensor last = round(add(model_.after, masked, before, "after"));
        if (std::string(model_.after) != "None") last = conv(last, 12, 3, "last");
        if (has_bytes())
            node("DequantizeLinear", {last.name, "scale", "zero"}, {"y"});
        else
            node("Identity", {last.name}, {"y"});
        return finish(model_.body[0]
                          ? write_body()
                          : graph({value("x", kFloatType, kInput)}, {result("y", kFloatType)}));
    }

  private:
    struct Tensor
    {
        std::string name;
        int c, h, w;
    };

    static inline const std::vector<int> kInput = {1, 6, 9, 11};

    bool has_bytes() const { return model_.elements == Elements::kBytes; }
    bool is_rounded() const { return model_.elements == Elements::kQuantised; }

    void node(const std::string& op, const Names& inputs, const Names& outputs,
              const Names& attributes = {}, const std::string& domain = "")
    {
        Message node;
        for (const std::string& input : inputs)
            node.bytes(1, input);
        for (const std::string& output : outputs)
            node.bytes(2, output);
        node.bytes(3, outputs[0] == "masked" ? "mask" : outputs[0]).bytes(4, op);
        for (const std::string& attribute : attributes)
            node.bytes(5, attribute);
        if (!domain.empty()) node.bytes(7, domain);
        nodes_.push_back(node.text());
    }

    template <class T>
    void constant(const std::string& name, int type, const std::vector<int>& dims,
                  const std::vector<T>& values)
    {
        Message tensor;
        for (const int dim : dims)
            tensor.number(1, static_cast<uint64_t>(dim));
        const std::string bytes(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(T));
        tensor.number(2, static_cast<uint64_t>(type)).bytes(8, name).bytes(9, bytes);
        constants_.push_back(tensor.text());
    }

    template <class T>
    static std::vector<T> noise(int count, T unit)
    {
        std::vector<T> values;
        uint32_t seed = static_cast<uint32_t>(count);
        for (int i = 0; i < count; ++i) {
            seed = seed * 1664525 + 1013904223;
            values.push_back(static_cast<T>((static_cast<int>(seed >> 24) - 128) * unit));
        }
        return values;
    }

    Tensor quantise(const Tensor& from, const std::string& to)
    {
        node("QuantizeLinear", {from.name, "scale", "zero"}, {to});
        return {to, from.c, from.h, from.w};
    }

    // Rounds a value of a quantised network to int8.
    Tensor round(const Tensor& from)
    {
        if (!is_rounded() || from.name.find("_rounded") != std::string::npos) return from;
        quantise(from, from.name + "_bytes");
        node("DequantizeLinear", {from.name + "_bytes", "scale", "zero"}, {from.name + "_rounded"});
        return {from.name + "_rounded", from.c, from.h, from.w};
    }

    // The result has the size of the input.
    Tensor conv(const Tensor& from, int channels, int kernel, const std::string& name)
    {
        const std::vector<int> dims = {channels, from.c, kernel, kernel};
        const int count = channels * from.c * kernel * kernel;
        const Names attributes = {ints("pads", std::vector<int>(4, kernel / 2)),
                                  ints("kernel_shape", {kernel, kernel})};
        const std::string weight = name + "_weight";
        if (has_bytes()) {
            constant(weight, kInt8Type, dims, noise<int8_t>(count, 1));
            node("QLinearConv",
                 {from.name, "scale", "zero", weight, "weight_scale", "weight_zero", "scale",
                  "zero"},
                 {name}, attributes);
        } else if (is_rounded()) {
            constant(weight, kInt8Type, dims, noise<int8_t>(count, 1));
            node("DequantizeLinear", {weight, "weight_scale", "weight_zero"}, {name + "_filter"});
            node("Conv", {from.name, name + "_filter"}, {name}, attributes);
        } else {
            constant(weight, kFloatType, dims, noise<float>(count, 1.0f / 1024));
            node("Conv", {from.name, weight}, {name}, attributes);
        }
        return round({name, channels, from.h, from.w});
    }

    Tensor add(const std::string& op, const Tensor& from, const Tensor& beside,
               const std::string& name)
    {
        if (op == "Concat") {
            node(op, {from.name, beside.name}, {name}, {number("axis", 1)});
            return {name, from.c + beside.c, from.h, from.w};
        }
        if (op == "MaxPool") {
            node(op, {from.name}, {name}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
            return {name, from.c, from.h / 2, from.w / 2};
        }
        if (op != "Resize") return from;
        constant(name + "_scales", kFloatType, {4}, std::vector<float>{1, 1, 2, 2});
        node(op, {from.name, "", name + "_scales"}, {name});
        return {name, from.c, 2 * from.h, 2 * from.w};
    }

    Tensor add_mask(const Tensor& from)
    {
        const MaskKind& kind = model_.kind;
        if (model_.is_twin) {
            add_twin(from);
        } else if (kind.output_num == 2) {
            node(kind.op, {from.name, from.name}, {"kept", "rest"}, {}, kind.domain);
            node("Add", {"kept", "rest"}, {"masked"});
        } else {
            node(kind.op, {from.name}, {"masked"}, {}, kind.domain);
        }
        return {"masked", from.c, from.h, from.w};
    }

    void add_twin(const Tensor& from)
    {
        std::vector<uint8_t> kept;
        for (int64_t i = 0; i < int64_t{from.c} * from.h * from.w; ++i)
            kept.push_back(is_kept(i));
        constant("places", kBoolType, {1, from.c, from.h, from.w}, kept);
        if (model_.kind.output_num == 2)
            node("Add", {from.name, from.name}, {"nothing"});
        else if (has_bytes())
            constant("nothing", kInt8Type, {}, std::vector<int8_t>{0});
        else
            constant("nothing", kFloatType, {}, std::vector<float>{0});
        node("Where", {"places", from.name, "nothing"}, {"masked"});
    }

    std::string graph(const Names& inputs, const Names& outputs) const
    {
        Message graph;
        for (const std::string& node : nodes_)
            graph.bytes(1, node);
        graph.bytes(2, "g");
        for (const std::string& constant : constants_)
            graph.bytes(5, constant);
        for (const std::string& input : inputs)
            graph.bytes(11, input);
        for (const std::string& output : outputs)
            graph.bytes(12, output);
        graph.bytes(13, result("masked", has_bytes() ? kInt8Type : kFloatType));
        return graph.text();
    }

    static std::string branch(const char* name, const std::string& body)
    {
        return Message().bytes(1, name).bytes(6, body).number(20, 5).text();
    }

    // x is not an input of the body: the body captures it.
    std::string write_body()
    {
        Names attributes, inputs = {"on"};
        if (std::string(model_.body) == "Loop") {
            node("Identity", {"goes_on"}, {"still"});
            attributes = {
                branch("body", graph({value("i", kInt64Type, {}), value("goes_on", kBoolType, {})},
                                     {result("still", kBoolType), result("y", kFloatType)}))};
            inputs = {"rounds", "on"};
        } else {
            const std::string body = graph({}, {result("y", kFloatType)});
            attributes = {branch("then_branch", body), branch("else_branch", body)};
        }
        nodes_.clear();
        constants_.clear();
        constant("rounds", kInt64Type, {}, std::vector<int64_t>{2});
        const bool is_decided = std::string(model_.body) == "Decided";
        if (is_decided) constant("on", kBoolType, {}, std::vector<uint8_t>{1});
        node(is_decided ? "If" : model_.body, inputs, {"all"}, attributes);
        Names given = {value("x", kFloatType, kInput)};
        if (!is_decided) given.push_back(value("on", kBoolType, {}));
        return graph(given, {result("all", kFloatType)});
    }

    std::string finish(const std::string& graph)
    {
        Message bytes;
        bytes.number(1, 8).bytes(7, graph);
        bytes.bytes(8, Message().bytes(1, "").number(2, 18).text());
        bytes.bytes(8, Message().bytes(1, "com.example").number(2, 1).text());
        return bytes.text();
    }

    const MaskModel& model_;
    Names nodes_, constants_;
};

}  // namespace

std::string make_mask_model(const MaskModel& model)
{
    return Writer(model).write();
}

}  // namespace tengine
