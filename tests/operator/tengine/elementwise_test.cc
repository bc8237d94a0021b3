// SPDX-License-Identifier: Apache-2.0
// Tengine's element-wise operators against their formulas and its rules for operands of different
// sizes, and ONNX's raised to them. Comparison and logic: logic_test.cc.
#include <cmath>
#include <functional>
#include <random>

#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Function = std::function<double(double)>;
using Binary = std::function<double(double, double)>;

Array map(const Array& input, const Function& function)
{
    Array made = input;
    for (double& value : made.values)
        value = function(value);
    return made;
}

Array positive(Array input)
{
    return map(input, [](double x) { return std::fabs(x) + 0.5; });
}

// ---- one operand ----

const Function kUnary[] = {
    [](double x) { return std::fabs(x); },
    [](double x) { return -x; },
    [](double x) { return std::floor(x); },
    [](double x) { return std::ceil(x); },
    [](double x) { return x * x; },
    [](double x) { return std::sqrt(x); },
    [](double x) { return 1 / std::sqrt(x); },
    [](double x) { return std::exp(x); },
    [](double x) { return std::log(x); },
    [](double x) { return std::sin(x); },
    [](double x) { return std::cos(x); },
    [](double x) { return std::tan(x); },
    [](double x) { return std::asin(x); },
    [](double x) { return std::acos(x); },
    [](double x) { return std::atan(x); },
    [](double x) { return 1 / x; },
    [](double x) { return std::tanh(x); },
};

bool wants_positive(int type)
{
    return type == 5 || type == 6 || type == 8 || type == 15;
}

Array input_of_unary(int type)
{
    const Array input = make_array({1, 3, 5, 7}, type, 0.9);
    return wants_positive(type) ? positive(input) : input;
}

TEST(TengineUnary, EveryType)
{
    for (int type = 0; type < 17; ++type) {
        SCOPED_TRACE(type);
        const Array input = input_of_unary(type);
        TengineCase unary("tengine.Unary");
        expect_close(unary.input(input).attr("type", type).run_one(), map(input, kUnary[type]));
    }
}

TEST(TengineUnary, UnknownType)
{
    for (const int type : {-1, 17, 1 << 30}) {
        TengineCase unary("tengine.Unary");
        unary.input(make_array({2})).attr("type", type);
        unary.expect_failure(TENGINE_EINVAL, "unknown type " + std::to_string(type));
    }
}

TEST(TengineUnary, Raised)
{
    const std::pair<const char*, int> ops[] = {
        {"Abs", 0}, {"Neg", 1},  {"Floor", 2}, {"Sqrt", 5},  {"Exp", 7},   {"Log", 8},
        {"Sin", 9}, {"Cos", 10}, {"Tan", 11},  {"Asin", 12}, {"Acos", 13}, {"Atan", 14},
    };
    for (const auto& [op, type] : ops) {
        SCOPED_TRACE(op);
        TengineCase raised(op);
        raised.input(input_of_unary(type)).expect_raised("tengine.Unary", 0);
        EXPECT_EQ(raised.raised_attr("type"), type);
    }
}

TEST(TengineUnary, OperatorsOfTheirOwn)
{
    const Array input = positive(make_array({2, 13}, 4, 3));
    const std::tuple<const char*, const char*, Function> ops[] = {
        {"tengine.Ceil", "Ceil", kUnary[3]},
        {"tengine.Dropout", "Dropout", [](double x) { return x; }},
        {"tengine.Noop", "Identity", [](double x) { return x; }},
        {"tengine.Reciprocal", "Reciprocal", kUnary[15]},
    };
    for (const auto& [op, onnx, function] : ops) {
        SCOPED_TRACE(op);
        TengineCase plain(op);
        expect_close(plain.input(input).run_one(), map(input, function));
        TengineCase raised(onnx);
        raised.input(input).expect_raised(op, 0);
    }
    TengineCase zeros("tengine.ZerosLike");
    expect_close(zeros.input(input).run_one(), map(input, [](double) { return 0; }), 0);
}

