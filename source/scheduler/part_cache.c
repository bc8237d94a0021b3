// SPDX-License-Identifier: Apache-2.0
// On machines of 32 bits: file systems that number files in 64 bits.
#define _FILE_OFFSET_BITS 64
#define _DEFAULT_SOURCE
#include "scheduler/part_cache.h"

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
#include "graph/option.h"

#define PART_ENDING ".part"

enum
{
    NAME_LENGTH = 2 * SHA256_BYTES + sizeof PART_ENDING - 1,
    UNFINISHED_SECONDS = 3600  // after which nobody finishes a file any more
};

// The beginning of a file; zeroes up to the device's bytes follow.
typedef struct part_head
{
    char mark[16];
    uint8_t fingerprint[SHA256_BYTES];
    uint8_t digest[SHA256_BYTES];  // of the device's bytes
    uint64_t size;                 // of them
    char device[64];               // for people
} part_head_t;

_Static_assert(sizeof(part_head_t) <= IR_SINK_HEAD_BYTES, "the head has a page");

static const char part_mark[16] = "tengine part 1\n";

const char* find_ir_part_cache(const ir_context_t* context)
{
    const char* folder = get_ir_context_option(context, "cache.dir");
    if (*folder == '\0') folder = get_trusted_environment("TENGINE_CACHE_DIR");
    return folder && *folder != '\0' ? folder : NULL;
}

static int find_path(const char* folder, const uint8_t fingerprint[SHA256_BYTES],
                     char out_path[PATH_MAX])
{
    const int length = snprintf(out_path, PATH_MAX, "%s/", folder);
    if (length < 0 || length + NAME_LENGTH >= PATH_MAX)
        return tengine_error_set(TENGINE_EIO, "cache.dir: the path '%.100s...' is too long",
                                 folder);
    char* end = out_path + length;
    for (int i = 0; i < SHA256_BYTES; ++i)
        end += snprintf(end, 3, "%02x", fingerprint[i]);
    memcpy(end, PART_ENDING, sizeof PART_ENDING);
    return TENGINE_OK;
}

// ---- reading ----

