// SPDX-License-Identifier: Apache-2.0
// Elements of 4 and 2 bits and floats of 4 and 8 bits: operators that cast, quantise and move them,
// and that no other operator accepts them. Tensors are given as their packed bytes.
#include <cmath>
#include <limits>
#include <set>

#include "constant_graph.h"
#include "operator/onnx_type.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;

Bytes bytes_of(const tensor* value, int data_type)
{
    if (!value) return {};
    EXPECT_EQ(value->data_type, data_type);
    return {value->u8, value->u8 + get_ir_tensor_bytes(value)};
}

void add_small(ConstantGraph* graph, const std::string& name, std::vector<int> dims,
               const Bytes& bytes, int data_type)
{
    graph->builder().constant(name, std::move(dims), bytes, data_type);
}

// ---- Cast ----

template <class T>
Bytes cast_to(const std::vector<T>& x, int data_type, int saturate = 1, const char* mode = "up")
{
    ConstantGraph graph;
    graph.input("x", {static_cast<int>(x.size())}, x);
    node* cast = graph.add("Cast", {"x"});
    EXPECT_EQ(set_node_int(cast, "to", get_onnx_type(data_type)), 0);
    EXPECT_EQ(set_node_int(cast, "saturate", saturate), 0);
    EXPECT_EQ(set_node_text(cast, "round_mode", mode, static_cast<int>(std::string(mode).size())),
              0);
    return bytes_of(graph.evaluate(), data_type);
}

Floats cast_from(const Bytes& bytes, int data_type, int number)
{
    ConstantGraph graph;
    add_small(&graph, "x", {number}, bytes, data_type);
    EXPECT_EQ(set_node_int(graph.add("Cast", {"x"}), "to", 1), 0);
    return values_of<float>(graph.evaluate());
}

TEST(SmallCast, IntegersAreCutAndKeepTheirLowBits)
{
    const Floats x = {-9.0f, 8.9f, -1.9f, 2.5f, 17.0f};
    EXPECT_EQ(cast_to(x, TENGINE_DT_INT4), (Bytes{0x87, 0x2f, 0x01}));
    EXPECT_EQ(cast_to(x, TENGINE_DT_UINT4), (Bytes{0x87, 0x2f, 0x01}));
    EXPECT_EQ(cast_to(x, TENGINE_DT_INT2), (Bytes{0xb3, 0x01}));
    EXPECT_EQ(cast_to(x, TENGINE_DT_UINT2), (Bytes{0xb3, 0x01}));
    EXPECT_EQ(cast_to<int64_t>({INT64_MIN + 5, -1, 300}, TENGINE_DT_INT4), (Bytes{0xf5, 0x0c}));
    EXPECT_EQ(cast_to<uint64_t>({UINT64_MAX, 6}, TENGINE_DT_UINT2), (Bytes{0x0b}));
}

TEST(SmallCast, IntegersBecomeWhatTheyAre)
{
    EXPECT_EQ(cast_from({0x87, 0x0f}, TENGINE_DT_INT4, 3), (Floats{7, -8, -1}));
    EXPECT_EQ(cast_from({0x87, 0x0f}, TENGINE_DT_UINT4, 3), (Floats{7, 8, 15}));
    EXPECT_EQ(cast_from({0xe4, 0x01}, TENGINE_DT_INT2, 5), (Floats{0, 1, -2, -1, 1}));
    EXPECT_EQ(cast_from({0xe4, 0x01}, TENGINE_DT_UINT2, 5), (Floats{0, 1, 2, 3, 1}));
}

