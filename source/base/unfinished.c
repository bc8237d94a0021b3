// SPDX-License-Identifier: Apache-2.0
// The contract is in unfinished.h. Nothing here uses opendir() or streams, which allocate.
#define _DEFAULT_SOURCE
#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum
{
    MOST_NAMES = 100,
    MOST_BLOCKS = 256  // of 4 KiB, for the list of a folder
};

// An entry as getdents64() writes it.
typedef struct folder_entry
{
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t kind;
    char name[];
} folder_entry_t;

static int open_folder(const char* path)
{
    return open(path[0] != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void for_each_entry(int folder, void (*work)(int folder, const char* name))
{
    _Alignas(folder_entry_t) char entries[4096];
    for (int i = 0; i < MOST_BLOCKS; ++i) {
        const long size = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (size <= 0) return;
        for (long at = 0; at < size;) {
            const folder_entry_t* entry = (const folder_entry_t*)(entries + at);
            work(folder, entry->name);
            at += entry->length;
        }
    }
}

// ---- names ----

bool is_unfinished_name(const char* name)
{
    const char* number = name + sizeof UNFINISHED_BEGINNING - 1;
    return strncmp(name, UNFINISHED_BEGINNING, sizeof UNFINISHED_BEGINNING - 1) == 0 &&
           strspn(number, "0123456789abcdef") == UNFINISHED_NUMBER_LENGTH &&
           strcmp(number + UNFINISHED_NUMBER_LENGTH, UNFINISHED_ENDING) == 0;
}

void choose_unfinished_name(char out_name[UNFINISHED_NAME_BYTES])
{
    uint64_t number;
    // Kernels before Linux 3.17 have no getentropy(): the name can then be guessed, but is still
    // new.
    if (getentropy(&number, sizeof number) != 0) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint64_t)now.tv_nsec ^ (uintptr_t)out_name ^ ((uint64_t)getpid() << 32);
    }
    snprintf(out_name, UNFINISHED_NAME_BYTES, UNFINISHED_BEGINNING "%016llx" UNFINISHED_ENDING,
             (unsigned long long)number);
}

// ---- what killed programs left ----

// Opens and locks the entry, if it is of this kind (S_IFREG, S_IFDIR), of this user, and left by a
// killed program; else -1.
static int take_left(int folder, const char* name, mode_t kind)
{
    struct stat info;
    if (!is_unfinished_name(name)) return -1;
    const int left = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (left < 0) return -1;
    if (fstat(left, &info) == 0 && (info.st_mode & S_IFMT) == kind && info.st_uid == geteuid() &&
        flock(left, LOCK_EX | LOCK_NB) == 0)
        return left;
    close(left);
    return -1;
}

static void remove_file(int folder, const char* name)
{
    unlinkat(folder, name, 0);
}

static void remove_left_file(int folder, const char* name)
{
    const int left = take_left(folder, name, S_IFREG);
    if (left < 0) return;
    remove_file(folder, name);
    close(left);
}

static void remove_left_folder(int folder, const char* name)
{
    const int left = take_left(folder, name, S_IFDIR);
    if (left < 0) return;
    for_each_entry(left, remove_file);
    unlinkat(folder, name, AT_REMOVEDIR);
    close(left);
}

static void search(const char* path, void (*work)(int folder, const char* name))
{
    const int folder = open_folder(path);
    if (folder < 0) return;
    for_each_entry(folder, work);
    close(folder);
}

void remove_left_files(const char* folder)
{
    search(folder, remove_left_file);
}

void remove_left_folders(const char* folder)
{
    search(folder, remove_left_folder);
}

// ---- a folder ----

// Opens and locks the folder; -1 when a search took it for left over before it was locked.
static int lock_folder(const char* path)
{
    struct stat info, there;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    flock(folder, LOCK_EX);  // flock() fails on some file systems
    if (fstat(folder, &info) == 0 && stat(path, &there) == 0 && info.st_ino == there.st_ino)
        return folder;
    close(folder);
    return -1;
}

int create_unfinished_folder(const char* parent, unfinished_folder_t* out_folder)
{
    const char* place = parent[0] != '\0' ? parent : ".";
    remove_left_folders(place);
    for (int i = 0; i < MOST_NAMES; ++i) {
        char name[UNFINISHED_NAME_BYTES];
        choose_unfinished_name(name);
        const int length =
            snprintf(out_folder->path, sizeof out_folder->path, "%s/%s", place, name);
        if (length < 0 || length >= UNFINISHED_PATH_BYTES) return ENAMETOOLONG;
        const bool is_new = mkdir(out_folder->path, S_IRWXU) == 0;
        if (!is_new && errno != EEXIST) return errno;
        out_folder->lock = is_new ? lock_folder(out_folder->path) : -1;
        if (out_folder->lock >= 0) return 0;
    }
    return EEXIST;
}

void remove_unfinished_folder(const unfinished_folder_t* folder)
{
    for_each_entry(folder->lock, remove_file);
    rmdir(folder->path);
    close(folder->lock);
}
