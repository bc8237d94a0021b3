// SPDX-License-Identifier: Apache-2.0
// TENGINE_CACHE_DIR belongs to the user who starts `tengine`. If the program has other rights than
// that user, it is ignored. Only root can make programs of that kind; for other users this test is
// skipped.
#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include <filesystem>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tools/program.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kUser = 12345, kOwner = 12346;
constexpr int kCannotStart = 127;

class CacheEnvironment : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (geteuid() != 0) GTEST_SKIP() << "only root can make programs for other users";
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0)
            GTEST_SKIP() << "programs get no rights of their own here";
        struct statvfs info = {};
        ASSERT_EQ(statvfs(folder_.c_str(), &info), 0);
        if (info.f_flag & ST_NOSUID) GTEST_SKIP() << "set-user-ID does not count in " << folder_;
        fs::copy_file(TENGINE_PROGRAM, program_);
        fs::create_directory(cache_);
        ASSERT_EQ(chmod(cache_.c_str(), 0777), 0);
    }

    // Returns the exit status of `tengine inspect`, started by kUser.
    int start() const
    {
        const std::string model = data_file("digits.onnx");
        const pid_t child = fork();
        if (child == 0) {
            const int nowhere = open("/dev/null", O_WRONLY);
            dup2(nowhere, STDOUT_FILENO);
            dup2(nowhere, STDERR_FILENO);
            setenv("TENGINE_CACHE_DIR", cache_.c_str(), 1);
            if (setgroups(0, nullptr) == 0 && setresgid(kUser, kUser, kUser) == 0 &&
                setresuid(kUser, kUser, kUser) == 0)
                execl(program_.c_str(), "tengine", "inspect", model.c_str(), nullptr);
            _exit(kCannotStart);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::ptrdiff_t kept() const
    {
        return std::distance(fs::directory_iterator(cache_), fs::directory_iterator());
    }

    const std::string folder_ = scratch_folder();
    const std::string program_ = folder_ + "/tengine", cache_ = folder_ + "/cache";
};

// The programs of the next two tests would also use the variable if it were not ignored.
TEST_F(CacheEnvironment, CountsInAProgramWithoutRightsOfItsOwn)
{
    if (run({"devices"}).output.find("plain C++") != std::string::npos)
        GTEST_SKIP() << "kernels pack nothing without Highway";
    const int status = start();
    if (status == kCannotStart) GTEST_SKIP() << "other users may not start what is in " << folder_;
    EXPECT_EQ(status, 0);
    EXPECT_EQ(kept(), 1);
}

TEST_F(CacheEnvironment, IsIgnoredInASetUserIdProgram)
{
    ASSERT_EQ(chown(program_.c_str(), kOwner, kOwner), 0);
    ASSERT_EQ(chmod(program_.c_str(), 04755), 0);
    const int status = start();
    if (status == kCannotStart) GTEST_SKIP() << "other users may not start what is in " << folder_;
    EXPECT_EQ(status, 0);
    EXPECT_EQ(kept(), 0);
}

// The program's user IDs are all equal: only the kernel's AT_SECURE reveals its rights.
TEST_F(CacheEnvironment, IsIgnoredInAProgramWithCapabilities)
{
    vfs_cap_data rights = {};
    rights.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    rights.data[0].permitted = 1u << CAP_NET_BIND_SERVICE;
    if (setxattr(program_.c_str(), "security.capability", &rights, sizeof rights, 0) != 0)
        GTEST_SKIP() << "files have no capabilities here";
    const int status = start();
    if (status == kCannotStart) GTEST_SKIP() << "other users may not start what is in " << folder_;
    EXPECT_EQ(status, 0);
    EXPECT_EQ(kept(), 0);
}

}  // namespace
}  // namespace tengine::program
