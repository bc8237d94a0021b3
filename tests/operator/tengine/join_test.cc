// SPDX-License-Identifier: Apache-2.0
// Tengine's Concat and Split.
#include "naive.h"

namespace tengine::test {
namespace {

using Ints = std::vector<int64_t>;

// Elements begin … begin + size − 1 of one axis.
Array part(const Array& x, size_t axis, int begin, int size)
{
    std::vector<int> dims = x.dims;
    dims[axis] = size;
    return build(dims, [&](Place place) {
        place[axis] += begin;
        return at(x, place);
    });
}

void expect_parts(const std::vector<Array>& results, const Array& x, size_t axis,
                  const std::vector<int>& sizes)
{
    ASSERT_EQ(results.size(), sizes.size());
    for (size_t i = 0, begin = 0; i < sizes.size(); ++i) {
        expect_close(results[i], part(x, axis, static_cast<int>(begin), sizes[i]), 0);
        begin += static_cast<size_t>(sizes[i]);
    }
}

TEST(TengineConcat, JoinsAlongItsAxis)
{
    const Array whole = make_array({2, 5, 3, 4});
    for (const int axis : {1, -3}) {
        TengineCase made("tengine.Concat");
        made.input(part(whole, 1, 0, 2)).input(part(whole, 1, 2, 1)).input(part(whole, 1, 3, 2));
        expect_close(made.attr("axis", axis).run_one(), whole, 0);
    }
    TengineCase alone("tengine.Concat");
    expect_close(alone.input(whole).run_one(), whole, 0);
}

TEST(TengineConcat, NamesAxesOfNhwcModels)
{
    const std::pair<std::vector<int>, std::vector<size_t>> cases[] = {
        {{2, 2, 4, 2}, {0, 2, 3, 1}}, {{2, 4, 2}, {0, 2, 1}}, {{2, 2}, {0, 1}}};
    for (const auto& [dims, axes] : cases)
        for (size_t named = 0; named < axes.size(); ++named) {
            const Array whole = make_array(dims);
            const int half = whole.dims[axes[named]] / 2;
            TengineCase made("tengine.Concat");
            made.input(part(whole, axes[named], 0, half))
                .input(part(whole, axes[named], half, half));
            made.attr("axis", static_cast<int>(named)).model_layout(TENGINE_LAYOUT_NHWC);
            expect_close(made.run_one(), whole, 0);
        }
}

TEST(TengineConcat, RefusesOtherShapes)
{
    TengineCase made("tengine.Concat");
    made.input(make_array({2, 3})).input(make_array({2, 4})).expect_failure(TENGINE_EINVAL, "3");
    TengineCase("tengine.Concat")
        .input(make_array({2, 3}))
        .attr("axis", 2)
        .expect_failure(TENGINE_ERANGE, "2");
    TengineCase("tengine.Concat")
        .input(make_array({2, 3, 1, 1}))
        .attr("axis", INT32_MIN)
        .model_layout(TENGINE_LAYOUT_NHWC)
        .expect_failure(TENGINE_ERANGE, "-2147483648");
}

TEST(TengineConcat, IsRaised)
{
    TengineCase made("Concat");
    made.input(make_array({2, 3})).input(make_array({2, 4})).attr("axis", -1);
    made.expect_raised("tengine.Concat", 0);
    EXPECT_EQ(made.raised_attr("axis"), 1);
}

TEST(TengineSplit, CutsInSizes)
{
    const Array x = make_array({2, 7, 3});
    for (const int axis : {1, -2}) {
        TengineCase made("tengine.Split", 0, 3);
        made.input(x).attr("axis", axis).attr("split_sizes_", Ints{2, 1, 4});
        expect_parts(made.run(), x, 1, {2, 1, 4});
    }
}

TEST(TengineSplit, CutsInEqualParts)
{
    const Array x = make_array({2, 6, 3});
    TengineCase made("tengine.Split", 0, 3);
    expect_parts(made.input(x).attr("axis", 1).attr("split_dim", 3).run(), x, 1, {2, 2, 2});
    TengineCase single("tengine.Split", 0, 3);
    expect_parts(single.input(x).attr("axis", 2).attr("split_dim", 3).run(), x, 2, {1, 1, 1});
}

TEST(TengineSplit, OfCaffeCopies)
{
    const Array x = make_array({2, 3});
    TengineCase made("tengine.Split", 0, 3);
    const std::vector<Array> results =
        made.input(x).attr("is_caffe", 1).attr("axis", 123456).attr("split_dim", -7).run();
    ASSERT_EQ(results.size(), 3u);
    for (const Array& result : results)
        expect_close(result, x, 0);
}

TEST(TengineSplit, RefusesWhatDoesNotAddUp)
{
    const Array x = make_array({2, 6});
    const auto expect = [&](const Ints& sizes, int code, const std::string& part) {
        TengineCase made("tengine.Split", 0, 2);
        made.input(x).attr("axis", 1).attr("split_sizes_", sizes).expect_failure(code, part);
    };
    expect({2, 3}, TENGINE_EINVAL, "adds up to 5, the axis has 6");
    expect({6}, TENGINE_EINVAL, "1 values for 2 outputs");
    expect({7, -1}, TENGINE_ERANGE, "-1");
    expect({INT64_MAX, INT64_MAX}, TENGINE_ERANGE, "9223372036854775807");
    const auto expect_equal = [&](int axis, int num, const std::string& part) {
        TengineCase made("tengine.Split", 0, 2);
        made.input(x).attr("axis", axis).attr("split_dim", num);
        made.expect_failure(axis < 2 ? TENGINE_EINVAL : TENGINE_ERANGE, part);
    };
    expect_equal(1, 0, "split_dim is 0 for 2 outputs");
    expect_equal(1, 3, "split_dim is 3");
    expect_equal(2, 2, "2");
    TengineCase uneven("tengine.Split", 0, 2);
    uneven.input(make_array({3})).attr("split_dim", 2).expect_failure(TENGINE_EINVAL, "axis of 3");
}

TEST(TengineSplit, IsRaised)
{
    const Array x = make_array({2, 7, 3});
    TengineCase sized("Split", 0, 3);
    sized.input(x).constant(int_list({2, 1, 4})).attr("axis", -2);
    sized.expect_raised("tengine.Split", 0);
    EXPECT_EQ(sized.raised_attr("axis"), 1);
    EXPECT_EQ(sized.raised_attr("is_onnx"), 1);
    TengineCase equal("Split", 0, 4);
    equal.input(x).attr("axis", 1).attr("num_outputs", 4);
    equal.expect_raised("tengine.Split", 0);
}

}  // namespace
}  // namespace tengine::test
