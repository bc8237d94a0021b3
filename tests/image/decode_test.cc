// SPDX-License-Identifier: Apache-2.0
// Files: what they are taken for, limits, damage. The pixels are compared in pillow_test.cc.
#include <gtest/gtest.h>

#include "image/support.h"

namespace tengine::image {
namespace {

struct Stored
{
    const char* name;
    const char* type;
    int width, height, format;
};

const Stored kStored[] = {{"colour.png", "PNG", 37, 23, TENGINE_IMAGE_RGB},
                          {"grey.png", "PNG", 13, 19, TENGINE_IMAGE_GREY},
                          {"alpha.png", "PNG", 17, 11, TENGINE_IMAGE_RGB},
                          {"mask.png", "PNG", 13, 19, TENGINE_IMAGE_GREY},
                          {"colour.bmp", "BMP", 17, 11, TENGINE_IMAGE_RGB},
                          {"colour.ppm", "PNM", 17, 11, TENGINE_IMAGE_RGB},
                          {"low.pgm", "PNM", 13, 19, TENGINE_IMAGE_GREY},
                          {"cmyk.jpeg", "JPEG", 64, 48, TENGINE_IMAGE_RGB},
                          {"grey.jpeg", "JPEG", 64, 48, TENGINE_IMAGE_GREY}};

TEST(ImageFile, HasTypeAndSizeInItsHeader)
{
    TENGINE_NEEDS_DECODER();
    for (const Stored& stored : kStored) {
        const std::string bytes = read_file(data_path(stored.name));
        int width = 0, height = 0;
        EXPECT_STREQ(tengine_image_get_type(bytes.data(), bytes.size()), stored.type);
        ASSERT_EQ(tengine_image_get_size(bytes.data(), bytes.size(), &width, &height), 0)
            << stored.name << ": " << get_tengine_error();
        EXPECT_EQ(width, stored.width) << stored.name;
        EXPECT_EQ(height, stored.height) << stored.name;
        Decoded picture;
        ASSERT_EQ(picture.decode(bytes), 0) << stored.name << ": " << get_tengine_error();
        EXPECT_EQ(picture.get().width, stored.width) << stored.name;
        EXPECT_EQ(picture.get().height, stored.height) << stored.name;
        EXPECT_EQ(picture.get().format, stored.format) << stored.name;
    }
}

TEST(ImageFile, TypesAreKnownWithoutADecoder)
{
    EXPECT_STREQ(tengine_image_get_type("P6\n", 3), "PNM");
    for (const char* other : {"", "P", "P3", "GIF89a", "\x89PNG", "\xff\xd8"})
        EXPECT_EQ(tengine_image_get_type(other, std::string(other).size()), nullptr) << other;
}

TEST(ImageFile, OrientationIsThatOfExif)
{
    TENGINE_NEEDS_DECODER();
    for (int value = 1; value <= 8; ++value) {
        for (const char* ending : {".png", ".jpeg"}) {
            Decoded picture;
            ASSERT_EQ(picture.load("turned_" + std::to_string(value) + ending), 0);
            EXPECT_EQ(picture.get().orientation, value) << ending;
        }
    }
    Decoded plain;
    ASSERT_EQ(plain.load("colour.png"), 0);
    EXPECT_EQ(plain.get().orientation, 0);
}

TEST(ImageFile, PixelsAreLimited)
{
    TENGINE_NEEDS_DECODER();
    const std::string bytes = read_file(data_path("colour.png"));
    Decoded picture;
    EXPECT_EQ(picture.decode(bytes, 37 * 23), 0) << get_tengine_error();
    EXPECT_EQ(picture.decode(bytes, 37 * 23 - 1), -1);
    EXPECT_TRUE(failed(TENGINE_ELIMIT, "the picture has 37 x 23 pixels, expected at most 850"));
    EXPECT_EQ(picture.decode(bytes, -1), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "most_pixels is -1"));
    // 16,384 pixels a byte are possible in a PNG; a header that claims more is refused.
    std::string large = bytes;
    large.replace(16, 8, std::string("\0\0\x40\0\0\0\x30\0", 8));
    EXPECT_EQ(picture.decode(large), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "16384 x 12288 pixels, which its file of"));
    large.replace(16, 8, std::string("\0\0\x40\x10\0\0\x40\x10", 8));
    EXPECT_EQ(picture.decode(large), -1);
    EXPECT_TRUE(failed(TENGINE_ELIMIT, "16400 x 16400 pixels, expected at most 268435456"));
    EXPECT_EQ(picture.decode("P5\n999999999 999999999\n255\n"), -1);
    EXPECT_TRUE(failed(TENGINE_ELIMIT, "999999999 x 999999999 pixels, expected at most"));
    EXPECT_EQ(picture.decode("P5\n99 99\n255\n"), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "99 x 99 pixels, which its file of 13 bytes cannot hold"));
    EXPECT_EQ(picture.decode("P5\n9 9\n255\n"), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "the file ends before the picture does"));
}

