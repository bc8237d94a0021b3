// SPDX-License-Identifier: Apache-2.0
// Cast: every pair of types, values out of range, rounding.
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;

// CastLike takes the target type as a C++ type; Cast has ONNX's numbers.
template <class To, class From>
std::vector<To> cast(const std::vector<From>& values)
{
    ConstantGraph graph;
    graph.input("x", {static_cast<int>(values.size())}, values);
    graph.input<To>("like", {1}, {To()});
    graph.add("CastLike", {"x", "like"});
    return values_of<To>(graph.evaluate());
}

template <class T>
class CastFrom : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t,
                               int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(CastFrom, Numbers);

template <class To, class From>
void expect_kept()
{
    const auto result = cast<To, From>({From(0), From(1), From(100)});
    ASSERT_EQ(result.size(), 3u);
    EXPECT_EQ(static_cast<int>(result[0]), 0);
    EXPECT_EQ(static_cast<int>(result[1]), 1);
    EXPECT_EQ(static_cast<int>(result[2]), 100);
}

TYPED_TEST(CastFrom, ToEveryNumber)
{
    expect_kept<float, TypeParam>();
    expect_kept<Half, TypeParam>();
    expect_kept<BFloat16, TypeParam>();
    expect_kept<double, TypeParam>();
    expect_kept<int8_t, TypeParam>();
    expect_kept<uint8_t, TypeParam>();
    expect_kept<int16_t, TypeParam>();
    expect_kept<uint16_t, TypeParam>();
    expect_kept<int32_t, TypeParam>();
    expect_kept<uint32_t, TypeParam>();
    expect_kept<int64_t, TypeParam>();
    expect_kept<uint64_t, TypeParam>();
}

TYPED_TEST(CastFrom, BoolAndBack)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {3}, {0, 1, 100});
    node* made = graph.add("Cast", {"x"});
    ASSERT_EQ(set_node_int(made, "to", 9), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{0, 1, 1}));

    ConstantGraph back;
    back.bools("x", {3}, {0, 1, 7});
    back.input<TypeParam>("like", {1}, {0});
    back.add("CastLike", {"x", "like"});
    const auto values = values_of<TypeParam>(back.evaluate());
    ASSERT_EQ(values.size(), 3u);
    EXPECT_EQ(static_cast<int>(values[2]), 1);
}

TEST(Cast, FloatsAreTruncatedAndSaturate)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Floats values = {1.9f, -1.9f, 1e30f, -1e30f, infinity, -infinity, nan};
    EXPECT_EQ(cast<int8_t>(values), (std::vector<int8_t>{1, -1, 127, -128, 127, -128, 0}));
    EXPECT_EQ(cast<uint16_t>(values), (std::vector<uint16_t>{1, 0, 65535, 0, 65535, 0, 0}));
    EXPECT_EQ(cast<int64_t>(values),
              (std::vector<int64_t>{1, -1, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0}));
    EXPECT_EQ(cast<uint64_t>(values),
              (std::vector<uint64_t>{1, 0, UINT64_MAX, 0, UINT64_MAX, 0, 0}));
}

TEST(Cast, IntegersKeepTheirLowBits)
{
    EXPECT_EQ((cast<int8_t, int32_t>({300, -129})), (std::vector<int8_t>{44, 127}));
    EXPECT_EQ((cast<uint64_t, int8_t>({-1})), std::vector<uint64_t>{UINT64_MAX});
    EXPECT_EQ((cast<int64_t, uint64_t>({UINT64_MAX})), std::vector<int64_t>{-1});
    EXPECT_EQ((cast<double, uint64_t>({UINT64_MAX})), std::vector<double>{18446744073709551616.0});
    EXPECT_EQ((cast<float, int64_t>({INT64_MIN})), Floats{-9223372036854775808.0f});
}

TEST(Cast, DoubleIsRoundedToHalfOnce)
{
    // Just above the middle between 1 and the next fp16 value: as a float it is exactly the middle,
    // which would round to 1.
    const double above = 1.0 + 0x1p-11 + 0x1p-40;
    const auto halves = cast<Half, double>({above, -above, 65520.0, 1e300, 1.0 + 0x1p-11});
    EXPECT_EQ(static_cast<float>(halves[0]), 1.0f + 0x1p-10f);
    EXPECT_EQ(static_cast<float>(halves[1]), -1.0f - 0x1p-10f);
    EXPECT_EQ(static_cast<float>(halves[2]), std::numeric_limits<float>::infinity());
    EXPECT_EQ(static_cast<float>(halves[3]), std::numeric_limits<float>::infinity());
    EXPECT_EQ(static_cast<float>(halves[4]), 1.0f);
}

TEST(Cast, LargeTensorsAreTakenInBlocks)
{
    std::vector<int32_t> values(1000);
    for (int i = 0; i < 1000; ++i)
        values[static_cast<size_t>(i)] = i - 500;
    EXPECT_EQ((cast<int32_t, float>(cast<float>(values))), values);
}

TEST(Cast, NamesTypesOfFiles)
{
    const std::pair<int, const char*> types[] = {{0, "undefined"}, {27, "unknown"}};
    for (const auto& [to, name] : types) {
        ConstantGraph graph;
        graph.input<float>("x", {1}, {1});
        ASSERT_EQ(set_node_int(graph.add("Cast", {"x"}), "to", to), 0);
        graph.expect_failure(TENGINE_EDTYPE, std::string("(") + name + ")");
    }
}

TEST(Cast, RoundModeIsOfOpset24)
{
    ConstantGraph graph;
    graph.input<float>("x", {1}, {1.5f});
    graph.opset = 23;
    EXPECT_EQ(set_node_text(graph.add("Cast", {"x"}), "round_mode", "down", 4), TENGINE_ENOENT);
    graph.opset = 24;
    node* made = graph.add("Cast", {"x"}, {"z"});
    EXPECT_EQ(set_node_text(made, "round_mode", "down", 4), 0);
    EXPECT_EQ(set_node_text(made, "round_mode", "sideways", 8), TENGINE_ERANGE);
    ASSERT_EQ(set_node_int(made, "to", 6), 0);
    EXPECT_EQ(values_of<int32_t>(graph.evaluate("z")), std::vector<int32_t>{1});
}

TEST(Cast, RefusesTypesItDoesNotKnow)
{
    for (int to : {0, 27, -1, 1 << 20}) {
        ConstantGraph graph;
        graph.input<float>("x", {1}, {1});
        node* made = graph.add("Cast", {"x"});
        ASSERT_EQ(set_node_int(made, "to", to), 0);
        graph.expect_failure(TENGINE_EDTYPE, "to is " + std::to_string(to) + " (");
    }
}

}  // namespace
}  // namespace tengine::test
