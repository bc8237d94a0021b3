// SPDX-License-Identifier: Apache-2.0
// base/arena.h against a model, and alloc.h with an arena.
#include "base/arena.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/alloc.h"
#include "tengine/error.h"

namespace tengine {
namespace {

constexpr size_t kHeader = 8;  // of a block

class Arena : public testing::Test
{
  protected:
    void start(size_t size, size_t shift = 0)
    {
        memory_.assign(size + shift + 1, kMark);
        size_ = size;
        shift_ = shift;
        start_arena(&arena_, memory_.data() + shift, size);
    }
    void* take(size_t size) { return take_arena_block(&arena_, size); }
    void give_back(void* block) { return_arena_block(&arena_, block); }
    bool is_inside(const void* block, size_t size) const
    {
        const char* begin = memory_.data() + shift_;
        const char* at = static_cast<const char*>(block);
        return at >= begin && at + size <= begin + size_;
    }
    bool is_border_untouched() const
    {
        return std::all_of(memory_.begin(), memory_.begin() + static_cast<ptrdiff_t>(shift_),
                           [](char byte) { return byte == kMark; }) &&
               memory_.back() == kMark;
    }
    size_t total() const { return size_t{arena_.grain_num} * ARENA_GRAIN; }

    static constexpr char kMark = 0x5a;
    arena_t arena_ = {};

  private:
    std::vector<char> memory_;
    size_t size_ = 0, shift_ = 0;
};

TEST_F(Arena, LeastMemoryHoldsOneBlockWhereverItLies)
{
    for (size_t shift = 0; shift < ARENA_GRAIN; ++shift) {
        start(ARENA_LEAST_BYTES, shift);
        void* block = take(1);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % ARENA_GRAIN, 0u);
        const size_t room = ARENA_GRAIN - kHeader;
        EXPECT_TRUE(is_inside(block, room));
        std::memset(block, 1, room);
        give_back(block);
        EXPECT_EQ(arena_.used, 0u);
        EXPECT_TRUE(is_border_untouched());
    }
}

TEST_F(Arena, OfAllItsMemoryLittleIsLost)
{
    start(100000);
    EXPECT_GT(total() + 2 * ARENA_GRAIN, 100000u);
    const size_t largest = get_largest_arena_block(&arena_);
    EXPECT_EQ(largest, total() - kHeader);
    void* all = take(largest);
    ASSERT_NE(all, nullptr);
    EXPECT_TRUE(is_inside(all, largest));
    std::memset(all, 1, largest);
    EXPECT_EQ(take(1), nullptr);
    EXPECT_EQ(get_largest_arena_block(&arena_), 0u);
    give_back(all);
    EXPECT_EQ(take(largest + 1), nullptr);
    EXPECT_EQ(take(SIZE_MAX), nullptr);
    EXPECT_NE(take(largest), nullptr);
}

TEST_F(Arena, WhatIsTakenCountsInWholeGrains)
{
    start(100000);
    for (const size_t size : {size_t{0}, size_t{1}, size_t{56}}) {
        void* block = take(size);
        EXPECT_EQ(arena_.used, 1u) << size;
        give_back(block);
    }
    void* block = take(57);
    EXPECT_EQ(arena_.used, 2u);
    give_back(block);
    EXPECT_EQ(arena_.used, 0u);
    EXPECT_EQ(arena_.peak, 2u);
}

// In any order of frees, neighbours become one block again.
TEST_F(Arena, NeighboursJoin)
{
    std::vector<int> order = {0, 1, 2, 3, 4};
    do {
        start(5 * ARENA_GRAIN * 20);
        const size_t whole = get_largest_arena_block(&arena_);
        std::vector<void*> blocks;
        for (int i = 0; i < 5; ++i)
            blocks.push_back(take(15 * ARENA_GRAIN));
        for (int i : order)
            give_back(blocks[static_cast<size_t>(i)]);
        ASSERT_EQ(get_largest_arena_block(&arena_), whole);
    } while (std::next_permutation(order.begin(), order.end()));
}

// The list of a class is searched if no larger block is left: 33 grains are in the class of 32.
TEST_F(Arena, ABlockThatFitsExactlyIsFound)
{
    start(33 * ARENA_GRAIN + 2 * ARENA_GRAIN);
    const size_t whole = get_largest_arena_block(&arena_);
    ASSERT_GT(whole, 32u * ARENA_GRAIN);
    EXPECT_NE(take(whole), nullptr);
}

struct Piece
{
    unsigned char* bytes;
    size_t size;
    unsigned char value;
};

class RandomArena : public Arena, public testing::WithParamInterface<unsigned>
{
  protected:
    // Picks sizes of all orders of magnitude, small ones most often.
    size_t pick_size()
    {
        const int bits = static_cast<int>(random_() % 15);
        return random_() % (size_t{1} << bits);
    }