TEST(SmallCast, FloatsRoundOnce)
{
    // Just above the middle between 1 and 1.125: as a float it is exactly the middle, which becomes
    // 1.
    EXPECT_EQ(cast_to<double>({1 + 0x1p-4 + 0x1p-40, 1 + 0x1p-4}, TENGINE_DT_FLOAT8E4M3FN),
              (Bytes{0x39, 0x38}));
    EXPECT_EQ(cast_to<float>({3.5f, -0.25f, 100.0f, std::nanf("")}, TENGINE_DT_FLOAT4E2M1, 0),
              (Bytes{0x86, 0x87}));
    EXPECT_EQ(cast_to<float>({1e6f, -1e6f}, TENGINE_DT_FLOAT8E5M2), (Bytes{0x7b, 0xfb}));
    EXPECT_EQ(cast_to<float>({1e6f, -1e6f}, TENGINE_DT_FLOAT8E5M2, 0), (Bytes{0x7c, 0xfc}));
    EXPECT_EQ(cast_to<int32_t>({-17, 500}, TENGINE_DT_FLOAT8E4M3FN), (Bytes{0xd8, 0x7e}));
}

TEST(SmallCast, PowersOfTwoFollowTheRoundMode)
{
    const Floats x = {1.0f, 1.4f, 1.5f, 1.6f};
    EXPECT_EQ(cast_to(x, TENGINE_DT_FLOAT8E8M0, 1, "up"), (Bytes{127, 128, 128, 128}));
    EXPECT_EQ(cast_to(x, TENGINE_DT_FLOAT8E8M0, 1, "down"), (Bytes{127, 127, 127, 127}));
    EXPECT_EQ(cast_to(x, TENGINE_DT_FLOAT8E8M0, 1, "nearest"), (Bytes{127, 127, 128, 128}));
    // A double cannot represent 2^60 + 1.
    EXPECT_EQ(cast_to<int64_t>({(INT64_C(1) << 60) + 1, INT64_C(1) << 60}, TENGINE_DT_FLOAT8E8M0),
              (Bytes{127 + 61, 127 + 60}));
    EXPECT_EQ(cast_to<uint64_t>({UINT64_MAX, UINT64_C(1) << 63}, TENGINE_DT_FLOAT8E8M0, 1, "down"),
              (Bytes{127 + 63, 127 + 63}));
}

TEST(SmallCast, BetweenSmallTypesAndToBool)
{
    ConstantGraph graph;
    add_small(&graph, "x", {5}, {0x0f, 0x71, 0x02}, TENGINE_DT_FLOAT4E2M1);  // -6 0 0.5 6 1
    add_small(&graph, "like", {1}, {0}, TENGINE_DT_INT4);
    graph.add("CastLike", {"x", "like"});
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_INT4), (Bytes{0x0a, 0x60, 0x01}));
    ConstantGraph flags;
    add_small(&flags, "x", {4}, {0x00, 0x80, 0x7f, 0x01},
              TENGINE_DT_FLOAT8E4M3FN);  // 0 -0 NaN 2^-9
    flags.bools("like", {1}, {0});
    flags.add("CastLike", {"x", "like"});
    EXPECT_EQ(numbers_of(flags.evaluate()), (Floats{0, 0, 1, 1}));
}

// More than a block, and an end within a byte.
TEST(SmallCast, LargeTensorsComeBack)
{
    std::vector<int8_t> x(20001);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int8_t>(i * 7 % 16) - 8;
    ConstantGraph graph;
    graph.input("x", {20001}, x);
    ASSERT_EQ(set_node_int(graph.add("Cast", {"x"}, {"packed"}), "to", 22), 0);
    ASSERT_EQ(set_node_int(graph.add("Cast", {"packed"}), "to", 3), 0);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), x);
}

// ---- movers ----

TEST(SmallMove, TransposesElements)
{
    ConstantGraph graph;
    add_small(&graph, "x", {2, 3}, {0x21, 0x43, 0x65}, TENGINE_DT_UINT4);
    graph.add("Transpose", {"x"});
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_UINT4), (Bytes{0x41, 0x52, 0x63}));
    ConstantGraph few;
    add_small(&few, "x", {3, 3}, {0xe4, 0x1b, 0x02}, TENGINE_DT_INT2);
    few.add("Transpose", {"x"}, {"z"});
    few.add("Transpose", {"z"});
    EXPECT_EQ(bytes_of(few.evaluate(), TENGINE_DT_INT2), (Bytes{0xe4, 0x1b, 0x02}));
}

