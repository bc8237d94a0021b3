// SPDX-License-Identifier: Apache-2.0
// Values of all types and layouts, batches, formats of memory, and refusals. The numbers are
// computed here with plain arithmetic.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "image/support.h"

namespace tengine::image {
namespace {

// Two rows of three pixels; the input has that size, so that no value changes.
const unsigned char kRgb[] = {0, 1, 2, 100, 101, 102, 253, 254, 255,
                              7, 8, 9, 50,  60,  70,  200, 150, 90};
const tengine_image kImage = {kRgb, 3, 2, TENGINE_IMAGE_RGB, 0, 0};

template <class Element>
std::vector<Element> convert(const tengine_image_target& target,
                             const tengine_image_settings* settings,
                             const std::vector<tengine_image>& images = {kImage})
{
    std::vector<Element> values(static_cast<size_t>(target.dims[0]) *
                                static_cast<size_t>(target.dims[1] * target.dims[2]) *
                                static_cast<size_t>(target.dims[3]));
    EXPECT_EQ(tengine_image_convert(images.data(), static_cast<int>(images.size()), settings,
                                    &target, values.data(), values.size() * sizeof(Element)),
              0)
        << get_tengine_error();
    return values;
}

int pixel(int channel, int place)
{
    return kRgb[3 * place + channel];
}

TEST(ImageValues, AreDividedBy255InFloats)
{
    const auto floats = convert<float>(make_target(TENGINE_DT_FP32, 1, 3, 2, 3), nullptr);
    const auto doubles = convert<double>(make_target(TENGINE_DT_FP64, 1, 3, 2, 3), nullptr);
    for (int c = 0; c < 3; ++c) {
        for (int i = 0; i < 6; ++i) {
            const float expected = static_cast<float>(pixel(c, i)) * (1.0f / 255.0f);
            EXPECT_EQ(floats[static_cast<size_t>(6 * c + i)], expected);
            EXPECT_EQ(doubles[static_cast<size_t>(6 * c + i)], double{expected});
        }
    }
}

TEST(ImageValues, AreNormalisedByChannelInBothOrdersAndLayouts)
{
    tengine_image_settings settings = make_settings();
    const float mean[] = {10, 20, 30}, scale[] = {0.5f, 0.25f, -2};
    std::copy(mean, mean + 3, settings.mean);
    std::copy(scale, scale + 3, settings.scale);
    for (const int format : {TENGINE_IMAGE_RGB, TENGINE_IMAGE_BGR}) {
        settings.format = format;
        const auto planes = convert<float>(make_target(TENGINE_DT_FP32, 1, 3, 2, 3), &settings);
        settings.layout = TENGINE_IMAGE_NHWC;
        const auto pixels = convert<float>(make_target(TENGINE_DT_FP32, 1, 2, 3, 3), &settings);
        settings.layout = TENGINE_IMAGE_ANY_LAYOUT;
        for (int c = 0; c < 3; ++c) {
            const int place = format == TENGINE_IMAGE_RGB ? c : 2 - c;
            for (int i = 0; i < 6; ++i) {
                const float expected = (static_cast<float>(pixel(c, i)) - mean[c]) * scale[c];
                EXPECT_EQ(planes[static_cast<size_t>(6 * place + i)], expected);
                EXPECT_EQ(pixels[static_cast<size_t>(3 * i + place)], expected);
            }
        }
    }
}

TEST(ImageValues, LayoutIsFoundByTheChannels)
{
    // 2 and 4 are no channel counts.
    EXPECT_EQ(convert<unsigned char>(make_target(TENGINE_DT_UINT8, 1, 2, 3, 3), nullptr)[1], 1);
    EXPECT_EQ(convert<unsigned char>(make_target(TENGINE_DT_UINT8, 1, 3, 2, 3), nullptr)[1], 100);
    // In NHWC 3x4x1: a grey picture.
    EXPECT_EQ(convert<unsigned char>(make_target(TENGINE_DT_UINT8, 1, 2, 4, 1), nullptr).size(),
              8u);
}

// Half-precision numbers with all their bits by hand: 1/255 is 0x1.01p-8 in 11 bits.
TEST(ImageValues, OfHalfPrecisionAreRoundedToNearest)
{
    tengine_image_settings settings = make_settings();
    const auto half = convert<uint16_t>(make_target(TENGINE_DT_FP16, 1, 3, 2, 3), &settings);
    EXPECT_EQ(half[0], 0x0000);
    EXPECT_EQ(half[6], 0x1c04);   // 1/255
    EXPECT_EQ(half[14], 0x3c00);  // 255/255
    const auto brain = convert<uint16_t>(make_target(TENGINE_DT_BF16, 1, 3, 2, 3), &settings);
    EXPECT_EQ(brain[6], 0x3b81);  // 0x1.01p-8 in 8 bits: 0x1.02p-8
    EXPECT_EQ(brain[14], 0x3f80);
}

TEST(ImageValues, OfBytesAreThePixelsUnlessThereIsAScale)
{
    const auto plain = convert<unsigned char>(make_target(TENGINE_DT_UINT8, 1, 2, 3, 3), nullptr);
    EXPECT_EQ(std::memcmp(plain.data(), kRgb, sizeof kRgb), 0);
    tengine_image_settings settings = make_settings();
    settings.mean[0] = settings.mean[1] = settings.mean[2] = 100;
    settings.scale[0] = settings.scale[1] = settings.scale[2] = 2.5f;
    const auto clamped =
        convert<unsigned char>(make_target(TENGINE_DT_UINT8, 1, 2, 3, 3), &settings);
    for (size_t i = 0; i < sizeof kRgb; ++i) {
        const double value = std::nearbyint((kRgb[i] - 100.0) * 2.5);  // ties to even: 2.5, 7.5
        EXPECT_EQ(clamped[i], std::clamp(value, 0.0, 255.0)) << i;
    }
}

TEST(ImageValues, OfQuantisedBytesFollowQuantizeLinear)
{
    tengine_image_settings settings = make_settings();
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        tengine_image_target target = make_target(type, 1, 2, 3, 3);
        target.scale = 0.007f;
        target.zero_point = type == TENGINE_DT_INT8 ? -100 : 30;
        const int lowest = type == TENGINE_DT_INT8 ? -128 : 0;
        const auto bytes = convert<unsigned char>(target, &settings);
        for (size_t i = 0; i < sizeof kRgb; ++i) {
            const float real = static_cast<float>(kRgb[i]) * (1.0f / 255.0f);
            const int stored =
                static_cast<int>(std::nearbyint(real / target.scale)) + target.zero_point;
            const int expected = std::clamp(stored, lowest, lowest + 255);
            EXPECT_EQ(static_cast<int>(bytes[i]), expected & 0xff) << type << ", " << i;
        }
    }
}

TEST(ImageValues, OfABatchFollowEachOther)
{
    const unsigned char grey[] = {9, 8, 7, 6, 5, 4};
    const tengine_image second = {grey, 3, 2, TENGINE_IMAGE_GREY, 0, 0};
    const auto both = convert<unsigned char>(make_target(TENGINE_DT_UINT8, 2, 3, 2, 3), nullptr,
                                             {kImage, second});
    EXPECT_EQ(both[1], 100);
    for (size_t c = 0; c < 3; ++c)
        EXPECT_EQ(std::memcmp(both.data() + 18 + 6 * c, grey, sizeof grey), 0);
}

// The same picture in every format of memory, with gaps between the rows.
TEST(ImageValues, DoNotDependOnTheFormatOfMemory)
{
    const auto expected = convert_bytes(kImage, 3, 4, 5, make_settings());
    ASSERT_EQ(expected.size(), 60u);
    struct
    {
        int format;
        int places[3];
        size_t bytes;
    } const formats[] = {{TENGINE_IMAGE_RGB, {0, 1, 2}, 3},
                         {TENGINE_IMAGE_BGR, {2, 1, 0}, 3},
                         {TENGINE_IMAGE_RGBA, {0, 1, 2}, 4},
                         {TENGINE_IMAGE_BGRA, {2, 1, 0}, 4}};
    for (const auto& format : formats) {
        const size_t row = 3 * format.bytes + 5;
        std::vector<unsigned char> memory(2 * row - 5, 0xcc);
        for (size_t i = 0; i < 6; ++i)
            for (size_t c = 0; c < 3; ++c)
                memory[i / 3 * row + i % 3 * format.bytes + static_cast<size_t>(format.places[c])] =
                    kRgb[3 * i + c];
        const tengine_image image = {memory.data(), 3, 2, format.format, 0, row};
        EXPECT_EQ(convert_bytes(image, 3, 4, 5, make_settings()), expected) << format.format;
        EXPECT_EQ(convert_bytes(image, 1, 4, 5, make_settings()),
                  convert_bytes(kImage, 1, 4, 5, make_settings()))
            << format.format;
    }
}

// ---- refusals ----

int try_convert(const tengine_image& image, const tengine_image_settings& settings,
                const tengine_image_target& target, int number = 1, size_t size = 18)
{
    unsigned char out[64];
    std::memset(out, 0x77, sizeof out);
    const int status = tengine_image_convert(&image, number, &settings, &target, out, size);
    for (const unsigned char byte : out)
        EXPECT_EQ(byte, 0x77) << "the buffer has changed";
    return status;
}

TEST(ImageValues, FaultyTargetsAreNamed)
{
    const tengine_image_settings usual = make_settings();
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_UINT8, 1, 4, 2, 4)), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "the target has shape 1x4x2x4: expected Nx1xHxW, Nx3xHxW"));
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_UINT8, 1, 3, 0, 3)), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "1x3x0x3"));
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_INT64, 1, 3, 2, 3)), -1);
    EXPECT_TRUE(failed(TENGINE_EDTYPE, "the target is int64: expected fp32, fp16, bf16, fp64"));
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_INT8, 1, 3, 2, 3)), -1);
    EXPECT_TRUE(failed(TENGINE_EDTYPE, "int8 without a scale"));
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_UINT8, 1, 3, 2, 3), 1, 17), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "size is 17, expected 18 bytes"));
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_UINT8, 2, 3, 2, 3), 1, 36), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "1 pictures, expected 2, the batch"));
    const int huge = 2147483647;
    EXPECT_EQ(try_convert(kImage, usual, make_target(TENGINE_DT_FP64, huge, 3, huge, huge)), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "size is 18, expected"));
    for (const float scale : {-1.0f, NAN, INFINITY}) {
        tengine_image_target target = make_target(TENGINE_DT_UINT8, 1, 3, 2, 3);
        target.scale = scale;
        EXPECT_EQ(try_convert(kImage, usual, target), -1);
        EXPECT_TRUE(failed(TENGINE_EINVAL, "expected a positive scale"));
    }
    tengine_image_target target = make_target(TENGINE_DT_UINT8, 1, 3, 2, 3);
    target.scale = 1;
    target.zero_point = 256;
    EXPECT_EQ(try_convert(kImage, usual, target), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "the zero point 256"));
    tengine_image_settings planes = usual;
    planes.layout = TENGINE_IMAGE_NCHW;
    EXPECT_EQ(try_convert(kImage, planes, make_target(TENGINE_DT_UINT8, 1, 2, 3, 3)), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "in NCHW"));
}

