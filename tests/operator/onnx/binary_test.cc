// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with several inputs: broadcasting, integer corner cases, mixed types, and
// the broadcasting attributes of opset 6.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;

template <class T>
std::vector<T> apply(const char* op, const std::vector<T>& a, const std::vector<T>& b,
                     const char* parameter = nullptr)
{
    ConstantGraph graph;
    graph.input("a", {static_cast<int>(a.size())}, a);
    graph.input("b", {static_cast<int>(b.size())}, b);
    node* made = graph.add(op, {"a", "b"});
    if (parameter) {
        EXPECT_EQ(set_node_int(made, parameter, 1), 0);
    }
    return values_of<T>(graph.evaluate());
}

struct Shapes
{
    std::vector<int> a, b, result;
};

int count(const std::vector<int>& dims)
{
    int product = 1;
    for (int dim : dims)
        product *= dim;
    return product;
}

// Returns the index of the element of `dims` for `position` in an output of shape `to`.
int source_of(const std::vector<int>& dims, const std::vector<int>& to, int position)
{
    int index = 0;
    int stride = 1;
    for (size_t i = 1; i <= to.size(); ++i) {
        const int at = position % to[to.size() - i];
        position /= to[to.size() - i];
        if (i > dims.size()) continue;
        const int dim = dims[dims.size() - i];
        index += dim == 1 ? 0 : at * stride;
        stride *= dim;
    }
    return index;
}

Floats count_up(int num, float from)
{
    Floats values;
    for (int i = 0; i < num; ++i)
        values.push_back(from + static_cast<float>(i));
    return values;
}

class Broadcasting : public testing::TestWithParam<Shapes>
{
};

TEST_P(Broadcasting, SubtractsWhatNumpyWould)
{
    const auto& [a, b, to] = GetParam();
    const Floats left = count_up(count(a), 0);
    const Floats right = count_up(count(b), 1000);
    ConstantGraph graph;
    graph.input("a", a, left);
    graph.input("b", b, right);
    graph.add("Sub", {"a", "b"});
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), to);
    const Floats values = numbers_of(result);
    ASSERT_EQ(values.size(), static_cast<size_t>(count(to)));
    for (int i = 0; i < count(to); ++i)
        ASSERT_EQ(values[i], left[source_of(a, to, i)] - right[source_of(b, to, i)]) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Broadcasting,
    testing::Values(
        Shapes{{}, {}, {}}, Shapes{{7}, {}, {7}}, Shapes{{}, {2, 3}, {2, 3}},
        Shapes{{1}, {1, 1}, {1, 1}}, Shapes{{2, 3}, {2, 3}, {2, 3}},
        Shapes{{2, 3, 5, 7}, {3, 1, 1}, {2, 3, 5, 7}},
        Shapes{{2, 3, 5, 7}, {1, 3, 1, 1}, {2, 3, 5, 7}}, Shapes{{5, 1}, {1, 7}, {5, 7}},
        Shapes{{2, 1, 4}, {3, 1}, {2, 3, 4}}, Shapes{{1, 3, 1, 2}, {4, 1, 5, 1}, {4, 3, 5, 2}},
        Shapes{{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}, {2, 3, 2, 3, 2, 3, 2, 3}},
        Shapes{{0}, {}, {0}}, Shapes{{2, 0}, {1, 1}, {2, 0}},
        Shapes{{1, 0, 3}, {4, 1, 1}, {4, 0, 3}}));

template <class T>
class Arithmetic : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t,
                               int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Arithmetic, Numbers);