TEST(TengineUnary, ZerosLikeHasItsInputsType)
{
    TengineCase zeros("tengine.ZerosLike");
    const Array result = zeros.input({{2, 1}, {3, 4}, TENGINE_DT_INT32}).run_one();
    EXPECT_EQ(result.data_type, TENGINE_DT_INT32);
    expect_close(result, {{2, 1}, {0, 0}}, 0);
}

TEST(TengineUnary, RoundTakesHalvesAwayFromZero)
{
    const Array input = {{9}, {0.5, 1.5, -0.5, -2.5, 0.49999997f, 2.25, -7.75, 8388609, -1e20f}};
    TengineCase round("tengine.Round");
    expect_close(round.input(input).run_one(), map(input, [](double x) { return std::round(x); }),
                 0);
    TengineCase even("Round");
    even.input(input).expect_refusal("it rounds halves to even");
}

TEST(TengineUnary, DropoutThatIsMoreThanACopyIsNotRaised)
{
    TengineCase trained("Dropout");
    trained.input(make_array({4})).constant({{}, {0.5}}).input({{}, {0}, TENGINE_DT_BOOL});
    trained.expect_refusal("training_mode");
    TengineCase mask("Dropout", 0, 2);
    mask.input(make_array({4})).expect_refusal("its mask is used");
}

// ---- Cast ----

TEST(TengineCast, ParametersCountWhenTheTensorSaysNothing)
{
    const Array floats = {{4}, {1.75, -2.5, 100, 0}};
    const auto cast = [&](int from, int to) {
        TengineCase op("tengine.Cast");
        return op.input(floats).attr("type_from", from).attr("type_to", to).run_one();
    };
    EXPECT_EQ(cast(0, TENGINE_DT_INT32).data_type, TENGINE_DT_INT32);
    EXPECT_EQ(cast(0, TENGINE_DT_INT32).values, (std::vector<double>{1, -2, 100, 0}));
    EXPECT_EQ(cast(0, 0).values, floats.values);
    // The converter from ONNX: type_from 1, ONNX's numbers.
    EXPECT_EQ(cast(1, 3).data_type, TENGINE_DT_INT8);
    EXPECT_EQ(cast(1, 7).data_type, TENGINE_DT_INT32);
    EXPECT_EQ(cast(1, 1).data_type, TENGINE_DT_FP32);
    EXPECT_EQ(cast(1, 10).data_type, TENGINE_DT_FP16);
}

TEST(TengineCast, TheOutputsTypeCountsFirst)
{
    // Outputs of a TengineCase are declared fp32.
    TengineCase op("tengine.Cast");
    op.input({{2}, {5, -7}, TENGINE_DT_INT32}).attr("type_to", TENGINE_DT_INT8);
    const Array result = op.run_one();
    EXPECT_EQ(result.data_type, TENGINE_DT_FP32);
    EXPECT_EQ(result.values, (std::vector<double>{5, -7}));
}

TEST(TengineCast, UnknownTypes)
{
    for (const auto& [from, to] : {std::pair(0, 23), {0, -1}, {1, 8}, {1, 99}, {0, 64}}) {
        TengineCase op("tengine.Cast");
        op.input(make_array({2})).attr("type_from", from).attr("type_to", to);
        op.expect_failure(TENGINE_EINVAL, "type_to " + std::to_string(to));
    }
}

TEST(TengineCast, Raised)
{
    const Array bytes = {{3}, {1, -2, 100}, TENGINE_DT_INT8};
    TengineCase op("Cast");
    op.input(bytes).attr("to", 10);
    EXPECT_EQ(op.expect_raised("tengine.Cast", 0).data_type, TENGINE_DT_FP16);
    EXPECT_EQ(op.raised_attr("type_from"), TENGINE_DT_INT8);
    EXPECT_EQ(op.raised_attr("type_to"), TENGINE_DT_FP16);
    TengineCase wide("Cast");
    wide.input(bytes).attr("to", 7).expect_refusal("it casts int8 to int64");
}