TEST(SmallMove, PadsWithAnElement)
{
    ConstantGraph graph;
    add_small(&graph, "x", {2, 2}, {0x21, 0x43}, TENGINE_DT_INT4);
    graph.builder().ints("pads", {0, 1, 0, 0});
    add_small(&graph, "value", {}, {0x0f}, TENGINE_DT_INT4);
    graph.add("Pad", {"x", "pads", "value"});
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_INT4), (Bytes{0x1f, 0xf2, 0x43}));
    ConstantGraph edge;
    add_small(&edge, "x", {3}, {0x21, 0x03}, TENGINE_DT_FLOAT4E2M1);
    edge.builder().ints("pads", {0, 2});
    set_node_text(edge.add("Pad", {"x", "pads"}), "mode", "edge", 4);
    EXPECT_EQ(bytes_of(edge.evaluate(), TENGINE_DT_FLOAT4E2M1), (Bytes{0x21, 0x33, 0x03}));
}

TEST(SmallMove, ViewsKeepTheBytes)
{
    ConstantGraph graph;
    add_small(&graph, "x", {3, 1}, {0x21, 0x03}, TENGINE_DT_UINT4);
    graph.builder().ints("axes", {1});
    graph.builder().ints("shape", {1, 3});
    graph.add("Squeeze", {"x", "axes"}, {"a"});
    graph.add("Reshape", {"a", "shape"}, {"b"});
    graph.add("Flatten", {"b"}, {"c"});
    graph.add("Unsqueeze", {"c", "axes"}, {"d"});
    graph.add("Identity", {"d"});
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{1, 1, 3}));
    EXPECT_EQ(bytes_of(y, TENGINE_DT_UINT4), (Bytes{0x21, 0x03}));
    ConstantGraph size;
    add_small(&size, "x", {3, 1}, {0x21, 0x03}, TENGINE_DT_UINT4);
    size.add("Size", {"x"});
    EXPECT_EQ(values_of<int64_t>(size.evaluate()), std::vector<int64_t>{3});
}

TEST(SmallMove, ConstantsOfAShape)
{
    const auto fill = [](int data_type, uint8_t code, std::vector<int> dims, int number) {
        ConstantGraph graph;
        graph.builder().ints("shape", {number});
        node* made = graph.add("ConstantOfShape", {"shape"});
        op_tensor value = {};
        value.data_type = data_type;
        value.dim_num = static_cast<int>(dims.size());
        std::copy(dims.begin(), dims.end(), value.dims);
        value.size = 1;
        value.data = &code;
        EXPECT_EQ(set_node_tensor(made, "value", &value), 0);
        if (!dims.empty() && dims[0] == 2) {
            graph.expect_failure(TENGINE_EINVAL, "one element of int4");
            return Bytes();
        }
        return bytes_of(graph.evaluate(), data_type);
    };
    EXPECT_EQ(fill(TENGINE_DT_INT4, 0x09, {1}, 5), (Bytes{0x99, 0x99, 0x09}));
    EXPECT_EQ(fill(TENGINE_DT_UINT2, 0x02, {}, 6), (Bytes{0xaa, 0x0a}));
    EXPECT_EQ(fill(TENGINE_DT_FLOAT8E5M2, 0x3c, {1}, 2), (Bytes{0x3c, 0x3c}));
    fill(TENGINE_DT_INT4, 0x99, {2}, 5);  // two elements fill a byte, too
}

// Rows of 3 elements, so that the third byte has elements of two rows: batch 0 is written to row 1,
// batch 1 to 0.
TEST(SmallMove, ScattersIntoACache)
{
    ConstantGraph graph;
    add_small(&graph, "cache", {2, 2, 3}, {0x21, 0x43, 0x65, 0x21, 0x43, 0x65}, TENGINE_DT_UINT4);
    add_small(&graph, "update", {2, 1, 3}, {0xba, 0xdc, 0xfe}, TENGINE_DT_UINT4);
    graph.builder().ints("first", {1, 0});
    graph.add("TensorScatter", {"cache", "update", "first"});
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_UINT4),
              (Bytes{0x21, 0xa3, 0xcb, 0xed, 0x4f, 0x65}));
}