TEST(ImageValues, FaultyPicturesAreNamed)
{
    const tengine_image_settings usual = make_settings();
    const tengine_image_target target = make_target(TENGINE_DT_UINT8, 1, 3, 2, 3);
    struct
    {
        tengine_image image;
        const char* message;
    } const faulty[] = {
        {{nullptr, 3, 2, TENGINE_IMAGE_RGB, 0, 0}, "picture 0 has no pixels"},
        {{kRgb, 0, 2, TENGINE_IMAGE_RGB, 0, 0}, "picture 0 has 0 x 2 pixels"},
        {{kRgb, 3, -2, TENGINE_IMAGE_RGB, 0, 0}, "picture 0 has 3 x -2 pixels"},
        {{kRgb, 1 << 20, 1 << 20, TENGINE_IMAGE_RGB, 0, 0}, "expected 1 to 268435456 of them"},
        {{kRgb, 3, 2, 0, 0, 0}, "format 0"},
        {{kRgb, 3, 2, 6, 0, 0}, "format 6"},
        {{kRgb, 3, 2, TENGINE_IMAGE_RGB, 9, 0}, "orientation 9"},
        {{kRgb, 3, 2, TENGINE_IMAGE_RGB, 0, 8},
         "8 bytes from row to row, expected 0, or at least 9"},
    };
    for (const auto& each : faulty) {
        EXPECT_EQ(try_convert(each.image, usual, target), -1) << each.message;
        EXPECT_TRUE(failed(TENGINE_EINVAL, each.message));
    }
    unsigned char out[18];
    EXPECT_EQ(tengine_image_convert(nullptr, 1, nullptr, &target, out, sizeof out), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "images is NULL"));
}