// ---- Eltwise ----

struct BinaryType
{
    int type;
    const char* onnx;
    Binary function;
};

const BinaryType kBinary[] = {
    {0, "Mul", [](double a, double b) { return a * b; }},
    {2, "Add", [](double a, double b) { return a + b; }},
    {4, "Sub", [](double a, double b) { return a - b; }},
    {6, "Max", [](double a, double b) { return std::max(a, b); }},
    {10, "Div", [](double a, double b) { return a / b; }},
    {16, "Pow", [](double a, double b) { return std::pow(a, b); }},
};

// Returns the element of the smaller operand for element i of the larger.
struct Meeting
{
    const char* name;
    Dims large;
    Dims small;
    std::function<size_t(size_t)> place;
};

const Meeting kMeetings[] = {
    {"same", {2, 3, 5, 4}, {2, 3, 5, 4}, [](size_t i) { return i; }},
    {"as many", {2, 3, 5, 4}, {6, 20}, [](size_t i) { return i; }},
    {"scalar", {2, 3, 5, 4}, {1}, [](size_t) { return 0; }},
    {"list and scalar", {7}, {1}, [](size_t) { return 0; }},
    {"channels of one image", {1, 3, 5, 4}, {3}, [](size_t i) { return i / 20; }},
    {"channels of all images", {2, 3, 5, 4}, {6}, [](size_t i) { return i / 20; }},
    {"channels, shaped", {2, 3, 5, 4}, {2, 3, 1, 1}, [](size_t i) { return i / 20; }},
    {"channels of each image", {2, 3, 5, 4}, {3}, [](size_t i) { return i / 20 % 3; }},
    {"channels before columns", {1, 4, 5, 4}, {4}, [](size_t i) { return i / 20; }},
    {"plane", {2, 3, 5, 4}, {5, 4}, [](size_t i) { return i % 20; }},
    {"plane, shaped", {2, 3, 5, 4}, {1, 1, 5, 4}, [](size_t i) { return i % 20; }},
    {"channels of three dimensions", {3, 5, 4}, {3}, [](size_t i) { return i / 20; }},
    {"plane of three dimensions", {3, 5, 4}, {5, 4}, [](size_t i) { return i % 20; }},
    {"rows of one image", {1, 5, 4}, {5}, [](size_t i) { return i / 4; }},
    {"columns of one image", {1, 5, 4}, {4}, [](size_t i) { return i % 4; }},
    {"columns of a matrix", {5, 4}, {4}, [](size_t i) { return i % 4; }},
    {"rows of a matrix, numpy", {5, 4}, {5, 1}, [](size_t i) { return i / 4; }},
    {"columns, numpy", {1, 3, 5, 4}, {1, 1, 1, 4}, [](size_t i) { return i % 4; }},
    {"first plane is not a plane, numpy",
     {2, 3, 5, 4},
     {1, 3, 5, 4},
     [](size_t i) { return i % 60; }},
};

Array combine(const Array& large, const Array& small, const Meeting& meeting,
              const Binary& function, bool swapped)
{
    Array made = large;
    for (size_t i = 0; i < made.values.size(); ++i) {
        const double other = small.values[meeting.place(i)];
        made.values[i] =
            swapped ? function(other, large.values[i]) : function(large.values[i], other);
    }
    return made;
}

