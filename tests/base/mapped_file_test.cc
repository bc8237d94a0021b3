// SPDX-License-Identifier: Apache-2.0
// Files that are read instead of mapped; mapping is tested by what maps models.
#include "base/mapped_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test
{
  protected:
    ~MappedFileTest() override
    {
        unmap_file(&file_);
        fs::remove(path_);
    }

    int read(const std::string& bytes)
    {
        std::ofstream(path_, std::ios::binary) << bytes;
        return read_whole_file(path_.c_str(), &file_);
    }

    fs::path path_ = fs::temp_directory_path() / ("mapped_file_" + std::to_string(getpid()));
    mapped_file_t file_ = {nullptr, 0};
};

TEST_F(MappedFileTest, ACopyDoesNotFollowTheFile)
{
    const std::string bytes(10000, 'x');
    ASSERT_EQ(read(bytes), TENGINE_OK) << tengine_error_message();
    fs::resize_file(path_, 0);
    EXPECT_EQ(std::string(file_.bytes, file_.size), bytes);
    file_.bytes[0] = 'y';  // may be written
}

TEST_F(MappedFileTest, WhatCannotBeReadIsSaid)
{
    EXPECT_EQ(read_whole_file("/no/such/file", &file_), TENGINE_EIO);
    EXPECT_EQ(read_whole_file("/", &file_), TENGINE_EIO);
    EXPECT_EQ(read(""), TENGINE_EFORMAT);
    EXPECT_EQ(file_.bytes, nullptr);
}

// Files of this file system say that they have a page.
TEST_F(MappedFileTest, AFileThatEndsEarlyIsAnError)
{
    const char* path = "/sys/kernel/mm/transparent_hugepage/enabled";
    std::error_code ignored;
    if (fs::file_size(path, ignored) != 4096) GTEST_SKIP() << "no such file here";
    EXPECT_EQ(read_whole_file(path, &file_), TENGINE_EIO);
    EXPECT_NE(std::string(tengine_error_message()).find("truncated to"), std::string::npos)
        << tengine_error_message();
    EXPECT_EQ(file_.bytes, nullptr);
}

}  // namespace
