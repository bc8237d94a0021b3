// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that give elements another shape, against shapes computed by hand.
#include <random>

#include "naive.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Ints = std::vector<int64_t>;

// Expects the elements in their order, with these dimensions.
void expect_reshaped(TengineCase& made, const Array& from, const Dims& dims)
{
    expect_close(made.run_one(), reshaped(from, dims), 0);
}

// ---- Flatten ----

TEST(TengineFlatten, JoinsItsAxes)
{
    const Array x = make_array({2, 3, 4, 5});
    expect_reshaped(TengineCase("tengine.Flatten").input(x), x, {2, 60});
    expect_reshaped(TengineCase("tengine.Flatten").input(x).attr("end_axis", -1), x, {2, 60});
    expect_reshaped(TengineCase("tengine.Flatten").input(x).attr("end_axis", 1000), x, {2, 60});
    const Array thin = make_array({2, 1, 4, 5});
    expect_reshaped(TengineCase("tengine.Flatten").input(thin).attr("axis", 2), thin, {2, 20});
    const Array list = make_array({7});
    expect_reshaped(TengineCase("tengine.Flatten").input(list), list, {7, 1});
}

TEST(TengineFlatten, RefusesToLoseElements)
{
    const Array x = make_array({2, 3, 4, 5});
    TengineCase("tengine.Flatten")
        .input(x)
        .attr("axis", 2)
        .expect_failure(TENGINE_EINVAL, "2 x 20 of 120");
    TengineCase("tengine.Flatten")
        .input(x)
        .attr("end_axis", 2)
        .expect_failure(TENGINE_EINVAL, "2 x 12 of 120");
    TengineCase("tengine.Flatten").input(x).attr("axis", 0).expect_failure(TENGINE_EINVAL, "120");
    TengineCase("tengine.Flatten").input(x).attr("axis", -9).expect_failure(TENGINE_ERANGE, "-9");
    TengineCase("tengine.Flatten").input({{}, {1}}).expect_failure(TENGINE_EINVAL, "rank 0");
}

TEST(TengineFlatten, IsRaised)
{
    const Array x = make_array({2, 3, 4, 5});
    TengineCase("Flatten").input(x).expect_raised("tengine.Flatten", 0);
    TengineCase("Flatten").input(make_array({2, 3, 1, 5, 2})).expect_raised("tengine.Flatten", 0);
    TengineCase("Flatten").input(x).attr("axis", 0).expect_raised("tengine.Reshape", 0);
    TengineCase("Flatten").input(x).attr("axis", -1).expect_raised("tengine.Reshape", 0);
}

// ---- Reshape ----

struct ReshapeCase
{
    Dims from;
    Ints shape;
    Dims to;
    bool reverse = false;
};

TEST(TengineReshape, KnowsSpecialValues)
{
    const ReshapeCase cases[] = {
        {{2, 3, 4}, {6, 4}, {6, 4}},
        {{2, 3, 4}, {-1}, {24}},
        {{2, 3, 4}, {0, -1}, {2, 12}},
        {{2, 3, 4}, {0, 0, 2, 2}, {2, 3, 2, 2}},
        {{2, 3, 4}, {4, 0, 2}, {4, 3, 2}},
        {{2, 3, 4}, {-2}, {2, 3, 4}},
        {{2, 3, 4}, {2, -2}, {2, 3, 4}},
        {{2, 3, 4}, {-2, 1, 1}, {2, 3, 4, 1, 1}},
        {{2, 3, 4}, {-3, 4}, {6, 4}},
        {{2, 3, 4, 5}, {-3, -3}, {6, 20}},
        {{2, 3, 4}, {0, -3}, {2, 12}},
        {{2, 3, 4}, {-4, 1, 2, -2}, {1, 2, 3, 4}},
        {{2, 3, 4}, {2, -4, -1, 3, -2}, {2, 1, 3, 4}},
        {{2, 3, 4}, {0, 0, -4, 2, -1}, {2, 3, 2, 2}},
        {{10, 5, 4}, {-1, 0}, {40, 5}},
        {{10, 5, 4}, {-1, 0}, {50, 4}, true},
        {{8, 3, 3, 3, 4, 4}, {0, 0, -1, 0}, {8, 3, 48, 3}},
        {{8, 3, 3, 3, 4, 4}, {-1, 0, 0, 0}, {72, 3, 4, 4}, true},
    };
    for (const ReshapeCase& given : cases) {
        const Array x = make_array(given.from);
        TengineCase made("tengine.Reshape");
        made.input(x).attr("re_shape", given.shape).attr("reverse", given.reverse ? 1 : 0);
        SCOPED_TRACE(testing::PrintToString(given.shape));
        expect_reshaped(made, x, given.to);
    }
}