TEST(TengineEltwise, OperandsOfTwoSizes)
{
    for (const Meeting& meeting : kMeetings) {
        const Array large = positive(make_array(meeting.large, 1));
        const Array small = positive(make_array(meeting.small, 9));
        for (const BinaryType& type : kBinary) {
            SCOPED_TRACE(std::string(meeting.name) + ", " + type.onnx);
            TengineCase first("tengine.Eltwise");
            first.input(large).constant(small).attr("type", type.type);
            expect_close(first.run_one(), combine(large, small, meeting, type.function, false));
            if (count_elements(meeting.large) == count_elements(meeting.small)) continue;
            TengineCase second("tengine.Eltwise");
            second.input(small).input(large).attr("type", type.type);
            expect_close(second.run_one(), combine(large, small, meeting, type.function, true));
        }
    }
}

TEST(TengineEltwise, BroadMul)
{
    for (const Meeting& meeting : kMeetings) {
        SCOPED_TRACE(meeting.name);
        const Array large = make_array(meeting.large, 1);
        const Array small = make_array(meeting.small, 9);
        TengineCase product("tengine.BroadMul");
        expect_close(product.input(large).input(small).run_one(),
                     combine(large, small, meeting, kBinary[0].function, false));
    }
}

TEST(TengineEltwise, Scalars)
{
    const Array input = make_array({1, 3, 5, 7}, 2, 3);
    const std::pair<int, Function> types[] = {{1, [](double x) { return x * 0.75; }},
                                              {3, [](double x) { return x + 0.75; }},
                                              {5, [](double x) { return x - 0.75; }},
                                              {8, [](double x) { return std::min(x, 0.75); }}};
    for (const auto& [type, function] : types) {
        SCOPED_TRACE(type);
        TengineCase scalar("tengine.Eltwise");
        scalar.input(input).constant({{1}, {0.75}}).attr("type", type);
        expect_close(scalar.run_one(), map(input, function));
        TengineCase list("tengine.Eltwise");
        list.input(input).constant(make_array({3})).attr("type", type);
        list.expect_failure(TENGINE_EINVAL, "a second input of one element, it has 3");
    }
}

TEST(TengineEltwise, OfOneOperand)
{
    const Array input = positive(make_array({2, 3, 5, 7}, 2));
    const std::pair<int, Function> types[] = {{7, kUnary[6]},  {11, kUnary[8]}, {12, kUnary[7]},
                                              {13, kUnary[5]}, {14, kUnary[2]}, {15, kUnary[4]}};
    for (const auto& [type, function] : types) {
        SCOPED_TRACE(type);
        TengineCase one("tengine.Eltwise");
        expect_close(one.input(input).attr("type", type).run_one(), map(input, function));
        TengineCase two("tengine.Eltwise");
        two.input(input).constant(make_array({3})).attr("type", type);
        expect_close(two.run_one(), map(input, function));
    }
}

TEST(TengineEltwise, Power)
{
    const Array input = positive(make_array({1, 3, 5, 7}, 2));
    TengineCase power("tengine.Eltwise");
    power.input(input).attr("type", 17).attr("shift", 0.5).attr("scale", 2.0).attr("power", 1.5);
    expect_close(power.run_one(), map(input, [](double x) { return std::pow(0.5 + 2 * x, 1.5); }));
    TengineCase plain("tengine.Eltwise");
    expect_close(plain.input(input).attr("type", 17).run_one(), input);
}

TEST(TengineEltwise, WrongTypesAndOperands)
{
    for (const int type : {-1, 9, 18}) {
        TengineCase unknown("tengine.Eltwise");
        unknown.input(make_array({2})).input(make_array({2})).attr("type", type);
        unknown.expect_failure(TENGINE_EINVAL, "unknown type " + std::to_string(type));
    }
    TengineCase alone("tengine.Eltwise");
    alone.input(make_array({2})).attr("type", 2);
    alone.expect_failure(TENGINE_EINVAL, "type 2 needs two inputs, it has one");
    TengineCase apart("tengine.Eltwise");
    apart.input(make_array({1, 3, 5, 4})).input(make_array({7})).attr("type", 2);
    apart.expect_failure(TENGINE_EINVAL, "broadcast");
}

