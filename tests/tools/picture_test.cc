// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs of `tengine run`, small files that say they are large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

std::string little_endian(uint32_t number)
{
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(number >> shift);
    return bytes;
}

// The header of a .bmp file of 24 bits a pixel, without pixels.
std::string bmp_header(uint32_t height, uint32_t width)
{
    const std::string no_more(24, '\0');
    return "BM" + little_endian(54) + little_endian(0) + little_endian(54) + little_endian(40) +
           little_endian(width) + little_endian(height) + std::string("\1\0\x18\0", 4) + no_more;
}

TEST(Picture, OneThatItsFileCannotHoldIsRefusedBeforeItIsDecoded)
{
    const std::string path = scratch_folder() + "/large.bmp";
    tools::write_file(path, bmp_header(16384, 16384));
    const Finished finished = run({"run", data_file("digits.onnx"), "--input", "image=" + path});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("more pixels than its file can hold"));
}

}  // namespace
}  // namespace tengine::program