TEST(TengineReshape, IgnoresAFurtherInput)
{
    const Array x = make_array({2, 3, 4});
    TengineCase made("tengine.Reshape");
    made.input(x).constant(int_list({1, 2, 3}, TENGINE_DT_INT32)).attr("re_shape", Ints{-1, 6});
    expect_reshaped(made, x, {4, 6});
}

void expect_bad_shape(const Ints& shape, int code, const std::string& part)
{
    SCOPED_TRACE(testing::PrintToString(shape));
    TengineCase made("tengine.Reshape");
    made.input(make_array({2, 3, 4}));
    if (!shape.empty()) made.attr("re_shape", shape);
    made.expect_failure(code, part);
}

TEST(TengineReshape, RefusesWhatDoesNotFit)
{
    expect_bad_shape({}, TENGINE_EINVAL, "0 values");
    expect_bad_shape({5, -1}, TENGINE_EINVAL, "24 elements");
    expect_bad_shape({23}, TENGINE_EINVAL, "shape of 23");
    expect_bad_shape({-1, -1}, TENGINE_EINVAL, "dimensions 0 and 1 open");
    expect_bad_shape({-5}, TENGINE_ERANGE, "-5");
    expect_bad_shape({2, 3, 4, 0}, TENGINE_EINVAL, "dimension 3 of an input with 3");
    expect_bad_shape({24, 1, -3}, TENGINE_EINVAL, "dimension 3");
    expect_bad_shape({-4, 2}, TENGINE_EINVAL, "1 values after -4");
    expect_bad_shape({-4, 3, 1, -2}, TENGINE_EINVAL, "2 in 3 and 1");
    expect_bad_shape({-4, 0, -1, -2}, TENGINE_EINVAL, "0 and -1");
    expect_bad_shape({1, 1, 1, 1, 1, 1, 1, 1, 24}, TENGINE_ERANGE, "more than 8");
    expect_bad_shape(Ints(100, 1), TENGINE_EINVAL, "100 values");
    expect_bad_shape({2147483647, 2147483647, 2147483647, 2147483647}, TENGINE_EINVAL, "24");
    expect_bad_shape({2147483647, 2147483647, 2147483647, -1}, TENGINE_EINVAL, "24");
}

TEST(TengineReshape, OfAnEmptyInputDoesNotDivideByNothing)
{
    TengineCase("tengine.Reshape")
        .input({{2, 0, 3}, {}})
        .attr("re_shape", Ints{0, 0, -1})
        .expect_failure(TENGINE_EINVAL, "0 elements");
}

Array reshape_in_nhwc(const Dims& from, const Ints& shape, const Array& x)
{
    TengineCase made("tengine.Reshape");
    EXPECT_EQ(x.dims, from);
    return made.input(x).attr("re_shape", shape).model_layout(TENGINE_LAYOUT_NHWC).run_one();
}

TEST(TengineReshape, KeepsTheOrderOfNhwcModels)
{
    const Array x = make_array({2, 3, 4, 5});
    const Array nhwc = transposed(x, {0, 2, 3, 1});
    expect_close(reshape_in_nhwc(x.dims, {2, 6, 2, 5}, x),
                 transposed(reshaped(nhwc, {2, 2, 5, 6}), {0, 3, 1, 2}), 0);
    expect_close(reshape_in_nhwc(x.dims, {2, 6, 10}, x),
                 transposed(reshaped(nhwc, {2, 10, 6}), {0, 2, 1}), 0);
    expect_close(reshape_in_nhwc(x.dims, {2, -1}, x), reshaped(nhwc, {2, 60}), 0);
    expect_close(reshape_in_nhwc(x.dims, {120}, x), reshaped(x, {120}), 0);
    const Array matrix = make_array({2, 60});
    expect_close(reshape_in_nhwc(matrix.dims, {2, 3, 4, 5}, matrix), reshaped(matrix, x.dims), 0);
}

