// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that take or add elements at the ends of axes.
#include <random>

#include "naive.h"

namespace tengine::test {
namespace {

using Ints = std::vector<int64_t>;

struct Range
{
    int begin, length, step = 1;
};

Array sliced(const Array& x, const std::vector<Range>& ranges)
{
    std::vector<int> dims;
    for (const Range& range : ranges)
        dims.push_back(range.length);
    return build(dims, [&](Place place) {
        for (size_t i = 0; i < place.size(); ++i)
            place[i] = ranges[i].begin + place[i] * ranges[i].step;
        return at(x, place);
    });
}

// ---- Slice ----

TEST(TengineSlice, OfCaffeCutsAtPoints)
{
    const Array x = make_array({2, 7, 3});
    TengineCase made("tengine.Slice", 0, 3);
    made.input(x).attr("iscaffe", 1).attr("slice_point_", Ints{2, 3});
    const std::vector<Array> results = made.run();
    ASSERT_EQ(results.size(), 3u);
    expect_close(results[0], sliced(x, {{0, 2}, {0, 2}, {0, 3}}), 0);
    expect_close(results[1], sliced(x, {{0, 2}, {2, 1}, {0, 3}}), 0);
    expect_close(results[2], sliced(x, {{0, 2}, {3, 4}, {0, 3}}), 0);
}

TEST(TengineSlice, OfCaffeWithoutPointsCutsEqualParts)
{
    const Array x = make_array({2, 7, 3});
    TengineCase made("tengine.Slice", 0, 3);
    const std::vector<Array> results = made.input(x).attr("iscaffe", 1).attr("axis", -1).run();
    ASSERT_EQ(results.size(), 3u);
    for (int i = 0; i < 3; ++i)
        expect_close(results[static_cast<size_t>(i)], sliced(x, {{0, 2}, {0, 7}, {i, 1}}), 0);
}

TEST(TengineSlice, OfCaffeRefusesOtherPoints)
{
    const auto expect = [](const Ints& points, int code, const std::string& part) {
        TengineCase made("tengine.Slice", 0, 3);
        made.input(make_array({2, 7})).attr("iscaffe", 1);
        if (!points.empty()) made.attr("slice_point_", points);
        made.expect_failure(code, part);
    };
    expect({}, TENGINE_EINVAL, "axis of 7 does not divide into 3");
    expect({3}, TENGINE_EINVAL, "1 values for 3 outputs");
    expect({4, 3}, TENGINE_ERANGE, "3 at index 1, expected 4 to 7");
    expect({-1, 3}, TENGINE_ERANGE, "-1 at index 0");
    expect({1, 8}, TENGINE_ERANGE, "8 at index 1");
}

// A range of one axis in the two flavours that have it.
struct RangeCase
{
    int begin, end, step;
    Range expected;
};

TEST(TengineSlice, OfMxnetAndOnnxTakesARange)
{
    const Array x = make_array({2, 7, 3});
    const RangeCase cases[] = {
        {0, 7, 1, {0, 7}},      {2, 5, 1, {2, 3}},        {2, 99, 1, {2, 5}},
        {2, 0, 1, {2, 5}},      {0, -1, 1, {0, 6}},       {-3, 0, 1, {4, 3}},
        {-3, -1, 1, {4, 2}},    {0, 7, 2, {0, 4, 2}},     {1, 6, 3, {1, 2, 3}},
        {1, 0, 100, {1, 1, 2}}, {3, INT32_MAX, 1, {3, 4}}};
    for (const RangeCase& c : cases)
        for (const char* flavour : {"isonnx", "ismxnet"}) {
            if (c.step != 1 && flavour == std::string("ismxnet")) continue;
            SCOPED_TRACE(std::string(flavour) + testing::PrintToString(c.begin) + "," +
                         testing::PrintToString(c.end));
            TengineCase made("tengine.Slice");
            made.input(x).attr(flavour, 1).attr("begin", c.begin).attr("end", c.end);
            made.attr("step", c.step);
            expect_close(made.run_one(), sliced(x, {{0, 2}, c.expected, {0, 3}}), 0);
        }
}

TEST(TengineSlice, RefusesHostileFields)
{
    const Array x = make_array({2, 7});
    for (const int step : {0, -1})
        TengineCase("tengine.Slice")
            .input(x)
            .attr("isonnx", 1)
            .attr("step", step)
            .expect_failure(TENGINE_ERANGE, "step is " + std::to_string(step));
    TengineCase("tengine.Slice")
        .input(x)
        .attr("ismxnet", 1)
        .attr("axis", 2)
        .expect_failure(TENGINE_ERANGE, "2");
    TengineCase("tengine.Slice", 0, 2)
        .input(x)
        .attr("isonnx", 1)
        .expect_failure(TENGINE_EINVAL, "2 outputs");
}

TEST(TengineSlice, OfTensorflowTakesSizes)
{
    const Array x = make_array({2, 7, 3});
    TengineCase made("tengine.Slice");
    made.input(x).attr("begin_", Ints{0, 2, 1}).attr("size_", Ints{2, 4, -1});
    expect_close(made.run_one(), sliced(x, {{0, 2}, {2, 4}, {1, 2}}), 0);
    const auto expect = [&](const Ints& begin, const Ints& size, int code,
                            const std::string& part) {
        TengineCase bad("tengine.Slice");
        bad.input(x).attr("begin_", begin).attr("size_", size).expect_failure(code, part);
    };
    expect({0, 0}, {1, 1}, TENGINE_EINVAL, "begin_ has 2 values");
    expect({0, 0, 0}, {1, 1}, TENGINE_EINVAL, "size_ 2");
    expect({0, 4, 0}, {1, 4, 1}, TENGINE_ERANGE, "4 and size_ 4 exceed axis 1");
    expect({0, -1, 0}, {1, 1, 1}, TENGINE_ERANGE, "-1");
    expect({0, 0, 0}, {1, 1, -2}, TENGINE_ERANGE, "-2");
    expect({0, INT64_MIN, 0}, {1, -1, 1}, TENGINE_ERANGE, "-9223372036854775808");
    expect({0, INT64_MAX, 0}, {1, -1, 1}, TENGINE_ERANGE, "9223372036854775807");
    expect({0, INT64_MAX, 0}, {1, INT32_MAX, 1}, TENGINE_ERANGE, "9223372036854775807");
    TengineCase("tengine.Slice").input(x).expect_failure(TENGINE_EINVAL, "begin_ has 0 values");
}

struct OnnxSlice : TengineCase
{
    OnnxSlice(const Array& x, const std::vector<double>& begins, const std::vector<double>& ends,
              const std::vector<double>& axes, const std::vector<double>& steps)
        : TengineCase("Slice")
    {
        input(x).constant(int_list(begins)).constant(int_list(ends));
        constant(int_list(axes)).constant(int_list(steps));
    }
};

TEST(TengineSlice, IsRaised)
{
    const Array four = make_array({2, 7, 5, 6});
    OnnxSlice(four, {1}, {6}, {1}, {2}).expect_raised("tengine.Slice", 0);
    OnnxSlice(four, {-1}, {99}, {0}, {1}).expect_raised("tengine.Slice", 0);
    OnnxSlice(four, {0}, {99}, {0}, {1}).expect_raised("tengine.Slice", 0);
    OnnxSlice(four, {1, 2}, {6, 5}, {1, 3}, {2, 1}).expect_raised("tengine.StridedSlice", 0);
    OnnxSlice(four, {1, 2}, {6, 5}, {0, 3}, {2, 1}).expect_raised("tengine.Slice tengine.Slice", 0);
    OnnxSlice(make_array({2, 7, 5}), {1}, {6}, {1}, {1}).expect_raised("tengine.Slice", 0);
    const std::string wrapped = "tengine.Reshape tengine.Slice tengine.Reshape";
    OnnxSlice(make_array({2, 7, 5}), {1}, {6}, {1}, {2}).expect_raised(wrapped, 0);
    OnnxSlice(make_array({3, 7}), {1}, {3}, {0}, {1}).expect_raised(wrapped, 0);
    OnnxSlice(make_array({9}), {-4}, {99}, {0}, {1}).expect_raised(wrapped, 0);
    OnnxSlice(four, {-1}, {-99}, {1}, {-1}).expect_raised("tengine.Reverse", 0);
    OnnxSlice(four, {-2}, {0}, {1}, {-2}).expect_raised("tengine.Slice tengine.Reverse", 0);
    OnnxSlice(four, {3, 4}, {0, 0}, {2, 3}, {-1, -3})
        .expect_raised("tengine.StridedSlice tengine.Reverse tengine.Reverse", 0);
    OnnxSlice(make_array({7}), {-1}, {-99}, {0}, {-1}).expect_refusal("step on axis 0 is -1");
    OnnxSlice(four, {3}, {3}, {1}, {1}).expect_refusal("nothing of axis 1");
}

TEST(TengineSlice, GivesTheSameAfterRaising)
{
    std::mt19937 random(11);
    const auto draw = [&](int low, int high) {
        return static_cast<int>(random() % static_cast<unsigned>(high - low + 1)) + low;
    };
    for (int round = 0; round < 40; ++round) {
        std::vector<int> dims;
        std::vector<double> begins, ends, axes, steps;
        const int rank = draw(1, 5);
        for (int i = 0; i < rank; ++i) {
            dims.push_back(draw(1, 6));
            if (draw(0, 1)) continue;
            begins.push_back(draw(0, dims.back() - 1));
            ends.push_back(draw(static_cast<int>(begins.back()) + 1, dims.back() + 2));
            axes.push_back(i);
            steps.push_back(draw(1, 3));
        }
        if (axes.empty()) continue;
        OnnxSlice made(make_array(dims, round), begins, ends, axes, steps);
        const Array plain = made.run_one();
        const std::vector<Array> raised = made.run_raised();
        ASSERT_EQ(raised.size(), 1u);
        expect_close(raised[0], plain, 0);
        EXPECT_EQ(made.raised_ops().rfind("tengine.", 0), 0u) << made.raised_ops();
    }
}

// ---- StridedSlice ----

struct StridedCase
{
    Ints begin, end, stride;
    std::vector<Range> expected;
};

TEST(TengineStridedSlice, TakesRanges)
{
    const Array x = make_array({2, 7, 5, 6});
    const StridedCase cases[] = {
        {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}, {{0, 2}, {0, 7}, {0, 5}, {0, 6}}},
        {{0, 0, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}, {{0, 2}, {0, 7}, {1, 4}, {1, 5}}},
        {{0, 0, 1, 1}, {0, 0, -1, -2}, {1, 1, 1, 1}, {{0, 2}, {0, 7}, {1, 3}, {1, 3}}},
        {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 2, 5}, {{0, 2}, {0, 4, 2}, {0, 3, 2}, {0, 2, 5}}},
        {{0, 0, 1, 2}, {2, 7, 4, 6}, {1, 1, 1, 3}, {{0, 2}, {0, 7}, {1, 3}, {2, 2, 3}}},
        {{-1, -3, 0, 0}, {0, 99, 0, 0}, {1, 1, 1, 1}, {{1, 1}, {4, 3}, {0, 5}, {0, 6}}},
        {{0, -1, 4, 0}, {0, -8, 1, 0}, {1, -1, -2, 1}, {{0, 2}, {6, 7, -1}, {4, 2, -2}, {0, 6}}}};
    for (const StridedCase& c : cases) {
        SCOPED_TRACE(testing::PrintToString(c.begin));
        TengineCase made("tengine.StridedSlice");
        made.input(x).attr("begin", c.begin).attr("end", c.end).attr("stride", c.stride);
        expect_close(made.run_one(), sliced(x, c.expected), 0);
    }
}