TEST(ImageValues, FaultySettingsAreNamed)
{
    const tengine_image_target target = make_target(TENGINE_DT_UINT8, 1, 3, 2, 3);
    const auto refused = [&](auto change, int code, const char* message) {
        tengine_image_settings settings = make_settings();
        change(&settings);
        EXPECT_EQ(try_convert(kImage, settings, target), -1) << message;
        EXPECT_TRUE(failed(code, message));
    };
    const auto set_box = [](int left, int top, int right, int bottom) {
        return [=](tengine_image_settings* s) {
            s->box[0] = left, s->box[1] = top, s->box[2] = right, s->box[3] = bottom;
        };
    };
    refused(set_box(0, 0, 4, 2), TENGINE_EINVAL, "box is 0,0,4,2: expected left < right");
    refused(set_box(2, 0, 2, 2), TENGINE_EINVAL, "inside the 3 x 2 pixels");
    refused(set_box(-1, 0, 2, 2), TENGINE_EINVAL, "box is -1,0,2,2");
    refused(set_box(0, 1, 3, 0), TENGINE_EINVAL, "box is 0,1,3,0");
    const auto crop_to = [](int side) {
        return [=](tengine_image_settings* s) {
            s->fit = TENGINE_IMAGE_CROP;
            s->shorter_side = side;
        };
    };
    refused(crop_to(1), TENGINE_EINVAL, "then has 1 x 1, expected at least the 3 x 2 of the input");
    refused(crop_to(1 << 28), TENGINE_ELIMIT, "expected at most 268435456 pixels");
    refused([](tengine_image_settings* s) { s->shorter_side = 5; }, TENGINE_EINVAL,
            "needs the fit crop, but fit is");
    refused([](tengine_image_settings* s) { s->fit = 3; }, TENGINE_ERANGE,
            "fit is 3, expected 0 to 2");
    refused([](tengine_image_settings* s) { s->fill[1] = -1; }, TENGINE_ERANGE, "fill is -1");
    refused([](tengine_image_settings* s) { s->mean[2] = NAN; }, TENGINE_ERANGE, "mean is nan");
    refused([](tengine_image_settings* s) { s->scale[0] = INFINITY; }, TENGINE_ERANGE, "scale inf");
    refused([](tengine_image_settings* s) { s->format = TENGINE_IMAGE_GREY; }, TENGINE_ERANGE,
            "format is 1, expected 2 to 3");
    refused([](tengine_image_settings* s) { s->layout = 3; }, TENGINE_ERANGE, "layout is 3");
    refused([](tengine_image_settings* s) { s->orientation = 6; }, TENGINE_ERANGE,
            "orientation is 6");
}

}  // namespace
}  // namespace tengine::image
