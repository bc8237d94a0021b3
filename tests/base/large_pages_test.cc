// SPDX-License-Identifier: Apache-2.0
// base/large_pages.h: memory of an arena is made in larger pages, and stays what it is.
#include "base/large_pages.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <vector>

#include "base/named_memory.h"

namespace tengine {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Writes to each page.
long count_faults(char* block, size_t bytes)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < bytes; i += 4096)
        block[i] = static_cast<char>(i >> 12);
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}

// Whether the system makes 2 MiB at once, where it is asked to, and has them at present.
bool has_large_pages()
{
#ifdef MADV_HUGEPAGE
    constexpr size_t kBytes = 24 * kMiB;
    void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return false;
    const bool is_taken = madvise(block, kBytes, MADV_HUGEPAGE) == 0;
    const long faults = count_faults(static_cast<char*>(block), kBytes);
    munmap(block, kBytes);
    return is_taken && faults < 1200;
#else
    return false;
#endif
}

TEST(LargePages, AnArenaIsMadeInFewPages)
{
    if (!has_large_pages()) GTEST_SKIP() << "the system gives no pages of 2 MiB";
    constexpr size_t kBytes = 24 * kMiB;
    auto* block = static_cast<char*>(alloc_named_memory("", kBytes));
    ASSERT_NE(block, nullptr);
    // Most of the 6144 usual ones; when memory is in pieces the system has fewer large ones.
    EXPECT_LT(count_faults(block, kBytes), 3072);
    for (size_t i = 0; i < kBytes; i += 4096)
        ASSERT_EQ(block[i], static_cast<char>(i >> 12)) << i;
    free_named_memory(block);
}

TEST(LargePages, ChangeNoValue)
{
    std::vector<uint8_t> bytes(9 * kMiB + 5);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i * 7 + i / 4096);
    const std::vector<uint8_t> before = bytes;
    for (const size_t size : {size_t{0}, size_t{5}, 4 * kMiB - 1, 4 * kMiB, bytes.size()})
        prefer_large_pages(bytes.data(), size);
    EXPECT_EQ(bytes, before);
}

}  // namespace
}  // namespace tengine