TEST(SmallMove, BitsStayWhatTheyAre)
{
    const auto turn = [](ConstantGraph* graph, int from, int to) {
        add_small(graph, "x", {3}, {0x2f, 0x09}, from);
        EXPECT_EQ(set_node_int(graph->add("BitCast", {"x"}), "to", get_onnx_type(to)), 0);
    };
    ConstantGraph graph;
    turn(&graph, TENGINE_DT_INT4, TENGINE_DT_FLOAT4E2M1);
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_FLOAT4E2M1), (Bytes{0x2f, 0x09}));
    ConstantGraph other;
    turn(&other, TENGINE_DT_INT4, TENGINE_DT_INT8);
    other.expect_failure(TENGINE_EDTYPE,
                         "elements of int4 have 4 bits, those of int8 8: expected as many");
}

TEST(SmallMove, WhatIsNoNumber)
{
    const auto ask = [](const char* op, int data_type) {
        ConstantGraph graph;
        add_small(&graph, "x", {4}, {0x38, 0x7c, 0xfe, 0x80}, data_type);
        graph.add(op, {"x"});
        return numbers_of(graph.evaluate());
    };
    EXPECT_EQ(ask("IsNaN", TENGINE_DT_FLOAT8E5M2), (Floats{0, 0, 1, 0}));
    EXPECT_EQ(ask("IsInf", TENGINE_DT_FLOAT8E5M2), (Floats{0, 1, 0, 0}));
    EXPECT_EQ(ask("IsNaN", TENGINE_DT_FLOAT8E4M3FNUZ), (Floats{0, 0, 0, 1}));
    EXPECT_EQ(ask("IsInf", TENGINE_DT_FLOAT8E4M3FNUZ), (Floats{0, 0, 0, 0}));
    ConstantGraph graph;
    add_small(&graph, "x", {2}, {0x38}, TENGINE_DT_INT4);
    graph.add("IsNaN", {"x"});
    graph.expect_failure(TENGINE_EDTYPE, "input 0 'x' is int4, expected one of: fp32");
}

// The operators that ONNX's schemas extend to these types, up to opset 28.
TEST(SmallType, OperatorsTakeThemAsTheSchemasSay)
{
    const std::set<std::string> expected = {"BitCast",
                                            "Cast",
                                            "CastLike",
                                            "Constant",
                                            "ConstantOfShape",
                                            "Dropout",
                                            "Flatten",
                                            "Identity",
                                            "If",
                                            "DequantizeLinear",
                                            "IsInf",
                                            "IsNaN",
                                            "Loop",
                                            "Pad",
                                            "QLinearMatMul",
                                            "Reshape",
                                            "Scan",
                                            "Shape",
                                            "QuantizeLinear",
                                            "Size",
                                            "Squeeze",
                                            "Transpose",
                                            "TensorScatter",
                                            "Unsqueeze"};
    EXPECT_EQ(list_operators(OP_TAKES_SMALL), expected);
}

TEST(SmallType, OtherOperatorsTakeNone)
{
    ConstantGraph graph;
    add_small(&graph, "x", {3}, {0x21, 0x03}, TENGINE_DT_INT4);
    graph.add("Concat", {"x", "x"});
    graph.expect_failure(TENGINE_EDTYPE, "Concat 'y': input 0 'x' is int4, which it does not take");
    ConstantGraph made;
    made.input<float>("x", {2, 2}, {1, 2, 3, 4});
    ASSERT_EQ(set_node_int(made.add("EyeLike", {"x"}), "dtype", 17), 0);
    made.expect_failure(TENGINE_EDTYPE, "output 0 'y' is float8e4m3fn, which it does not take");
}

// ---- QuantizeLinear, DequantizeLinear ----

