// SPDX-License-Identifier: Apache-2.0
// base/small_file.h: files that are read completely, and those that are refused without waiting.
#include "base/small_file.h"

#include <unistd.h>

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>

#include "base/alloc.h"

namespace tengine {
namespace {

using testing::HasSubstr;

std::string path_of(const std::string& name)
{
    return testing::TempDir() + "small_file_" + std::to_string(getpid()) + name;
}

int read(const std::string& path, size_t most, std::string* out_content)
{
    char* bytes = nullptr;
    size_t size = 0;
    const int status = read_small_file(path.c_str(), "the list", most, &bytes, &size);
    if (status == TENGINE_OK) out_content->assign(bytes, size);
    free_memory(bytes);
    return status;
}

void expect_refused(const std::string& path, int code, const std::string& words)
{
    std::string content;
    EXPECT_EQ(read(path, 5, &content), code) << path;
    EXPECT_THAT(tengine_error_message(), HasSubstr("cannot read the list '" + path + "': "));
    EXPECT_THAT(tengine_error_message(), HasSubstr(words));
}

TEST(SmallFile, IsReadWhole)
{
    const std::string path = path_of("whole");
    for (const std::string& written : {std::string(), std::string("a\0b\nc", 5)}) {
        std::ofstream(path, std::ios::binary) << written;
        std::string content = "before";
        EXPECT_EQ(read(path, 5, &content), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(content, written);
    }
    std::ofstream(path, std::ios::binary) << "123456";
    expect_refused(path, TENGINE_ELIMIT, "it has 6 bytes, expected at most 5");
    unlink(path.c_str());
    expect_refused(path, TENGINE_EIO, "No such file or directory");
}

TEST(SmallFile, WhatIsNoRegularFileIsRefused)
{
    const std::string pipe = path_of("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_refused(pipe, TENGINE_EIO, "it is not a regular file");
    unlink(pipe.c_str());
    for (const char* path : {"/", "/dev/zero"})
        expect_refused(path, TENGINE_EIO, "it is not a regular file");
}

}  // namespace
}  // namespace tengine
