// SPDX-License-Identifier: Apache-2.0
// Nodes of com.microsoft against results of ONNX Runtime 1.30 (npm's onnxruntime-node) for the same
// inputs, which a generator reproduces. int8 and uint8 averages avoid scales whose quotient makes
// ties, which ONNX Runtime decides by the rounding of its sums.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

constexpr int kUint8 = TENGINE_DT_UINT8, kInt8 = TENGINE_DT_INT8, kFloat = TENGINE_DT_FP32,
              kInt64 = TENGINE_DT_INT64, kBool = TENGINE_DT_BOOL;

using Floats = std::vector<float>;

struct Value
{
    int type;
    std::vector<int> dims;
    Floats numbers;  // empty: from the generator
};

struct Attribute
{
    const char* name;
    enum
    {
        kWhole,
        kFloating,
        kList
    } kind;
    Floats numbers;
};

struct RuntimeCase
{
    const char* op;
    std::vector<Value> inputs;
    std::vector<Attribute> attributes;
    Floats expected;
};

// Numerical Recipes' generator, from 1 on, as in the program that recorded the results.
class Generator
{
  public:
    // From -1 to 1.
    double next()
    {
        state_ = state_ * 1664525 + 1013904223;
        return state_ / 4294967296.0 * 2 - 1;
    }

  private:
    uint32_t state_ = 1;
};

Floats numbers_for(const Value& value, Generator* generator)
{
    if (!value.numbers.empty()) return value.numbers;
    int number = 1;
    for (const int dim : value.dims)
        number *= dim;
    Floats numbers;
    for (int i = 0; i < number; ++i) {
        const double next = generator->next();
        const double byte = std::min(255.0, std::floor((next + 1) * 128));
        numbers.push_back(static_cast<float>(value.type == kFloat   ? next
                                             : value.type == kUint8 ? byte
                                                                    : byte - 128));
    }
    return numbers;
}

template <class T>
Floats to_floats(const std::vector<T>& numbers)
{
    return Floats(numbers.begin(), numbers.end());
}

template <class T>
std::vector<T> convert(const Floats& numbers)
{
    std::vector<T> converted;
    for (const float number : numbers)
        converted.push_back(static_cast<T>(number));
    return converted;
}

void add_input(ConstantGraph* graph, const std::string& name, const Value& value,
               const Floats& numbers)
{
    switch (value.type) {
        case kUint8:
            return graph->input(name, value.dims, convert<uint8_t>(numbers));
        case kInt8:
            return graph->input(name, value.dims, convert<int8_t>(numbers));
        case kInt64:
            return graph->input(name, value.dims, convert<int64_t>(numbers));
        case kBool:
            return graph->bools(name, value.dims, convert<uint8_t>(numbers));
        default:
            return graph->input(name, value.dims, numbers);
    }
}

int set_attribute(node* node, const Attribute& attribute)
{
    const std::vector<int64_t> integers = convert<int64_t>(attribute.numbers);
    switch (attribute.kind) {
        case Attribute::kWhole:
            return set_node_int(node, attribute.name, integers[0]);
        case Attribute::kFloating:
            return set_node_float(node, attribute.name, attribute.numbers[0]);
        default:
            return set_node_ints(node, attribute.name, integers.data(),
                                 static_cast<int>(integers.size()));
    }
}

