// SPDX-License-Identifier: Apache-2.0
// Slice, Pad, Tile, ReverseSequence and Trilu: ends of the integers, all element sizes, empty
// tensors, newer opsets than the ONNX suite has.
#include <cstdint>
#include <numeric>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Ints = std::vector<int64_t>;

template <class T>
std::vector<T> count_to(int number)
{
    std::vector<T> values(static_cast<size_t>(number));
    std::iota(values.begin(), values.end(), T(0));
    return values;
}

// Slice of 0 1 2 3 4 5.
struct SliceCase
{
    ConstantGraph graph;
    SliceCase(int64_t start, int64_t end, int64_t step)
    {
        graph.input<int64_t>("x", {6}, count_to<int64_t>(6));
        graph.builder().ints("starts", {start});
        graph.builder().ints("ends", {end});
        graph.builder().ints("axes", {-1});
        graph.builder().ints("steps", {step});
        graph.add("Slice", {"x", "starts", "ends", "axes", "steps"});
    }
    Ints values() { return values_of<int64_t>(graph.evaluate()); }
};

TEST(Slice, ClampsToTheEndsOfTheIntegers)
{
    EXPECT_EQ(SliceCase(0, INT64_MAX, 2).values(), (Ints{0, 2, 4}));
    EXPECT_EQ(SliceCase(INT64_MIN, INT64_MAX, INT64_MAX).values(), (Ints{0}));
    EXPECT_EQ(SliceCase(INT64_MAX, INT64_MIN, -2).values(), (Ints{5, 3, 1}));
    EXPECT_EQ(SliceCase(-1, INT64_MIN, INT64_MIN).values(), (Ints{5}));
    // The specification clamps a start to [0, dim - 1] when stepping down, unlike numpy.
    EXPECT_EQ(SliceCase(INT64_MIN, INT64_MIN, -1).values(), (Ints{0}));
    EXPECT_EQ(SliceCase(-2, 1, -1).values(), (Ints{4, 3, 2}));
    EXPECT_EQ(SliceCase(4, 2, 1).values(), (Ints{}));
}

TEST(Slice, RejectsStepZero)
{
    SliceCase(0, 1, 0).graph.expect_failure(TENGINE_EINVAL, "steps[0] is 0");
}

TEST(Slice, RejectsListsThatDoNotMatch)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {1, 2});
    graph.builder().ints("starts", {0, 0});
    graph.builder().ints("ends", {1, 1});
    graph.add("Slice", {"x", "starts", "ends"});
    graph.expect_failure(TENGINE_EINVAL, "2 values for 1 axes");
}

TEST(Slice, OldOpsetHasAttributes)
{
    ConstantGraph graph;
    graph.opset = 9;
    graph.input<uint8_t>("x", {2, 3}, count_to<uint8_t>(6));
    node* slice = graph.add("Slice", {"x"});
    const int64_t starts[] = {-2}, ends[] = {1000}, axes[] = {1};
    set_node_ints(slice, "starts", starts, 1);
    set_node_ints(slice, "ends", ends, 1);
    set_node_ints(slice, "axes", axes, 1);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{1, 2, 4, 5}));
}

// Pad of 0 1 2 by the mode.
struct PadCase
{
    ConstantGraph graph;
    PadCase(const char* mode, const Ints& pads)
    {
        graph.input<int32_t>("x", {3}, {0, 1, 2});
        graph.builder().ints("pads", pads);
        set_node_text(graph.add("Pad", {"x", "pads"}), "mode", mode, std::string(mode).size());
    }
    std::vector<int32_t> values() { return values_of<int32_t>(graph.evaluate()); }
};