TEST(TengineReshape, IsRaised)
{
    TengineCase made("Reshape");
    made.input(make_array({2, 3, 4})).constant(int_list({0, -1, 2}));
    made.expect_raised("tengine.Reshape", 0);
    EXPECT_EQ(made.raised_attr("is_onnx"), 1);
    EXPECT_EQ(made.raised_attr("dim_size"), 3);
    TengineCase("Reshape")
        .input({{0, 3}, {}})
        .constant(int_list({3, 0}))
        .attr("allowzero", 1)
        .expect_refusal("no elements");
    TengineCase("Reshape").input({{1}, {4}}).constant(int_list({})).expect_refusal("scalar");
}

// ---- Squeeze ----

TengineCase& set_dims(TengineCase& made, const std::vector<int>& dims)
{
    static const char* const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
    for (size_t i = 0; i < dims.size(); ++i)
        made.attr(names[i], dims[i]);
    return made;
}

TEST(TengineSqueeze, NamesAxesAsNhwcHasThem)
{
    const Array x = make_array({1, 5, 1, 1});
    const std::pair<std::vector<int>, Dims> cases[] = {
        {{}, {5}},        {{0}, {5, 1, 1}},    {{1}, {1, 5, 1}},     {{2}, {1, 5, 1}},
        {{1, 2}, {1, 5}}, {{3}, {1, 5, 1, 1}}, {{-1}, {1, 5, 1, 1}}, {{0, 1, 2, 3}, {5}},
    };
    for (const auto& [dims, to] : cases) {
        SCOPED_TRACE(testing::PrintToString(dims));
        TengineCase made("tengine.Squeeze");
        made.input(x);
        expect_reshaped(set_dims(made, dims), x, to);
    }
}

TEST(TengineSqueeze, RefusesAxesThatAreNone)
{
    TengineCase made("tengine.Squeeze");
    made.input(make_array({1, 2})).attr("dim_0", 4).expect_failure(TENGINE_ERANGE, "4");
    TengineCase hostile("tengine.Squeeze");
    hostile.input(make_array({1, 2})).attr("dim_3", INT32_MIN).expect_failure(TENGINE_ERANGE, "-");
}

TEST(TengineSqueeze, IsRaised)
{
    const Array x = make_array({1, 5, 1, 1});
    TengineCase("Squeeze").input(x).expect_raised("tengine.Squeeze", 0);
    for (const int axis : {0, 2, 3, -1, -2, -4}) {
        TengineCase made("Squeeze");
        made.input(x).constant(int_list({static_cast<double>(axis)}));
        made.expect_raised("tengine.Squeeze", 0);
    }
    TengineCase("Squeeze")
        .input(make_array({2, 1, 3}))
        .constant(int_list({1}))
        .expect_raised("tengine.Squeeze", 0);
    TengineCase("Squeeze")
        .input(make_array({2, 2, 2, 1, 1}))
        .constant(int_list({3, 4}))
        .expect_raised("tengine.Reshape", 0);
    TengineCase("Squeeze").input(make_array({1, 1})).expect_refusal("scalar");
}

// ---- Unsqueeze, Expanddims ----

TEST(TengineUnsqueeze, AddsAxes)
{
    const Array x = make_array({2, 3});
    const std::pair<Ints, Dims> cases[] = {
        {{0}, {1, 2, 3}},        {{2}, {2, 3, 1}},
        {{-1}, {2, 1, 3}},       {{-2}, {1, 2, 3}},
        {{0, 3}, {1, 2, 3, 1}},  {{3, 0}, {1, 2, 3, 1}},
        {{-1, 0}, {1, 2, 3, 1}}, {{1, 2, 3}, {2, 1, 1, 1, 3}},
    };
    for (const auto& [axes, to] : cases) {
        SCOPED_TRACE(testing::PrintToString(axes));
        TengineCase made("tengine.Unsqueeze");
        expect_reshaped(made.input(x).attr("axises", axes), x, to);
    }
}