TYPED_TEST(Arithmetic, EveryType)
{
    const auto check = [](const char* op, int expected) {
        const auto result = apply<TypeParam>(op, {12}, {3});
        ASSERT_EQ(result.size(), 1u) << op;
        EXPECT_EQ(static_cast<int>(result[0]), expected) << op;
    };
    check("Add", 15);
    check("Sub", 9);
    check("Mul", 36);
    check("Div", 4);
    check("Max", 12);
    check("Min", 3);
    EXPECT_EQ(static_cast<int>(apply<TypeParam>("Mod", {14}, {4}, "fmod")[0]), 2);

    const auto compare = [](const char* op, Floats expected) {
        ConstantGraph graph;
        graph.input<TypeParam>("a", {3}, {1, 2, 3});
        graph.input<TypeParam>("b", {}, {2});
        graph.add(op, {"a", "b"});
        EXPECT_EQ(numbers_of(graph.evaluate()), expected) << op;
    };
    compare("Equal", {0, 1, 0});
    compare("Less", {1, 0, 0});
    compare("LessOrEqual", {1, 1, 0});
    compare("Greater", {0, 0, 1});
    compare("GreaterOrEqual", {0, 1, 1});
}

TEST(Integers, OverflowWraps)
{
    EXPECT_EQ(apply<int32_t>("Add", {INT32_MAX}, {1}), std::vector<int32_t>{INT32_MIN});
    EXPECT_EQ(apply<int64_t>("Sub", {INT64_MIN}, {1}), std::vector<int64_t>{INT64_MAX});
    EXPECT_EQ(apply<uint16_t>("Mul", {65535}, {65535}), std::vector<uint16_t>{1});
    EXPECT_EQ(apply<int8_t>("Mul", {100}, {2}), std::vector<int8_t>{-56});
}

TEST(Integers, DivisionTruncatesAndByZeroIsZero)
{
    EXPECT_EQ(apply<int32_t>("Div", {7, -7, 7, 5, INT32_MIN}, {2, 2, -2, 0, -1}),
              (std::vector<int32_t>{3, -3, -3, 0, INT32_MIN}));
    EXPECT_EQ(apply<uint8_t>("Div", {255, 1}, {2, 0}), (std::vector<uint8_t>{127, 0}));
    EXPECT_EQ(apply<int64_t>("Div", {INT64_MIN}, {-1}), std::vector<int64_t>{INT64_MIN});
}

TEST(Integers, ModuloTakesTheSignOfTheDivisor)
{
    const std::vector<int32_t> a = {5, -5, 5, -5, 6, 3, INT32_MIN};
    const std::vector<int32_t> b = {3, 3, -3, -3, 3, 0, -1};
    EXPECT_EQ(apply<int32_t>("Mod", a, b), (std::vector<int32_t>{2, 1, -1, -2, 0, 0, 0}));
    EXPECT_EQ(apply<int32_t>("Mod", a, b, "fmod"), (std::vector<int32_t>{2, -2, 2, -2, 0, 0, 0}));
    EXPECT_EQ(apply<uint8_t>("Mod", {250}, {7}), std::vector<uint8_t>{5});
}

TEST(Integers, ShiftsByTheWidthLeaveNothing)
{
    const auto shift = [](const char* direction, std::vector<uint8_t> a, std::vector<uint8_t> b) {
        ConstantGraph graph;
        graph.input("a", {static_cast<int>(a.size())}, a);
        graph.input("b", {static_cast<int>(b.size())}, b);
        node* made = graph.add("BitShift", {"a", "b"});
        EXPECT_EQ(set_node_text(made, "direction", direction, strlen(direction)), 0);
        return values_of<uint8_t>(graph.evaluate());
    };
    EXPECT_EQ(shift("LEFT", {3, 255, 255}, {1, 7, 8}), (std::vector<uint8_t>{6, 128, 0}));
    EXPECT_EQ(shift("RIGHT", {6, 255, 255}, {1, 7, 200}), (std::vector<uint8_t>{3, 1, 0}));
}