    // Takes a block if there is one and fills it; the block is inside the arena, aligned and
    // overlaps no other.
    void take_piece()
    {
        const size_t size = pick_size();
        auto* block = static_cast<unsigned char*>(take(size));
        if (!block) {
            ++refused_;
            const size_t largest = get_largest_arena_block(&arena_);
            ASSERT_TRUE(largest == 0 || size > largest) << size << " bytes, room for " << largest;
            return;
        }
        ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % ARENA_GRAIN, 0u);
        ASSERT_TRUE(is_inside(block, size));
        const auto next = pieces_.lower_bound(block);
        if (next != pieces_.end()) {
            ASSERT_LE(block + size + kHeader, next->second.bytes);
        }
        if (next != pieces_.begin()) {
            const Piece& before = std::prev(next)->second;
            ASSERT_LE(before.bytes + before.size + kHeader, block);
        }
        const auto value = static_cast<unsigned char>(random_());
        std::memset(block, value, size);
        pieces_[block] = {block, size, value};
        grains_ += (size + kHeader + ARENA_GRAIN - 1) / ARENA_GRAIN;
    }

    void give_piece_back()
    {
        auto entry = pieces_.begin();
        std::advance(entry, static_cast<ptrdiff_t>(random_() % pieces_.size()));
        const Piece piece = entry->second;
        for (size_t i = 0; i < piece.size; ++i)
            ASSERT_EQ(piece.bytes[i], piece.value) << "another block's owner wrote here";
        give_back(piece.bytes);
        grains_ -= (piece.size + kHeader + ARENA_GRAIN - 1) / ARENA_GRAIN;
        pieces_.erase(entry);
    }

    std::mt19937 random_{GetParam()};
    std::map<unsigned char*, Piece> pieces_;
    size_t grains_ = 0;
    int refused_ = 0;
};

TEST_P(RandomArena, AgreesWithTheModel)
{
    start(256 << 10, random_() % 64);
    const size_t whole = get_largest_arena_block(&arena_);
    for (int round = 0; round < 20; ++round) {
        // Grows until it is full in one round and shrinks in the next.
        const unsigned takes = round % 2 == 0 ? 70 : 30;
        for (int step = 0; step < 500; ++step) {
            const bool takes_one = pieces_.empty() || random_() % 100 < takes;
            ASSERT_NO_FATAL_FAILURE(takes_one ? take_piece() : give_piece_back());
            ASSERT_EQ(arena_.used, grains_);
        }
    }
    EXPECT_GT(refused_, 0) << "the arena was never full";
    while (!pieces_.empty())
        ASSERT_NO_FATAL_FAILURE(give_piece_back());
    EXPECT_EQ(arena_.used, 0u);
    EXPECT_EQ(get_largest_arena_block(&arena_), whole);
    EXPECT_TRUE(is_border_untouched());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomArena, testing::Range(0u, 8u));

// Random blocks of 1 to 128 grains never fail while a fifth of the arena is free, however
// fragmented it is.
TEST_F(Arena, RandomUseWastesLittle)
{
    constexpr size_t kLive = 1 << 20;
    start(kLive + kLive / 4);
    std::mt19937 random(7);
    std::vector<std::pair<void*, uint32_t>> blocks;
    for (int step = 0; step < 20000; ++step) {
        const size_t size = random() % (size_t{1} << (6 + random() % 8));
        const uint32_t before = arena_.used;
        if (size_t{before} * ARENA_GRAIN + size + kHeader + ARENA_GRAIN <= kLive) {
            void* block = take(size);
            ASSERT_NE(block, nullptr) << size << " bytes with " << before << " grains in use";
            blocks.emplace_back(block, arena_.used - before);
        } else {
            const size_t index = random() % blocks.size();
            give_back(blocks[index].first);
            blocks[index] = blocks.back();
            blocks.pop_back();
        }
    }
    EXPECT_GT(size_t{arena_.peak} * ARENA_GRAIN, kLive * 9 / 10);
}

// ---- alloc.h ----

class AllocWithArena : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::memset(memory_, 0x5a, sizeof(memory_));
        ASSERT_EQ(set_memory_arena(memory_, sizeof(memory_)), 0);
    }
    void TearDown() override { EXPECT_EQ(set_memory_arena(nullptr, 0), 0); }
    bool is_ours(const void* block) const
    {
        const char* at = static_cast<const char*>(block);
        return at >= memory_ && at < memory_ + sizeof(memory_);
    }
    static size_t used()
    {
        size_t used = 0, peak = 0;
        get_memory_use(&used, &peak);
        return used;
    }

    alignas(ARENA_GRAIN) char memory_[64 << 10];
};