TEST(TengineUnsqueeze, RefusesAxesThatAreNone)
{
    const Array x = make_array({2, 3});
    TengineCase("tengine.Unsqueeze").input(x).expect_failure(TENGINE_EINVAL, "0 values");
    const std::pair<Ints, std::string> cases[] = {{{3}, "axis 3"},
                                                  {{-3}, "axis -1"},
                                                  {{1, 1}, "axis 1"},
                                                  {{0, 9}, "axis 9"},
                                                  {{0, 1, 2, 3, 4, 5, 6}, "7 more dimensions"},
                                                  {{INT64_MAX}, "axis 9223372036854775807"}};
    for (const auto& [axes, part] : cases)
        TengineCase("tengine.Unsqueeze")
            .input(x)
            .attr("axises", axes)
            .expect_failure(TENGINE_ERANGE, part);
}

TEST(TengineUnsqueeze, IsRaised)
{
    for (const std::vector<double>& axes :
         {std::vector<double>{0}, {2}, {-1}, {-3}, {0, -1}, {1, 2}}) {
        TengineCase made("Unsqueeze");
        made.input(make_array({2, 3})).constant(int_list(axes));
        made.expect_raised("tengine.Unsqueeze", 0);
    }
    TengineCase("Unsqueeze")
        .input(make_array({2}))
        .constant(int_list({}))
        .expect_refusal("no axis");
}

TEST(TengineExpanddims, AddsOneAxis)
{
    const Array x = make_array({2, 3});
    const std::pair<int, Dims> cases[] = {
        {0, {1, 2, 3}}, {1, {2, 1, 3}}, {2, {2, 3, 1}}, {-1, {2, 3, 1}}, {-3, {1, 2, 3}}};
    for (const auto& [axis, to] : cases)
        expect_reshaped(TengineCase("tengine.Expanddims").input(x).attr("axis", axis), x, to);
    TengineCase("tengine.Expanddims")
        .input(x)
        .attr("axis", 3)
        .expect_failure(TENGINE_ERANGE, "axis 3");
    TengineCase("tengine.Expanddims")
        .input(x)
        .attr("axis", -4)
        .expect_failure(TENGINE_ERANGE, "axis -1");
}

// ---- Shape ----

TEST(TengineShape, IsInt32)
{
    const Array shape = TengineCase("tengine.Shape").input(make_array({2, 3, 5})).run_one();
    EXPECT_EQ(shape.data_type, TENGINE_DT_INT32);
    expect_close(shape, int_list({2, 3, 5}, TENGINE_DT_INT32), 0);
}

// ---- Expand, Tile ----

Array expanded(const Array& x, const Dims& dims)
{
    return build(dims, [&](const Place& place) {
        Place from(place.end() - static_cast<std::ptrdiff_t>(x.dims.size()), place.end());
        for (size_t i = 0; i < from.size(); ++i)
            from[i] = x.dims[i] == 1 ? 0 : from[i];
        return at(x, from);
    });
}

Array tiled(const Array& x, const Dims& dims)
{
    return build(dims, [&](const Place& place) {
        Place from(place.end() - static_cast<std::ptrdiff_t>(x.dims.size()), place.end());
        for (size_t i = 0; i < from.size(); ++i)
            from[i] %= x.dims[i];
        return at(x, from);
    });
}

TEST(TengineExpand, Broadcasts)
{
    const Array x = make_array({3, 1, 5});
    const std::pair<Ints, Dims> cases[] = {{{3, 4, 5}, {3, 4, 5}},
                                           {{1, 4, 1}, {3, 4, 5}},
                                           {{4, 1}, {3, 4, 5}},
                                           {{2, 1, 1, 1}, {2, 3, 1, 5}},
                                           {{1}, {3, 1, 5}}};
    for (const auto& [shape, to] : cases) {
        SCOPED_TRACE(testing::PrintToString(shape));
        expect_close(TengineCase("tengine.Expand").input(x).attr("ex_shape", shape).run_one(),
                     expanded(x, to), 0);
    }
    TengineCase from_input("tengine.Expand");
    from_input.input(x).constant(int_list({3, 7, 5}, TENGINE_DT_INT32));
    expect_close(from_input.run_one(), expanded(x, {3, 7, 5}), 0);
}

