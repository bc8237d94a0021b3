// SPDX-License-Identifier: Apache-2.0
// base/alloc.h: alignment, zeroes, exhaustion, arithmetic that cannot wrap.
#include "base/alloc.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

#include "tengine/export.h"

// Sanitizers end the program when an allocation fails; here they must return NULL. Their run time
// looks these functions up, so that the executable must export them.
extern "C" TENGINE_API const char* __asan_default_options();
extern "C" TENGINE_API const char* __tsan_default_options();

const char* __asan_default_options()
{
    return "allocator_may_return_null=1";
}
const char* __tsan_default_options()
{
    return "allocator_may_return_null=1";
}

namespace tengine {
namespace {

bool is_zero(const char* memory, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (memory[i] != 0) return false;
    }
    return true;
}

TEST(Alloc, AlignedAndZero)
{
    for (size_t size : {1, 7, 63, 64, 65, 1000, 100000}) {
        char* memory = static_cast<char*>(alloc_memory(size));
        ASSERT_NE(nullptr, memory);
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % ALLOC_ALIGNMENT);
        EXPECT_TRUE(is_zero(memory, size)) << size;
        memset(memory, 0xff, size);
        free_memory(memory);
    }
}

TEST(Alloc, SmallBlocksAreZero)
{
    for (size_t size : {1, 7, 300}) {
        char* used = static_cast<char*>(alloc_small_memory(size));
        memset(used, 0xff, size);
        free_memory(used);  // the next block probably gets this address
        char* memory = static_cast<char*>(alloc_small_memory(size));
        ASSERT_NE(nullptr, memory);
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % alignof(max_align_t));
        EXPECT_TRUE(is_zero(memory, size)) << size;
        free_memory(memory);
    }
}

TEST(Alloc, SizeZeroGivesPointersOfTheirOwn)
{
    void* a = alloc_memory(0);
    void* b = alloc_memory(0);
    EXPECT_NE(nullptr, a);
    EXPECT_NE(a, b);
    free_memory(a);
    free_memory(b);
    free_memory(nullptr);
}

TEST(Alloc, TooMuchIsNull)
{
    EXPECT_EQ(nullptr, alloc_memory(SIZE_MAX));
    EXPECT_EQ(nullptr, alloc_memory(SIZE_MAX / 2));
}

TEST(Alloc, ResizeKeepsAndZeroes)
{
    char* memory = static_cast<char*>(resize_memory(nullptr, 0, 5));
    memcpy(memory, "abcd", 5);
    memory = static_cast<char*>(resize_memory(memory, 5, 500));
    EXPECT_STREQ("abcd", memory);
    EXPECT_TRUE(is_zero(memory + 5, 495));
    EXPECT_EQ(nullptr, resize_memory(memory, 500, SIZE_MAX));
    EXPECT_STREQ("abcd", memory);
    memory = static_cast<char*>(resize_memory(memory, 500, 2));
    EXPECT_EQ(0, memcmp("ab", memory, 2));
    free_memory(memory);
}

TEST(Alloc, DuplicateString)
{
    EXPECT_EQ(nullptr, duplicate_string(nullptr));
    for (const char* text : {"", "a", "conv1/weights"}) {
        char* copy = duplicate_string(text);
        EXPECT_NE(text, copy);
        EXPECT_STREQ(text, copy);
        free_memory(copy);
    }
}

TEST(Alloc, CheckedArithmetic)
{
    size_t out = 0;
    EXPECT_TRUE(checked_multiply(3, 4, &out));
    EXPECT_EQ(12u, out);
    EXPECT_TRUE(checked_multiply(SIZE_MAX, 1, &out));
    EXPECT_FALSE(checked_multiply(SIZE_MAX / 2 + 1, 2, &out));
    EXPECT_TRUE(checked_add(SIZE_MAX - 1, 1, &out));
    EXPECT_EQ(SIZE_MAX, out);
    EXPECT_FALSE(checked_add(SIZE_MAX, 1, &out));
    EXPECT_TRUE(checked_align(65, 64, &out));
    EXPECT_EQ(128u, out);
    EXPECT_TRUE(checked_align(0, 64, &out));
    EXPECT_EQ(0u, out);
    EXPECT_FALSE(checked_align(SIZE_MAX - 62, 64, &out));
}

}  // namespace
}  // namespace tengine
