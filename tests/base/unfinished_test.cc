// SPDX-License-Identifier: Apache-2.0
// base/unfinished.h: names, and folders of living and killed programs.
#include "base/unfinished.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <sys/file.h>

namespace tengine {
namespace {

namespace fs = std::filesystem;

constexpr char kLeft[] = "tengine-0123456789abcdef.unfinished";
constexpr char kBusy[] = "tengine-1123456789abcdef.unfinished";

TEST(UnfinishedName, IsOneOfOurs)
{
    EXPECT_TRUE(is_unfinished_name(kLeft));
    for (const char* other :
         {"", "tengine-", "tengine-012345678.unfinished", "tengine-0123456789abcdef.unfinished.txt",
          "tengine-0123456789abcdeg.unfinished", "tengine-0123456789abcdef0.unfinished",
          "0123456789abcdef.unfinished", "Tengine-0123456789abcdef.unfinished"})
        EXPECT_FALSE(is_unfinished_name(other)) << other;
}

TEST(UnfinishedName, IsNewEachTime)
{
    std::set<std::string> names;
    for (int i = 0; i < 100; ++i) {
        char name[UNFINISHED_NAME_BYTES];
        choose_unfinished_name(name);
        EXPECT_TRUE(is_unfinished_name(name)) << name;
        names.insert(name);
    }
    EXPECT_EQ(names.size(), 100u);
}

class UnfinishedFolder : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "unfinished_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        parent_ = name;
    }
    void TearDown() override { fs::remove_all(parent_); }

    static void make_with_file(const fs::path& folder)
    {
        fs::create_directory(folder);
        std::ofstream(folder / "file") << "half";
    }

    fs::path parent_;
};

TEST_F(UnfinishedFolder, IsTheUsersAndLockedUntilItIsRemoved)
{
    unfinished_folder_t folder;
    ASSERT_EQ(create_unfinished_folder(parent_.c_str(), &folder), 0);
    EXPECT_EQ(fs::path(folder.path).parent_path(), parent_);
    EXPECT_TRUE(is_unfinished_name(fs::path(folder.path).filename().c_str()));
    EXPECT_EQ(fs::status(folder.path).permissions(), fs::perms::owner_all);
    std::ofstream(fs::path(folder.path) / "file") << "half";
    remove_left_folders(parent_.c_str());
    EXPECT_TRUE(fs::exists(fs::path(folder.path) / "file")) << "its program lives";
    remove_unfinished_folder(&folder);
    EXPECT_TRUE(fs::is_empty(parent_));
}

TEST_F(UnfinishedFolder, RemovesWhatKilledProgramsLeft)
{
    make_with_file(parent_ / kLeft);
    make_with_file(parent_ / kBusy);
    make_with_file(parent_ / "tengine-0123456789abcdef.unfinished.d");
    std::ofstream(parent_ / "tengine-2123456789abcdef.unfinished") << "a file";
    fs::create_directory_symlink(parent_ / "tengine-0123456789abcdef.unfinished.d",
                                 parent_ / "tengine-3123456789abcdef.unfinished");
    const int program = open((parent_ / kBusy).c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(flock(program, LOCK_EX), 0);
    remove_left_folders(parent_.c_str());
    EXPECT_FALSE(fs::exists(parent_ / kLeft));
    EXPECT_TRUE(fs::exists(parent_ / kBusy / "file"));
    EXPECT_TRUE(fs::exists(parent_ / "tengine-0123456789abcdef.unfinished.d" / "file"));
    EXPECT_TRUE(fs::exists(parent_ / "tengine-2123456789abcdef.unfinished"));
    EXPECT_TRUE(fs::is_symlink(parent_ / "tengine-3123456789abcdef.unfinished"));
    close(program);
    unfinished_folder_t folder;
    ASSERT_EQ(create_unfinished_folder(parent_.c_str(), &folder), 0);
    EXPECT_FALSE(fs::exists(parent_ / kBusy)) << "its program has gone";
    remove_unfinished_folder(&folder);
}

TEST_F(UnfinishedFolder, IsInTheCurrentFolderWithoutAParent)
{
    const fs::path before = fs::current_path();
    fs::current_path(parent_);
    unfinished_folder_t folder;
    ASSERT_EQ(create_unfinished_folder("", &folder), 0);
    EXPECT_TRUE(fs::is_directory(parent_ / fs::path(folder.path).filename()));
    remove_unfinished_folder(&folder);
    EXPECT_TRUE(fs::is_empty(parent_));
    fs::current_path(before);
}

TEST_F(UnfinishedFolder, SaysWhyThereIsNone)
{
    unfinished_folder_t folder;
    EXPECT_EQ(create_unfinished_folder((parent_ / "absent").c_str(), &folder), ENOENT);
    EXPECT_EQ(create_unfinished_folder(std::string(UNFINISHED_PATH_BYTES, 'x').c_str(), &folder),
              ENAMETOOLONG);
    std::ofstream(parent_ / "file") << "x";
    EXPECT_EQ(create_unfinished_folder((parent_ / "file").c_str(), &folder), ENOTDIR);
}

}  // namespace
}  // namespace tengine
