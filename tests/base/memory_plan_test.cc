// SPDX-License-Identifier: Apache-2.0
// base/memory_plan.h: no overlap, bounds, known cases.
#include "base/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "base/clock.h"
#include "tengine/error.h"

namespace tengine {
namespace {

using Blocks = std::vector<memory_block_t>;

size_t plan(Blocks* blocks, size_t alignment)
{
    size_t total = 0;
    const int64_t num = static_cast<int64_t>(blocks->size());
    EXPECT_EQ(TENGINE_OK, plan_memory(blocks->data(), num, alignment, &total));
    return total;
}

size_t round_up(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

// Returns the largest sum of sizes that live at one step: every plan needs at least this.
size_t lower_bound(const Blocks& blocks, size_t alignment)
{
    size_t most = 0;
    for (const memory_block_t& at : blocks) {  // the sum can only rise where a life begins
        size_t live = 0;
        for (const memory_block_t& block : blocks) {
            if (block.first_use <= at.first_use && at.first_use <= block.last_use) {
                live += round_up(block.size, alignment);
            }
        }
        most = std::max(most, live);
    }
    return most;
}

bool overlap(const memory_block_t& a, const memory_block_t& b)
{
    const bool in_time = a.first_use <= b.last_use && b.first_use <= a.last_use;
    return in_time && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

void check_plan(const Blocks& blocks, size_t alignment, size_t total)
{
    for (size_t i = 0; i < blocks.size(); ++i) {
        ASSERT_EQ(0u, blocks[i].offset % alignment);
        ASSERT_LE(blocks[i].offset + blocks[i].size, total);
        for (size_t j = 0; j < i; ++j)
            ASSERT_FALSE(overlap(blocks[i], blocks[j])) << i << " " << j;
    }
    ASSERT_GE(total, lower_bound(blocks, alignment));
}

Blocks make_random(unsigned seed, int num, int steps, int longest)
{
    std::mt19937 random(seed);
    Blocks blocks;
    for (int i = 0; i < num; ++i) {
        const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
        const int last = first + static_cast<int>(random() % static_cast<unsigned>(longest));
        blocks.push_back({random() % 5000, first, last, SIZE_MAX});
    }
    return blocks;
}

// Two blocks at a time.
bool is_plan(const Blocks& blocks, size_t alignment)
{
    size_t most = 0;
    for (const memory_block_t& block : blocks)
        most += round_up(block.size, alignment);
    for (size_t i = 0; i < blocks.size(); ++i) {
        const size_t size = round_up(blocks[i].size, alignment);
        if (blocks[i].offset % alignment != 0 || blocks[i].offset + size > most) return false;
        for (size_t j = 0; j < i; ++j) {
            memory_block_t one = blocks[i], other = blocks[j];
            one.size = size;
            other.size = round_up(other.size, alignment);
            if (one.size > 0 && other.size > 0 && overlap(one, other)) return false;
        }
    }
    return true;
}

TEST(MemoryPlan, OffsetsFromElsewhereAreChecked)
{
    int sound = 0, wrong = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        Blocks blocks = make_random(seed, 1 + static_cast<int>(seed % 40), 20, 1 + seed % 20);
        const size_t alignment = size_t{1} << seed % 8;
        const size_t total = plan(&blocks, alignment);
        for (unsigned i = 0; i < seed % 4; ++i) {
            size_t& offset = blocks[random() % blocks.size()].offset;
            if (i % 2 == 0)
                offset += alignment * (random() % 200);
            else
                offset = random() % 3 == 0 ? random() : offset / 2;
        }
        size_t found = 0;
        const int status = check_memory_plan(blocks.data(), static_cast<int64_t>(blocks.size()),
                                             alignment, &found);
        ASSERT_EQ(status, is_plan(blocks, alignment) ? TENGINE_OK : TENGINE_EFORMAT) << seed;
        status == TENGINE_OK ? ++sound : ++wrong;
        if (seed % 4 == 0) {
            ASSERT_EQ(found, total);
        }
    }
    EXPECT_GT(sound, 500);
    EXPECT_GT(wrong, 500);
}

TEST(MemoryPlan, OffsetsNearTheEndOfTheAddresses)
{
    size_t total = 0;
    const Blocks far = {{64, 0, 1, SIZE_MAX - 63}, {64, 0, 1, 0}};
    EXPECT_EQ(check_memory_plan(far.data(), 2, 64, &total), TENGINE_EFORMAT);
    const Blocks empty = {{0, 0, 1, 64}};
    EXPECT_EQ(check_memory_plan(empty.data(), 1, 64, &total), TENGINE_EFORMAT);
    EXPECT_EQ(check_memory_plan(nullptr, 0, 64, &total), TENGINE_OK);
    EXPECT_EQ(total, 0u);
    EXPECT_EQ(check_memory_plan(nullptr, 1, 64, &total), TENGINE_EINVAL);
    EXPECT_EQ(check_memory_plan(far.data(), 2, 48, &total), TENGINE_EINVAL);
}

TEST(MemoryPlan, RandomBlocksNeverOverlap)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        Blocks blocks = make_random(seed, static_cast<int>(seed) * 2, 50, 1 + seed % 20);
        const size_t alignment = size_t{1} << seed % 8;
        check_plan(blocks, alignment, plan(&blocks, alignment));
        if (HasFatalFailure()) return;
    }
}

TEST(MemoryPlan, IsCloseToTheLowerBoundOnRandomBlocks)
{
    double sum = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        Blocks blocks = make_random(seed, 200, 100, 10);
        sum +=
            static_cast<double>(plan(&blocks, 64)) / static_cast<double>(lower_bound(blocks, 64));
    }
    EXPECT_LT(sum / 50, 1.15);
}

