// SPDX-License-Identifier: Apache-2.0
// QLinearAdd, QLinearMul and Lookup: every pair of 8-bit values against exact arithmetic, and
// refusals of shape inference.
#include "operator/onnx/qlinear_param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

constexpr const char* kAdd = "com.microsoft.QLinearAdd";
constexpr const char* kMul = "com.microsoft.QLinearMul";

const std::vector<std::string> kBinaryInputs = {"a",       "a_scale", "a_zero",  "b",
                                                "b_scale", "b_zero",  "y_scale", "y_zero"};

// Every pair of 8-bit values, so that the test is exhaustive.
template <class T>
std::vector<T> all_bytes()
{
    std::vector<T> values(256);
    for (int i = 0; i < 256; ++i)
        values[static_cast<size_t>(i)] = static_cast<T>(i);
    return values;
}

// All quotients of scales that are powers of two are exact, and many are ties.
template <class A, class B, class Y>
void check_pairs(const char* op, float a_scale, int a_zero, float b_scale, int b_zero,
                 float y_scale, int y_zero)
{
    ConstantGraph graph;
    add_tensor(&graph, "a", {256, 1}, all_bytes<A>(), a_scale, a_zero);
    add_tensor(&graph, "b", {256}, all_bytes<B>(), b_scale, b_zero);
    add_result<Y>(&graph, y_scale, y_zero);
    graph.add(op, kBinaryInputs);
    const tensor* y = graph.evaluate();
    ASSERT_EQ(dims_of(y), (std::vector<int>{256, 256}));
    const auto values = values_of<Y>(y);
    for (int i = 0; i < 256; ++i)
        for (int k = 0; k < 256; ++k) {
            const long double a = (static_cast<A>(i) - a_zero) * static_cast<long double>(a_scale);
            const long double b = (static_cast<B>(k) - b_zero) * static_cast<long double>(b_scale);
            const long double real = op == kAdd ? a + b : a * b;
            ASSERT_EQ(values[static_cast<size_t>(256 * i + k)],
                      quantize<Y>(real / static_cast<long double>(y_scale), y_zero))
                << op << " " << i << " " << k;
        }
}

// Zero points at the ends of the types.
template <class A, class B, class Y>
void check_ends(const char* op)
{
    using LimitsA = std::numeric_limits<A>;
    using LimitsB = std::numeric_limits<B>;
    using LimitsY = std::numeric_limits<Y>;
    check_pairs<A, B, Y>(op, 0.5f, LimitsA::min(), 0.25f, LimitsB::max(), 1, LimitsY::min());
    check_pairs<A, B, Y>(op, 0.25f, LimitsA::max(), 2, LimitsB::min(), 0.5f, LimitsY::max());
    check_pairs<A, B, Y>(op, 0.5f, 3, 0.125f, 7, 4, 9);
}

class QLinearBinary : public testing::TestWithParam<const char*>
{
};

TEST_P(QLinearBinary, EveryPairOfBytesOfEveryTypes)
{
    check_ends<int8_t, int8_t, int8_t>(GetParam());
    check_ends<int8_t, int8_t, uint8_t>(GetParam());
    check_ends<int8_t, uint8_t, int8_t>(GetParam());
    check_ends<int8_t, uint8_t, uint8_t>(GetParam());
    check_ends<uint8_t, int8_t, int8_t>(GetParam());
    check_ends<uint8_t, int8_t, uint8_t>(GetParam());
    check_ends<uint8_t, uint8_t, int8_t>(GetParam());
    check_ends<uint8_t, uint8_t, uint8_t>(GetParam());
}

// Scales from calibration: no quotient is near enough to a tie to differ.
TEST_P(QLinearBinary, OrdinaryScales)
{
    check_pairs<int8_t, uint8_t, int8_t>(GetParam(), 0.0471f, -3, 0.0133f, 128, 0.0519f, 11);
    check_pairs<uint8_t, uint8_t, uint8_t>(GetParam(), 0.9f, 101, 1e-4f, 0, 0.35f, 128);
}

// The definition of ONNX Runtime: (q - z) * scale, for either sign of the scale.
TEST_P(QLinearBinary, ScalesMayBeNegative)
{
    check_pairs<uint8_t, uint8_t, uint8_t>(GetParam(), -0.5f, 100, 0.25f, 120, 1, 128);
    check_pairs<int8_t, uint8_t, uint8_t>(GetParam(), 0.5f, -3, -0.25f, 120, 2, 128);
    check_pairs<int8_t, int8_t, int8_t>(GetParam(), -0.5f, -3, -0.25f, 5, 2, -1);
    check_pairs<uint8_t, int8_t, int8_t>(GetParam(), 0.5f, 100, 0.25f, 5, -1, -1);
}

TEST_P(QLinearBinary, ZeroPointsMayBeAbsent)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "a", {3}, {4, -6, 8}, 1, 0);
    add_tensor<int8_t>(&graph, "b", {1}, {2}, 1, 0);
    graph.input<float>("y_scale", {}, {1});
    graph.add(GetParam(), {"a", "a_scale", "", "b", "b_scale", "", "y_scale"});
    const bool adds = GetParam() == kAdd;
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()),
              (adds ? std::vector<int8_t>{6, -4, 10} : std::vector<int8_t>{8, -12, 16}));
}