TEST(TengineStridedSlice, KnowsMasks)
{
    const Array x = make_array({2, 7, 5, 6});
    TengineCase masked("tengine.StridedSlice");
    masked.input(x).attr("begin", Ints{1, 3, 2, 4}).attr("end", Ints{1, 5, 3, 2});
    masked.attr("stride", Ints{1, 1, 1, -1}).attr("begin_mask", 0b1001).attr("end_mask", 0b1010);
    expect_close(masked.run_one(), sliced(x, {{0, 1}, {3, 4}, {2, 1}, {5, 6, -1}}), 0);
    TengineCase shrunk("tengine.StridedSlice");
    shrunk.input(x).attr("begin", Ints{0, 3, 0, -1}).attr("end", Ints{0, 4, 0, 0});
    shrunk.attr("stride", Ints{1, 1, 1, 1}).attr("shrink_axis_mask", 0b1010);
    expect_close(shrunk.run_one(), reshaped(sliced(x, {{0, 2}, {3, 1}, {0, 5}, {5, 1}}), {2, 5}),
                 0);
}

TEST(TengineStridedSlice, TakesFewerDimensions)
{
    const Array x = make_array({4, 5});
    TengineCase made("tengine.StridedSlice");
    made.input(x).attr("begin", Ints{1, 0, 0, 0}).attr("end", Ints{0, -2, 0, 0});
    expect_close(made.attr("stride", Ints{2, 1, 1, 1}).run_one(), sliced(x, {{1, 2, 2}, {0, 3}}),
                 0);
}