// A chunk claims a gigabyte, and the data of one pixel expand to 16 MB.
TEST(ImageFile, MemoryIsLimitedByThePixels)
{
    TENGINE_NEEDS_DECODER();
    Decoded picture;
    std::string bytes = read_file(data_path("colour.png"));
    bytes.replace(bytes.find("IDAT") - 4, 4, std::string("\x3f\0\0\0", 4));
    EXPECT_EQ(picture.decode(bytes), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "a block of"));
    EXPECT_EQ(picture.load("swollen.png"), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "a block of"));
}

TEST(ImageFile, CutFilesAreRefused)
{
    TENGINE_NEEDS_DECODER();
    for (const Stored& stored : kStored) {
        const std::string bytes = read_file(data_path(stored.name));
        int refused = 0;
        for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 90) {
            Decoded picture;
            if (picture.decode(bytes.substr(0, size)) == 0) continue;
            EXPECT_TRUE(failed(TENGINE_EFORMAT, ""));
            ++refused;
        }
        // The last bytes of PNG and JPEG are no pixels.
        EXPECT_GT(refused, 30) << stored.name;
    }
}

TEST(ImageFile, UnsupportedKindsSaySo)
{
    TENGINE_NEEDS_DECODER();
    Decoded picture;
    EXPECT_EQ(picture.load("cmyk_bare.jpeg"), -1);
    EXPECT_TRUE(failed(TENGINE_ENOTSUP, "cmyk_bare.jpeg': a JPEG file of 4 components without"));
    EXPECT_EQ(picture.decode("P5\n1 1\n65535\nab"), -1);
    EXPECT_TRUE(failed(TENGINE_ENOTSUP, "numbers up to 65535, expected at most 255"));
    EXPECT_EQ(picture.decode("P5\n1 1\n1000000000\nab"), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "a number of more than 9 digits"));
    EXPECT_EQ(picture.decode("GIF89a and more"), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "unknown picture format: expected PNG, JPEG, BMP, PGM"));
    EXPECT_EQ(picture.decode(""), -1);
    EXPECT_TRUE(failed(TENGINE_EFORMAT, "unknown picture format"));
    EXPECT_EQ(picture.get().pixels, nullptr);
}

TEST(ImageFile, ThatIsNoFileIsRefused)
{
    tengine_image image = {};
    EXPECT_EQ(tengine_image_load(data_path("nowhere.png").c_str(), 0, &image), -1);
    EXPECT_TRUE(failed(TENGINE_EIO, "nowhere.png': No such file"));
    EXPECT_EQ(tengine_image_load(TENGINE_IMAGE_DATA_DIR, 0, &image), -1);
    EXPECT_TRUE(failed(TENGINE_EIO, "it is not a regular file"));
    EXPECT_EQ(tengine_image_load("", 0, &image), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "path is empty"));
    EXPECT_EQ(tengine_image_load("x", 0, nullptr), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "out_image is NULL"));
    tengine_image_free(&image);
    tengine_image_free(nullptr);
}

TEST(ImageFile, WithoutADecoderIsNotSupported)
{
    if (TENGINE_DECODES) GTEST_SKIP() << "built with stb_image";
    Decoded picture;
    EXPECT_EQ(picture.load("colour.png"), -1);
    EXPECT_TRUE(failed(TENGINE_ENOTSUP, "this build cannot decode pictures"));
    int width = 0, height = 0;
    EXPECT_EQ(tengine_image_get_size("P5\n", 3, &width, &height), -1);
    EXPECT_TRUE(failed(TENGINE_ENOTSUP, "TENGINE_WITH_STB is off"));
}

}  // namespace
}  // namespace tengine::image
