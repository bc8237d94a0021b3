// SPDX-License-Identifier: Apache-2.0
// Operators that read computed positions of their input, against their definitions, written out
// here in doubles: a third implementation checks the fast kernels and the reference.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <optional>

#include "device/cpu/byte_node.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Bytes = std::vector<uint8_t>;

void set_text(ByteNode& node, const char* name, const std::string& value)
{
    EXPECT_EQ(set_node_text(node.node(), name, value.c_str(), value.size()), TENGINE_OK);
}

float read_float(const Bytes& bytes, int64_t index)
{
    float value;
    std::memcpy(&value, bytes.data() + 4 * index, sizeof value);
    return value;
}

// ---- Resize ----

struct Axis
{
    int size, resized;
    double scale;

    Axis(int input_size, float axis_scale)
        : size(input_size),
          resized(static_cast<int>(std::floor(static_cast<float>(input_size) * axis_scale))),
          scale(double{axis_scale})
    {
    }

    // Returns the source of position i of the output, as ONNX defines it. An axis of scale 1 is
    // copied, as in ONNX Runtime, in any mode.
    double find_source(const std::string& mode, int i) const
    {
        if (scale == 1) return i;
        const double length = size * scale;
        if (mode == "asymmetric") return i / scale;
        if (mode == "align_corners") return length == 1 ? 0 : i * (size - 1.0) / (length - 1);
        if (mode == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
        if (mode == "pytorch_half_pixel" && length <= 1) return 0;
        const double centred = (i + 0.5) / scale - 0.5;
        if (mode != "half_pixel_symmetric") return centred;
        return size / 2.0 * (1 - resized / length) + centred;
    }

    int clamp(double index) const
    {
        return static_cast<int>(std::min(std::max(index, 0.0), size - 1.0));
    }
};

double round_source(const std::string& mode, double source)
{
    if (mode == "floor") return std::floor(source);
    if (mode == "ceil") return std::ceil(source);
    if (mode == "round_prefer_ceil") return std::floor(source + 0.5);
    return std::ceil(source - 0.5);
}

// Returns the nearest elements of a position that is known within 10^-4: float arithmetic decides
// between them.
std::vector<int> find_nearest(const Axis& axis, const std::string& coordinates,
                              const std::string& nearest, int i, bool is_exact)
{
    const double source = axis.find_source(coordinates, i);
    if (is_exact) return {axis.clamp(round_source(nearest, source))};
    return {axis.clamp(round_source(nearest, source - 1e-4)),
            axis.clamp(round_source(nearest, source + 1e-4))};
}

constexpr const char* kCoordinates[] = {"half_pixel",         "asymmetric",
                                        "align_corners",      "tf_half_pixel_for_nn",
                                        "pytorch_half_pixel", "half_pixel_symmetric"};
constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

struct Scales
{
    float lines, columns;
    bool is_exact;  // whether positions are exact as floats
};

// Powers of two make many ties.
const Scales kScales[] = {{2, 4, true},         {0.5f, 0.25f, true}, {1, 2, true},
                          {2.7f, 1.3f, false},  {0.4f, 0.7f, false}, {3, 1 / 3.0f, false},
                          {0.125f, 5.1f, false}};

void resize_nearest(const Scales& scales, const char* coordinates, const char* nearest)
{
    SCOPED_TRACE(testing::Message() << coordinates << nearest << scales.lines << scales.columns);
    constexpr int kChannels = 5, kLines = 8, kColumns = 12;
    const Axis y(kLines, scales.lines), x(kColumns, scales.columns);
    // Divisions by other numbers are not exact with align_corners.
    const bool is_exact = scales.is_exact && std::strcmp(coordinates, "align_corners") != 0;
    ByteNode node;
    node.bytes("x", {1, kChannels, kLines, kColumns}, TENGINE_DT_UINT8);
    for (int i = 0; i < kChannels * kLines * kColumns; ++i)
        node.find("x")->u8[i] = static_cast<uint8_t>(i % (kLines * kColumns) + i / 96 * 7);
    node.floats("scales", {4}, {1, 1, scales.lines, scales.columns});
    node.make("Resize", {"x", "", "scales"});
    set_text(node, "mode", "nearest");
    set_text(node, "coordinate_transformation_mode", coordinates);
    set_text(node, "nearest_mode", nearest);
    node.infer();
    const auto expect_element = [&](uint8_t actual, int channel, int line, int column) {
        for (const int row : find_nearest(y, coordinates, nearest, line, is_exact))
            for (const int at : find_nearest(x, coordinates, nearest, column, is_exact))
                if (node.find("x")->u8[(channel * kLines + row) * kColumns + at] == actual) return;
        ADD_FAILURE() << int{actual} << " at " << line << ", " << column;
    };
    node.judge("resize.x.nearest_nhwc", [&](const Bytes& result) {
        ASSERT_EQ(result.size(), static_cast<size_t>(kChannels) * static_cast<size_t>(y.resized) *
                                     static_cast<size_t>(x.resized));
        size_t next = 0;
        for (int channel = 0; channel < kChannels; ++channel)
            for (int line = 0; line < y.resized; ++line)
                for (int column = 0; column < x.resized; ++column)
                    expect_element(result[next++], channel, line, column);
    });
}

TEST(PixelDefinition, ResizeNearest)
{
    for (const Scales& scales : kScales)
        for (const char* coordinates : kCoordinates)
            for (const char* nearest : kNearest)
                resize_nearest(scales, coordinates, nearest);
}

void expect_nearest_element(int size, const std::vector<float>& scales,
                            const std::vector<int64_t>& sizes, const char* coordinates,
                            const char* nearest, size_t position, int element)
{
    ByteNode node;
    node.bytes("x", {1, 1, 1, size}, TENGINE_DT_UINT8);
    for (int i = 0; i < size; ++i)
        node.find("x")->u8[i] = static_cast<uint8_t>(i);
    if (!scales.empty()) node.floats("scales", {4}, scales);
    if (!sizes.empty()) node.builder().ints("sizes", sizes);
    node.make("Resize", {"x", "", scales.empty() ? "" : "scales", sizes.empty() ? "" : "sizes"});
    set_text(node, "mode", "nearest");
    set_text(node, "coordinate_transformation_mode", coordinates);
    set_text(node, "nearest_mode", nearest);
    node.infer();
    node.judge("resize.x.nearest_nhwc", [&](const Bytes& result) {
        EXPECT_EQ(result[position], static_cast<uint8_t>(element));
    });
}

// Position 3 is 1/2 - 2^-25, to which a float cannot add a half; the last one is an odd number
// beyond 2^23, from which it cannot subtract one.
TEST(PixelDefinition, HalvesAreAddedExactly)
{
    expect_nearest_element(2, {1, 1, 1, std::nextafter(6.0f, 7.0f)}, {}, "asymmetric",
                           "round_prefer_ceil", 3, 0);
    constexpr int kLong = (1 << 23) + 6;
    expect_nearest_element(kLong, {}, {1, 1, 1, 1025}, "align_corners", "round_prefer_floor", 1024,
                           (kLong - 1) % 256);
}

// The error of a weight is at most half of 2^-11, that of a result 1/8 before it is rounded.
void resize_linear(const Scales& scales, const char* coordinates, int channels, int type)
{
    SCOPED_TRACE(testing::Message() << coordinates << scales.lines << scales.columns);
    constexpr int kLines = 9, kColumns = 7;
    const Axis y(kLines, scales.lines), x(kColumns, scales.columns);
    ByteNode node;
    node.bytes("x", {1, channels, kLines, kColumns}, type);
    node.floats("scales", {4}, {1, 1, scales.lines, scales.columns});
    node.make("Resize", {"x", "", "scales"});
    set_text(node, "mode", "linear");
    set_text(node, "coordinate_transformation_mode", coordinates);
    node.infer();
    const tensor* from = node.find("x");
    const auto element = [&](int channel, double row, double column) {
        const int at = (channel * kLines + y.clamp(row)) * kColumns + x.clamp(column);
        return double(type == TENGINE_DT_INT8 ? from->i8[at] : from->u8[at]);
    };
    const auto expected = [&](int channel, int line, int column) {
        const double row = y.find_source(coordinates, line),
                     at = x.find_source(coordinates, column);
        const double top = std::floor(row), left = std::floor(at);
        const double down = row - top, across = at - left;
        return (element(channel, top, left) * (1 - across) +
                element(channel, top, left + 1) * across) *
                   (1 - down) +
               (element(channel, top + 1, left) * (1 - across) +
                element(channel, top + 1, left + 1) * across) *
                   down;
    };
    node.judge("resize.s8.linear_nhwc", [&](const Bytes& result) {
        size_t next = 0;
        for (int channel = 0; channel < channels; ++channel)
            for (int line = 0; line < y.resized; ++line)
                for (int column = 0; column < x.resized; ++column) {
                    const uint8_t byte = result[next++];
                    const int actual = type == TENGINE_DT_INT8 ? static_cast<int8_t>(byte) : byte;
                    ASSERT_NEAR(actual, expected(channel, line, column), 0.5 + 0.125 + 1e-6)
                        << line << ", " << column;
                }
    });
}

TEST(PixelDefinition, ResizeLinearOfBytes)
{
    for (const Scales& scales : kScales)
        for (const char* coordinates : kCoordinates)
            for (const int channels : {1, 19})
                for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
                    resize_linear(scales, coordinates, channels, type);
}

// ---- RoiAlign ----

struct Region
{
    float left, top, right, bottom;
};

// Samples exactly one pixel outside the image and on its edge, and just beyond; a point, an
// inverted region, one of NaN, and distant ones.
const Region kRegions[] = {{1, 2, 9, 7},
                           {-2, -2, 2, 2},
                           {-1, -1, -1, -1},
                           {0, 0, 12, 9},
                           {11, 8, 13, 10},
                           {12, 9, 12, 9},
                           {9, 7, 1, 2},
                           {3, 3, 3, 3},
                           {-40, -40, 40, 40},
                           {-3e8f, 0, 3e8f, 1},
                           {NAN, 0, 1, 1},
                           {0, 0, NAN, 1},
                           {12.000001f, 0, 12.000001f, 9}};

constexpr int kHeight = 9, kWidth = 12, kChannels = 19, kRows = 3, kColumns = 2;

std::optional<double> sample(const float* plane, double y, double x)
{
    if (!(y >= -1 && y <= kHeight && x >= -1 && x <= kWidth)) return std::nullopt;
    y = std::min(std::max(y, 0.0), kHeight - 1.0);
    x = std::min(std::max(x, 0.0), kWidth - 1.0);
    const int top = static_cast<int>(y), left = static_cast<int>(x);
    const int bottom = std::min(top + 1, kHeight - 1), right = std::min(left + 1, kWidth - 1);
    const auto at = [&](int row, int column) { return double{plane[row * kWidth + column]}; };
    return (at(top, left) * (left + 1 - x) + at(top, right) * (x - left)) * (top + 1 - y) +
           (at(bottom, left) * (left + 1 - x) + at(bottom, right) * (x - left)) * (y - top);
}

double mean_of_bin(const float* plane, const Region& region, bool is_centred, int ratio, int row,
                   int column)
{
    const double offset = is_centred ? 0.5 : 0;
    const double top = double{region.top} - offset, left = double{region.left} - offset;
    double height = double{region.bottom} - offset - top,
           width = double{region.right} - offset - left;
    if (!is_centred && height < 1) height = 1;
    if (!is_centred && width < 1) width = 1;
    const double bin_height = height / kRows, bin_width = width / kColumns;
    double sum = 0;
    for (int i = 0; i < ratio; ++i)
        for (int j = 0; j < ratio; ++j)
            sum += sample(plane, top + (row + (i + 0.5) / ratio) * bin_height,
                          left + (column + (j + 0.5) / ratio) * bin_width)
                       .value_or(0);
    return sum / (ratio * ratio);
}

void align_regions(const char* mode, int ratio)
{
    SCOPED_TRACE(testing::Message() << mode << ratio);
    constexpr int kNumber = static_cast<int>(std::size(kRegions));
    ByteNode node;
    std::vector<float> image, regions;
    for (int i = 0; i < kChannels * kHeight * kWidth; ++i)
        image.push_back(static_cast<float>(node.random()() % 2001) / 1000 - 1);
    for (const Region& region : kRegions)
        regions.insert(regions.end(), {region.left, region.top, region.right, region.bottom});
    node.floats("x", {1, kChannels, kHeight, kWidth}, image);
    node.floats("regions", {kNumber, 4}, regions);
    node.builder().ints("images", std::vector<int64_t>(kNumber, 0));
    node.make("RoiAlign", {"x", "regions", "images"});
    node.set("output_height", kRows);
    node.set("output_width", kColumns);
    node.set("sampling_ratio", ratio);
    set_text(node, "coordinate_transformation_mode", mode);
    node.infer();
    node.judge("roi_align.f32.vector", [&](const Bytes& result) {
        for (int64_t i = 0; i < int64_t{kNumber} * kChannels * kRows * kColumns; ++i) {
            const int64_t bin = i % (kRows * kColumns),
                          channel = i / (kRows * kColumns) % kChannels;
            const Region& region = kRegions[i / (kRows * kColumns) / kChannels];
            const double expected =
                mean_of_bin(image.data() + channel * kHeight * kWidth, region,
                            std::strcmp(mode, "half_pixel") == 0, ratio,
                            static_cast<int>(bin) / kColumns, static_cast<int>(bin) % kColumns);
            ASSERT_NEAR(double{read_float(result, i)}, expected, 1e-5)
                << "region " << i / (kRows * kColumns) / kChannels << ", bin " << bin;
        }
    });
}

TEST(PixelDefinition, RoiAlign)
{
    for (const char* mode : {"half_pixel", "output_half_pixel"})
        for (const int ratio : {1, 2, 9})
            align_regions(mode, ratio);
}

// ---- GridSample ----

constexpr int kGridHeight = 5, kGridWidth = 7, kGridChannels = 3;

// Returns the position of a value of the grid along an axis: -1 is 0.
double find_place(double value, int size, bool aligned)
{
    return aligned ? (value + 1) / 2 * (size - 1) : ((value + 1) * size - 1) / 2;
}

// Reflects until the position is inside.
double reflect(double place, int size, bool aligned)
{
    const double low = aligned ? 0 : -0.5, high = aligned ? size - 1 : size - 0.5;
    while (place < low || place > high)
        place = place < low ? 2 * low - place : 2 * high - place;
    return place;
}

double read_pixel(const float* plane, double row, double column)
{
    if (row < 0 || row >= kGridHeight || column < 0 || column >= kGridWidth) return 0;
    return double{plane[static_cast<int>(row) * kGridWidth + static_cast<int>(column)]};
}

double sample_grid(const float* plane, double x, double y, const std::string& padding, bool aligned)
{
    double column = find_place(x, kGridWidth, aligned), row = find_place(y, kGridHeight, aligned);
    if (padding == "reflection") {
        column = reflect(column, kGridWidth, aligned);
        row = reflect(row, kGridHeight, aligned);
    }
    if (padding != "zeros") {
        column = std::min(std::max(column, 0.0), kGridWidth - 1.0);
        row = std::min(std::max(row, 0.0), kGridHeight - 1.0);
    }
    const double top = std::floor(row), left = std::floor(column);
    const double down = row - top, across = column - left;
    return (read_pixel(plane, top, left) * (1 - across) +
            read_pixel(plane, top, left + 1) * across) *
               (1 - down) +
           (read_pixel(plane, top + 1, left) * (1 - across) +
            read_pixel(plane, top + 1, left + 1) * across) *
               down;
}

void sample_points(const char* padding, bool aligned)
{
    SCOPED_TRACE(testing::Message() << padding << aligned);
    // Values on the edges, on the centres of pixels, beyond the edge by less and by more than an
    // image.
    const float values[] = {-1,    1,    0,    -0.8f, 0.6f,  1.2f,         -1.2f,
                            -3.7f, 5.1f, 0.2f, 1e-7f, 1.01f, -1 - 1.0f / 7};
    constexpr int kNumber = static_cast<int>(std::size(values));
    std::vector<float> image, grid;
    ByteNode node;
    for (int i = 0; i < kGridChannels * kGridHeight * kGridWidth; ++i)
        image.push_back(static_cast<float>(node.random()() % 2001) / 1000 - 1);
    for (const float y : values)
        for (const float x : values)
            grid.insert(grid.end(), {x, y});
    node.floats("x", {1, kGridChannels, kGridHeight, kGridWidth}, image);
    node.floats("grid", {1, kNumber, kNumber, 2}, grid);
    node.make("GridSample", {"x", "grid"});
    set_text(node, "padding_mode", padding);
    node.set("align_corners", aligned);
    node.infer();
    node.judge("grid_sample.f32.gather", [&](const Bytes& result) {
        for (int64_t i = 0; i < int64_t{kGridChannels} * kNumber * kNumber; ++i) {
            const int64_t point = i % (kNumber * kNumber), channel = i / (kNumber * kNumber);
            const double expected = sample_grid(image.data() + channel * kGridHeight * kGridWidth,
                                                double{values[point % kNumber]},
                                                double{values[point / kNumber]}, padding, aligned);
            ASSERT_NEAR(double{read_float(result, i)}, expected, 1e-5)
                << values[point % kNumber] << ", " << values[point / kNumber];
        }
    });
}

TEST(PixelDefinition, GridSample)
{
    for (const char* padding : {"zeros", "border", "reflection"})
        for (const bool aligned : {false, true})
            sample_points(padding, aligned);
}

}  // namespace
}  // namespace tengine::test