// Files of other users could be changed by them while they are in use.
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
                       const uint8_t fingerprint[SHA256_BYTES])
{
    part_head_t head;
    if (file->size < IR_SINK_HEAD_BYTES)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' has %zu bytes: expected at least %d", path,
                                 file->size, IR_SINK_HEAD_BYTES);
    memcpy(&head, file->bytes, sizeof head);
    if (memcmp(head.mark, part_mark, sizeof part_mark) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' is no compiled part", path);
    if (memcmp(head.fingerprint, fingerprint, SHA256_BYTES) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' is that of another part", path);
    const size_t size = file->size - IR_SINK_HEAD_BYTES;
    if (head.size != size)
        return tengine_error_set(TENGINE_EFORMAT, "'%s' has %zu bytes of a part, expected %llu",
                                 path, size, (unsigned long long)head.size);
    uint8_t digest[SHA256_BYTES];
    find_sha256(file->bytes + IR_SINK_HEAD_BYTES, size, digest);
    if (memcmp(digest, head.digest, SHA256_BYTES) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "'%s' has been altered: its bytes have another hash",
                             path);
}

static int read_part(int descriptor, const char* path, const uint8_t fingerprint[SHA256_BYTES],
                     ir_kept_part_t* out_part)
{
    TENGINE_RETURN_IF_ERROR(check_owner(descriptor, path));
    TENGINE_RETURN_IF_ERROR(map_open_file(descriptor, path, false, &out_part->file));
    const int status = check_bytes(&out_part->file, path, fingerprint);
    if (status < 0) {
        close_ir_kept_part(out_part);
        return status;
    }
    out_part->bytes = (const uint8_t*)out_part->file.bytes + IR_SINK_HEAD_BYTES;
    out_part->size = out_part->file.size - IR_SINK_HEAD_BYTES;
    futimens(descriptor, NULL);  // on a medium that cannot be written, nothing is removed either
    return TENGINE_OK;
}

int open_ir_kept_part(const char* folder, const uint8_t fingerprint[SHA256_BYTES],
                      ir_kept_part_t* out_part)
{
    char path[PATH_MAX];
    *out_part = (ir_kept_part_t){.bytes = NULL};
    TENGINE_RETURN_IF_ERROR(find_path(folder, fingerprint, path));
    // O_NONBLOCK: opening a pipe without a writer must not block.
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return tengine_error_set(errno == ENOENT ? TENGINE_ENOENT : TENGINE_EIO,
                                 "cannot open '%s': %s", path, strerror(errno));
    const int status = read_part(descriptor, path, fingerprint, out_part);
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
    const char* path;
    struct timespec used;
    uint64_t size;
} kept_file_t;

static const char* name_in(const char* path)
{
    return strrchr(path, '/') + 1;
}

static bool is_part_name(const char* name)
{
    return strlen(name) == NAME_LENGTH &&
           strspn(name, "0123456789abcdef") == (size_t)2 * SHA256_BYTES;
}

static int compare_use(const void* a, const void* b)
{
    const struct timespec* left = &((const kept_file_t*)a)->used;
    const struct timespec* right = &((const kept_file_t*)b)->used;
    if (left->tv_sec != right->tv_sec) return left->tv_sec < right->tv_sec ? -1 : 1;
    return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

// Only files that have names as ours have are looked at. Returns how many there are.
static int list_parts(const struct vector* paths, kept_file_t* out_files, uint64_t* out_bytes)
{
    int number = 0;
    *out_bytes = 0;
    for (int i = 0; i < get_vector_num(paths); ++i) {
        const char* path = *(char**)get_vector_data(paths, i);
        struct stat info;
        if (!is_part_name(name_in(path)) || lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        out_files[number++] = (kept_file_t){path, info.st_mtim, (uint64_t)info.st_size};
        *out_bytes += (uint64_t)info.st_size;
    }
    return number;
}

// What other processes have removed meanwhile is gone as well.
static void remove_oldest(const struct vector* paths, uint64_t limit)
{
    kept_file_t* files = alloc_memory(sizeof *files * (size_t)get_vector_num(paths));
    if (!files) return;
    uint64_t bytes;
    const int number = list_parts(paths, files, &bytes);
    if (number > 0) sort_items(files, (size_t)number, sizeof *files, compare_use);
    for (int i = 0; i < number && bytes > limit; ++i) {
        unlink(files[i].path);
        bytes -= files[i].size;
    }
    free_memory(files);
}

static void keep_limit(const char* folder, uint64_t limit)
{
    struct vector* paths;
    if (list_folder(folder, PART_ENDING, &paths) < 0) return;
    remove_oldest(paths, limit);
    release_vector(paths);
}

// What processes that were killed have left.
static void remove_unfinished(const char* folder)
{
    struct vector* paths;
    if (list_folder(folder, UNFINISHED_ENDING, &paths) < 0) return;
    const time_t now = time(NULL);
    for (int i = 0; i < get_vector_num(paths); ++i) {
        const char* path = *(char**)get_vector_data(paths, i);
        struct stat info;
        if (strncmp(name_in(path), UNFINISHED_BEGINNING, sizeof UNFINISHED_BEGINNING - 1) == 0 &&
            lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
            now - info.st_mtime > UNFINISHED_SECONDS)
            unlink(path);
    }
    release_vector(paths);
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
            return tengine_error_set(TENGINE_EIO, "cannot make the folder '%s': %s", path,
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
    find_sha256(sink->bytes + IR_SINK_HEAD_BYTES, (size_t)head.size, head.digest);
    snprintf(head.device, sizeof head.device, "%s", device);
    memset(sink->bytes, 0, IR_SINK_HEAD_BYTES);
    memcpy(sink->bytes, &head, sizeof head);
}

int keep_ir_part(const char* folder, uint64_t limit, const uint8_t fingerprint[SHA256_BYTES],
                 const char* device, struct ir_sink* sink)
{
    char path[PATH_MAX];
    if (limit > 0 && sink->size > limit)
        return tengine_error_set(TENGINE_ELIMIT, "%zu bytes, but cache.limit_mb allows %llu",
                                 sink->size, (unsigned long long)limit);
    TENGINE_RETURN_IF_ERROR(find_path(folder, fingerprint, path));
    TENGINE_RETURN_IF_ERROR(make_folder(folder));
    fill_head(sink, fingerprint, device);
    TENGINE_RETURN_IF_ERROR(replace_file(path, sink->bytes, sink->size));
    if (limit > 0) keep_limit(folder, limit);
    remove_unfinished(folder);
    return TENGINE_OK;
}