TEST(MemoryPlan, ChainNeedsTwoBuffers)
{
    Blocks blocks;
    for (int i = 0; i < 20; ++i)
        blocks.push_back({100, i, i + 1, 0});
    EXPECT_EQ(256u, plan(&blocks, 64));
    check_plan(blocks, 64, 256);
}

TEST(MemoryPlan, UsesAreInclusive)
{
    Blocks touching = {{64, 0, 1, 0}, {64, 1, 2, 0}};
    EXPECT_EQ(128u, plan(&touching, 64));
    Blocks apart = {{64, 0, 1, 0}, {64, 2, 3, 0}};
    EXPECT_EQ(64u, plan(&apart, 64));
}

TEST(MemoryPlan, PutsABlockIntoTheSmallestGapThatHoldsIt)
{
    // At steps 0..9 the blocks 1000, 900, 800 and 700 live, in this order of offsets; 900 ends
    // before step 5, and 700 (replaced by 300 later) leaves the smaller hole for the last block.
    Blocks blocks = {{1000, 0, 9, 0}, {900, 0, 4, 0}, {800, 0, 9, 0},
                     {700, 0, 4, 0},  {600, 0, 9, 0}, {500, 5, 9, 0}};
    EXPECT_EQ(4000u, plan(&blocks, 1));
    EXPECT_EQ(1000u, blocks[1].offset);
    EXPECT_EQ(2700u, blocks[3].offset);
    EXPECT_EQ(2700u, blocks[5].offset);  // the hole of 700, not the one of 900
}

TEST(MemoryPlan, EmptyAndZeroSized)
{
    Blocks none;
    EXPECT_EQ(0u, plan(&none, 64));
    size_t total = 1;
    EXPECT_EQ(TENGINE_OK, plan_memory(nullptr, 0, 64, &total));
    EXPECT_EQ(0u, total);
    Blocks zero = {{0, 0, 5, SIZE_MAX}, {10, 0, 5, SIZE_MAX}, {0, 2, 3, SIZE_MAX}};
    EXPECT_EQ(64u, plan(&zero, 64));
    EXPECT_EQ(0u, zero[0].offset);
    EXPECT_EQ(0u, zero[1].offset);
}

TEST(MemoryPlan, SameInputSamePlan)
{
    Blocks first = make_random(5, 500, 100, 30);
    for (memory_block_t& block : first)
        block.size = block.size % 4 * 64;  // many ties
    Blocks second = first;
    EXPECT_EQ(plan(&first, 64), plan(&second, 64));
    for (size_t i = 0; i < first.size(); ++i)
        ASSERT_EQ(first[i].offset, second[i].offset);
}

TEST(MemoryPlan, ExtremeSteps)
{
    Blocks blocks = {{8, INT32_MIN, INT32_MAX, 0}, {8, INT32_MAX, INT32_MAX, 0}, {8, 0, 0, 0}};
    EXPECT_EQ(16u, plan(&blocks, 8));
}

