// SPDX-License-Identifier: Apache-2.0
#define _DEFAULT_SOURCE
#include "scheduler/part_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/folder.h"
#include "base/replace_file.h"
#include "base/sort.h"
#include "base/unfinished.h"
#include "graph/option.h"
#include "tengine/log.h"
#include "tengine/vector.h"

#define PART_ENDING ".part"

enum
{
    NAME_LENGTH = 2 * SHA256_BYTES + sizeof PART_ENDING - 1,
    UNFINISHED_SECONDS = 3600  // age at which an unfinished file is removed
};

// The beginning of a file; zeroes up to the device's bytes follow.
typedef struct part_head
{
    char mark[16];
    uint8_t fingerprint[SHA256_BYTES];
    uint8_t digest[SHA256_BYTES];  // SHA-256 of the device's bytes
    uint64_t size;                 // the number of those bytes
    char device[64];               // for readers of the file
} part_head_t;

_Static_assert(sizeof(part_head_t) <= IR_SINK_HEAD_BYTES, "the head has a page");

static const char part_mark[16] = "tengine part 1\n";

const char* find_ir_part_cache(const ir_context_t* context)
{
    const char* folder = get_ir_context_option(context, "cache.dir");
    if (*folder == '\0') folder = get_trusted_environment("TENGINE_CACHE_DIR");
    return folder && *folder != '\0' ? folder : NULL;
}

static void find_name(const uint8_t fingerprint[SHA256_BYTES], char out_name[NAME_LENGTH + 1])
{
    char* end = out_name;
    for (int i = 0; i < SHA256_BYTES; ++i)
        end += snprintf(end, 3, "%02x", fingerprint[i]);
    memcpy(end, PART_ENDING, sizeof PART_ENDING);
}

static int find_path(const char* folder, const char* name, char out_path[PATH_MAX])
{
    const int length = snprintf(out_path, PATH_MAX, "%s/%s", folder, name);
    if (length >= 0 && length < PATH_MAX) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "cache.dir: the path '%.100s...' is too long", folder);
}

// Another user who may rename files in the folder could replace a stored part by any file. In a
// folder with the sticky bit, as /tmp, users can rename their own files only. A missing folder is
// accepted.
static int check_folder(const char* folder)
{
    struct stat info;
    if (stat(folder, &info) != 0) return TENGINE_OK;
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return tengine_error_set(TENGINE_EIO,
                                 "cache.dir: the folder '%s' belongs to user %ld: expected %ld or "
                                 "0",
                                 folder, (long)info.st_uid, (long)geteuid());
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info.st_mode & S_ISVTX) != 0)
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO,
                             "cache.dir: others may write the folder '%s', whose mode is %04o: "
                             "expected one that its owner alone may write (chmod go-w)",
                             folder, (unsigned)(info.st_mode & 07777));
}

// ---- reading ----

// The owner of a file can change it while it is in use, so files of other users are not used.
static int check_owner(int descriptor, const char* path)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return tengine_error_set(TENGINE_EIO, "cannot read '%s': %s", path, strerror(errno));
    if (info.st_uid == geteuid() || info.st_uid == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "'%s' belongs to user %ld: expected %ld or 0", path,
                             (long)info.st_uid, (long)geteuid());
}

static int check_bytes(const mapped_file_t* file, const char* path,
                       const uint8_t fingerprint[SHA256_BYTES], thread_pool_t* pool)
{
    part_head_t head;
    if (file->size < IR_SINK_HEAD_BYTES)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' has %zu bytes: expected at least %d", path,
                                 file->size, IR_SINK_HEAD_BYTES);
    memcpy(&head, file->bytes, sizeof head);
    if (memcmp(head.mark, part_mark, sizeof part_mark) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' is not a compiled part", path);
    if (memcmp(head.fingerprint, fingerprint, SHA256_BYTES) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' belongs to another part", path);
    const size_t size = file->size - IR_SINK_HEAD_BYTES;
    if (head.size != size)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' has %zu bytes of a part, expected %llu",
                                 path, size, (unsigned long long)head.size);
    uint8_t digest[SHA256_BYTES];
    find_sha256_of_pieces(pool, file->bytes + IR_SINK_HEAD_BYTES, size, digest);
    if (memcmp(digest, head.digest, SHA256_BYTES) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "'%s' has been altered: its bytes have another hash",
                             path);
}