TEST_P(QLinearBinary, BothInputsBroadcast)
{
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "a", {2, 1, 2}, {10, 20, 30, 40}, 1, 0);
    add_tensor<uint8_t>(&graph, "b", {3, 1}, {1, 2, 3}, 1, 0);
    add_result<uint8_t>(&graph, 1, 0);
    graph.add(GetParam(), kBinaryInputs);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{2, 3, 2}));
    const bool adds = GetParam() == kAdd;
    EXPECT_EQ(values_of<uint8_t>(y),
              (adds ? std::vector<uint8_t>{11, 21, 12, 22, 13, 23, 31, 41, 32, 42, 33, 43}
                    : std::vector<uint8_t>{10, 20, 20, 40, 30, 60, 30, 40, 60, 80, 90, 120}));
}

TEST_P(QLinearBinary, EmptyTensors)
{
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "a", {0, 4}, {}, 1, 0);
    add_tensor<uint8_t>(&graph, "b", {4}, {1, 2, 3, 4}, 1, 0);
    add_result<uint8_t>(&graph, 1, 0);
    graph.add(GetParam(), kBinaryInputs);
    EXPECT_EQ(dims_of(graph.evaluate()), (std::vector<int>{0, 4}));
}

TEST_P(QLinearBinary, RefusesWhatDoesNotFit)
{
    const auto refuse = [](auto change, int code, const char* part) {
        ConstantGraph graph;
        add_tensor<uint8_t>(&graph, "a", {2}, {1, 2}, 1, 0);
        add_tensor<uint8_t>(&graph, "b", {2}, {1, 2}, 1, 0);
        add_result<uint8_t>(&graph, 1, 0);
        graph.input<float>("scales", {2}, {1, 1});
        graph.input<float>("none", {}, {0});
        graph.input<float>("negative", {}, {-2});
        graph.input<float>("huge", {}, {3e38f});
        graph.input<int8_t>("other", {}, {0});
        graph.input<uint8_t>("three", {3}, {1, 2, 3});
        std::vector<std::string> inputs = kBinaryInputs;
        change(&inputs);
        graph.add(GetParam(), inputs);
        graph.expect_failure(code, part);
    };
    const auto with = [](size_t index, const char* name) {
        return [=](std::vector<std::string>* inputs) { (*inputs)[index] = name; };
    };
    refuse(with(1, "scales"), TENGINE_EINVAL, "'scales' has rank 1 and 2 values, expected 1 value");
    refuse(with(6, "none"), TENGINE_ERANGE, "scale 'none' is 0, expected a positive number");
    refuse(with(1, "huge"), TENGINE_ERANGE, "a factor of 3e+38, expected 0 to 2^31");
    refuse(with(2, "other"), TENGINE_EDTYPE, "'other' is int8, expected one of: uint8");
    refuse(with(0, "a_scale"), TENGINE_EDTYPE, "is fp32, expected one of: ");
    refuse(with(3, "three"), TENGINE_EINVAL, "'three' does not broadcast");
    refuse(with(6, ""), TENGINE_EGRAPH, "input 6 is missing");
    refuse(with(4, ""), TENGINE_EGRAPH, "input 4 is missing");
}

INSTANTIATE_TEST_SUITE_P(Operators, QLinearBinary, testing::Values(kAdd, kMul),
                         [](const auto& tested) { return tested.index ? "Mul" : "Add"; });

TEST(QLinearAdd, OneRoundingForTheSum)
{
    // 0.4 + 0.4 steps: rounded separately, the sum would be 0.
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "a", {1}, {2}, 0.2f, 0);
    add_tensor<int8_t>(&graph, "b", {1}, {1}, 0.4f, 0);
    add_result<int8_t>(&graph, 1, 0);
    graph.add(kAdd, kBinaryInputs);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), std::vector<int8_t>{1});
}

TEST(QLinearAdd, ATermFarBelowTheOtherVanishes)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "a", {2}, {100, -100}, 1, 0);
    add_tensor<int8_t>(&graph, "b", {1}, {127}, 1e-30f, 0);
    add_result<int8_t>(&graph, 1, 0);
    graph.add(kAdd, kBinaryInputs);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{100, -100}));
}

TEST(Lookup, EveryByteOfEveryTypes)
{
    const auto check = [](auto input_type, auto table_type) {
        using X = decltype(input_type);
        using Y = decltype(table_type);
        const auto table = random_bytes<Y>(LOOKUP_TABLE_SIZE, 7);
        ConstantGraph graph;
        graph.input<X>("x", {2, 128}, all_bytes<X>());
        graph.input<Y>("table", {LOOKUP_TABLE_SIZE}, table);
        graph.add("tengine.Lookup", {"x", "table"});
        const tensor* y = graph.evaluate();
        EXPECT_EQ(dims_of(y), (std::vector<int>{2, 128}));
        EXPECT_EQ(values_of<Y>(y), table);
    };
    check(int8_t{}, int8_t{});
    check(int8_t{}, uint8_t{});
    check(uint8_t{}, int8_t{});
    check(uint8_t{}, uint8_t{});
}

TEST(Lookup, RefusesWhatDoesNotFit)
{
    ConstantGraph short_table;
    short_table.input<int8_t>("x", {1}, {0});
    short_table.input<int8_t>("table", {255}, std::vector<int8_t>(255));
    short_table.add("tengine.Lookup", {"x", "table"});
    short_table.expect_failure(TENGINE_EINVAL, "rank 1 and 255 values, expected a list of 256");

    ConstantGraph floats;
    floats.input<int8_t>("x", {1}, {0});
    floats.input<float>("table", {256}, std::vector<float>(256));
    floats.add("tengine.Lookup", {"x", "table"});
    floats.expect_failure(TENGINE_EDTYPE, "expected one of: int8 uint8");
}

}  // namespace
}  // namespace tengine::test
