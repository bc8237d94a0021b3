// SPDX-License-Identifier: Apache-2.0
// Tengine's operators on regions of interest (source/operator/tengine/roi_ops.c) against plain
// computations of the papers' formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tengine_case.h"

namespace tengine::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Pool
{
    int height, width;
    double scale;
};

struct RoiPoolingCase : TengineCase
{
    RoiPoolingCase(const Array& image, const Array& regions, const Pool& pool)
        : TengineCase("tengine.RoiPooling")
    {
        input(image).input(regions).attr("pooled_h", pool.height).attr("pooled_w", pool.width);
        attr("spatial_scale", pool.scale);
    }
};

Array region_list(const std::vector<double>& corners)
{
    return {{1, static_cast<int>(corners.size() / 4), 4, 1}, corners};
}

// value(region, channel, bin row, bin column) for every element.
template <class Value>
Array fill(int regions, int channels, const Pool& pool, const Value& value)
{
    Array made{{regions, channels, pool.height, pool.width}, {}};
    for (int r = 0; r < regions; ++r)
        for (int c = 0; c < channels; ++c)
            for (int y = 0; y < pool.height; ++y)
                for (int x = 0; x < pool.width; ++x)
                    made.values.push_back(value(r, c, y, x));
    return made;
}

double pixel(const Array& image, int channel, int y, int x)
{
    return image.values[static_cast<size_t>((channel * image.dims[2] + y) * image.dims[3] + x)];
}

// Returns the part of `first`..`last` that bin `index` of `bins` covers, both included, if rounding
// cannot move the bin's edges.
std::vector<int> covered(int first, int last, int index, int bins, int limit)
{
    const int size = std::max(last - first + 1, 1);
    std::vector<int> pixels;
    for (int p = 0; p < limit; ++p)
        if (p >= first + index * size / bins && p < first + ((index + 1) * size + bins - 1) / bins)
            pixels.push_back(p);
    return pixels;
}

Array naive_roi_pooling(const Array& image, const Array& regions, const Pool& pool)
{
    const auto corner = [&](int region, int i) {
        return static_cast<int>(
            std::lround(regions.values[static_cast<size_t>(region * 4 + i)] * pool.scale));
    };
    return fill(regions.dims[1], image.dims[1], pool, [&](int r, int c, int y, int x) {
        double maximum = -std::numeric_limits<double>::infinity();
        for (const int row : covered(corner(r, 1), corner(r, 3), y, pool.height, image.dims[2]))
            for (const int column :
                 covered(corner(r, 0), corner(r, 2), x, pool.width, image.dims[3]))
                maximum = std::max(maximum, pixel(image, c, row, column));
        return std::isinf(maximum) ? 0 : maximum;
    });
}

TEST(RoiPooling, TakesTheMaximumOfEachBin)
{
    const Array image = make_array({1, 3, 11, 13}, 4);
    // Regions inside, the whole image, one pixel, beyond two edges, outside the image, inverted.
    const Array regions = region_list({16,  16,  96, 80, 0,   0,   207, 175, 48,  48, 48, 48,
                                       -64, -40, 60, 70, 400, 400, 500, 500, 100, 90, 20, 10});
    for (const Pool pool : {Pool{2, 2, 0.0625}, Pool{3, 5, 0.0625}, Pool{4, 1, 0.125}})
        expect_close(RoiPoolingCase(image, regions, pool).run_one(),
                     naive_roi_pooling(image, regions, pool));
}

