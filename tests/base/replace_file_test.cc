// SPDX-License-Identifier: Apache-2.0
// base/replace_file.h: the file itself, other files in its folder, and paths that are not regular
// files.
#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace tengine {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ReplaceFile : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "replace_file_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ / name; }
    std::string make(const std::string& name, const std::string& content) const
    {
        std::ofstream(path(name)) << content;
        return path(name);
    }
    static std::string content_of(const std::string& path)
    {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    static int replace(const std::string& path, const std::string& content)
    {
        return replace_file(path.c_str(), content.data(), content.size());
    }
    static mode_t mode_of(const std::string& path)
    {
        struct stat info = {};
        EXPECT_EQ(stat(path.c_str(), &info), 0);
        return info.st_mode & 07777;
    }
    void expect_refused(const std::string& path, const std::string& words) const
    {
        EXPECT_EQ(replace(path, "new"), TENGINE_EIO) << path;
        EXPECT_THAT(tengine_error_message(), AllOf(HasSubstr("'" + path + "'"), HasSubstr(words)));
        for (const auto& entry : fs::directory_iterator(folder_))
            EXPECT_NE(entry.path().extension(), ".unfinished") << entry.path();
    }
    size_t entries() const
    {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }

    fs::path folder_;
};

TEST_F(ReplaceFile, NewOldAndEmptyFiles)
{
    const std::string file = path("file");
    const mode_t umask_before = umask(026);
    EXPECT_EQ(replace(file, "one"), TENGINE_OK) << tengine_error_message();
    umask(umask_before);
    EXPECT_EQ(content_of(file), "one");
    EXPECT_EQ(mode_of(file), 0640u);
    EXPECT_EQ(replace(file, std::string(1 << 20, 'x')), TENGINE_OK);
    EXPECT_EQ(content_of(file), std::string(1 << 20, 'x'));
    EXPECT_EQ(replace_file(file.c_str(), nullptr, 0), TENGINE_OK);
    EXPECT_EQ(content_of(file), "");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(ReplaceFile, PermissionsStay)
{
    const std::string file = make("file", "old");
    for (const mode_t mode : {0600, 0666, 0640, 0755}) {
        ASSERT_EQ(chmod(file.c_str(), mode), 0);
        const mode_t umask_before = umask(077);
        EXPECT_EQ(replace(file, "new"), TENGINE_OK) << tengine_error_message();
        umask(umask_before);
        EXPECT_EQ(mode_of(file), mode);
    }
}

TEST_F(ReplaceFile, AProtectedFileStays)
{
    const std::string file = make("file", "old");
    ASSERT_EQ(chmod(file.c_str(), 0444), 0);
    if (access(file.c_str(), W_OK) == 0) GTEST_SKIP() << "the superuser may write everything";
    expect_refused(file, "Permission denied");
    EXPECT_EQ(content_of(file), "old");
}

// The pipe is opened without waiting for a reader, and is kept.
TEST_F(ReplaceFile, WhatIsNoRegularFileIsRefused)
{
    const std::string pipe = path("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_refused(pipe, "it is a pipe, and only regular files are replaced");
    EXPECT_TRUE(fs::is_fifo(pipe));
    fs::create_directory(path("folder"));
    expect_refused(path("folder"), "it is a folder");
    fs::create_symlink("folder", path("link"));
    expect_refused(path("link"), "it is a folder");
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        GTEST_SKIP() << "no terminal available";
    fs::create_symlink(ptsname(terminal), path("terminal"));
    expect_refused(path("terminal"), "it is a device");
    EXPECT_TRUE(fs::is_symlink(path("terminal")));
    close(terminal);
}

TEST_F(ReplaceFile, LinksLeadToTheFile)
{
    const std::string file = make("file", "old");
    fs::create_directory(path("folder"));
    fs::create_symlink("../file", path("folder/near"));
    fs::create_symlink(path("folder/near"), path("far"));
    EXPECT_EQ(replace(path("far"), "new"), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(content_of(file), "new");
    EXPECT_TRUE(fs::is_symlink(path("far")));
    EXPECT_TRUE(fs::is_symlink(path("folder/near")));
    // The link's target does not exist yet.
    fs::create_symlink("folder/late", path("early"));
    EXPECT_EQ(replace(path("early"), "new"), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(content_of(path("folder/late")), "new");
    fs::create_symlink("ring", path("ring"));
    expect_refused(path("ring"), "symbolic links");
}

// The link has a name that the user has not chosen.
TEST_F(ReplaceFile, APlantedLinkIsRefused)
{
    const std::string file = make("victim", "old");
    const std::string folder = folder_;
    const auto put = [&](const char* name) { return put_file(folder.c_str(), name, "new", 3); };
    for (const char* to : {"victim", "missing", "planted"}) {
        fs::create_symlink(to, path("planted"));
        EXPECT_EQ(put("planted"), TENGINE_EIO);
        EXPECT_THAT(tengine_error_message(),
                    AllOf(HasSubstr("'" + path("planted") + "'"), HasSubstr("a symbolic link")));
        EXPECT_EQ(entries(), 2u) << "something is left, or the link was followed";
        fs::remove(path("planted"));
    }
    EXPECT_EQ(content_of(file), "old");
    ASSERT_EQ(link(file.c_str(), path("planted").c_str()), 0);
    EXPECT_EQ(put("planted"), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(content_of(path("planted")), "new");
    EXPECT_EQ(content_of(file), "old") << "another name of the file";
    for (const char* name : {"", ".", "..", "a/b", "../victim", "/tmp/x"}) {
        EXPECT_EQ(put(name), TENGINE_EINVAL) << name;
        EXPECT_THAT(tengine_error_message(), HasSubstr("without '/'")) << name;
    }
    EXPECT_EQ(put(std::string(300, 'n').c_str()), TENGINE_EIO);
    EXPECT_EQ(put_file(path("none").c_str(), "file", "new", 3), TENGINE_EIO);
}

// A user who created the file first cannot write to the new one.
TEST_F(ReplaceFile, PermissionsOfAnotherUsersFileAreNotTakenOver)
{
    const std::string file = make("file", "old");
    ASSERT_EQ(chmod(file.c_str(), 0666), 0);
    if (chown(file.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only the superuser gives away";
    const mode_t umask_before = umask(0);
    EXPECT_EQ(replace(file, "new"), TENGINE_OK) << tengine_error_message();
    umask(umask_before);
    EXPECT_EQ(content_of(file), "new");
    EXPECT_EQ(mode_of(file), 0644u);
}

// Another user with write access to the folder cannot redirect the bytes.
TEST_F(ReplaceFile, APlantedLinkIsNotFollowed)
{
    const std::string victim = make("victim", "old");
    const std::string file = path("file");
    fs::create_symlink(victim, file + "." + std::to_string(getpid()) + ".unfinished");
    EXPECT_EQ(replace(file, "new"), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(content_of(victim), "old");
    EXPECT_EQ(content_of(file), "new");
}

// The file of a killed writer is removed; a file that an active writer has locked, one with another
// name, a folder and a link stay.
TEST_F(ReplaceFile, WhatAKilledWriterLeftIsRemoved)
{
    const std::string left = make("tengine-0123456789abcdef.unfinished", "half");
    const std::string busy = make("tengine-1123456789abcdef.unfinished", "half");
    const std::string others[] = {make("tengine-012345678.unfinished", "x"),
                                  make("tengine-0123456789abcdef.unfinished.txt", "x"),
                                  make("0123456789abcdef.unfinished", "x")};
    fs::create_directory(path("tengine-2123456789abcdef.unfinished"));
    fs::create_symlink(busy, path("tengine-3123456789abcdef.unfinished"));
    const int writer = open(busy.c_str(), O_RDONLY);
    ASSERT_EQ(flock(writer, LOCK_EX), 0);
    EXPECT_EQ(replace(path("new"), "content"), TENGINE_OK);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(busy));
    for (const std::string& other : others)
        EXPECT_TRUE(fs::exists(other)) << other;
    EXPECT_TRUE(fs::is_directory(path("tengine-2123456789abcdef.unfinished")));
    EXPECT_TRUE(fs::is_symlink(path("tengine-3123456789abcdef.unfinished")));
    close(writer);
    EXPECT_EQ(replace(path("new"), "content"), TENGINE_OK);
    EXPECT_FALSE(fs::exists(busy)) << "its writer has gone";
}

TEST_F(ReplaceFile, ThreadsThatWriteOneFileAllSucceed)
{
    const std::string file = path("file");
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (char letter = 'a'; letter < 'e'; ++letter) {
        threads.emplace_back([&, letter] {
            for (int i = 0; i < 50; ++i)
                failures += replace(file, std::string(1 << 16, letter)) != TENGINE_OK;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(failures, 0);
    const std::string content = content_of(file);
    ASSERT_EQ(content.size(), size_t{1} << 16);
    EXPECT_EQ(content, std::string(content.size(), content[0]));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(ReplaceFile, WhereThereIsNoRoomTheOldFileStays)
{
    const std::string file = make("file", "old");
    struct rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = before;
    small.rlim_cur = 4096;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int status = replace(file, std::string(10000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(status, TENGINE_EIO);
    EXPECT_THAT(tengine_error_message(), HasSubstr("File too large"));
    EXPECT_EQ(content_of(file), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(ReplaceFile, APathThatLeadsNowhere)
{
    expect_refused(path("none/file"), "No such file or directory");
    expect_refused(make("file", "old") + "/file", "Not a directory");
    expect_refused(path(std::string(300, 'x')), "File name too long");
    EXPECT_EQ(replace(path(std::string(5000, 'x')), "new"), TENGINE_EIO);
    // Temporary names need not be longer than the file system allows.
    EXPECT_EQ(replace(path(std::string(255, 'x')), "new"), TENGINE_OK) << tengine_error_message();
}

}  // namespace
}  // namespace tengine
