// SPDX-License-Identifier: Apache-2.0
// Raw elements, and files of another kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::tools {
namespace {

using testing::HasSubstr;

std::string raw_failure(size_t bytes, int data_type, const std::vector<int>& shape)
{
    try {
        decode_raw(std::string(bytes, '\1'), data_type, shape);
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "";
}

std::string file_failure(const std::string& path)
{
    try {
        read_file(path);
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "";
}

TEST(RawTensor, HasTheBytesOfTheShape)
{
    const float values[] = {1.5f, -2.0f, 3.0f};
    const std::string content(reinterpret_cast<const char*>(values), sizeof values);
    const Tensor tensor = decode_raw(content, TENGINE_DT_FP32, {1, 3});
    EXPECT_EQ(tensor.shape, (std::vector<int>{1, 3}));
    EXPECT_EQ(get_element(tensor, 1), -2.0);
    EXPECT_EQ(decode_raw("", TENGINE_DT_FP32, {0, 3}).bytes.size(), 0u);
}

TEST(RawTensor, TheBytesDecideAnOpenDimension)
{
    const std::string content(24, '\0');
    EXPECT_EQ(decode_raw(content, TENGINE_DT_FP32, {-1, 3}).shape, (std::vector<int>{2, 3}));
    EXPECT_EQ(decode_raw("", TENGINE_DT_FP32, {-1, 3}).shape, (std::vector<int>{0, 3}));
    // Rows of three elements of 4 bits: the second begins within a byte.
    EXPECT_EQ(decode_raw(content.substr(0, 3), TENGINE_DT_INT4, {-1, 3}).shape,
              (std::vector<int>{2, 3}));
}

TEST(RawTensor, AnotherSizeIsRefused)
{
    EXPECT_EQ(raw_failure(11, TENGINE_DT_FP32, {1, 3}),
              "there are 11 bytes; fp32 of shape 1x3 takes 12");
    EXPECT_EQ(raw_failure(13, TENGINE_DT_FP32, {-1, 3}),
              "there are 13 bytes; fp32 of shape ?x3 takes a multiple of 12");
    EXPECT_THAT(raw_failure(4, TENGINE_DT_FP32, {-1, 0}), HasSubstr("4 bytes"));
}

TEST(ReadFile, WhatIsNoFileIsNamed)
{
    const std::string folder = program::scratch_folder();
    EXPECT_EQ(file_failure(folder), "'" + folder + "': is a folder, expected a file");
    const std::string pipe = folder + "/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(file_failure(pipe),
              "'" + pipe + "': is a pipe or a device, expected a file, or - for standard input");
}

}  // namespace
}  // namespace tengine::tools