TEST(Pad, ModesAlsoBeyondTheInput)
{
    using Values = std::vector<int32_t>;
    EXPECT_EQ(PadCase("constant", {1, 1}).values(), (Values{0, 0, 1, 2, 0}));
    EXPECT_EQ(PadCase("edge", {2, 1}).values(), (Values{0, 0, 0, 1, 2, 2}));
    EXPECT_EQ(PadCase("reflect", {2, 5}).values(), (Values{2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
    EXPECT_EQ(PadCase("wrap", {1, 4}).values(), (Values{2, 0, 1, 2, 0, 1, 2, 0}));
}

TEST(Pad, NegativePadsCut)
{
    using Values = std::vector<int32_t>;
    EXPECT_EQ(PadCase("constant", {-1, 1}).values(), (Values{1, 2, 0}));
    EXPECT_EQ(PadCase("edge", {1, -2}).values(), (Values{0, 0}));
    EXPECT_EQ(PadCase("constant", {-3, 2}).values(), (Values{0, 0}));
    PadCase("constant", {-2, -2}).graph.expect_failure(TENGINE_EINVAL, "pads remove 4");
    PadCase("edge", {-3, 2}).graph.expect_failure(TENGINE_EINVAL, "no element to pad with");
}

TEST(Pad, RejectsHostilePads)
{
    PadCase("constant", {1}).graph.expect_failure(TENGINE_EINVAL, "two per axis");
    PadCase("constant", {0, INT64_MAX}).graph.expect_failure(TENGINE_ERANGE, "axis 0");
    PadCase("constant", {1, 1, 1, 1}).graph.expect_failure(TENGINE_EINVAL, "2 values for 1 axes");
}

TEST(CenterCropPad, EachAxisForItself)
{
    ConstantGraph graph;
    graph.input<int16_t>("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    graph.input<int64_t>("shape", {2}, {1, 5});
    node* made = graph.add("CenterCropPad", {"x", "shape"});
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{1, 2, 3, 4, 0}));
    const int64_t axes[] = {1, 0};
    EXPECT_EQ(set_node_ints(made, "axes", axes, 2), TENGINE_OK);
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{0, 2, 6, 0, 0}));
    EXPECT_EQ(set_node_ints(made, "axes", axes, 1), TENGINE_OK);
    graph.expect_failure(TENGINE_EINVAL, "shape has 2 values for 1 axes");
}

TEST(Pad, AxesChooseTheDimensions)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {1, 2});
    graph.input<float>("value", {}, {9});
    graph.builder().ints("pads", {1, 0});
    graph.builder().ints("axes", {-1});
    graph.add("Pad", {"x", "pads", "value", "axes"});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{9, 1, 2}));
}

TEST(Pad, OldOpsetValueGetsTheInputsType)
{
    ConstantGraph graph;
    graph.opset = 10;
    graph.input<cpu::Half>("x", {1}, {1.0f});
    node* pad = graph.add("Pad", {"x"});
    const int64_t pads[] = {1, 1};
    set_node_ints(pad, "pads", pads, 2);
    set_node_float(pad, "value", 0.5f);
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{0.5f, 1, 0.5f}));
}

TEST(Tile, RepeatsEveryElementSize)
{
    const auto check = [](auto zero) {
        using T = decltype(zero);
        ConstantGraph graph;
        graph.input<T>("x", {2, 1}, {T(1), T(2)});
        graph.builder().ints("repeats", {2, 3});
        graph.add("Tile", {"x", "repeats"});
        EXPECT_EQ(values_of<T>(graph.evaluate()),
                  (std::vector<T>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
    };
    check(int8_t{});
    check(uint16_t{});
    check(float{});
    check(double{});
}

TEST(Tile, RejectsOverflow)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {1, 2});
    graph.builder().ints("repeats", {INT64_MAX});
    graph.add("Tile", {"x", "repeats"});
    graph.expect_failure(TENGINE_ERANGE, "repeats[0]");
}

TEST(ReverseSequence, RejectsLengthBeyondTime)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 1}, {1, 2});
    graph.builder().ints("lengths", {3});
    graph.add("ReverseSequence", {"x", "lengths"});
    graph.expect_failure(TENGINE_ERANGE, "sequence_lens[0] is 3");
}

TEST(Trilu, TakesAnyDiagonal)
{
    for (const int64_t k : {INT64_MIN, INT64_MAX}) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2}, {1, 2, 3, 4});
        graph.input<int64_t>("k", {}, {k});
        graph.add("Trilu", {"x", "k"});
        EXPECT_EQ(values_of<float>(graph.evaluate()),
                  k < 0 ? (std::vector<float>{1, 2, 3, 4}) : std::vector<float>(4, 0));
    }
}

}  // namespace
}  // namespace tengine::test