static int read_part(int descriptor, const char* path, const uint8_t fingerprint[SHA256_BYTES],
                     thread_pool_t* pool, ir_kept_part_t* out_part)
{
    TENGINE_RETURN_IF_ERROR(check_owner(descriptor, path));
    TENGINE_RETURN_IF_ERROR(map_open_file(descriptor, path, false, &out_part->file));
    const int status = check_bytes(&out_part->file, path, fingerprint, pool);
    if (status < 0) {
        close_ir_kept_part(out_part);
        return status;
    }
    out_part->bytes = (const uint8_t*)out_part->file.bytes + IR_SINK_HEAD_BYTES;
    out_part->size = out_part->file.size - IR_SINK_HEAD_BYTES;
    futimens(descriptor, NULL);  // on a read-only medium nothing is removed either
    return TENGINE_OK;
}

int open_ir_kept_part(const char* folder, const uint8_t fingerprint[SHA256_BYTES],
                      thread_pool_t* pool, ir_kept_part_t* out_part)
{
    char name[NAME_LENGTH + 1], path[PATH_MAX];
    *out_part = (ir_kept_part_t){.bytes = NULL};
    find_name(fingerprint, name);
    TENGINE_RETURN_IF_ERROR(find_path(folder, name, path));
    TENGINE_RETURN_IF_ERROR(check_folder(folder));
    // O_NONBLOCK: opening a pipe without a writer must not block.
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return tengine_error_set(errno == ENOENT ? TENGINE_ENOENT : TENGINE_EIO,
                                 "cannot open '%s': %s", path, strerror(errno));
    const int status = read_part(descriptor, path, fingerprint, pool, out_part);
    close(descriptor);
    return status;
}

void close_ir_kept_part(ir_kept_part_t* part)
{
    unmap_file(&part->file);
    *part = (ir_kept_part_t){.bytes = NULL};
}

// ---- removing ----

typedef struct kept_file
{
    char name[NAME_LENGTH + 1];
    struct timespec used;
    uint64_t size;
} kept_file_t;

// A folder during the removal of old files.
typedef struct tidied
{
    const char* path;
    const char* newest;  // the name of the part that was stored just now
    DIR* stream;
    vector_t* parts;  // kept_file_t of the other parts
    uint64_t bytes;   // bytes of all parts
} tidied_t;

static bool is_part_name(const char* name)
{
    return strlen(name) == NAME_LENGTH &&
           strspn(name, "0123456789abcdef") == (size_t)2 * SHA256_BYTES &&
           strcmp(name + 2 * SHA256_BYTES, PART_ENDING) == 0;
}

// It is also a success if another process has removed the file meanwhile.
static void remove_file(const tidied_t* folder, const char* name)
{
    if (unlinkat(dirfd(folder->stream), name, 0) != 0 && errno != ENOENT)
        TLOG_WARNING("cannot remove '%s/%s': %s", folder->path, name, strerror(errno));
}

