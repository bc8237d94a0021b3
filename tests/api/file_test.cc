// SPDX-License-Identifier: Apache-2.0
// file.h: the public form of base/replace_file.h, whose tests are tests/base/replace_file_test.cc.
#include "tengine/file.h"

#include <unistd.h>

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "tengine/c_api.h"

namespace tengine {
namespace {

using testing::HasSubstr;

TEST(FileApi, AFileIsReplaced)
{
    const std::string path = testing::TempDir() + "file_test_" + std::to_string(getpid());
    for (const std::string& content : {std::string("one"), std::string("2"), std::string()}) {
        ASSERT_EQ(tengine_file_replace(path.c_str(), content.data(), content.size()), 0)
            << get_tengine_error();
        std::ifstream file(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
    }
    EXPECT_EQ(tengine_file_replace(path.c_str(), nullptr, 0), 0);
    unlink(path.c_str());
}

TEST(FileApi, BadArgumentsAreErrors)
{
    EXPECT_EQ(tengine_file_replace(nullptr, "x", 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
    EXPECT_THAT(get_tengine_error(), HasSubstr("tengine_file_replace: path is NULL"));
    EXPECT_EQ(tengine_file_replace("", "x", 1), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("path is empty"));
    EXPECT_EQ(tengine_file_replace("file", nullptr, 1), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("bytes is NULL"));
    EXPECT_EQ(tengine_file_replace("/", "x", 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EIO);
    EXPECT_THAT(get_tengine_error(), HasSubstr("cannot write '/': it is a folder"));
}

TEST(FileApi, AFileIsPutIntoAFolder)
{
    const std::string folder = testing::TempDir();
    const std::string name = "file_test_" + std::to_string(getpid()), path = folder + "/" + name;
    ASSERT_EQ(tengine_file_put(folder.c_str(), name.c_str(), "one", 3), 0) << get_tengine_error();
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one");
    unlink(path.c_str());
    ASSERT_EQ(symlink("/dev/null", path.c_str()), 0);
    EXPECT_EQ(tengine_file_put(folder.c_str(), name.c_str(), "one", 3), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EIO);
    EXPECT_THAT(get_tengine_error(), HasSubstr("it is a symbolic link"));
    unlink(path.c_str());
    EXPECT_EQ(tengine_file_put(folder.c_str(), nullptr, "x", 1), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("tengine_file_put: name is NULL"));
    EXPECT_EQ(tengine_file_put(folder.c_str(), "../x", "x", 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
}

}  // namespace
}  // namespace tengine