TEST(Integers, BitwiseOperators)
{
    EXPECT_EQ(apply<uint8_t>("BitwiseAnd", {0xcc}, {0xaa}), std::vector<uint8_t>{0x88});
    EXPECT_EQ(apply<int16_t>("BitwiseOr", {0x0c}, {0x0a}), std::vector<int16_t>{0x0e});
    EXPECT_EQ(apply<int64_t>("BitwiseXor", {-1}, {1}), std::vector<int64_t>{-2});
}

TEST(ArithmeticRules, FloatModuloNeedsFmod)
{
    EXPECT_EQ(apply<float>("Mod", {-5.5f}, {2.0f}, "fmod"), Floats{-1.5f});
    ConstantGraph graph;
    graph.input<float>("a", {1}, {1});
    graph.add("Mod", {"a", "a"});
    graph.expect_failure(TENGINE_EDTYPE, "fp32");
}

TEST(ArithmeticRules, TypesMustAgree)
{
    ConstantGraph graph;
    graph.input<float>("a", {1}, {1});
    graph.input<double>("b", {1}, {1});
    graph.add("Add", {"a", "b"});
    graph.expect_failure(TENGINE_EDTYPE, "fp64");
}

TEST(ArithmeticRules, ShapesMustBroadcast)
{
    ConstantGraph graph;
    graph.input<float>("a", {2, 3}, Floats(6));
    graph.input<float>("b", {2}, Floats(2));
    graph.add("Add", {"a", "b"});
    graph.expect_failure(TENGINE_EINVAL, "does not broadcast");
}

template <class Base, class Exponent>
std::vector<Base> power(const std::vector<Base>& base, const std::vector<Exponent>& exponent)
{
    ConstantGraph graph;
    graph.input("a", {static_cast<int>(base.size())}, base);
    graph.input("b", {static_cast<int>(exponent.size())}, exponent);
    graph.add("Pow", {"a", "b"});
    return values_of<Base>(graph.evaluate());
}

TEST(Pow, MixedTypes)
{
    EXPECT_EQ((power<float, int64_t>({3, -2, 2}, {2, 3, -1})), (Floats{9, -8, 0.5f}));
    EXPECT_EQ((power<double, uint8_t>({1.5}, {2})), std::vector<double>{2.25});
    EXPECT_EQ((power<int32_t, float>({9, 2}, {0.5f, 40.0f})), (std::vector<int32_t>{3, INT32_MAX}));
    // Exact beyond the 53 bits of a double.
    EXPECT_EQ((power<int64_t, int32_t>({3}, {39})), std::vector<int64_t>{4052555153018976267});
    EXPECT_EQ((power<int32_t, int32_t>({2, 1, -1, 0, 5}, {-1, -3, -3, -1, 0})),
              (std::vector<int32_t>{0, 1, -1, 0, 1}));
    EXPECT_EQ(static_cast<float>(power<Half, Half>({1.5f}, {2.0f})[0]), 2.25f);
}

TEST(Variadic, OneInputAndMany)
{
    const auto apply_to = [](const char* op, int num) {
        ConstantGraph graph;
        graph.input<float>("a", {2}, {1, 6});
        graph.input<float>("b", {2, 1}, {2, 4});
        graph.input<float>("c", {}, {3});
        const std::vector<std::string> names = {"a", "b", "c"};
        graph.add(op, {names.begin(), names.begin() + num});
        return numbers_of(graph.evaluate());
    };
    for (const char* op : {"Sum", "Mean", "Max", "Min"})
        EXPECT_EQ(apply_to(op, 1), (Floats{1, 6})) << op;
    EXPECT_EQ(apply_to("Sum", 3), (Floats{6, 11, 8, 13}));
    EXPECT_EQ(apply_to("Mean", 2), (Floats{1.5f, 4, 2.5f, 5}));
    EXPECT_EQ(apply_to("Max", 3), (Floats{3, 6, 4, 6}));
    EXPECT_EQ(apply_to("Min", 3), (Floats{1, 2, 1, 3}));
}

