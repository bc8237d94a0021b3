// SPDX-License-Identifier: Apache-2.0
// The folder of compiled parts alone: files that are found again, refused, or removed, and files of
// a process that ends at any moment.
#include "scheduler/part_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "scheduler/fixture.h"
#include "scheduler/temporary_folder.h"

namespace {

using namespace tengine::test;
namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

constexpr size_t kHead = IR_SINK_HEAD_BYTES;

class PartCache : public testing::Test
{
  protected:
    struct Fingerprint
    {
        uint8_t bytes[SHA256_BYTES];
    };

    static Fingerprint number(int value)
    {
        Fingerprint made = {};
        made.bytes[0] = static_cast<uint8_t>(value);
        made.bytes[SHA256_BYTES - 1] = 0xab;
        return made;
    }

    static Bytes content(int value, size_t size = 10000)
    {
        return Bytes(size, static_cast<uint8_t>(value));
    }

    int keep(int value, const Bytes& bytes, uint64_t limit = 0)
    {
        ir_sink sink = {};
        EXPECT_EQ(write_ir_sink(&sink, bytes.data(), bytes.size()), TENGINE_OK);
        const int status = keep_ir_part(folder().c_str(), limit, number(value).bytes, "NPU", &sink);
        free_memory(sink.bytes);
        return status;
    }

    // Looks a part up; TENGINE_OK fills `out_bytes`.
    int find(int value, Bytes* out_bytes = nullptr)
    {
        ir_kept_part_t part;
        const int status = open_ir_kept_part(folder().c_str(), number(value).bytes, nullptr, &part);
        if (status == TENGINE_OK && out_bytes)
            out_bytes->assign(part.bytes, part.bytes + part.size);
        if (status == TENGINE_OK) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(part.bytes) % 4096, 0u);
        }
        close_ir_kept_part(&part);
        return status;
    }

    std::string path(int value)
    {
        std::string name;
        for (const uint8_t byte : number(value).bytes) {
            name += "0123456789abcdef"[byte >> 4];
            name += "0123456789abcdef"[byte & 15];
        }
        return folder() + "/" + name + ".part";
    }

    void write(const std::string& file, const Bytes& bytes)
    {
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }

    Bytes read(const std::string& file)
    {
        std::ifstream stream(file, std::ios::binary);
        return Bytes(std::istreambuf_iterator<char>(stream), {});
    }

    // Sets the file's time of last use to this many seconds ago.
    void age(const std::string& file, int seconds)
    {
        const timespec then = {time(nullptr) - seconds, 0};
        const timespec times[2] = {then, then};
        ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    }

    // Returns why files cannot be removed here, "" if they can. Removing needs calls that some
    // emulators and sandboxes get wrong; the calls are tried alone.
    std::string why_nothing_is_removed() const
    {
        const std::string name(69, 'x'), listed = temporary_.path() + "/listed";
        mkdir(listed.c_str(), 0700);
        std::ofstream(listed + "/" + name) << "x";
        DIR* stream = opendir(listed.c_str());
        if (!stream) return std::string("opendir() fails here: ") + strerror(errno);
        bool is_found = false;
        while (const dirent* entry = readdir(stream))
            is_found = is_found || entry->d_name == name;
        const bool is_removed = unlinkat(dirfd(stream), name.c_str(), 0) == 0;
        closedir(stream);
        rmdir(listed.c_str());
        if (!is_found) return "readdir() does not find what is in a folder here";
        return is_removed ? "" : "unlinkat() removes nothing here";
    }

    std::string folder() const { return temporary_.path() + "/a/b"; }

    const TemporaryFolder temporary_;
};

// A user who can create a name in the folder cannot redirect the file that is written.
TEST_F(PartCache, APlantedLinkIsRefused)
{
    const std::string victim = temporary_.path() + "/victim";
    write(victim, content(9));
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK) << tengine_error_message();
    fs::create_symlink(victim, path(2));
    EXPECT_EQ(keep(2, content(2)), TENGINE_EIO);
    EXPECT_TRUE(says("a symbolic link")) << tengine_error_message();
    EXPECT_EQ(read(victim), content(9));
    EXPECT_EQ(find(2), TENGINE_EIO) << "it would lead anywhere";
}

