// SPDX-License-Identifier: Apache-2.0
// Replaces malloc and its kin by functions that determine the caller and call glibc's. A block that
// belongs to the libraries ends with a mark, by which it is recognised when it is freed.
#include "heap.h"

#include <link.h>
#include <malloc.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <set>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);
}

namespace tengine::ort_host {
namespace {

struct Range
{
    uintptr_t begin, end;
    bool has(uintptr_t address) const { return address >= begin && address < end; }
};

constexpr size_t kMostRanges = 4;
constexpr const char* kLanguages[] = {"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6"};
Range watched[kMostRanges], languages[kMostRanges], itself;
std::atomic<bool> is_watching{false};

std::atomic<long> allocations{0};
std::atomic<long> failing{0};  // 0: none
std::atomic<bool> is_lasting{false};
std::atomic<long> live_blocks{0};

bool has(const Range (&ranges)[kMostRanges], uintptr_t address)
{
    for (const Range& range : ranges)
        if (range.has(address)) return true;
    return false;
}

// ---- who calls ----

struct Walk
{
    bool is_theirs = false;
    int frames = 0;                         // outside of this file
    uint64_t hash = 14695981039346656037u;  // FNV-1a of their addresses
    int most_frames;
};

// Collects the frames from the allocation to the call of the libraries.
_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* walk)
{
    auto* self = static_cast<Walk*>(walk);
    const uintptr_t address = _Unwind_GetIP(context);
    if (self->frames == 0 && itself.has(address)) return _URC_NO_REASON;
    const bool is_watched = has(watched, address);
    if (!is_watched && !has(languages, address)) return _URC_END_OF_STACK;
    self->is_theirs = self->is_theirs || is_watched;
    self->hash = (self->hash ^ address) * 1099511628211u;
    return ++self->frames == self->most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

Walk walk_stack(int most_frames)
{
    Walk walk;
    walk.most_frames = most_frames;
    _Unwind_Backtrace(visit_frame, &walk);
    return walk;
}

bool is_theirs(const void* caller)
{
    constexpr int kMostLanguageFrames = 24;
    if (!is_watching) return false;
    const auto address = reinterpret_cast<uintptr_t>(caller);
    return has(watched, address) ||
           (has(languages, address) && walk_stack(kMostLanguageFrames).is_theirs);
}

// The call stacks of the recorded allocations, by number.
constexpr size_t kMostRecorded = 1 << 15;
constexpr int kRecordedFrames = 14;
std::array<uint64_t, kMostRecorded> ways;
std::atomic<long> recording_from{-1};

void record(long number)
{
    const auto index = static_cast<size_t>(number - recording_from);
    if (recording_from >= 0 && index < kMostRecorded)
        ways[index] = walk_stack(kRecordedFrames).hash;
}

// ---- what becomes of it ----

// Whether the allocation may proceed.
bool begin_allocation()
{
    const long number = ++allocations;
    const long at = failing;
    record(number);
    if (at == 0 || (is_lasting ? number < at : number != at)) return true;
    errno = ENOMEM;
    return false;
}

constexpr uint64_t kMark = 0x9e3779b97f4a7c15;

char* mark_of(void* block)
{
    return static_cast<char*>(block) + malloc_usable_size(block) - sizeof kMark;
}

void* mark(void* block)
{
    if (!block) return nullptr;
    const uint64_t own = kMark ^ reinterpret_cast<uintptr_t>(block);
    std::memcpy(mark_of(block), &own, sizeof own);
    ++live_blocks;
    return block;
}

bool unmark(void* block)
{
    if (!block) return false;
    uint64_t found;
    std::memcpy(&found, mark_of(block), sizeof found);
    if (found != (kMark ^ reinterpret_cast<uintptr_t>(block))) return false;
    std::memset(mark_of(block), 0, sizeof found);
    --live_blocks;
    return true;
}

// Returns the size of a block with a mark. A size too large for any heap is unchanged.
size_t with_mark(size_t size)
{
    return size > PTRDIFF_MAX - sizeof kMark ? size : size + sizeof kMark;
}

void* allocate(const void* caller, size_t size)
{
    if (!is_theirs(caller)) return __libc_malloc(size);
    return begin_allocation() ? mark(__libc_malloc(with_mark(size))) : nullptr;
}

// ---- which libraries ----

Range range_of(const dl_phdr_info& library)
{
    Range range = {UINTPTR_MAX, 0};
    for (int i = 0; i < library.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = library.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
        range.begin = begin < range.begin ? begin : range.begin;
        range.end = begin + segment.p_memsz > range.end ? begin + segment.p_memsz : range.end;
    }
    return range;
}

struct Lookup
{
    std::string file;  // begins with "/"
    Range range;
};

int look_at(dl_phdr_info* library, size_t, void* lookup)
{
    auto* wanted = static_cast<Lookup*>(lookup);
    if (!std::strstr(library->dlpi_name, wanted->file.c_str())) return 0;
    wanted->range = range_of(*library);
    return 1;
}

// The program itself is the first.
int look_at_program(dl_phdr_info* program, size_t, void* range)
{
    *static_cast<Range*>(range) = range_of(*program);
    return 1;
}

bool find_range(const std::string& file, Range* range)
{
    Lookup lookup = {"/" + file, {}};
    const bool is_found = dl_iterate_phdr(look_at, &lookup) != 0;
    *range = lookup.range;
    return is_found;
}

}  // namespace

bool watch_heap_of(const std::vector<std::string>& libraries)
{
    if (libraries.size() > kMostRanges) return false;
    for (size_t i = 0; i < libraries.size(); ++i)
        if (!find_range(libraries[i], &watched[i])) return false;
    for (size_t i = 0; i < std::size(kLanguages); ++i)
        if (!find_range(kLanguages[i], &languages[i])) return false;
    dl_iterate_phdr(look_at_program, &itself);
    is_watching = true;
    return true;
}

long count_allocations()
{
    return allocations;
}

void begin_recording()
{
    recording_from = allocations + 1;
}

std::vector<long> end_recording()
{
    static std::set<uint64_t> known;
    const long number = allocations - recording_from + 1;
    recording_from = -1;
    std::vector<long> numbers;
    for (long i = 0; i < number && i < static_cast<long>(kMostRecorded); ++i)
        if (known.insert(ways[static_cast<size_t>(i)]).second) numbers.push_back(i + 1);
    return numbers;
}

void fail_allocation(long number, bool lasting)
{
    is_lasting = lasting;
    failing = number == 0 ? 0 : allocations + number;
}

long count_live_blocks()
{
    return live_blocks;
}

}  // namespace tengine::ort_host