TEST(TengineStridedSlice, RefusesHostileFields)
{
    const Array x = make_array({2, 7});
    const auto expect = [&](const Ints& begin, const Ints& end, const Ints& stride, int code,
                            const std::string& part, int new_axis = 0, int shrink = 0) {
        TengineCase made("tengine.StridedSlice");
        made.input(x).attr("begin", begin).attr("end", end).attr("stride", stride);
        made.attr("new_axis_mask", new_axis).attr("shrink_axis_mask", shrink);
        made.expect_failure(code, part);
    };
    expect({0, 0}, {0, 0}, {1, 0}, TENGINE_ERANGE, "stride is 0 on axis 1");
    expect({0}, {0}, {1}, TENGINE_EINVAL, "begin has 1 values");
    expect({0, 0}, {0, 0}, {1}, TENGINE_EINVAL, "stride 1");
    expect({0, 0}, {0, 0}, {1, 1}, TENGINE_ENOTSUP, "new_axis_mask is 1", 1);
    expect({0, 9}, {0, 0}, {1, 1}, TENGINE_ERANGE, "begin is 9 on axis 1", 0, 2);
    expect({0, INT64_MAX}, {0, 0}, {1, 1}, TENGINE_ERANGE, "9223372036854775807");
    TengineCase("tengine.StridedSlice").input(x).expect_failure(TENGINE_EINVAL, "0 values");
    TengineCase five("tengine.StridedSlice");
    five.input(make_array({1, 1, 1, 1, 2})).expect_failure(TENGINE_EINVAL, "5 dimensions");
}

