// SPDX-License-Identifier: Apache-2.0
// Folders of living programs are locked (flock), so an unlocked one was left over. The program
// `tengine` names and locks its own in the same way.
#include "temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "runtime.h"

namespace tengine::provider {
namespace {

constexpr int kMostNames = 100;
constexpr char kBeginning[] = "tengine-", kEnding[] = ".unfinished";
constexpr size_t kNumberLength = 16;

int open_folder(int parent, const char* name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool is_ours(const char* name)
{
    const char* number = name + sizeof kBeginning - 1;
    return std::strncmp(name, kBeginning, sizeof kBeginning - 1) == 0 &&
           std::strspn(number, "0123456789abcdef") == kNumberLength &&
           std::strcmp(number + kNumberLength, kEnding) == 0;
}

struct CloseFolder
{
    void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Calls work(name) for each entry of the open folder, as far as it can be read.
template <class Work>
void for_each_entry(int descriptor, const Work& work)
{
    const int copy = dup(descriptor);
    const Folder folder(fdopendir(copy));
    if (!folder) close(copy);
    while (const dirent* entry = folder ? readdir(folder.get()) : nullptr)
        work(entry->d_name);
}

void remove_if_left(int parent, const char* name)
{
    struct stat info = {};
    const int folder = open_folder(parent, name);
    if (folder < 0) return;
    if (fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0) {
        for_each_entry(folder, [&](const char* entry) { unlinkat(folder, entry, 0); });
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(folder);
}

void remove_leftovers(const std::string& parent)
{
    const int folder = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    for_each_entry(folder, [&](const char* entry) {
        if (is_ours(entry)) remove_if_left(folder, entry);
    });
    close(folder);
}

std::string choose_name()
{
    uint64_t number = 0;
    char name[64];
    if (getentropy(&number, sizeof number) != 0) number = static_cast<uint64_t>(getpid());
    std::snprintf(name, sizeof name, "%s%016llx%s", kBeginning,
                  static_cast<unsigned long long>(number), kEnding);
    return name;
}

// The folder, open and locked; -1 when another took it for left over before it was locked.
int lock_folder(const char* path)
{
    struct stat info = {}, there = {};
    const int folder = open_folder(AT_FDCWD, path);
    if (folder < 0) return -1;
    flock(folder, LOCK_EX);  // not every file system can
    if (fstat(folder, &info) == 0 && stat(path, &there) == 0 && info.st_ino == there.st_ino)
        return folder;
    close(folder);
    return -1;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& parent)
{
    const std::string place = parent.empty() ? "." : parent;
    remove_leftovers(place);
    for (int i = 0; i < kMostNames && lock_ < 0; ++i) {
        folder_ = place + "/" + choose_name();
        file_ = folder_ + "/part.tmfile";
        if (mkdir(folder_.c_str(), S_IRWXU) == 0)
            lock_ = lock_folder(folder_.c_str());
        else if (errno != EEXIST)
            break;
    }
    if (lock_ < 0) throw Failure("no temporary folder in '" + place + "': " + std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder()
{
    unlink(file_.c_str());
    rmdir(folder_.c_str());
    close(lock_);
}

}  // namespace tengine::provider