// Numpy's broadcasting is more general, so that only some shapes can be raised.
TEST(TengineEltwise, Raised)
{
    const auto raise = [](const char* op, const Dims& first, const Dims& second, const char* ops) {
        SCOPED_TRACE(std::string(op) + " to " + ops);
        TengineCase made(op);
        made.input(positive(make_array(first, 1))).input(positive(make_array(second, 5)));
        made.expect_raised(ops, 0);
    };
    for (const char* op : {"Add", "Mul", "Sub", "Div", "Pow"}) {
        raise(op, {2, 3, 5, 4}, {2, 3, 5, 4}, "tengine.Eltwise");
        raise(op, {2, 3, 5, 4}, {1}, "tengine.Eltwise");
        raise(op, {2, 3, 5, 4}, {}, "tengine.Eltwise");
    }
    for (const char* op : {"Add", "Mul", "Sub", "Div"}) {
        raise(op, {1, 3, 5, 4}, {3, 1, 1}, "tengine.Eltwise");
        raise(op, {2, 3, 5, 4}, {2, 3, 1, 1}, "tengine.Eltwise");
        if (op != std::string("Sub")) raise(op, {2, 3, 5, 4}, {5, 4}, "tengine.Eltwise");
    }
    raise("Add", {3, 1, 1}, {1, 3, 5, 4}, "tengine.Eltwise");
    raise("Mul", {}, {1, 3, 5, 4}, "tengine.Eltwise");
    raise("Sub", {1, 3, 1, 1}, {1, 3, 5, 4}, "tengine.Unary tengine.Eltwise");
}

TEST(TengineEltwise, RaisedWithConstants)
{
    const Array input = positive(make_array({1, 3, 5, 4}, 1));
    TengineCase square("Pow");
    square.input(input).constant({{}, {2}, TENGINE_DT_INT64}).expect_raised("tengine.Eltwise");
    EXPECT_EQ(square.raised_attr("type"), 17);
    EXPECT_EQ(square.raised_attr("power"), 2);
    TengineCase reciprocal("Div");
    reciprocal.constant({{1}, {1}}).input(input).expect_raised("tengine.Reciprocal");
}

TEST(TengineEltwise, NotRaised)
{
    const auto refuse = [](const char* op, const Dims& first, const Dims& second,
                           const char* reason) {
        SCOPED_TRACE(op);
        TengineCase made(op);
        made.input(make_array(first, 1)).input(make_array(second, 5)).expect_refusal(reason);
    };
    const char* combined = "Tengine does not broadcast operands";
    refuse("Add", {1, 4, 4, 4}, {4}, combined);
    refuse("Add", {2, 3, 5, 4}, {3, 1, 1}, combined);
    refuse("Add", {5, 4}, {5, 1}, combined);
    refuse("Add", {3, 1}, {1, 3}, combined);
    refuse("Mul", {2, 3, 5, 4}, {1, 3, 5, 4}, combined);
    refuse("Sub", {2, 3, 5, 4}, {5, 4}, "Tengine's difference takes operands of one size");
    refuse("Pow", {1, 3, 5, 4}, {3, 1, 1}, "Tengine's power takes operands of one size");
    refuse("Div", {}, {1, 3, 5, 4}, "is smaller than the second of shape [1,3,5,4]");
}

TEST(TengineEltwise, TypesThatTengineHasNotAreNotRaised)
{
    const Array wide = {{2}, {3, 4}, TENGINE_DT_INT64};
    for (const char* op : {"Add", "Sum", "Max"}) {
        TengineCase made(op);
        made.input(wide).input(wide).expect_refusal("its result is of type int64");
    }
    for (const char* op : {"Neg", "Identity", "Dropout"}) {
        TengineCase made(op);
        made.input(op == std::string("Dropout") ? Array{{2}, {3, 4}, TENGINE_DT_FP64} : wide);
        made.expect_refusal("its result is of type");
    }
}