// ---- Crop ----

struct Crop : TengineCase
{
    Crop(const Array& x, const std::vector<std::pair<std::string, int>>& fields)
        : TengineCase("tengine.Crop")
    {
        input(x);
        for (const auto& [name, value] : fields)
            attr(name, value);
    }
};

TEST(TengineCrop, OfCaffeStartsAtItsAxis)
{
    const Array x = make_array({2, 6, 7, 8});
    const Array reference = make_array({1, 3, 4, 5});
    const std::vector<std::pair<std::string, int>> offsets = {
        {"offset_c", 2}, {"offset_h", 3}, {"offset_w", 1}};
    const std::pair<int, std::vector<Range>> cases[] = {{0, {{0, 1}, {2, 3}, {3, 4}, {1, 5}}},
                                                        {1, {{0, 2}, {2, 3}, {3, 4}, {1, 5}}},
                                                        {2, {{0, 2}, {0, 6}, {3, 4}, {1, 5}}},
                                                        {3, {{0, 2}, {0, 6}, {0, 7}, {1, 5}}},
                                                        {-1, {{0, 2}, {0, 6}, {0, 7}, {1, 5}}}};
    for (const auto& [axis, expected] : cases) {
        Crop made(x, offsets);
        expect_close(made.input(reference).attr("axis", axis).run_one(), sliced(x, expected), 0);
    }
}