using namespace tengine::ort_host;

extern "C" {

void* malloc(size_t size)
{
    return allocate(__builtin_return_address(0), size);
}

void* calloc(size_t number, size_t size)
{
    size_t bytes;
    if (!is_theirs(__builtin_return_address(0))) return __libc_calloc(number, size);
    if (__builtin_mul_overflow(number, size, &bytes)) return nullptr;
    return begin_allocation() ? mark(__libc_calloc(1, with_mark(bytes))) : nullptr;
}

void* realloc(void* memory, size_t size)
{
    const bool is_new = is_theirs(__builtin_return_address(0));
    if (is_new && !begin_allocation()) return nullptr;
    const bool was_marked = unmark(memory);
    void* moved = __libc_realloc(memory, is_new ? with_mark(size) : size);
    if (!moved && was_marked && size > 0) mark(memory);  // the old block still exists
    return is_new ? mark(moved) : moved;
}

// The disk would take longer than everything else.
int fsync(int)
{
    return 0;
}

void free(void* memory)
{
    unmark(memory);
    __libc_free(memory);
}

void* memalign(size_t alignment, size_t size)
{
    if (!is_theirs(__builtin_return_address(0))) return __libc_memalign(alignment, size);
    return begin_allocation() ? mark(__libc_memalign(alignment, with_mark(size))) : nullptr;
}

void* aligned_alloc(size_t alignment, size_t size)
{
    if (!is_theirs(__builtin_return_address(0))) return __libc_memalign(alignment, size);
    return begin_allocation() ? mark(__libc_memalign(alignment, with_mark(size))) : nullptr;
}

int posix_memalign(void** out_memory, size_t alignment, size_t size)
{
    if (!is_theirs(__builtin_return_address(0))) {
        *out_memory = __libc_memalign(alignment, size);
        return *out_memory ? 0 : ENOMEM;
    }
    if (!begin_allocation()) return ENOMEM;
    *out_memory = mark(__libc_memalign(alignment, with_mark(size)));
    return *out_memory ? 0 : ENOMEM;
}

}  // extern "C"

// The C++ library's own operators would be the caller of malloc, for every caller.
void* operator new(size_t size)
{
    void* block = allocate(__builtin_return_address(0), size);
    if (!block) throw std::bad_alloc();
    return block;
}

void operator delete(void* block) noexcept
{
    free(block);
}

void operator delete(void* block, size_t) noexcept
{
    free(block);
}