TEST(TengineExpand, RefusesOtherShapes)
{
    const Array x = make_array({3, 1, 5});
    TengineCase("tengine.Expand").input(x).expect_failure(TENGINE_EINVAL, "0 values");
    TengineCase("tengine.Expand")
        .input(x)
        .attr("ex_shape", Ints{2, 1, 5})
        .expect_failure(TENGINE_EINVAL, "");
    TengineCase("tengine.Expand")
        .input(x)
        .attr("ex_shape", Ints{-1})
        .expect_failure(TENGINE_ERANGE, "-1");
    TengineCase("tengine.Expand")
        .input(x)
        .attr("ex_shape", Ints(9, 1))
        .expect_failure(TENGINE_EINVAL, "9 values");
    TengineCase("tengine.Expand")
        .input(x)
        .input(int_list({3, 2, 5}, TENGINE_DT_INT32))
        .expect_failure(TENGINE_ENOTSUP, "run time");
}

TEST(TengineTile, RepeatsTheLastDimensions)
{
    const Array x = make_array({2, 3, 2});
    for (const int frame : {0, 1}) {
        const std::pair<Ints, Dims> cases[] = {{{1, 2, 3}, {2, 6, 6}},
                                               {{3}, {2, 3, 6}},
                                               {{2, 1}, {2, 6, 2}},
                                               {{2, 3, 1, 1}, {2, 6, 3, 2}}};
        for (const auto& [reps, to] : cases) {
            SCOPED_TRACE(testing::PrintToString(reps));
            TengineCase made("tengine.Tile");
            made.input(x).attr("frame_flag", frame).attr("reps", reps);
            expect_close(made.run_one(), tiled(x, to), 0);
        }
    }
    TengineCase from_input("tengine.Tile");
    from_input.input(x).constant(int_list({1, 1, 2}, TENGINE_DT_INT32)).attr("frame_flag", 1);
    expect_close(from_input.run_one(), tiled(x, {2, 3, 4}), 0);
}

TEST(TengineTile, RefusesHugeAndNegativeRepeats)
{
    const Array x = make_array({2, 3, 2});
    TengineCase("tengine.Tile")
        .input(x)
        .attr("reps", Ints{-1})
        .expect_failure(TENGINE_ERANGE, "-1");
    TengineCase huge("tengine.Tile");
    huge.input(x)
        .attr("reps", Ints{INT32_MAX, INT32_MAX, INT32_MAX})
        .expect_failure(TENGINE_ERANGE, "");
    TengineCase("tengine.Tile").input(x).expect_failure(TENGINE_EINVAL, "0 values");
}

TEST(TengineExpandAndTile, AreRaised)
{
    const Array x = make_array({3, 1, 5});
    TengineCase expand("Expand");
    expand.input(x).constant(int_list({4, 1}));
    expand.expect_raised("tengine.Expand", 0);
    EXPECT_EQ(expand.raised_attr("dim_num"), 3);
    TengineCase tile("Tile");
    tile.input(x).constant(int_list({1, 4, 2}));
    tile.expect_raised("tengine.Tile", 0);
    EXPECT_EQ(tile.raised_attr("reps_size"), 3);
    TengineCase("Tile").input(x).input(int_list({1, 4, 2})).expect_refusal("not constants");
}

// Random shapes, raised and lowered.
TEST(TengineShapeOps, GiveTheSameAfterRaising)
{
    std::mt19937 random(5);
    const auto draw = [&](int low, int high) {
        return static_cast<int>(random() % static_cast<unsigned>(high - low + 1)) + low;
    };
    for (int round = 0; round < 40; ++round) {
        Dims dims(static_cast<size_t>(draw(1, 5)));
        for (int& dim : dims)
            dim = draw(1, 4);
        const int rank = static_cast<int>(dims.size());
        const Array x = make_array(dims, round);
        TengineCase("Flatten").input(x).attr("axis", draw(-rank, rank)).run_raised();
        TengineCase reshape("Reshape");
        reshape.input(x).constant(int_list({-1, static_cast<double>(dims.back())}));
        reshape.expect_raised("tengine.Reshape", 0);
        TengineCase unsqueeze("Unsqueeze");
        unsqueeze.input(x).constant(int_list({static_cast<double>(draw(-rank - 1, rank))}));
        unsqueeze.expect_raised("tengine.Unsqueeze", 0);
        std::vector<double> repeats;
        for (int i = 0; i < rank; ++i)
            repeats.push_back(draw(1, 3));
        TengineCase("Tile").input(x).constant(int_list(repeats)).expect_raised("tengine.Tile", 0);
    }
}

}  // namespace
}  // namespace tengine::test