Bytes quantize_to(int data_type, const Floats& x, const Floats& scale, const Bytes& zero,
                  int block_size = 0, std::vector<int> dims = {})
{
    ConstantGraph graph;
    const int number = static_cast<int>(x.size());
    graph.input("x", dims.empty() ? std::vector<int>{number} : dims, x);
    std::vector<int> scale_dims;
    if (block_size > 0) scale_dims = {dims[0], (dims[1] + block_size - 1) / block_size};
    graph.input("scale", scale_dims, scale);
    if (!zero.empty()) add_small(&graph, "zero", scale_dims, zero, data_type);
    node* linear = graph.add("QuantizeLinear", {"x", "scale", zero.empty() ? "" : "zero"});
    EXPECT_EQ(set_node_int(linear, "output_dtype", get_onnx_type(data_type)), 0);
    EXPECT_EQ(set_node_int(linear, "block_size", block_size), 0);
    return bytes_of(graph.evaluate(), data_type);
}

TEST(SmallQuantize, IntegersSaturateAfterTheZeroPoint)
{
    const Floats x = {1, 3, -100, 100, std::nanf("")};
    EXPECT_EQ(quantize_to(TENGINE_DT_INT4, x, {2}, {0x01}), (Bytes{0x31, 0x78, 0x08}));
    EXPECT_EQ(quantize_to(TENGINE_DT_UINT4, x, {2}, {0x03}), (Bytes{0x53, 0xf0, 0x00}));
    EXPECT_EQ(quantize_to(TENGINE_DT_INT2, x, {2}, {}), (Bytes{0x64, 0x02}));
    EXPECT_EQ(quantize_to(TENGINE_DT_UINT2, x, {2}, {0x01}), (Bytes{0xcd, 0x00}));
}

TEST(SmallQuantize, FloatsAreCast)
{
    EXPECT_EQ(quantize_to(TENGINE_DT_FLOAT8E4M3FN, {2, -5, 1e9f}, {2}, {}),
              (Bytes{0x38, 0xc2, 0x7e}));
    // The zero point of a float of 4 bits is added: 3 / 2 + 1.5.
    EXPECT_EQ(quantize_to(TENGINE_DT_FLOAT4E2M1, {3, -3}, {2}, {0x03}), (Bytes{0x05}));
}

TEST(SmallQuantize, BlocksThatEndWithinBytes)
{
    EXPECT_EQ(quantize_to(TENGINE_DT_UINT4, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 2, 5, 1, 2, 5},
                          {0x21, 0x00, 0x00}, 2, {2, 5}),
              (Bytes{0x32, 0x44, 0x61, 0x47, 0x24}));
}

TEST(SmallDequantize, BlocksAndPowersOfTwo)
{
    ConstantGraph graph;
    add_small(&graph, "x", {1, 5}, {0xf1, 0x87, 0x02}, TENGINE_DT_INT4);  // 1 -1 7 -8 2
    add_small(&graph, "scale", {1, 3}, {127, 128, 120}, TENGINE_DT_FLOAT8E8M0);
    add_small(&graph, "zero", {1, 3}, {0x21, 0x00}, TENGINE_DT_INT4);
    node* linear = graph.add("DequantizeLinear", {"x", "scale", "zero"});
    ASSERT_EQ(set_node_int(linear, "block_size", 2), 0);
    graph.expect_failure(TENGINE_EDTYPE, "output_dtype is missing: the scale is float8e8m0");
    ASSERT_EQ(set_node_int(linear, "output_dtype", 1), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{0, -2, 10, -20, 0x1p-6f}));
}