TEST(TengineCrop, OfMxnetTakesTheMiddleOrOffsets)
{
    const Array x = make_array({2, 3, 7, 8});
    Crop sized(x, {{"flag", 1}, {"num_args", 1}, {"crop_h", 4}, {"crop_w", 3}});
    expect_close(sized.run_one(), sliced(x, {{0, 2}, {0, 3}, {1, 4}, {2, 3}}), 0);
    Crop offset(x, {{"flag", 1}, {"num_args", 2}, {"offset_h", 2}, {"offset_w", 3}});
    expect_close(offset.input(make_array({2, 3, 5, 4})).run_one(),
                 sliced(x, {{0, 2}, {0, 3}, {2, 5}, {3, 4}}), 0);
    Crop centred(x, {{"flag", 1}, {"num_args", 2}, {"center_crop", 1}});
    expect_close(centred.input(make_array({2, 3, 5, 4})).run_one(),
                 sliced(x, {{0, 2}, {0, 3}, {1, 5}, {2, 4}}), 0);
}

TEST(TengineCrop, RefusesWhatLiesOutside)
{
    const Array x = make_array({1, 3, 7, 8});
    const Array reference = make_array({1, 3, 5, 4});
    Crop far(x, {{"offset_h", 3}});
    far.input(reference).expect_failure(TENGINE_ERANGE, "5 elements from 3 on of axis 2");
    Crop negative(x, {{"offset_w", INT32_MIN}});
    negative.input(reference).expect_failure(TENGINE_ERANGE, "-2147483648");
    Crop axis(x, {{"axis", 4}});
    axis.input(reference).expect_failure(TENGINE_ERANGE, "4");
    Crop large(x, {{"flag", 1}, {"num_args", 1}, {"crop_h", 9}, {"crop_w", 1}});
    large.expect_failure(TENGINE_ERANGE, "9 elements");
    Crop hostile(x, {{"flag", 1}, {"num_args", 1}, {"crop_h", INT32_MIN}, {"crop_w", 1}});
    hostile.expect_failure(TENGINE_ERANGE, "-2147483648");
    Crop(x, {{"flag", 2}}).expect_failure(TENGINE_ERANGE, "flag is 2");
    Crop(x, {{"flag", 1}, {"num_args", 3}}).expect_failure(TENGINE_ERANGE, "num_args 3");
    Crop(x, {}).expect_failure(TENGINE_EINVAL, "reference");
    Crop flat(x, {});
    flat.input(make_array({5, 4})).expect_failure(TENGINE_EINVAL, "missing or not of rank 4");
}

// ---- Pad ----

const char* const kBorders[] = {"pad_0_h", "pad_0_w", "pad_1_h", "pad_1_w",
                                "pad_2_h", "pad_2_w", "pad_3_h", "pad_3_w"};

// Returns the origin of an element of the padded axis; −1: none.
int find_padded(int mode, int place, int size)
{
    if (place >= 0 && place < size) return place;
    if (mode == 0) return -1;
    if (mode == 1) return place < 0 ? 0 : size - 1;
    return place < 0 ? -place : 2 * (size - 1) - place;
}