const RuntimeCase kCases[] = {
    {"QLinearAdd",
     {{kUint8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kUint8, {5}, {}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {125}},
      {kFloat, {}, {0.07f}},
      {kUint8, {}, {129}}},
     {},
     {53, 97, 141, 206, 17, 78, 171, 151, 80, 125}},
    {"QLinearMul",
     {{kUint8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kUint8, {5}, {}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {125}},
      {kFloat, {}, {0.11f}},
      {kUint8, {}, {129}}},
     {},
     {187, 137, 129, 194, 235, 158, 112, 134, 0, 97}},
    {"QLinearLeakyRelu",
     {{kUint8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.041f}},
      {kUint8, {}, {121}}},
     {{"alpha", Attribute::kFloating, {0.1f}}},
     {113, 117, 122, 184, 107, 117, 206, 138, 106, 164}},
    {"QLinearSigmoid",
     {{kUint8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.00390625f}},
      {kUint8, {}, {0}}},
     {},
     {8, 40, 131, 238, 1, 40, 248, 171, 1, 218}},
    {"QLinearSoftmax",
     {{kUint8, {2, 5}, {}},
      {kFloat, {}, {0.03f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.00390625f}},
      {kUint8, {}, {0}}},
     {{"axis", Attribute::kWhole, {-1}}, {"opset", Attribute::kWhole, {13}}},
     {5, 15, 42, 193, 1, 7, 162, 30, 0, 57}},
    {"QLinearConcat",
     {{kFloat, {}, {0.06f}},
      {kUint8, {}, {128}},
      {kUint8, {2, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {123}},
      {kUint8, {2, 2}, {}},
      {kFloat, {}, {0.07f}},
      {kUint8, {}, {137}}},
     {{"axis", Attribute::kWhole, {1}}},
     {75, 104, 133, 199, 134, 176, 35, 104, 0, 158}},
    {"QLinearWhere",
     {{kBool, {2, 5}, {1, 0, 0, 1, 1, 0, 1, 0, 1, 1}},
      {kUint8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kUint8, {2, 5}, {}},
      {kFloat, {}, {0.07f}},
      {kUint8, {}, {124}},
      {kFloat, {}, {0.061f}},
      {kUint8, {}, {130}}},
     {},
     {74, 112, 161, 173, 35, 255, 187, 83, 28, 159}},
    {"QLinearGlobalAveragePool",
     {{kUint8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.021f}},
      {kUint8, {}, {128}}},
     {{"channels_last", Attribute::kWhole, {0}}},
     {71, 115}},
    {"QLinearAveragePool",
     {{kUint8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {126}}},
     {{"channels_last", Attribute::kWhole, {0}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {0}}},
     {59, 52, 99, 124, 34, 30, 255, 152, 35, 141, 79, 37}},
    {"QLinearAveragePool",
     {{kUint8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {126}}},
     {{"channels_last", Attribute::kWhole, {0}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {1}}},
     {81, 77, 117, 124, 34, 78, 213, 143, 96, 141, 79, 82}},
    {"QLinearGlobalAveragePool",
     {{kUint8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.021f}},
      {kUint8, {}, {128}}},
     {{"channels_last", Attribute::kWhole, {1}}},
     {50, 135}},
    {"QLinearAveragePool",
     {{kUint8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {126}}},
     {{"channels_last", Attribute::kWhole, {1}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {0}}},
     {77, 153, 4, 139, 0, 82, 92, 170, 33, 111, 82, 66}},
    {"QLinearAveragePool",
     {{kUint8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kUint8, {}, {128}},
      {kFloat, {}, {0.031f}},
      {kUint8, {}, {126}}},
     {{"channels_last", Attribute::kWhole, {1}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {1}}},
     {93, 144, 45, 135, 78, 111, 92, 170, 33, 111, 104, 96}},
    {"NhwcMaxPool",
     {{kUint8, {1, 5, 4, 2}, {}}},
     {{"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 2}},
      {"pads", Attribute::kList, {1, 0, 1, 1}}},
     {129, 180, 198, 251, 220, 181, 238, 251, 149, 251, 238, 254}},
    {"QLinearAdd",
     {{kInt8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kInt8, {5}, {}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {0}},
      {kFloat, {}, {0.07f}},
      {kInt8, {}, {4}}},
     {},
     {-75, -31, 13, 77, -111, -51, 43, 22, -49, -3}},
    {"QLinearMul",
     {{kInt8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kInt8, {5}, {}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {0}},
      {kFloat, {}, {0.11f}},
      {kInt8, {}, {4}}},
     {},
     {68, 14, 3, 63, 118, 37, -15, 8, -128, -27}},
    {"QLinearLeakyRelu",
     {{kInt8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.041f}},
      {kInt8, {}, {-4}}},
     {{"alpha", Attribute::kFloating, {0.1f}}},
     {-13, -9, -4, 56, -19, -9, 78, 9, -19, 35}},
    {"QLinearSigmoid",
     {{kInt8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.00390625f}},
      {kInt8, {}, {-128}}},
     {},
     {-121, -93, -6, 108, -127, -93, 119, 34, -128, 85}},
    {"QLinearSoftmax",
     {{kInt8, {2, 5}, {}},
      {kFloat, {}, {0.03f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.00390625f}},
      {kInt8, {}, {-128}}},
     {{"axis", Attribute::kWhole, {-1}}, {"opset", Attribute::kWhole, {13}}},
     {-123, -113, -86, 65, -127, -121, 34, -98, -128, -71}},
    {"QLinearConcat",
     {{kFloat, {}, {0.06f}},
      {kInt8, {}, {3}},
      {kInt8, {2, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {-2}},
      {kInt8, {2, 2}, {}},
      {kFloat, {}, {0.07f}},
      {kInt8, {}, {12}}},
     {{"axis", Attribute::kWhole, {1}}},
     {-52, -24, 6, 71, 5, 48, -92, -24, -128, 30}},
    {"QLinearWhere",
     {{kBool, {2, 5}, {1, 0, 0, 1, 1, 0, 1, 0, 1, 1}},
      {kInt8, {2, 5}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kInt8, {2, 5}, {}},
      {kFloat, {}, {0.07f}},
      {kInt8, {}, {-1}},
      {kFloat, {}, {0.061f}},
      {kInt8, {}, {5}}},
     {},
     {-53, -17, 33, 45, -93, 127, 60, -45, -99, 31}},
    {"QLinearGlobalAveragePool",
     {{kInt8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.021f}},
      {kInt8, {}, {3}}},
     {{"channels_last", Attribute::kWhole, {0}}},
     {-61, -17}},
    {"QLinearAveragePool",
     {{kInt8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {1}}},
     {{"channels_last", Attribute::kWhole, {0}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {0}}},
     {-71, -78, -30, -6, -96, -100, 127, 22, -95, 11, -51, -93}},
    {"QLinearAveragePool",
     {{kInt8, {1, 2, 4, 3}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {1}}},
     {{"channels_last", Attribute::kWhole, {0}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {1}}},
     {-47, -51, -9, -6, -96, -49, 85, 15, -31, 11, -51, -46}},
    {"QLinearGlobalAveragePool",
     {{kInt8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.021f}},
      {kInt8, {}, {3}}},
     {{"channels_last", Attribute::kWhole, {1}}},
     {-82, 3}},
    {"QLinearAveragePool",
     {{kInt8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {1}}},
     {{"channels_last", Attribute::kWhole, {1}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {0}}},
     {-53, 23, -126, 9, -128, -47, -38, 40, -97, -19, -48, -64}},
    {"QLinearAveragePool",
     {{kInt8, {1, 4, 3, 2}, {}},
      {kFloat, {}, {0.05f}},
      {kInt8, {}, {3}},
      {kFloat, {}, {0.031f}},
      {kInt8, {}, {1}}},
     {{"channels_last", Attribute::kWhole, {1}},
      {"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 1}},
      {"pads", Attribute::kList, {1, 0, 1, 1}},
      {"count_include_pad", Attribute::kWhole, {1}}},
     {-35, 16, -84, 7, -49, -15, -38, 40, -97, -19, -23, -32}},
    {"NhwcMaxPool",
     {{kInt8, {1, 5, 4, 2}, {}}},
     {{"kernel_shape", Attribute::kList, {3, 2}},
      {"strides", Attribute::kList, {2, 2}},
      {"pads", Attribute::kList, {1, 0, 1, 1}}},
     {1, 52, 70, 123, 92, 53, 110, 123, 21, 123, 110, 126}},
    {"Gelu",
     {{kFloat, {6}, {}}},
     {},
     {-0.15763432f, -0.10376495f, 0.0042707473f, 0.27004081f, -0.16571417f, -0.10361819f}},
    {"FastGelu",
     {{kFloat, {2, 4}, {}}, {kFloat, {4}, {}}},
     {},
     {-0.10118213f, 0.0086324569f, -0.15301387f, 0.15282743f, -0.057907086f, 0.0088869734f,
      0.026228184f, -0.02070079f}},
    {"FastGelu",
     {{kFloat, {6}, {}}},
     {},
     {-0.15765518f, -0.10376641f, 0.0042707473f, 0.27003255f, -0.16583119f, -0.10361965f}},
    {"QuickGelu",
     {{kFloat, {6}, {}}},
     {},
     {-0.15266906f, -0.10211258f, 0.0042726588f, 0.27356672f, -0.16000743f, -0.10197148f}},
    {"QuickGelu",
     {{kFloat, {6}, {}}},
     {{"alpha", Attribute::kFloating, {0.7f}}},
     {-0.21546964f, -0.11879951f, 0.0042546284f, 0.23406744f, -0.31253681f, -0.11859685f}},
    {"BiasGelu",
     {{kFloat, {2, 4}, {}}, {kFloat, {4}, {}}},
     {},
     {-0.10096314f, 0.0086324569f, -0.15299779f, 0.15282875f, -0.057891961f, 0.0088869734f,
      0.026228188f, -0.020700788f}},
    {"SkipLayerNormalization",
     {{kFloat, {2, 1, 4}, {}},
      {kFloat, {2, 1, 4}, {}},
      {kFloat, {4}, {}},
      {kFloat, {4}, {}},
      {kFloat, {4}, {}}},
     {{"epsilon", Attribute::kFloating, {0.001f}}},
     {-1.7738466f, -1.1165143f, -0.78601408f, -0.32885462f, -1.7670922f, -1.0611606f, -0.82436228f,
      -0.31277817f}},
    {"SkipSimplifiedLayerNormalization",
     {{kFloat, {2, 1, 4}, {}}, {kFloat, {2, 1, 4}, {}}, {kFloat, {4}, {}}, {kFloat, {4}, {}}},
     {{"epsilon", Attribute::kFloating, {0.001f}}},
     {-1.1510714f, 0.2072233f, -0.38113949f, -0.0052411337f, -1.0695766f, 0.15086909f, -0.35327074f,
      0.051622774f}},
    {"RotaryEmbedding",
     {{kFloat, {1, 2, 8}, {}},
      {kInt64, {1, 2}, {1, 3}},
      {kFloat, {4, 2}, {}},
      {kFloat, {4, 2}, {}}},
     {{"num_heads", Attribute::kWhole, {2}}},
     {-0.19390218f, 0.082456931f, -0.084279321f, 0.088891402f, -0.41938505f, 0.010705701f,
      0.051673315f, 0.070060618f, 1.260501f, -0.20108342f, -0.40430734f, -0.12351771f, 0.30062279f,
      0.37662509f, 0.61133319f, -0.78331089f}},
    {"RotaryEmbedding",
     {{kFloat, {1, 2, 8}, {}}, {kInt64, {1}, {2}}, {kFloat, {4, 4}, {}}, {kFloat, {4, 4}, {}}},
     {{"interleaved", Attribute::kWhole, {1}}},
     {0.62959576f, -0.28895286f, -0.38575524f, 0.17790502f, -0.32910323f, 0.57706463f, -0.10393521f,
      -0.16750117f, 0.35477433f, -0.49208137f, -0.35491759f, 0.25794497f, 0.16675314f, 0.57764119f,
      0.96921802f, -0.2751528f}},
};

