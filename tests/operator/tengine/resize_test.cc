// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that scale pictures, against interpolation written out for one position.
#include <cmath>

#include "naive.h"

namespace tengine::test {
namespace {

// The original's rule for nearest: in float, towards zero.
Array nearest(const Array& x, int height, int width, float scale_h, float scale_w)
{
    return build({x.dims[0], x.dims[1], height, width}, [&](const Place& p) {
        const int row =
            std::min(static_cast<int>(static_cast<float>(p[2]) / scale_h), x.dims[2] - 1);
        const int column =
            std::min(static_cast<int>(static_cast<float>(p[3]) / scale_w), x.dims[3] - 1);
        return at(x, {p[0], p[1], row, column});
    });
}

Array scaled_nearest(const Array& x, float scale_h, float scale_w)
{
    return nearest(x, static_cast<int>(static_cast<float>(x.dims[2]) * scale_h),
                   static_cast<int>(static_cast<float>(x.dims[3]) * scale_w), scale_h, scale_w);
}

// Returns a value between elements; beyond the edge it is that of the edge.
double sample(const Array& x, const Place& p, double row, double column)
{
    const auto clamp = [](double place, int size) {
        return std::min(std::max(place, 0.0), static_cast<double>(size - 1));
    };
    row = clamp(row, x.dims[2]);
    column = clamp(column, x.dims[3]);
    const int top = static_cast<int>(row), left = static_cast<int>(column);
    const int bottom = std::min(top + 1, x.dims[2] - 1);
    const int right = std::min(left + 1, x.dims[3] - 1);
    const double down = row - top, across = column - left;
    return (at(x, {p[0], p[1], top, left}) * (1 - across) +
            at(x, {p[0], p[1], top, right}) * across) *
               (1 - down) +
           (at(x, {p[0], p[1], bottom, left}) * (1 - across) +
            at(x, {p[0], p[1], bottom, right}) * across) *
               down;
}

Array half_pixel(const Array& x, int height, int width, double scale_h, double scale_w)
{
    return build({x.dims[0], x.dims[1], height, width}, [&](const Place& p) {
        return sample(x, p, (p[2] + 0.5) / scale_h - 0.5, (p[3] + 0.5) / scale_w - 0.5);
    });
}

Array aligned(const Array& x, int height, int width)
{
    const auto place = [](int i, int from, int to) {
        return to == 1 ? 0 : static_cast<double>(i) * (from - 1) / (to - 1);
    };
    return build({x.dims[0], x.dims[1], height, width}, [&](const Place& p) {
        return sample(x, p, place(p[2], x.dims[2], height), place(p[3], x.dims[3], width));
    });
}

// Keys' cubic with a = −0.75.
double cubic_weight(double distance)
{
    const double a = -0.75, d = std::fabs(distance);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

Array bicubic(const Array& x, int height, int width)
{
    const double step_h = static_cast<double>(x.dims[2]) / height;
    const double step_w = static_cast<double>(x.dims[3]) / width;
    return build({x.dims[0], x.dims[1], height, width}, [&](const Place& p) {
        const double row = (p[2] + 0.5) * step_h - 0.5, column = (p[3] + 0.5) * step_w - 0.5;
        double sum = 0;
        for (int i = -1; i <= 2; ++i)
            for (int j = -1; j <= 2; ++j) {
                const int r = static_cast<int>(std::floor(row)) + i;
                const int c = static_cast<int>(std::floor(column)) + j;
                sum += cubic_weight(row - r) * cubic_weight(column - c) *
                       at(x, {p[0], p[1], std::clamp(r, 0, x.dims[2] - 1),
                              std::clamp(c, 0, x.dims[3] - 1)});
            }
        return sum;
    });
}

const float kScales[] = {1, 2, 3, 1.5f, 0.5f, 0.7f, 2.3f, 1 / 3.0f};

TEST(TengineUpsample, RepeatsElements)
{
    const Array x = make_array({2, 3, 10, 7});
    for (const float scale : kScales) {
        SCOPED_TRACE(scale);
        TengineCase made("tengine.Upsample");
        made.input(x).attr("scale", static_cast<double>(scale));
        expect_close(made.run_one(), scaled_nearest(x, scale, scale), 0);
    }
}

TEST(TengineUpsample, RefusesOtherScales)
{
    const Array x = make_array({1, 1, 2, 2});
    for (const double scale : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
        TengineCase("tengine.Upsample")
            .input(x)
            .attr("scale", scale)
            .expect_failure(TENGINE_ERANGE, "scale is");
    TengineCase("tengine.Upsample").input(x).attr("scale", 1e30).expect_failure(TENGINE_ERANGE, "");
    TengineCase("tengine.Upsample")
        .input(make_array({2, 2}))
        .attr("scale", 2.0)
        .expect_failure(TENGINE_EINVAL, "2");
}

TEST(TengineResize, HasAScaleForEachAxis)
{
    const Array x = make_array({2, 3, 10, 7});
    for (const float scale : kScales) {
        SCOPED_TRACE(scale);
        TengineCase near("tengine.Resize");
        near.input(x).attr("scale_h", static_cast<double>(scale)).attr("scale_w", 2.0);
        expect_close(near.run_one(), scaled_nearest(x, scale, 2), 0);
        const int height = static_cast<int>(10 * scale);
        const Array expected = half_pixel(x, height, 14, scale, 2);
        TengineCase linear("tengine.Resize");
        linear.input(x).attr("scale_h", static_cast<double>(scale)).attr("scale_w", 2.0);
        expect_close(linear.attr("type", 1).run_one(), expected, 1e-5);
        TengineCase always("tengine.BilinearResize");
        always.input(x).attr("scale_h", static_cast<double>(scale)).attr("scale_w", 2.0);
        expect_close(always.run_one(), expected, 1e-5);
    }
    TengineCase("tengine.Resize")
        .input(x)
        .attr("scale_w", 0.0)
        .expect_failure(TENGINE_ERANGE, "scale_w is 0");
}

struct InterpCase
{
    int height, width;
};

TEST(TengineInterp, FollowsSizesWithoutScales)
{
    const Array x = make_array({2, 3, 6, 7});
    for (const InterpCase& c : {InterpCase{12, 14}, {6, 7}, {3, 2}, {17, 5}, {1, 1}, {13, 21}}) {
        SCOPED_TRACE(std::to_string(c.height) + "x" + std::to_string(c.width));
        const float scale_h = static_cast<float>(c.height) / 6,
                    scale_w = static_cast<float>(c.width) / 7;
        const Array expected[] = {nearest(x, c.height, c.width, scale_h, scale_w),
                                  half_pixel(x, c.height, c.width, c.height / 6.0, c.width / 7.0),
                                  bicubic(x, c.height, c.width), aligned(x, c.height, c.width)};
        for (int type = 1; type <= 4; ++type) {
            SCOPED_TRACE(type);
            TengineCase made("tengine.Interp");
            made.input(x).attr("resize_type", type).attr("height_scale", 0.0);
            made.attr("output_height", c.height).attr("output_width", c.width);
            expect_close(made.run_one(), expected[type - 1], 2e-5);
        }
    }
}

TEST(TengineInterp, ScalesWinAndSizesFollow)
{
    const Array x = make_array({1, 2, 10, 7});
    for (const float scale : kScales) {
        SCOPED_TRACE(scale);
        const int height = static_cast<int>(10 * scale), width = 10;
        const Array expected[] = {scaled_nearest(x, scale, 1.5f),
                                  half_pixel(x, height, width, height / 10.0, width / 7.0),
                                  bicubic(x, height, width), aligned(x, height, width)};
        for (int type = 1; type <= 4; ++type) {
            SCOPED_TRACE(type);
            TengineCase made("tengine.Interp");
            made.input(x)
                .attr("resize_type", type)
                .attr("output_height", 3)
                .attr("output_width", 3);
            made.attr("height_scale", static_cast<double>(scale)).attr("width_scale", 1.5);
            expect_close(made.run_one(), expected[type - 1], 2e-5);
        }
    }
}

TEST(TengineInterp, RefusesHostileFields)
{
    const Array x = make_array({1, 2, 4, 4});
    for (const int type : {0, 5, -1})
        TengineCase("tengine.Interp")
            .input(x)
            .attr("resize_type", type)
            .expect_failure(TENGINE_ERANGE, "resize_type is " + std::to_string(type));
    TengineCase none("tengine.Interp");
    none.input(x).attr("height_scale", 0.0).expect_failure(TENGINE_ERANGE, "0 x 0");
    TengineCase negative("tengine.Interp");
    negative.input(x).attr("height_scale", 0.0).attr("output_height", -5).attr("output_width", 1);
    negative.expect_failure(TENGINE_ERANGE, "-5 x 1");
    TengineCase huge("tengine.Interp");
    huge.input(x).attr("height_scale", 3e38).expect_failure(TENGINE_ERANGE, "height_scale");
    TengineCase small("tengine.Interp");
    small.input(x).attr("height_scale", 0.1).expect_failure(TENGINE_ERANGE, "0 x 4");
    TengineCase flat("tengine.Interp");
    flat.input(make_array({4, 4})).attr("output_height", 4).attr("output_width", 4);
    flat.expect_failure(TENGINE_EINVAL, "2");
}

struct OnnxResize : TengineCase
{
    OnnxResize(const Array& x, const std::string& mode, const std::string& coordinates,
               const std::vector<double>& sizes, const std::string& rounding = "floor")
        : TengineCase("Resize")
    {
        input(x).absent().absent().constant(int_list(sizes)).attr("mode", mode);
        attr("coordinate_transformation_mode", coordinates).attr("nearest_mode", rounding);
    }
};

TEST(TengineInterp, IsRaisedFrom)
{
    const Array x = make_array({2, 3, 6, 7});
    const std::string op = "tengine.Interp";
    for (const std::vector<double>& sizes :
         {std::vector<double>{2, 3, 12, 21}, {2, 3, 5, 3}, {2, 3, 6, 7}, {2, 3, 13, 1}}) {
        OnnxResize(x, "nearest", "asymmetric", sizes).expect_raised(op, 0);
        OnnxResize(x, "linear", "half_pixel", sizes).expect_raised(op, 1e-6);
        OnnxResize(x, "linear", "align_corners", sizes).expect_raised(op, 1e-6);
    }
    // Rounding half-pixel places finds the same elements where the scale is whole.
    OnnxResize whole(x, "nearest", "half_pixel", {2, 3, 12, 14}, "round_prefer_floor");
    whole.expect_raised(op, 0);
    EXPECT_EQ(whole.raised_attr("resize_type"), 1);
    EXPECT_EQ(whole.raised_attr("output_height"), 12);
    EXPECT_EQ(whole.raised_attr("height_scale"), 0);
    TengineCase scales("Resize");
    scales.input(x).absent().constant({{4}, {1, 1, 2, 3}}).attr("mode", std::string("linear"));
    scales.expect_raised(op, 1e-6);
    EXPECT_EQ(scales.raised_attr("resize_type"), 2);
}

TEST(TengineInterp, IsNotRaisedFromOthers)
{
    const Array x = make_array({2, 3, 6, 7});
    OnnxResize(x, "nearest", "half_pixel", {2, 3, 9, 7}, "ceil").expect_refusal("rounding ceil");
    OnnxResize(x, "linear", "asymmetric", {2, 3, 9, 7}).expect_refusal("coordinates asymmetric");
    OnnxResize(x, "cubic", "half_pixel", {2, 3, 9, 7}).expect_refusal("mode cubic");
    OnnxResize(x, "nearest", "asymmetric", {2, 6, 6, 7}).expect_refusal("channels");
    OnnxResize(make_array({6, 7}), "nearest", "asymmetric", {12, 7}).expect_refusal("2 dimensions");
    TengineCase scales("Resize");
    scales.input(x).absent().constant({{4}, {1, 1, 1.3, 1}}).attr("mode", std::string("linear"));
    scales.expect_refusal("scales 1.3");
    OnnxResize smooth(x, "linear", "half_pixel", {2, 3, 3, 3});
    smooth.attr("antialias", 1).expect_refusal("antialiased");
}

}  // namespace
}  // namespace tengine::test