Array padded(const Array& x, const std::vector<int>& pads, int mode, double value)
{
    std::vector<int> dims;
    for (size_t i = 0; i < x.dims.size(); ++i)
        dims.push_back(x.dims[i] + pads[2 * i] + pads[2 * i + 1]);
    return build(dims, [&](Place place) {
        for (size_t i = 0; i < place.size(); ++i) {
            place[i] = find_padded(mode, place[i] - pads[2 * i], x.dims[i]);
            if (place[i] < 0) return value;
        }
        return at(x, place);
    });
}

TEST(TenginePad, PadsInThreeModes)
{
    const Array x = make_array({2, 3, 4, 5});
    for (int mode = 0; mode < 3; ++mode)
        for (const std::vector<int>& pads :
             {std::vector<int>{0, 0, 0, 0, 1, 2, 3, 4}, {1, 0, 0, 2, 3, 0, 0, 1}}) {
            TengineCase made("tengine.Pad");
            made.input(x).attr("mode", mode).attr("value", 2.5);
            for (size_t i = 0; i < 8; ++i)
                made.attr(kBorders[i], pads[i]);
            expect_close(made.run_one(), padded(x, pads, mode, 2.5), 0);
        }
}

TEST(TenginePad, LeavesOutBordersThatAreNotSet)
{
    const Array x = make_array({2, 3});
    TengineCase made("tengine.Pad");
    made.input(x).attr("pad_1_h", 2);
    expect_close(made.run_one(), padded(x, {0, 0, 2, 0}, 0, 0), 0);
    TengineCase none("tengine.Pad");
    expect_close(none.input(x).run_one(), x, 0);
}

TEST(TenginePad, RefusesHostileFields)
{
    const Array x = make_array({2, 3});
    TengineCase("tengine.Pad").input(x).attr("mode", 3).expect_failure(TENGINE_ERANGE, "mode is 3");
    TengineCase("tengine.Pad").input(x).attr("pad_0_w", -2).expect_failure(TENGINE_ERANGE, "-2");
    TengineCase("tengine.Pad").input(x).attr("pad_2_h", 1).expect_failure(TENGINE_EINVAL, "axis 2");
    TengineCase huge("tengine.Pad");
    huge.input(x).attr("pad_0_h", INT32_MAX).attr("pad_0_w", INT32_MAX);
    huge.expect_failure(TENGINE_ERANGE, "");
}

struct OnnxPad : TengineCase
{
    OnnxPad(const Array& x, const std::string& mode, const std::vector<double>& pads,
            float value = 0)
        : TengineCase("Pad")
    {
        input(x).constant(int_list(pads)).constant({{}, {value}}).attr("mode", mode);
    }
};

TEST(TenginePad, IsRaised)
{
    const Array x = make_array({2, 3, 4, 5});
    OnnxPad(x, "constant", {0, 1, 2, 3, 0, 2, 1, 0}).expect_raised("tengine.Pad", 0);
    OnnxPad(x, "constant", {0, 0, 2, 3, 0, 0, 1, 0}, 7).expect_raised("tengine.Pad", 0);
    OnnxPad(x, "edge", {0, 0, 2, 3, 0, 0, 1, 0}).expect_raised("tengine.Pad", 0);
    OnnxPad(x, "reflect", {0, 0, 2, 3, 0, 0, 1, 0}).expect_raised("tengine.Pad", 0);
    OnnxPad(x, "wrap", {0, 0, 2, 3, 0, 0, 1, 0}).expect_refusal("mode is 'wrap'");
    OnnxPad(x, "edge", {0, 1, 0, 0, 0, 0, 0, 0}).expect_refusal("channels");
    OnnxPad(x, "constant", {0, 1, 0, 0, 0, 0, 0, 0}, 1).expect_refusal("channels");
    OnnxPad(x, "constant", {1, 0, 0, 0, 0, 0, 0, 0}).expect_refusal("batches");
    OnnxPad(x, "constant", {0, 0, -1, 0, 0, 0, 0, 0}).expect_refusal("cuts 1 and 0");
    OnnxPad(make_array({2, 3}), "constant", {0, 1, 0, 0}).expect_refusal("2 dimensions");
}

}  // namespace
}  // namespace tengine::test
