// SPDX-License-Identifier: Apache-2.0
// The contract is in tengine/file.h. Nothing here allocates: neither streams nor realpath() are
// used.
#define _DEFAULT_SOURCE
#include "base/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

#include "base/unfinished.h"

enum
{
    MOST_LINKS = 40,  // the links that Linux follows at most
    MOST_NAMES = 100,
    PERMISSIONS = 0777,
    NOT_OTHERS = 0755  // no right to write for group and others
};

// The file that is replaced, after all links have been followed.
typedef struct target
{
    char path[PATH_MAX];
    int folder_length;  // the folder's part of `path`, with its slash; 0 without one
    bool keeps_mode;    // the new file gets `mode` whatever the umask is
    mode_t mode;
} target_t;

static int fail(const char* path)
{
    return tengine_error_set(TENGINE_EIO, "cannot write '%s': %s", path, strerror(errno));
}

static const char* kind_of(mode_t mode)
{
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

static int folder_length_of(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

// Puts `name`, relative to the folder of `path`, into `path`. False with errno.
static bool step_to(char path[PATH_MAX], const char* name)
{
    const int kept = name[0] == '/' ? 0 : folder_length_of(path);
    const size_t length = strlen(name);
    if ((size_t)kept + length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + kept, name, length + 1);
    return true;
}

// Leaves in `path` the file that all links lead to, and in `out_info` its description; false with
// errno when there is no such file (ENOENT) or a link cannot be read.
static bool follow_links(char path[PATH_MAX], struct stat* out_info)
{
    for (int i = 0; i < MOST_LINKS; ++i) {
        if (lstat(path, out_info) != 0) return false;
        if (!S_ISLNK(out_info->st_mode)) return true;
        char name[PATH_MAX];
        const ssize_t length = readlink(path, name, sizeof name - 1);
        if (length < 0) return false;
        name[length] = '\0';
        if (!step_to(path, name)) return false;
    }
    errno = ELOOP;
    return false;
}

// The owner of a file that is not the user's may have meant only that file to be written by others,
// not a new one in its place.
static void take_permissions(const struct stat* info, target_t* target)
{
    target->keeps_mode = info->st_uid == geteuid();
    target->mode = info->st_mode & (target->keeps_mode ? PERMISSIONS : NOT_OTHERS);
}

// Completes the target of `path`, or fails if it cannot be replaced. `is_there`: with this `info`,
// else errno has the reason.
static int judge_target(const char* path, bool is_there, const struct stat* info, target_t* target)
{
    if (!is_there && errno != ENOENT) return fail(path);
    target->folder_length = folder_length_of(target->path);
    target->keeps_mode = false;
    target->mode = 0666;
    if (!is_there) return TENGINE_OK;
    take_permissions(info, target);
    if (!S_ISREG(info->st_mode))
        return tengine_error_set(TENGINE_EIO,
                                 "cannot write '%s': it is %s, and only regular files are replaced",
                                 path, kind_of(info->st_mode));
    // A rename needs the right to write the folder only; but a file that a user has made read-only
    // is not replaced. Another process may have removed the file meanwhile.
    const bool may_write = faccessat(AT_FDCWD, target->path, W_OK, AT_EACCESS) == 0;
    return may_write || errno == ENOENT ? TENGINE_OK : fail(path);
}

static int find_target(const char* path, target_t* out_target)
{
    struct stat info;
    out_target->path[0] = '\0';
    if (!step_to(out_target->path, path)) return fail(path);
    const bool is_there = follow_links(out_target->path, &info);
    return judge_target(path, is_there, &info, out_target);
}

static bool is_plain_name(const char* name)
{
    return *name != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

// A link under a name that the user did not choose may be another user's.
static int find_target_in(const char* folder, const char* name, target_t* out_target)
{
    struct stat info;
    if (!is_plain_name(name))
        return tengine_error_set(TENGINE_EINVAL,
                                 "invalid name '%.100s' of a file in '%.200s': expected one "
                                 "without '/' that is not '.' or '..'",
                                 name, folder);
    const int length = snprintf(out_target->path, PATH_MAX, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return fail(folder);
    }
    const bool is_there = lstat(out_target->path, &info) == 0;
    if (is_there && S_ISLNK(info.st_mode))
        return tengine_error_set(TENGINE_EIO,
                                 "cannot write '%s': it is a symbolic link, and only those that "
                                 "the user names are followed",
                                 out_target->path);
    return judge_target(out_target->path, is_there, &info, out_target);
}

// Locks a new file. False when a search for leftovers has already taken the file for one.
static bool lock_new(int descriptor)
{
    struct stat info;
    flock(descriptor, LOCK_EX);  // flock() fails on some file systems
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

// Creates a new file in the target's folder. O_EXCL refuses a file or a link that another user has
// put there. Returns its descriptor, or -1 with errno.
static int create_unfinished(const target_t* target, char out_path[PATH_MAX + 64])
{
    for (int i = 0; i < MOST_NAMES; ++i) {
        char name[UNFINISHED_NAME_BYTES];
        choose_unfinished_name(name);
        snprintf(out_path, PATH_MAX + 64, "%.*s%s", target->folder_length, target->path, name);
        const int descriptor =
            open(out_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, target->mode);
        if (descriptor < 0 && errno != EEXIST) return -1;
        if (descriptor >= 0 && lock_new(descriptor)) return descriptor;
        if (descriptor >= 0) close(descriptor);
    }
    errno = EEXIST;
    return -1;
}

static bool write_all(int descriptor, const char* bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_pieces(int descriptor, const file_piece_t pieces[], size_t number)
{
    for (size_t i = 0; i < number; ++i)
        if (!write_all(descriptor, pieces[i].bytes, pieces[i].size)) return false;
    return true;
}

// Some file systems cannot synchronise, and fail with EINVAL.
static bool synchronise(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL;
}

// Sets the permissions that the umask took away, writes the bytes and closes the file.
static bool finish(int descriptor, const target_t* target, const file_piece_t pieces[],
                   size_t number)
{
    struct stat info;
    const bool has_mode =
        !target->keeps_mode ||
        (fstat(descriptor, &info) == 0 &&
         ((info.st_mode & PERMISSIONS) == target->mode || fchmod(descriptor, target->mode) == 0));
    const bool is_written =
        has_mode && write_pieces(descriptor, pieces, number) && synchronise(descriptor);
    const int cause = errno;
    const bool is_closed = close(descriptor) == 0;
    if (!is_written) errno = cause;
    return is_written && is_closed;
}

// The new name is on the disk once the folder is. A folder that may be written but not read cannot
// be opened for that.
static bool synchronise_folder(const target_t* target)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", target->folder_length, target->path);
    const int descriptor = open(path[0] != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return errno == EACCES;
    const bool is_done = synchronise(descriptor);
    const int cause = errno;
    close(descriptor);
    errno = cause;
    return is_done;
}

static int replace_target(const char* path, const target_t* target, const file_piece_t pieces[],
                          size_t number)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", target->folder_length, target->path);
    remove_left_files(folder);
    char unfinished[PATH_MAX + 64];
    const int descriptor = create_unfinished(target, unfinished);
    if (descriptor < 0) return fail(path);
    // A second descriptor holds the lock until the file has its name.
    const int lock = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    const bool is_done =
        finish(descriptor, target, pieces, number) && rename(unfinished, target->path) == 0;
    int status = TENGINE_OK;
    if (!is_done) {
        status = fail(path);
        unlink(unfinished);
    }
    if (lock >= 0) close(lock);
    TENGINE_RETURN_IF_ERROR(status);
    return synchronise_folder(target) ? TENGINE_OK : fail(path);
}

int replace_file(const char* path, const void* bytes, size_t size)
{
    const file_piece_t whole = {bytes, size};
    target_t target;
    TENGINE_RETURN_IF_ERROR(find_target(path, &target));
    return replace_target(path, &target, &whole, 1);
}

int put_file(const char* folder, const char* name, const void* bytes, size_t size)
{
    const file_piece_t whole = {bytes, size};
    return put_file_by_pieces(folder, name, &whole, 1);
}

int put_file_by_pieces(const char* folder, const char* name, const file_piece_t pieces[],
                       size_t number)
{
    target_t target;
    TENGINE_RETURN_IF_ERROR(find_target_in(folder, name, &target));
    return replace_target(target.path, &target, pieces, number);
}