TEST_F(AllocWithArena, MemoryComesFromItAndGoesBack)
{
    auto* zeroes = static_cast<char*>(alloc_memory(1000));
    void* raw = alloc_raw_memory(1000);
    char* copy = duplicate_string("copy");
    ASSERT_TRUE(is_ours(zeroes) && is_ours(raw) && is_ours(copy));
    EXPECT_TRUE(std::all_of(zeroes, zeroes + 1000, [](char byte) { return byte == 0; }));
    zeroes[999] = 9;
    auto* longer = static_cast<char*>(resize_memory(zeroes, 1000, 2000));
    ASSERT_TRUE(is_ours(longer));
    EXPECT_EQ(longer[999], 9);
    EXPECT_TRUE(std::all_of(longer + 1000, longer + 2000, [](char byte) { return byte == 0; }));
    for (void* block : {static_cast<void*>(longer), raw, static_cast<void*>(copy)})
        free_memory(block);
    EXPECT_EQ(used(), 0u);
}

TEST_F(AllocWithArena, IsNotChangedWhileInUse)
{
    void* block = alloc_memory(1);
    EXPECT_EQ(set_memory_arena(nullptr, 0), TENGINE_ESTATE);
    EXPECT_EQ(used(), 64u);
    free_memory(block);
}

TEST_F(AllocWithArena, BlocksOfTheHeapGoBackThere)
{
    ASSERT_EQ(set_memory_arena(nullptr, 0), 0);
    void* heap_block = alloc_memory(100);
    ASSERT_EQ(set_memory_arena(memory_, sizeof(memory_)), 0);
    EXPECT_FALSE(is_ours(heap_block));
    free_memory(heap_block);
}

TEST_F(AllocWithArena, RefusalsAreToldOnceInNumbers)
{
    EXPECT_EQ(alloc_memory(1 << 20), nullptr);
    EXPECT_EQ(tengine_error_set(TENGINE_ENOMEM, "out of memory for x"), TENGINE_ENOMEM);
    const std::string sentence = tengine_error_message();
    EXPECT_EQ(sentence,
              "out of memory for x: the arena has 65472 of 65472 bytes free, 65464 in one piece; "
              "1048576 were requested");
    tengine_error_set(TENGINE_ENOMEM, "node 1: %s", sentence.c_str());
    EXPECT_EQ(tengine_error_message(), "node 1: " + sentence);
    tengine_error_set(TENGINE_ENOMEM, "%s", std::string(2000, 'a').c_str());
    EXPECT_NE(std::strstr(tengine_error_message(), "aaa: the arena has"), nullptr);
    EXPECT_NE(std::strstr(tengine_error_message(), "1048576 were requested"), nullptr);
    tengine_error_set(TENGINE_EINVAL, "no memory meant");
    EXPECT_STREQ(tengine_error_message(), "no memory meant");
}

TEST_F(AllocWithArena, RefusalsAreForgotten)
{
    EXPECT_EQ(alloc_memory(1 << 20), nullptr);
    forget_memory_shortage();
    tengine_error_set(TENGINE_ENOMEM, "no thread");
    EXPECT_STREQ(tengine_error_message(), "no thread");
    EXPECT_EQ(alloc_memory(1 << 20), nullptr);
    ASSERT_EQ(set_memory_arena(memory_, sizeof(memory_)), 0);
    tengine_error_set(TENGINE_ENOMEM, "no thread");
    EXPECT_STREQ(tengine_error_message(), "no thread");
}

TEST_F(AllocWithArena, ThreadsShareIt)
{
    const auto work = [](unsigned seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<unsigned char*, size_t>> blocks;
        bool intact = true;
        for (int step = 0; step < 3000; ++step) {
            if (blocks.size() < 8) {
                const size_t size = 1 + random() % 1000;
                auto* block = static_cast<unsigned char*>(alloc_memory(size));
                if (!block) continue;
                std::memset(block, static_cast<int>(seed), size);
                blocks.emplace_back(block, size);
            } else {
                const size_t index = random() % blocks.size();
                const auto [block, size] = blocks[index];
                intact = intact && std::all_of(block, block + size,
                                               [&](unsigned char byte) { return byte == seed; });
                free_memory(block);
                blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(index));
            }
        }
        for (const auto& entry : blocks)
            free_memory(entry.first);
        return intact;
    };
    bool intact[4] = {};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { intact[i] = work(i + 1); });
    for (std::thread& thread : threads)
        thread.join();
    for (bool one : intact)
        EXPECT_TRUE(one);
    EXPECT_EQ(used(), 0u);
}

TEST(AllocArena, ItsMemoryIsChecked)
{
    char memory[ARENA_LEAST_BYTES] = {};
    EXPECT_EQ(set_memory_arena(nullptr, 1000), TENGINE_EINVAL);
    EXPECT_EQ(set_memory_arena(memory, 0), TENGINE_EINVAL);
    EXPECT_EQ(set_memory_arena(memory, sizeof(memory) - 1), TENGINE_EINVAL);
    EXPECT_EQ(set_memory_arena(memory, sizeof(memory)), TENGINE_OK);
    EXPECT_EQ(set_memory_arena(nullptr, 0), TENGINE_OK);
    size_t used = 1, peak = 1;
    get_memory_use(&used, &peak);
    EXPECT_EQ(used, 0u);
    EXPECT_EQ(peak, 0u);
}

}  // namespace
}  // namespace tengine