// Lists a file if its name has the form of this cache's names. False when out of memory.
static bool look_at(tidied_t* folder, const char* name)
{
    struct stat info;
    const bool is_part = is_part_name(name);
    if ((!is_part && !is_unfinished_name(name)) ||
        fstatat(dirfd(folder->stream), name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
        return true;
    if (!is_part) {
        // An unfinished file of a process that was killed.
        if (time(NULL) - info.st_mtime > UNFINISHED_SECONDS) remove_file(folder, name);
        return true;
    }
    kept_file_t file = {.used = info.st_mtim, .size = (uint64_t)info.st_size};
    memcpy(file.name, name, sizeof file.name);
    folder->bytes += file.size;
    // Time stamps of file systems are coarse: a part that was used at the same time may have a
    // later one.
    if (strcmp(name, folder->newest) == 0) return true;
    return push_vector_data(folder->parts, &file) == 0;
}

static bool look_at_all(tidied_t* folder)
{
    errno = 0;
    for (const struct dirent* entry; (entry = readdir(folder->stream)); errno = 0)
        if (!look_at(folder, entry->d_name)) {
            errno = ENOMEM;
            return false;
        }
    return errno == 0;
}

static int compare_use(const void* a, const void* b)
{
    const struct timespec* left = &((const kept_file_t*)a)->used;
    const struct timespec* right = &((const kept_file_t*)b)->used;
    if (left->tv_sec != right->tv_sec) return left->tv_sec < right->tv_sec ? -1 : 1;
    return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

static void remove_oldest(const tidied_t* folder, uint64_t limit)
{
    const int number = get_vector_num(folder->parts);
    const kept_file_t* files = get_vector_data(folder->parts, 0);
    if (number > 1)
        sort_items(get_vector_data(folder->parts, 0), (size_t)number, sizeof *files, compare_use);
    uint64_t bytes = folder->bytes;
    for (int i = 0; i < number && bytes > limit; ++i) {
        remove_file(folder, files[i].name);
        bytes -= files[i].size;
    }
}

// Returns NULL after a failure, with errno.
static DIR* open_folder(const char* path)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    DIR* stream = fdopendir(descriptor);
    if (!stream) close(descriptor);
    return stream;
}

// Removes the least recently used parts until at most `limit` bytes are left (0: any number), and
// unfinished files. After a failure, which is reported, more bytes than that may be left.
static void tidy_folder(const char* path, const char* newest, uint64_t limit)
{
    tidied_t folder = {path, newest, open_folder(path), create_vector(sizeof(kept_file_t), NULL),
                       0};
    if (!folder.stream || !folder.parts || !look_at_all(&folder))
        TLOG_WARNING("cannot look for old parts in '%s': %s", path, strerror(errno));
    else if (limit > 0)
        remove_oldest(&folder, limit);
    release_vector(folder.parts);
    if (folder.stream) closedir(folder.stream);
}

// ---- writing ----

static int make_folder(const char* folder)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s", folder);
    for (int i = 1; i <= length && length < PATH_MAX; ++i) {
        const char end = path[i];
        if (end != '/' && end != '\0') continue;
        path[i] = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST && !is_folder(path))
            return tengine_error_set(TENGINE_EIO, "cannot create the folder '%s': %s", path,
                                     strerror(errno));
        path[i] = end;
    }
    return TENGINE_OK;
}

static void fill_head(struct ir_sink* sink, const uint8_t fingerprint[SHA256_BYTES],
                      const char* device)
{
    part_head_t head = {.size = sink->size - IR_SINK_HEAD_BYTES};
    memcpy(head.mark, part_mark, sizeof head.mark);
    memcpy(head.fingerprint, fingerprint, SHA256_BYTES);
    find_sha256_of_pieces(NULL, sink->bytes + IR_SINK_HEAD_BYTES, (size_t)head.size, head.digest);
    snprintf(head.device, sizeof head.device, "%s", device);
    memset(sink->bytes, 0, IR_SINK_HEAD_BYTES);
    memcpy(sink->bytes, &head, sizeof head);
}

int keep_ir_part(const char* folder, uint64_t limit, const uint8_t fingerprint[SHA256_BYTES],
                 const char* device, struct ir_sink* sink)
{
    char name[NAME_LENGTH + 1], path[PATH_MAX];
    if (limit > 0 && sink->size > limit)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "the part has %zu bytes, expected at most %llu (cache.limit_mb)",
                                 sink->size, (unsigned long long)limit);
    find_name(fingerprint, name);
    TENGINE_RETURN_IF_ERROR(find_path(folder, name, path));
    TENGINE_RETURN_IF_ERROR(make_folder(folder));
    TENGINE_RETURN_IF_ERROR(check_folder(folder));
    fill_head(sink, fingerprint, device);
    TENGINE_RETURN_IF_ERROR(put_file(folder, name, sink->bytes, sink->size));
    tidy_folder(folder, name, limit);
    return TENGINE_OK;
}