// The values of each type are recovered, with a scale for each two elements.
TEST(SmallDequantize, BlocksOfAllTypes)
{
    for (const int type :
         {TENGINE_DT_UINT4, TENGINE_DT_INT4, TENGINE_DT_UINT2, TENGINE_DT_INT2,
          TENGINE_DT_FLOAT4E2M1, TENGINE_DT_FLOAT8E4M3FN, TENGINE_DT_FLOAT8E4M3FNUZ,
          TENGINE_DT_FLOAT8E5M2, TENGINE_DT_FLOAT8E5M2FNUZ}) {
        const bool is_unsigned = type == TENGINE_DT_UINT4 || type == TENGINE_DT_UINT2;
        const float second = is_unsigned ? 3 : -1;
        const Floats x = {1, second, 0, 2, 4, second / 2, 0, 0.5f, 0.5f, 4 * second};
        ConstantGraph graph;
        graph.input("x", {2, 5}, x);
        graph.input<float>("scale", {2, 3}, {1, 2, 4, 0.5f, 0.5f, 4});
        node* quantize = graph.add("QuantizeLinear", {"x", "scale"}, {"q"});
        node* back = graph.add("DequantizeLinear", {"q", "scale"});
        ASSERT_EQ(set_node_int(quantize, "output_dtype", get_onnx_type(type)), 0);
        for (node* linear : {quantize, back})
            ASSERT_EQ(set_node_int(linear, "block_size", 2), 0);
        EXPECT_EQ(values_of<float>(graph.evaluate()), x) << get_data_type_name(type);
    }
}

TEST(SmallDequantize, FloatsOfEightBits)
{
    ConstantGraph graph;
    add_small(&graph, "x", {3}, {0x38, 0xb8, 0x7f}, TENGINE_DT_FLOAT8E4M3FN);
    graph.input<cpu::Half>("scale", {}, {0.5f});
    graph.add("DequantizeLinear", {"x", "scale"});
    const Floats y = numbers_of(graph.evaluate());
    ASSERT_EQ(y.size(), 3u);
    EXPECT_EQ(y[0], 0.5f);
    EXPECT_EQ(y[1], -0.5f);
    EXPECT_TRUE(std::isnan(y[2]));
}

// ---- QLinearMatMul, Dropout ----

// 1 x 3 by 3 x 2: (1 2 -0.5) (1 0.5; 2 -1; 4 1) = (3 -2), times 0.5 * 2 / 0.25.
TEST(SmallProduct, FloatsOfEightBits)
{
    const auto multiply = [](ConstantGraph* graph, int y_type) {
        add_small(graph, "a", {1, 3}, {0x38, 0x40, 0xb0}, TENGINE_DT_FLOAT8E4M3FN);
        graph->input<float>("a_scale", {}, {0.5f});
        add_small(graph, "a_zero", {}, {0}, TENGINE_DT_FLOAT8E4M3FN);
        add_small(graph, "b", {3, 2}, {0x3c, 0x38, 0x40, 0xbc, 0x44, 0x3c}, TENGINE_DT_FLOAT8E5M2);
        graph->input<float>("b_scale", {2}, {2, 4});
        add_small(graph, "b_zero", {}, {0}, TENGINE_DT_FLOAT8E5M2);
        graph->input<float>("y_scale", {}, {0.25f});
        add_small(graph, "y_zero", {}, {0}, y_type);
        graph->add("QLinearMatMul",
                   {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
    };
    ConstantGraph graph;
    multiply(&graph, TENGINE_DT_FLOAT8E4M3FN);
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_FLOAT8E4M3FN), (Bytes{0x54, 0xd8}));
    ConstantGraph mixed;
    multiply(&mixed, TENGINE_DT_INT8);
    mixed.expect_failure(TENGINE_EDTYPE, "input 7 'y_zero' is int8, expected one of: float8e4m3fn");
}

TEST(SmallMove, DropoutTakesFloatsOfEightBits)
{
    ConstantGraph graph;
    add_small(&graph, "x", {2}, {0x38, 0x40}, TENGINE_DT_FLOAT8E5M2FNUZ);
    graph.add("Dropout", {"x"}, {"y", "mask"});
    EXPECT_EQ(bytes_of(graph.evaluate(), TENGINE_DT_FLOAT8E5M2FNUZ), (Bytes{0x38, 0x40}));
    ConstantGraph few;
    add_small(&few, "x", {2}, {0x38}, TENGINE_DT_INT4);
    few.add("Dropout", {"x"});
    few.expect_failure(TENGINE_EDTYPE, "input 0 'x' is int4, expected one of");
}

}  // namespace
}  // namespace tengine::test
