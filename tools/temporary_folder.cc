// SPDX-License-Identifier: Apache-2.0
// Folders of living programs are locked (flock), so what is not locked was left.
#include "temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <regex>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "folder.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 100;

int open_folder(const fs::path& path)
{
    return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void remove_if_left(const fs::path& path)
{
    std::error_code ignored;
    struct stat info = {};
    const int folder = open_folder(path);
    if (folder < 0) return;
    if (fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0)
        fs::remove_all(path, ignored);
    close(folder);
}

// As far as the folder can be read.
void remove_leftovers(const fs::path& parent)
{
    static const std::regex leftover("tengine-[0-9a-f]{16}\\.unfinished");
    try {
        for (const std::string& name : list_names(parent))
            if (std::regex_match(name, leftover)) remove_if_left(parent / name);
    } catch (const Failure&) {
        return;
    }
}

fs::path choose_path(const fs::path& parent)
{
    uint64_t number = 0;
    char name[64];
    if (getentropy(&number, sizeof number) != 0) number = static_cast<uint64_t>(getpid());
    std::snprintf(name, sizeof name, "tengine-%016llx.unfinished",
                  static_cast<unsigned long long>(number));
    return parent / name;
}

// The folder, open and locked; -1 when another took it for left over before it was locked.
int lock_folder(const fs::path& path)
{
    struct stat info = {};
    const int folder = open_folder(path);
    if (folder < 0) return -1;
    flock(folder, LOCK_EX);  // not every file system can
    if (fstat(folder, &info) == 0 && info.st_nlink > 0 && fs::exists(path)) return folder;
    close(folder);
    return -1;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& target)
{
    const fs::path place = parent.empty() ? fs::path(".") : parent;
    remove_leftovers(place);
    for (int i = 0; i < kMostNames && lock_ < 0; ++i) {
        path_ = choose_path(place);
        if (mkdir(path_.c_str(), S_IRWXU) == 0)
            lock_ = lock_folder(path_);
        else if (errno != EEXIST)
            break;
    }
    if (lock_ < 0) throw Failure("cannot write '" + target + "': " + std::strerror(errno));
}

// Without memory it stays, and the next program removes it.
TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    try {
        fs::remove_all(path_, ignored);
    } catch (const std::bad_alloc&) {
    }
    close(lock_);
}

}  // namespace tengine::tools
