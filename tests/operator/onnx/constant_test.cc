// SPDX-License-Identifier: Apache-2.0
// Constant, ConstantOfShape, Range and EyeLike: types and edges the ONNX suite leaves out.
#include <cstdint>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using Dims = std::vector<int>;

TEST(Constant, EveryKindOfValue)
{
    const float floats[] = {1, 2};
    const int64_t ints[] = {3, INT64_C(1) << 40};
    const auto evaluate = [](auto set) {
        ConstantGraph graph;
        EXPECT_EQ(set(graph.add("Constant", {})), TENGINE_OK) << tengine_error_message();
        const tensor* value = graph.evaluate();
        return std::make_pair(dims_of(value), value ? value->data_type : -1);
    };
    EXPECT_EQ(evaluate([](node* n) { return set_node_float(n, "value_float", 2); }),
              std::make_pair(Dims{}, TENGINE_DT_FP32));
    EXPECT_EQ(evaluate([](node* n) { return set_node_int(n, "value_int", 2); }),
              std::make_pair(Dims{}, TENGINE_DT_INT64));
    EXPECT_EQ(evaluate([&](node* n) { return set_node_floats(n, "value_floats", floats, 2); }),
              std::make_pair(Dims{2}, TENGINE_DT_FP32));
    EXPECT_EQ(evaluate([&](node* n) { return set_node_ints(n, "value_ints", ints, 2); }),
              std::make_pair(Dims{2}, TENGINE_DT_INT64));
}

TEST(Constant, HasStringsButNotNothing)
{
    ConstantGraph text;
    set_node_text(text.add("Constant", {}), "value_string", "hello", 5);
    EXPECT_EQ(texts_of(text.evaluate()), std::vector<std::string>{"hello"});

    ConstantGraph bytes;
    set_node_text(bytes.add("Constant", {}), "value_string", "hell\xff", 5);
    bytes.expect_failure(TENGINE_EINVAL, "byte 0xff at 4, which is not UTF-8");

    ConstantGraph nothing;
    nothing.add("Constant", {});
    nothing.expect_failure(TENGINE_EINVAL, "no value");
}

TEST(ConstantOfShape, FillsEveryTypeAndRank)
{
    ConstantGraph graph;
    BFloat16 seven = 7.0f;
    op_tensor value = {TENGINE_DT_BF16, 1, {1}, sizeof(seven), &seven};
    graph.builder().ints("shape", {2, 1});
    set_node_tensor(graph.add("ConstantOfShape", {"shape"}), "value", &value);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{2, 1}));
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{7, 7}));
}

TEST(ConstantOfShape, EmptyShapeIsScalarZero)
{
    ConstantGraph graph;
    graph.builder().ints("shape", {});
    graph.add("ConstantOfShape", {"shape"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{}));
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{0}));
}

TEST(ConstantOfShape, RejectsHostileShapes)
{
    for (const int64_t dim : {INT64_C(-1), INT64_C(1) << 33}) {
        ConstantGraph graph;
        graph.builder().ints("shape", {dim});
        graph.add("ConstantOfShape", {"shape"});
        graph.expect_failure(TENGINE_ERANGE, std::to_string(dim));
    }
}

template <class T>
void add_range(ConstantGraph& graph, T start, T limit, T delta)
{
    graph.input<T>("start", {}, {start});
    graph.input<T>("limit", {}, {limit});
    graph.input<T>("delta", {}, {delta});
    graph.add("Range", {"start", "limit", "delta"});
}

TEST(Range, Types)
{
    ConstantGraph shorts;
    add_range<int16_t>(shorts, 5, -5, -3);
    EXPECT_EQ(values_of<int16_t>(shorts.evaluate()), (std::vector<int16_t>{5, 2, -1, -4}));

    ConstantGraph doubles;
    add_range<double>(doubles, 0, 1, 0.25);
    EXPECT_EQ(values_of<double>(doubles.evaluate()), (std::vector<double>{0, 0.25, 0.5, 0.75}));

    ConstantGraph empty;
    add_range<int32_t>(empty, 3, 3, 1);
    EXPECT_EQ(dims_of(empty.evaluate()), (Dims{0}));
}

// Counted and added in fp32: in fp16 2048 + 1 is 2048.
TEST(Range, FloatsOf16Bits)
{
    ConstantGraph halves;
    add_range<cpu::Half>(halves, 2046, 2052, 1);
    EXPECT_EQ(numbers_of(halves.evaluate()),
              (std::vector<float>{2046, 2047, 2048, 2048, 2050, 2052}));

    ConstantGraph brains;
    add_range<cpu::BFloat16>(brains, 0, 1, 0.25f);
    EXPECT_EQ(numbers_of(brains.evaluate()), (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
}

TEST(Range, EndsOfTheIntegers)
{
    ConstantGraph graph;
    add_range<int64_t>(graph, INT64_MIN, INT64_MAX, INT64_MAX);
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()),
              (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Range, RejectsEndless)
{
    ConstantGraph zero;
    add_range<int64_t>(zero, 0, 1, 0);
    zero.expect_failure(TENGINE_ERANGE, "delta is 0");

    ConstantGraph none;
    add_range<float>(none, 0, 1, 0);
    none.expect_failure(TENGINE_ERANGE, "delta is 0");

    ConstantGraph long_one;
    add_range<int64_t>(long_one, INT64_MIN, INT64_MAX, 1);
    long_one.expect_failure(TENGINE_ERANGE, "more than");
}

TEST(EyeLike, DiagonalBesideTheMatrix)
{
    ConstantGraph graph;
    graph.input<uint8_t>("x", {2, 3}, std::vector<uint8_t>(6, 9));
    node* eye = graph.add("EyeLike", {"x"});
    set_node_int(eye, "k", -1);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{0, 0, 0, 1, 0, 0}));

    set_node_int(eye, "k", INT32_MIN);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), std::vector<uint8_t>(6, 0));
}

TEST(EyeLike, RejectsStringType)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1}, {0});
    set_node_int(graph.add("EyeLike", {"x"}), "dtype", 8);
    graph.expect_failure(TENGINE_EDTYPE, "is string, which it does not take");
}

}  // namespace
}  // namespace tengine::test