TEST(MemoryPlan, BadArguments)
{
    memory_block_t block = {8, 0, 0, 0};
    size_t total = 0;
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(nullptr, 1, 64, &total));
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(&block, 1, 64, nullptr));
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(&block, -1, 64, &total));
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(&block, 1, 0, &total));
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(&block, 1, 48, &total));
    block = {8, 3, 2, 0};
    EXPECT_EQ(TENGINE_EINVAL, plan_memory(&block, 1, 64, &total));
    Blocks huge = {{SIZE_MAX / 2, 0, 0, 0}, {SIZE_MAX / 2, 0, 0, 0}, {SIZE_MAX / 2, 1, 1, 0}};
    EXPECT_EQ(TENGINE_ELIMIT, plan_memory(huge.data(), 3, 1, &total));
    block = {SIZE_MAX, 0, 0, 0};
    EXPECT_EQ(TENGINE_ELIMIT, plan_memory(&block, 1, 64, &total));
}

// ---- more blocks than are placed by size ----

// Checks a plan like check_plan(), by a sweep over the steps: the blocks that live at a step are
// sorted by their offsets.
void check_large_plan(Blocks blocks, size_t total)
{
    std::sort(blocks.begin(), blocks.end(),
              [](const auto& a, const auto& b) { return a.first_use < b.first_use; });
    std::multimap<int32_t, size_t> ends;           // last use to offset
    std::map<size_t, const memory_block_t*> live;  // by offset
    for (const memory_block_t& block : blocks) {
        for (; !ends.empty() && ends.begin()->first < block.first_use; ends.erase(ends.begin()))
            live.erase(ends.begin()->second);
        if (block.size == 0) continue;
        ASSERT_LE(block.offset + block.size, total);
        const auto [place, is_new] = live.emplace(block.offset, &block);
        ASSERT_TRUE(is_new);
        if (place != live.begin()) {
            ASSERT_FALSE(overlap(*std::prev(place)->second, block));
        }
        if (std::next(place) != live.end()) {
            ASSERT_FALSE(overlap(*std::next(place)->second, block));
        }
        ends.emplace(block.last_use, block.offset);
    }
}

TEST(MemoryPlan, ManyRandomBlocksNeverOverlap)
{
    for (unsigned seed = 0; seed < 8; ++seed) {
        Blocks blocks = make_random(seed, MEMORY_PLAN_BY_SIZE + 2000, 3000, 1 << seed);
        const size_t total = plan(&blocks, 64);
        check_large_plan(blocks, total);
        if (HasFatalFailure()) return;
    }
}

TEST(MemoryPlan, ALongChainNeedsTwoBuffers)
{
    Blocks blocks;
    for (int i = 0; i < 3 * MEMORY_PLAN_BY_SIZE; ++i)
        blocks.push_back({100, i, i + 1, 0});
    EXPECT_EQ(256u, plan(&blocks, 64));
    check_large_plan(blocks, 256);
}

// Eight times the blocks may take eight times the time, and twice that if caches no longer hold
// them; a quadratic algorithm would take 64. The test uses the best of several attempts, since
// machines are shared.
constexpr double kMostGrowth = 32;

double measure_growth(Blocks (*make)(int num))
{
    double growth = 1e9;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::clock_t spent[2];
        for (int size = 0; size < 2; ++size) {
            Blocks blocks = make(25000 << 3 * size);
            const std::clock_t start = std::clock();
            plan(&blocks, 64);
            spent[size] = std::clock() - start;
        }
        growth = std::min(growth, static_cast<double>(spent[1]) / static_cast<double>(spent[0]));
    }
    return growth;
}

TEST(MemoryPlan, TimeGrowsWithTheNumberOfBlocks)
{
    EXPECT_LT(measure_growth([](int num) { return make_random(9, num, num, 8); }), kMostGrowth);
    // All alive until the end, as the inputs of one large Concat.
    EXPECT_LT(measure_growth([](int num) {
                  Blocks blocks;
                  for (int i = 0; i < num; ++i)
                      blocks.push_back({64, i, num, 0});
                  return blocks;
              }),
              kMostGrowth);
}

}  // namespace
}  // namespace tengine