TEST(RuntimeCase, NumbersAreThoseOfOnnxRuntime)
{
    for (const RuntimeCase& row : kCases) {
        ConstantGraph graph;
        Generator generator;
        std::vector<std::string> names;
        for (const Value& value : row.inputs) {
            names.push_back("x" + std::to_string(names.size()));
            add_input(&graph, names.back(), value, numbers_for(value, &generator));
        }
        node* made = graph.add(std::string("com.microsoft.") + row.op, names);
        for (const Attribute& attribute : row.attributes)
            ASSERT_EQ(set_attribute(made, attribute), 0) << row.op << " " << attribute.name;
        const tensor* y = graph.evaluate();
        ASSERT_NE(y, nullptr) << row.op;
        const Floats given = y->data_type == kUint8  ? to_floats(values_of<uint8_t>(y))
                             : y->data_type == kInt8 ? to_floats(values_of<int8_t>(y))
                                                     : numbers_of(y);
        ASSERT_EQ(given.size(), row.expected.size()) << row.op;
        // Integers are equal; eight digits are recorded of numbers around 1, and a float has seven.
        const float most = y->data_type == kFloat ? 2e-6f : 0;
        for (size_t i = 0; i < given.size(); ++i)
            EXPECT_NEAR(given[i], row.expected[i], most) << row.op << " " << i;
    }
}

}  // namespace
}  // namespace tengine::test