TEST_F(PartCache, AFolderThatOthersMayWriteIsRefused)
{
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK) << tengine_error_message();
    for (const mode_t mode : {0770, 0707, 0777, 0722}) {
        ASSERT_EQ(chmod(folder().c_str(), mode), 0);
        EXPECT_EQ(keep(2, content(2)), TENGINE_EIO);
        EXPECT_TRUE(says("others may write the folder '" + folder() + "', whose mode is 0"))
            << tengine_error_message();
        EXPECT_EQ(find(1), TENGINE_EIO);
    }
    for (const mode_t mode : {0700, 0755, 01777}) {
        ASSERT_EQ(chmod(folder().c_str(), mode), 0);
        EXPECT_EQ(keep(2, content(2)), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(find(1), TENGINE_OK) << tengine_error_message();
    }
    if (chown(folder().c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only the superuser gives away";
    EXPECT_EQ(keep(2, content(2)), TENGINE_EIO);
    EXPECT_TRUE(says("belongs to user 12345: expected ")) << tengine_error_message();
    EXPECT_EQ(find(1), TENGINE_EIO);
}

TEST_F(PartCache, WhatWasKeptIsFound)
{
    EXPECT_EQ(find(1), TENGINE_ENOENT);
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(keep(2, {}), TENGINE_OK) << tengine_error_message();
    Bytes found;
    EXPECT_EQ(find(1, &found), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(found, content(1));
    EXPECT_EQ(find(2, &found), TENGINE_OK) << tengine_error_message();
    EXPECT_TRUE(found.empty());
    ASSERT_EQ(keep(1, content(7, 5)), TENGINE_OK);
    EXPECT_EQ(find(1, &found), TENGINE_OK);
    EXPECT_EQ(found, content(7, 5));
}

TEST_F(PartCache, EveryAlteredByteIsNoticed)
{
    ASSERT_EQ(keep(1, content(1, 300)), TENGINE_OK);
    const Bytes whole = read(path(1));
    ASSERT_EQ(whole.size(), kHead + 300);
    // The last 64 bytes of the head name the device, for readers of the file.
    const size_t checked = 16 + 32 + 32 + 8;
    for (size_t i = 0; i < whole.size(); i == checked - 1 ? i = kHead : ++i) {
        for (const uint8_t bit : {0x01, 0x10, 0x80}) {
            Bytes altered = whole;
            altered[i] ^= bit;
            write(path(1), altered);
            ASSERT_EQ(find(1), TENGINE_EFORMAT) << "byte " << i << ", bit " << int{bit};
        }
    }
    for (const size_t size : {size_t{1}, kHead - 1, kHead, whole.size() - 1}) {
        write(path(1), Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_EQ(find(1), TENGINE_EFORMAT) << size << " bytes";
    }
    Bytes longer = whole;
    longer.push_back(0);
    write(path(1), longer);
    EXPECT_EQ(find(1), TENGINE_EFORMAT);
    write(path(1), whole);
    EXPECT_EQ(find(1), TENGINE_OK) << tengine_error_message();
}

TEST_F(PartCache, APartUnderTheNameOfAnotherIsNotTaken)
{
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
    fs::rename(path(1), path(2));
    EXPECT_EQ(find(2), TENGINE_EFORMAT);
    EXPECT_TRUE(says("belongs to another part"));
}

TEST_F(PartCache, WhatIsNoRegularFileOfOursIsRefused)
{
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
    ASSERT_EQ(mkfifo(path(2).c_str(), 0600), 0);
    EXPECT_EQ(find(2), TENGINE_EIO);
    fs::create_directory(path(3));
    EXPECT_EQ(find(3), TENGINE_EIO);
    fs::create_symlink(path(1), path(4));
    EXPECT_EQ(find(4), TENGINE_EIO);
    if (chown(path(1).c_str(), 12345, 12345) != 0)
        GTEST_SKIP() << "only the superuser may give files away";
    EXPECT_EQ(find(1), TENGINE_EIO);
    EXPECT_TRUE(says("belongs to user 12345"));
}

TEST_F(PartCache, WhatWasUsedLongestAgoGoesFirst)
{
    if (const std::string why = why_nothing_is_removed(); !why.empty()) GTEST_SKIP() << why;
    const uint64_t limit = 3 * (kHead + 10000);
    for (const int value : {1, 2, 3}) {
        ASSERT_EQ(keep(value, content(value), limit), TENGINE_OK);
        age(path(value), 100 - value);
    }
    EXPECT_EQ(find(1), TENGINE_OK);  // now 2 is the oldest
    ASSERT_EQ(keep(4, content(4), limit), TENGINE_OK);
    EXPECT_EQ(find(2), TENGINE_ENOENT);
    for (const int value : {1, 3, 4})
        EXPECT_EQ(find(value), TENGINE_OK) << value;
    ASSERT_EQ(keep(5, content(5, 2 * 10000), limit), TENGINE_OK);
    EXPECT_EQ(find(5), TENGINE_OK);
    const fs::directory_iterator files(folder());
    EXPECT_EQ(std::distance(begin(files), end(files)), 2) << "5 and one beside it";
}

TEST_F(PartCache, APartThatIsTooLargeRemovesNothing)
{
    const uint64_t limit = 2 * kHead + 10000;
    ASSERT_EQ(keep(1, content(1), limit), TENGINE_OK);
    EXPECT_EQ(keep(2, content(2, 100000), limit), TENGINE_ELIMIT);
    EXPECT_TRUE(says("104096 bytes, expected at most 18192 (cache.limit_mb)"));
    EXPECT_EQ(find(1), TENGINE_OK);
}

TEST_F(PartCache, FilesOfOthersStay)
{
    if (const std::string why = why_nothing_is_removed(); !why.empty()) GTEST_SKIP() << why;
    const uint64_t limit = kHead + 10000;
    ASSERT_EQ(keep(1, content(1), limit), TENGINE_OK);
    const std::string others[] = {"notes.txt", "x.part", path(9).substr(folder().size() + 1) + "t",
                                  "tengine-1.unfinished.txt", "mine.unfinished"};
    for (const std::string& name : others) {
        write(folder() + "/" + name, content(0));
        age(folder() + "/" + name, 100000);
    }
    fs::create_directory(path(8));
    write(folder() + "/tengine-0123456789abcdef.unfinished", content(0));
    write(folder() + "/tengine-1123456789abcdef.unfinished", content(0));
    age(folder() + "/tengine-0123456789abcdef.unfinished", 4000);
    // Locks the file as its writer does.
    const int writer = open((folder() + "/tengine-1123456789abcdef.unfinished").c_str(), O_RDONLY);
    ASSERT_EQ(flock(writer, LOCK_EX), 0);
    ASSERT_EQ(keep(2, content(2), limit), TENGINE_OK);
    EXPECT_EQ(find(1), TENGINE_ENOENT);
    EXPECT_EQ(find(2), TENGINE_OK);
    for (const std::string& name : others)
        EXPECT_TRUE(fs::exists(folder() + "/" + name)) << name;
    EXPECT_TRUE(fs::is_directory(path(8)));
    EXPECT_FALSE(fs::exists(folder() + "/tengine-0123456789abcdef.unfinished"))
        << "killed long ago";
    EXPECT_TRUE(fs::exists(folder() + "/tengine-1123456789abcdef.unfinished")) << "at work";
    close(writer);
}

TEST_F(PartCache, FoldersThatCannotBeWritten)
{
    write(temporary_.path() + "/a", {});
    EXPECT_EQ(keep(1, content(1)), TENGINE_EIO);
    EXPECT_EQ(find(1), TENGINE_EIO);
    fs::remove(temporary_.path() + "/a");
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
    ASSERT_EQ(chmod(folder().c_str(), 0500), 0);
    if (access(folder().c_str(), W_OK) != 0) {
        EXPECT_EQ(keep(2, content(2)), TENGINE_EIO);
    }
    EXPECT_EQ(find(1), TENGINE_OK);
    ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
}

TEST_F(PartCache, WhereThereIsNoRoomTheOldPartStays)
{
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {8192, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int status = keep(1, content(2));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(status, TENGINE_EIO);
    Bytes found;
    EXPECT_EQ(find(1, &found), TENGINE_OK);
    EXPECT_EQ(found, content(1));
    EXPECT_EQ(fs::directory_iterator(folder())->path(), path(1)) << "nothing unfinished is left";
}

// Runs `work` in a process that has its own file system in place of a folder: 1 as expected, 0 not;
// -1: that is impossible here.
template <class Work>
int use_medium(const std::string& path, const char* options, const Work& work)
{
    const pid_t child = fork();
    if (child == 0) {
        const int own_users = geteuid() == 0 ? 0 : CLONE_NEWUSER;
        if (unshare(CLONE_NEWNS | own_users) != 0 ||
            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", path.c_str(), "tmpfs", 0, options) != 0)
            _exit(2);
        _exit(work() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 2 ? WEXITSTATUS(status) : -1;
}

TEST_F(PartCache, OnAFullDiskTheOldPartsStay)
{
    fs::create_directories(folder());
    const int outcome = use_medium(folder(), "size=64k", [&] {
        const bool is_kept = keep(1, content(1)) == TENGINE_OK;
        const bool is_full = keep(2, content(2, 50000)) == TENGINE_EIO && says("No space left");
        const bool is_not_replaced = keep(1, content(3, 50000)) == TENGINE_EIO;
        Bytes found;
        const bool stays = find(1, &found) == TENGINE_OK && found == content(1);
        const fs::directory_iterator files(folder());
        return is_kept && is_full && is_not_replaced && stays &&
               std::distance(begin(files), end(files)) == 1;
    });
    if (outcome < 0) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_EQ(outcome, 1);
}

TEST_F(PartCache, OnAReadOnlyMediumPartsAreFound)
{
    fs::create_directories(folder());
    const int outcome = use_medium(folder(), "size=64k", [&] {
        const bool is_kept = keep(1, content(1)) == TENGINE_OK;
        if (mount("none", folder().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
            return false;
        const bool is_refused = keep(2, content(2)) == TENGINE_EIO && says("Read-only");
        Bytes found;
        return is_kept && is_refused && find(1, &found) == TENGINE_OK && found == content(1);
    });
    if (outcome < 0) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_EQ(outcome, 1);
}

// Each process keeps and finds four parts; the limit has room for two of them.
TEST_F(PartCache, ProcessesShareAFolder)
{
    if (const std::string why = why_nothing_is_removed(); !why.empty()) GTEST_SKIP() << why;
    const uint64_t limit = 2 * (kHead + 10000);
    std::vector<pid_t> children;
    for (int child = 0; child < 4; ++child) {
        const pid_t id = fork();
        ASSERT_GE(id, 0);
        if (id > 0) {
            children.push_back(id);
            continue;
        }
        int wrong = 0;
        for (int i = 0; i < 100; ++i) {
            const int value = (i * 7 + child) % 4;
            Bytes found;
            const int status = find(value, &found);
            wrong += status != TENGINE_ENOENT && (status != TENGINE_OK || found != content(value));
            wrong += keep(value, content(value), limit) != TENGINE_OK;
        }
        _exit(wrong > 0);
    }
    for (const pid_t id : children) {
        int status = 0;
        ASSERT_EQ(waitpid(id, &status, 0), id);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ASSERT_EQ(keep(1, content(1), limit), TENGINE_OK);
    const fs::directory_iterator files(folder());
    EXPECT_LE(std::distance(begin(files), end(files)), 2);
}

// A child that runs `work` and stops at each system call and each return from one.
class TracedChild
{
  public:
    explicit TracedChild(const std::function<void()>& work) : id_(fork())
    {
        if (id_ == 0) {
            if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
            raise(SIGSTOP);
            work();
            _exit(0);
        }
        waitpid(id_, &status_, 0);
        is_traced_ = WIFSTOPPED(status_);
        if (is_traced_)  // so that a stop shows whether it is at a call
            ptrace(PTRACE_SETOPTIONS, id_, nullptr, reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD));
    }
    ~TracedChild()
    {
        if (!WIFSTOPPED(status_)) return;
        kill(id_, SIGKILL);
        waitpid(id_, &status_, 0);
    }
    TracedChild(const TracedChild&) = delete;
    TracedChild& operator=(const TracedChild&) = delete;

    pid_t id() const { return id_; }
    // False: processes cannot be traced here.
    bool is_traced() const { return is_traced_; }
    // Continues to the next stop; false: the child has ended.
    bool step()
    {
        if (ptrace(PTRACE_SYSCALL, id_, nullptr, nullptr) != 0) return false;
        waitpid(id_, &status_, 0);
        return WIFSTOPPED(status_);
    }
    bool has_succeeded() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

  private:
    pid_t id_;
    int status_ = 0;
    bool is_traced_;
};

// Kills a child that keeps a part after this many steps. 1: it was killed, 0: it had ended before,
// -1: processes cannot be traced here.
int kill_after(int steps, const std::function<void()>& work)
{
    TracedChild child(work);
    if (!child.is_traced()) return -1;
    for (int i = 0; i < steps; ++i)
        if (!child.step()) return child.has_succeeded() ? 0 : -1;
    return 1;
}

#ifdef PTRACE_GET_SYSCALL_INFO
bool is_rename(uint64_t number)
{
#ifdef SYS_rename
    if (number == SYS_rename) return true;
#endif
#ifdef SYS_renameat
    if (number == SYS_renameat) return true;
#endif
    return number == SYS_renameat2;
}

// Returns the call and the file that it writes to: "fsync tengine-….unfinished"; "" for other
// calls.
std::string describe_call(pid_t child)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, reinterpret_cast<void*>(sizeof info), &info) <= 0)
        return "not known";
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return "";
    if (is_rename(info.entry.nr)) return "rename";
    const bool is_write = info.entry.nr == SYS_write;
    if (!is_write && info.entry.nr != SYS_fsync) return "";
    std::error_code ignored;
    const fs::path file = fs::read_symlink(
        "/proc/" + std::to_string(child) + "/fd/" + std::to_string(info.entry.args[0]), ignored);
    const std::string name =
        file.extension() == ".unfinished" ? "unfinished" : file.filename().string();
    return (is_write ? "write " : "fsync ") + name;
}

// After a loss of power either the old file or the new one exists, with all its bytes.
TEST_F(PartCache, BytesAreOnTheDiskBeforeTheirNameAndThatAtTheEnd)
{
    ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
    TracedChild child([&] { keep(1, content(2)); });
    if (!child.is_traced()) GTEST_SKIP() << "a process cannot be traced here";
    std::vector<std::string> calls;
    while (child.step()) {
        const std::string call = describe_call(child.id());
        if (call == "not known") GTEST_SKIP() << "calls are not told here";
        if (!call.empty() && (calls.empty() || calls.back() != call)) calls.push_back(call);
    }
    EXPECT_TRUE(child.has_succeeded());
    const std::vector<std::string> wanted = {"write unfinished", "fsync unfinished", "rename",
                                             "fsync b"};
    EXPECT_EQ(calls, wanted);
}
#endif

TEST_F(PartCache, AProcessMayBeKilledAtAnyMoment)
{
    ASSERT_EQ(keep(2, content(2)), TENGINE_OK);
    int calls = 0, killed = 1, found_old = 0, found_new = 0;
    for (; killed == 1; ++calls) {
        ASSERT_LT(calls, 1000);
        ASSERT_EQ(keep(1, content(1)), TENGINE_OK);
        killed = kill_after(calls, [&] { keep(1, content(3), 4 * (kHead + 10000)); });
        if (killed < 0) GTEST_SKIP() << "a process cannot be traced here";
        Bytes found;
        ASSERT_EQ(find(1, &found), TENGINE_OK) << calls << ": " << tengine_error_message();
        found_old += found == content(1);
        found_new += found == content(3);
        ASSERT_EQ(find(2), TENGINE_OK);
    }
    EXPECT_EQ(found_old + found_new, calls);
    EXPECT_GT(found_old, 5) << "before the new name";
    EXPECT_GT(found_new, 1) << "after it, and at the end";
}

}  // namespace