// Raising never changes the numbers, for any shapes.
TEST(TengineEltwise, RaisingKeepsTheNumbers)
{
    std::mt19937 random(5);
    const auto below = [&](int limit) { return static_cast<int>(random() % limit); };
    int raised = 0;
    for (int round = 0; round < 300; ++round) {
        Dims large(static_cast<size_t>(1 + below(5)));
        for (int& dim : large)
            dim = 1 + below(4);
        Dims small(large.begin() + below(static_cast<int>(large.size())), large.end());
        for (int& dim : small)
            if (below(2)) dim = 1;
        const BinaryType& type = kBinary[below(6)];
        if (type.type == 6) continue;
        const bool swapped = below(2) != 0;
        TengineCase made(type.onnx);
        made.input(positive(make_array(swapped ? small : large, round)));
        made.input(positive(make_array(swapped ? large : small, round + 1)));
        const std::vector<Array> before = made.run();
        const std::vector<Array> after = made.run_raised();
        ASSERT_EQ(before.size(), 1u);
        ASSERT_EQ(after.size(), 1u);
        expect_close(after[0], before[0], 0);
        raised += made.raised_ops().find("tengine.Eltwise") != std::string::npos;
    }
    EXPECT_GT(raised, 100);
}

// ---- many operands ----

TEST(TengineVariadic, OneByOne)
{
    const Array inputs[] = {make_array({2, 3, 5}, 1), make_array({2, 3, 5}, 2),
                            make_array({6, 5}, 3)};
    const auto fold = [&](const Binary& function) {
        Array made = inputs[0];
        for (size_t n = 1; n < 3; ++n)
            for (size_t i = 0; i < made.values.size(); ++i)
                made.values[i] = function(made.values[i], inputs[n].values[i]);
        return made;
    };
    const Array sum = fold([](double a, double b) { return a + b; });
    const std::tuple<const char*, const char*, Array> ops[] = {
        {"tengine.Add_n", "Sum", sum},
        {"tengine.Mean", "Mean", map(sum, [](double x) { return x / 3; })},
        {"tengine.Maximum", "Max", fold([](double a, double b) { return std::max(a, b); })},
        {"tengine.Minimum", "Min", fold([](double a, double b) { return std::min(a, b); })},
    };
    for (const auto& [op, onnx, expected] : ops) {
        SCOPED_TRACE(op);
        TengineCase three(op);
        expect_close(three.input(inputs[0]).input(inputs[1]).input(inputs[2]).run_one(), expected);
        TengineCase one(op);
        expect_close(one.input(inputs[0]).run_one(), inputs[0]);
        TengineCase raised(onnx);
        raised.input(inputs[0]).input(inputs[1]).expect_raised(op, 0);
    }
}

TEST(TengineVariadic, OperandsOfTwoSizes)
{
    TengineCase plain("tengine.Maximum");
    plain.input(make_array({2, 3})).input(make_array({3}));
    plain.expect_failure(TENGINE_EINVAL, "input 1 has 3 elements, input 0 has 6");
    TengineCase raised("Max");
    raised.input(make_array({2, 3})).input(make_array({3}));
    raised.expect_refusal("different shapes, Tengine's Maximum needs equal ones");
}

TEST(TengineVariadic, SquaredDifference)
{
    const Array first = make_array({2, 3, 5}, 1);
    const Array second = make_array({2, 3, 5}, 8);
    Array expected = first;
    for (size_t i = 0; i < expected.values.size(); ++i)
        expected.values[i] = std::pow(first.values[i] - second.values[i], 2);
    TengineCase op("tengine.SquaredDifference");
    expect_close(op.input(first).input(second).run_one(), expected);
    TengineCase apart("tengine.SquaredDifference");
    apart.input(first).input(make_array({3, 5}));
    apart.expect_failure(TENGINE_EINVAL, "shapes [2,3,5] and [3,5]");
}

}  // namespace
}  // namespace tengine::test