TEST(RoiPooling, WorkedExample)
{
    // Bins of 2 x 2.5 columns: columns 0..2 and 2..4, rows 0..1 and 1..2 of 3.
    const Array image{{1, 1, 3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    const Array result = RoiPoolingCase(image, region_list({0, 0, 4, 2}), {2, 2, 1}).run_one();
    expect_close(result, {{1, 1, 2, 2}, {8, 10, 13, 15}});
}

TEST(RoiPooling, EmptyBinsAndNoRegions)
{
    const Array image = make_array({1, 2, 4, 4}, 1);
    for (const double value :
         RoiPoolingCase(image, region_list({50, 50, 60, 60}), {2, 2, 1}).run_one().values)
        EXPECT_EQ(value, 0);
    EXPECT_EQ(RoiPoolingCase(image, {{1, 0, 4, 1}, {}}, {2, 2, 1}).run_one().dims,
              (std::vector<int>{0, 2, 2, 2}));
}

TEST(RoiPooling, SurvivesCornersThatAreNoNumbers)
{
    const Array image = make_array({1, 1, 4, 4}, 1);
    const Array regions = region_list({kNan, kNan, kNan, kNan, -kInfinity, -kInfinity, kInfinity,
                                       kInfinity, 3e38, -3e38, -3e38, 3e38});
    EXPECT_EQ(RoiPoolingCase(image, regions, {2, 2, 1}).run_one().values.size(), 12U);
    EXPECT_EQ(RoiPoolingCase(image, regions, {2, 2, 3e38}).run_one().values.size(), 12U);
}

TEST(RoiPooling, RefusesWhatItCannotCompute)
{
    const Array image = make_array({1, 1, 4, 4}, 1);
    const Array region = region_list({0, 0, 1, 1});
    RoiPoolingCase(image, region, {0, 2, 1}).expect_failure(TENGINE_ERANGE, "0x2");
    RoiPoolingCase(image, region, {2, -1, 1}).expect_failure(TENGINE_ERANGE, "2x-1");
    RoiPoolingCase(image, {{1, 5}, {0, 0, 0, 1, 1}}, {2, 2, 1})
        .expect_failure(TENGINE_EINVAL, "5 numbers");
    RoiPoolingCase(make_array({2, 1, 4, 4}), region, {2, 2, 1})
        .expect_failure(TENGINE_ENOTSUP, "batch of 2");
    RoiPoolingCase(make_array({4, 4}), region, {2, 2, 1}).expect_failure(TENGINE_ENOTSUP, "rank 2");
    RoiPoolingCase(image, region, {1 << 30, 1 << 30, 1}).expect_failure(TENGINE_ERANGE, "");
}

// ---- Roialign ----

struct RoialignCase : TengineCase
{
    RoialignCase(const Array& image, const Array& regions, const Pool& pool)
        : TengineCase("tengine.Roialign")
    {
        input(image).input(regions);
        attr("pooled_height", pool.height).attr("pooled_width", pool.width);
        attr("spatial_scale", pool.scale);
    }
};

// A plane that is linear in x and y: bilinear samples are exact, so that a bin's mean is the value
// at the mean of the sample positions, the bin's centre.
Array ramp(int height, int width)
{
    Array made{{1, 1, height, width}, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            made.values.push_back(3 * x + 10 * y);
    return made;
}

TEST(Roialign, BinsOfARampHaveTheValueOfTheirCentre)
{
    const Pool pool{3, 2, 0.5};
    const Array regions = region_list({2, 4, 14, 16, 3, 5, 11, 9});
    const auto centre = [&](int region, int axis, int index, int bins) {
        const double* corner = &regions.values[static_cast<size_t>(region * 4)];
        const double first = corner[axis] * pool.scale, last = corner[axis + 2] * pool.scale;
        return first + (index + 0.5) * (last - first) / bins;
    };
    expect_close(RoialignCase(ramp(12, 12), regions, pool).run_one(),
                 fill(2, 1, pool, [&](int r, int, int y, int x) {
                     return 3 * centre(r, 0, x, 2) + 10 * centre(r, 1, y, 3);
                 }));
}

TEST(Roialign, ARegionIsAtLeastOnePixelLarge)
{
    // The bin is 4.25 .. 5.25, its one sample at 4.75.
    const Array result =
        RoialignCase(ramp(9, 9), region_list({4.25, 4.25, 4.5, 4.5}), {1, 1, 1}).run_one();
    expect_close(result, {{1, 1, 1, 1}, {13 * 4.75}});
}

// Columns -3 .. 3 are clipped to 0 .. 3, so that there are three samples, but 6 / 3 apart: 1, 3 and
// 5.
TEST(Roialign, SamplesOfACutBinAreSpreadOverAllOfIt)
{
    const Array result = RoialignCase(ramp(9, 9), region_list({-3, 0, 3, 6}), {1, 1, 1}).run_one();
    expect_close(result, {{1, 1, 1, 1}, {3 * 3 + 10 * 3}});
}

TEST(Roialign, BinsBeyondThePlaneAreZeroAndCutOnesStayInside)
{
    const Array image{{1, 1, 2, 2}, {1, 1, 1, 1}};
    expect_close(RoialignCase(image, region_list({0, 0, 4, 4}), {2, 2, 1}).run_one(),
                 {{1, 1, 2, 2}, {1, 0, 0, 0}});
    // Samples are spread over the unclipped bin, so that one is at 2.5: beyond the last pixel.
    expect_close(RoialignCase(image, region_list({-4, -4, 1, 1}), {1, 1, 1}).run_one(),
                 {{1, 1, 1, 1}, {1}});
}

TEST(Roialign, SurvivesCornersThatAreNoNumbers)
{
    const Array regions = region_list({kNan, 0, 1, kNan, -kInfinity, 0, kInfinity, kInfinity});
    EXPECT_EQ(RoialignCase(ramp(3, 3), regions, {2, 2, 1}).run_one().values.size(), 8U);
    RoialignCase(ramp(3, 3), regions, {0, 0, 1}).expect_failure(TENGINE_ERANGE, "0x0");
}

// ---- Psroipooling ----

struct PsroipoolingCase : TengineCase
{
    PsroipoolingCase(const Array& image, const Array& regions, const Pool& pool, int channels)
        : TengineCase("tengine.Psroipooling")
    {
        input(image).input(regions).attr("pooled_h", pool.height).attr("pooled_w", pool.width);
        attr("spatial_scale", pool.scale).attr("output_dim", channels);
    }
};

// The R-FCN formula with the bin edges as exact fractions of eighths.
TEST(Psroipooling, EachBinHasAChannelOfItsOwn)
{
    const Pool pool{2, 3, 0.125};
    const Array image = make_array({1, 12, 9, 10}, 7);
    const Array regions = region_list({8, 16, 31, 47, 0, 0, 79, 71, 40, 8, 200, 30});
    const auto touched = [&](int region, int axis, int index, int bins, int limit) {
        const double* corner = &regions.values[static_cast<size_t>(region * 4)];
        const double start = corner[axis] / 8, size = (corner[axis + 2] + 1) / 8 - start;
        std::vector<int> pixels;
        for (int p = 0; p < limit; ++p)
            if (p + 1 > start + index * size / bins + 1e-6 &&
                p < start + (index + 1) * size / bins - 1e-6)
                pixels.push_back(p);
        return pixels;
    };
    const Array expected = fill(3, 2, pool, [&](int r, int c, int y, int x) {
        double sum = 0;
        int count = 0;
        for (const int row : touched(r, 1, y, pool.height, 9))
            for (const int column : touched(r, 0, x, pool.width, 10)) {
                sum += pixel(image, (c * pool.height + y) * pool.width + x, row, column);
                ++count;
            }
        return count > 0 ? sum / count : 0;
    });
    expect_close(PsroipoolingCase(image, regions, pool, 2).run_one(), expected);
}

TEST(Psroipooling, RefusesChannelsThatDoNotFit)
{
    const Array region = region_list({0, 0, 1, 1});
    PsroipoolingCase(make_array({1, 8, 4, 4}), region, {2, 2, 1}, 3)
        .expect_failure(TENGINE_EINVAL, "8 channels");
    PsroipoolingCase(make_array({1, 8, 4, 4}), region, {0, 2, 1}, 2)
        .expect_failure(TENGINE_ERANGE, "0x2");
    PsroipoolingCase(make_array({1, 8, 4, 4}), region, {2, 2, 1}, -2)
        .expect_failure(TENGINE_ERANGE, "-2");
}

// ---- SpatialTransformer ----

struct TransformerCase : TengineCase
{
    TransformerCase(const Array& image, const Array& transformation,
                    const std::vector<int64_t>& shape)
        : TengineCase("tengine.SpatialTransformer")
    {
        input(image).input(transformation).attr("sampler_type", 1).attr("transformer_type", 0);
        attr("target_shape", shape);
    }
};

TEST(SpatialTransformer, IdentityGivesTheImage)
{
    const Array image = make_array({1, 2, 4, 5}, 2);
    expect_close(TransformerCase(image, {{1, 6}, {1, 0, 0, 0, 1, 0}}, {4, 5}).run_one(), image);
}

double tap(const Array& image, int image_index, int channel, int y, int x)
{
    if (y < 0 || x < 0 || y >= image.dims[2] || x >= image.dims[3]) return 0;
    const int plane = image_index * image.dims[1] + channel;
    return image.values[static_cast<size_t>((plane * image.dims[2] + y) * image.dims[3] + x)];
}

double bilinear(const Array& image, int n, int c, double y, double x)
{
    const int top = static_cast<int>(std::floor(y)), left = static_cast<int>(std::floor(x));
    const double down = y - top, across = x - left;
    return (1 - down) * ((1 - across) * tap(image, n, c, top, left) +
                         across * tap(image, n, c, top, left + 1)) +
           down * ((1 - across) * tap(image, n, c, top + 1, left) +
                   across * tap(image, n, c, top + 1, left + 1));
}

TEST(SpatialTransformer, SamplesWhereTheTransformationPoints)
{
    const Array image = make_array({2, 2, 5, 6}, 3);
    const Array theta{{2, 6}, {0.7, -0.3, 0.2, 0.4, 0.9, -0.5, 1.3, 0.1, -0.4, -0.2, 1.1, 0.3}};
    const int height = 4, width = 7;
    Array expected{{2, 2, height, width}, {}};
    for (int n = 0; n < 2; ++n)
        for (int c = 0; c < 2; ++c)
            for (int i = 0; i < height; ++i)
                for (int j = 0; j < width; ++j) {
                    const double* t = &theta.values[static_cast<size_t>(n * 6)];
                    const double u = -1 + 2.0 * j / (width - 1), v = -1 + 2.0 * i / (height - 1);
                    const double x = (t[0] * u + t[1] * v + t[2] + 1) * 5 / 2;
                    const double y = (t[3] * u + t[4] * v + t[5] + 1) * 4 / 2;
                    expected.values.push_back(bilinear(image, n, c, y, x));
                }
    TransformerCase sampled(image, theta, {height, width});
    expect_close(sampled.run_one(), expected);
    EXPECT_NE(sampled.ops().find("GridSample"), std::string::npos) << sampled.ops();
}

TEST(SpatialTransformer, RefusesWhatItCannotCompute)
{
    const Array image = make_array({1, 1, 3, 3});
    const Array theta{{1, 6}, {1, 0, 0, 0, 1, 0}};
    TransformerCase(image, theta, {3}).expect_failure(TENGINE_ERANGE, "1 values");
    TransformerCase(image, theta, {0, 3}).expect_failure(TENGINE_ERANGE, "(0, 3)");
    TransformerCase(image, theta, {1 << 30, 1 << 30}).expect_failure(TENGINE_ERANGE, "1073741824");
    TransformerCase(image, {{1, 4}, {1, 0, 0, 1}}, {3, 3})
        .expect_failure(TENGINE_EINVAL, "4 numbers");
    TransformerCase(make_array({3, 3}), theta, {3, 3}).expect_failure(TENGINE_EINVAL, "rank 2");
    TransformerCase nearest(image, theta, {3, 3});
    nearest.attr("sampler_type", 0).expect_failure(TENGINE_ENOTSUP, "sampler_type 0");
}

}  // namespace
}  // namespace tengine::test
