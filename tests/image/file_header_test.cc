// SPDX-License-Identifier: Apache-2.0
// Headers that stb_image does not check, whole and damaged.
#include "image/file_header.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

#if TENGINE_DECODES

namespace tengine::image {
namespace {

using namespace std::string_literals;

const uint8_t* bytes_of(const std::string& text)
{
    return reinterpret_cast<const uint8_t*>(text.data());
}

// A block of EXIF data with one entry.
std::string exif(bool is_little, int tag, int type, int number, int value)
{
    std::string made = is_little ? "II*\0\x08\0\0\0\x01\0"s : "MM\0*\0\0\0\x08\0\x01"s;
    const auto add = [&](int word, int size) {
        for (int i = 0; i < size; ++i)
            made += static_cast<char>(word >> 8 * (is_little ? i : size - 1 - i));
    };
    add(tag, 2);
    add(type, 2);
    add(number, 4);
    add(value, 2);
    add(0, 2);
    return made;
}

int orientation(const std::string& block)
{
    return read_exif_orientation(bytes_of(block), block.size());
}

TEST(Exif, GivesTheOrientation)
{
    for (const bool is_little : {false, true}) {
        for (int value = 1; value <= 8; ++value)
            EXPECT_EQ(orientation(exif(is_little, 0x0112, 3, 1, value)), value);
        for (const int value : {0, 9, 0x600, 0xffff})
            EXPECT_EQ(orientation(exif(is_little, 0x0112, 3, 1, value)), 0) << value;
        EXPECT_EQ(orientation(exif(is_little, 0x0110, 3, 1, 6)), 0) << "another tag";
        EXPECT_EQ(orientation(exif(is_little, 0x0112, 4, 1, 6)), 0) << "another type";
        EXPECT_EQ(orientation(exif(is_little, 0x0112, 3, 2, 6)), 0) << "two values";
    }
}

TEST(Exif, DamagedBlocksHaveNone)
{
    const std::string whole = exif(true, 0x0112, 3, 1, 6);
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_EQ(orientation(whole.substr(0, size)), 0) << size;
    std::string far = whole;
    far.replace(4, 4, "\xff\xff\xff\xff"s);
    EXPECT_EQ(orientation(far), 0);
    far.replace(4, 4, "\x16\0\0\0"s);  // the list begins at the end
    EXPECT_EQ(orientation(far), 0);
    std::string many = whole;
    many.replace(8, 2, "\xff\xff"s);
    EXPECT_EQ(orientation(many), 6);
    EXPECT_EQ(orientation("XX" + whole.substr(2)), 0);
}

std::string segment(char marker, const std::string& content)
{
    const size_t length = content.size() + 2;
    return "\xff"s + marker + static_cast<char>(length >> 8) + static_cast<char>(length & 0xff) +
           content;
}

TEST(JpegHeader, IsReadFromSegments)
{
    jpeg_header_t header;
    const std::string exif_block = "Exif\0\0"s + exif(false, 0x0112, 3, 1, 3);
    const std::string file = "\xff\xd8"s + segment('\xe1', "Other\0"s) +
                             segment('\xe1', exif_block) + segment('\xee', "Adobe\0d\0\0\0\0\2"s) +
                             segment('\xc0', "\x08\0\x10\0\x10\x04"s);
    ASSERT_EQ(read_jpeg_header(bytes_of(file), file.size(), &header), 0);
    EXPECT_EQ(header.component_num, 4);
    EXPECT_TRUE(header.has_adobe);
    EXPECT_EQ(header.orientation, 3);
    for (size_t size = 0; size < file.size(); ++size)
        EXPECT_EQ(read_jpeg_header(bytes_of(file), size, &header), 0) << size;
    const std::string short_segment = "\xff\xd8\xff\xe1\0\1"s;
    EXPECT_EQ(read_jpeg_header(bytes_of(short_segment), short_segment.size(), &header),
              TENGINE_EFORMAT);
    const std::string table = "\0"s + std::string(16, '\xff') + std::string(4080, '\1');
    const std::string long_table = "\xff\xd8"s + segment('\xc4', table);
    EXPECT_EQ(read_jpeg_header(bytes_of(long_table), long_table.size(), &header), TENGINE_EFORMAT);
}

TEST(PngHeader, ChunksAreFollowedToTheEnd)
{
    const std::string block = exif(true, 0x0112, 3, 1, 8);
    const std::string length = "\0\0\0"s + static_cast<char>(block.size());
    const std::string file =
        "\x89PNG\r\n\x1a\n\0\0\0\1textxcrc_"s + length + "eXIf" + block + "crc_";
    EXPECT_EQ(read_png_orientation(bytes_of(file), file.size()), 8);
    for (size_t size = 0; size < file.size(); ++size)
        EXPECT_EQ(read_png_orientation(bytes_of(file), size), 0) << size;
    std::string endless = file;
    endless.replace(8, 4, "\xff\xff\xff\xff"s);
    EXPECT_EQ(read_png_orientation(bytes_of(endless), endless.size()), 0);
}

TEST(PnmHeader, NumbersMayHaveCommentsBetween)
{
    int most = -1;
    const std::string file = "P5 # 7\n3\t# 8\r4\n15\n";
    ASSERT_EQ(read_pnm_header(bytes_of(file), file.size(), &most), 0);
    EXPECT_EQ(most, 15);
    for (size_t size = 2; size < file.size(); ++size)
        EXPECT_EQ(read_pnm_header(bytes_of(file), size, &most), 0) << size;
    const std::string large = "P5 1 1234567890";
    EXPECT_EQ(read_pnm_header(bytes_of(large), large.size(), &most), TENGINE_EFORMAT);
}

}  // namespace
}  // namespace tengine::image

#endif