TEST(Variadic, NoneMayBeLeftOut)
{
    ConstantGraph graph;
    graph.input<float>("a", {1}, {1});
    graph.add("Sum", {"a", "", "a"});
    graph.expect_failure(TENGINE_EGRAPH, "input 1 is missing");
}

TEST(Variadic, NanWins)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const char* op : {"Max", "Min"})
        for (float value : apply<float>(op, {nan, 1}, {1, nan}))
            EXPECT_TRUE(std::isnan(value));
}

TEST(Logic, AnyByteButZeroIsTrue)
{
    const auto logic = [](const char* op) {
        ConstantGraph graph;
        graph.bools("a", {4}, {0, 1, 2, 2});
        graph.bools("b", {4}, {0, 0, 1, 3});
        graph.add(op, {"a", "b"});
        return numbers_of(graph.evaluate());
    };
    EXPECT_EQ(logic("And"), (Floats{0, 0, 1, 1}));
    EXPECT_EQ(logic("Or"), (Floats{0, 1, 1, 1}));
    EXPECT_EQ(logic("Xor"), (Floats{0, 1, 0, 0}));
    EXPECT_EQ(logic("Equal"), (Floats{1, 0, 1, 1}));
}

TEST(Logic, NeedsBool)
{
    ConstantGraph graph;
    graph.input<uint8_t>("a", {1}, {1});
    graph.add("And", {"a", "a"});
    graph.expect_failure(TENGINE_EDTYPE, "bool");
}

TEST(Where, BroadcastsThreeInputs)
{
    ConstantGraph graph;
    graph.bools("condition", {2, 1}, {0, 7});
    graph.input<int16_t>("a", {3}, {1, 2, 3});
    graph.input<int16_t>("b", {}, {9});
    graph.add("Where", {"condition", "a", "b"});
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{9, 9, 9, 1, 2, 3}));

    ConstantGraph wrong;
    wrong.input<float>("a", {1}, {1});
    wrong.add("Where", {"a", "a", "a"});
    wrong.expect_failure(TENGINE_EDTYPE, "bool");
}

// ---- opset 6 ----

TEST(LegacyBroadcast, AxisPlacesTheSecondInput)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<float>("a", {2, 3, 2}, Floats(12, 0));
    graph.input<float>("b", {2, 3}, {1, 2, 3, 4, 5, 6});
    node* add = graph.add("Add", {"a", "b"});
    ASSERT_EQ(set_node_int(add, "broadcast", 1), 0);
    ASSERT_EQ(set_node_int(add, "axis", 0), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
}

TEST(LegacyBroadcast, WithoutAxisTheLastDimensionsMatch)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<float>("a", {2, 2}, {1, 2, 3, 4});
    graph.input<float>("b", {2}, {10, 100});
    node* multiply = graph.add("Mul", {"a", "b"});
    ASSERT_EQ(set_node_int(multiply, "broadcast", 1), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{10, 200, 30, 400}));
}

TEST(LegacyBroadcast, RefusesAnAxisThatDoesNotFit)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<float>("a", {2, 2}, Floats(4));
    graph.input<float>("b", {2}, Floats(2));
    node* add = graph.add("Add", {"a", "b"});
    ASSERT_EQ(set_node_int(add, "broadcast", 1), 0);
    ASSERT_EQ(set_node_int(add, "axis", 5), 0);
    graph.expect_failure(TENGINE_EINVAL, "axis 5");
}

TEST(LegacyBroadcast, NeedsKnownRanks)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<float>("a", {2, 2}, Floats(4));
    graph.input<float>("b", {2}, Floats(2));
    graph.add("Relu", {"a"}, {"hidden"});
    node* add = graph.add("Add", {"hidden", "b"});
    ASSERT_EQ(set_node_int(add, "broadcast", 1), 0);
    ASSERT_EQ(set_node_int(add, "axis", 0), 0);
    graph.expect_failure(TENGINE_ENOTSUP, "ranks");
}

}  // namespace
}  // namespace tengine::test
