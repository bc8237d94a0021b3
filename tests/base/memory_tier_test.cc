// SPDX-License-Identifier: Apache-2.0
// base/memory_plan.h, several memories: plans are valid, and compared with the best of all on small
// cases.
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

#include "base/memory_plan.h"
#include "tengine/error.h"

namespace tengine {
namespace {

struct TierCase
{
    std::vector<memory_block_t> blocks;
    std::vector<uint64_t> moved;
    std::vector<memory_tier_t> tiers;
    std::vector<int32_t> places;
};

int plan_tiers(TierCase* made, size_t alignment = 1)
{
    made->places.assign(made->blocks.size(), -1);
    return plan_memory_tiers(made->blocks.data(), made->moved.data(), made->places.data(),
                             static_cast<int64_t>(made->blocks.size()), alignment,
                             made->tiers.data(), static_cast<int>(made->tiers.size()));
}

double time_of(const TierCase& made, const std::vector<int32_t>& places)
{
    double sum = 0;
    for (size_t i = 0; i < places.size(); ++i)
        sum += static_cast<double>(made.moved[i]) *
               made.tiers[static_cast<size_t>(places[i])].ns_per_kib;
    return sum;
}

bool meet(const memory_block_t& a, const memory_block_t& b)
{
    return a.first_use <= b.last_use && b.first_use <= a.last_use;
}

void check_tiers(const TierCase& made)
{
    std::vector<size_t> ends(made.tiers.size());
    for (size_t i = 0; i < made.blocks.size(); ++i) {
        ASSERT_GE(made.places[i], 0);
        ASSERT_LT(made.places[i], static_cast<int32_t>(made.tiers.size()));
        const memory_block_t& a = made.blocks[i];
        size_t& end = ends[static_cast<size_t>(made.places[i])];
        end = std::max(end, a.offset + a.size);
        for (size_t k = 0; k < i; ++k) {
            const memory_block_t& b = made.blocks[k];
            if (made.places[i] != made.places[k] || !meet(a, b)) continue;
            ASSERT_TRUE(a.offset + a.size <= b.offset || b.offset + b.size <= a.offset);
        }
    }
    for (size_t tier = 0; tier < ends.size(); ++tier) {
        EXPECT_LE(ends[tier], made.tiers[tier].used);
        EXPECT_LE(made.tiers[tier].used, made.tiers[tier].bytes);
    }
}

TierCase make_case(std::mt19937& random, int block_num, int tier_num)
{
    TierCase made;
    for (int i = 0; i < block_num; ++i) {
        memory_block_t block = {};
        block.size = 1 + random() % 40;
        block.first_use = static_cast<int32_t>(random() % 6);
        block.last_use = block.first_use + static_cast<int32_t>(random() % 4);
        made.blocks.push_back(block);
        made.moved.push_back(block.size * (1 + random() % 5));
    }
    for (int i = 0; i < tier_num; ++i)
        made.tiers.push_back({i + 1 == tier_num ? SIZE_MAX : 10 + random() % 60,
                              1.0 + 4.0 * i + static_cast<double>(random() % 4), 0});
    return made;
}

// ---- the best of all ----

// A packing that exists can be pushed down, block by block in the order of offsets; so it is found
// when blocks are put as low as possible in some order.
bool can_pack(const std::vector<memory_block_t>& blocks, size_t bytes)
{
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    do {
        std::vector<memory_block_t> placed;
        for (const size_t index : order) {
            memory_block_t block = blocks[index];
            block.offset = 0;
            for (bool moved = true; moved;) {
                moved = false;
                for (const memory_block_t& other : placed)
                    if (meet(block, other) && block.offset < other.offset + other.size &&
                        other.offset < block.offset + block.size) {
                        block.offset = other.offset + other.size;
                        moved = true;
                    }
            }
            if (block.offset + block.size > bytes) break;
            placed.push_back(block);
        }
        if (placed.size() == blocks.size()) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
}

bool is_possible(const TierCase& made, const std::vector<int32_t>& places)
{
    for (size_t tier = 0; tier + 1 < made.tiers.size(); ++tier) {
        std::vector<memory_block_t> inside;
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] == static_cast<int32_t>(tier)) inside.push_back(made.blocks[i]);
        if (!can_pack(inside, made.tiers[tier].bytes)) return false;
    }
    return true;
}

double find_best(const TierCase& made)
{
    const auto tier_num = static_cast<int32_t>(made.tiers.size());
    std::vector<int32_t> places(made.blocks.size(), tier_num - 1);
    double best = time_of(made, places);
    for (;;) {
        size_t digit = 0;
        while (digit < places.size() && places[digit] == 0)
            places[digit++] = tier_num - 1;
        if (digit == places.size()) return best;
        --places[digit];
        const double time = time_of(made, places);
        if (time < best && is_possible(made, places)) best = time;
    }
}

TEST(MemoryTiers, SmallCasesComeCloseToTheBestOfAll)
{
    std::mt19937 random(1);
    int best_num = 0;
    double sum = 0, best_sum = 0, slowest_sum = 0;
    constexpr int kCases = 600;
    for (int i = 0; i < kCases; ++i) {
        TierCase made = make_case(random, 2 + i % 5, 2 + i % 2);
        ASSERT_EQ(plan_tiers(&made), TENGINE_OK) << tengine_error_message();
        check_tiers(made);
        const double time = time_of(made, made.places), best = find_best(made);
        ASSERT_GE(time, best * (1 - 1e-12)) << "better than the best of all";
        if (time <= best * (1 + 1e-12)) ++best_num;
        sum += time;
        best_sum += best;
        slowest_sum += time_of(
            made,
            std::vector<int32_t>(made.blocks.size(), static_cast<int32_t>(made.tiers.size()) - 1));
    }
    RecordProperty("best", best_num);
    EXPECT_GE(best_num, kCases * 95 / 100);
    EXPECT_LE(sum - best_sum, 0.01 * (slowest_sum - best_sum)) << "of what can be saved";
}

TEST(MemoryTiers, LargeCasesAreValid)
{
    std::mt19937 random(2);
    for (int i = 0; i < 20; ++i) {
        TierCase made = make_case(random, 300, 2 + i % 3);
        for (size_t k = 0; k < made.blocks.size(); ++k) {
            made.blocks[k].first_use = static_cast<int32_t>(k);
            made.blocks[k].last_use = static_cast<int32_t>(k + random() % 5);
        }
        ASSERT_EQ(plan_tiers(&made), TENGINE_OK) << tengine_error_message();
        check_tiers(made);
        EXPECT_GT(std::count(made.places.begin(), made.places.end(), 0), 0);
        EXPECT_GT(std::count(made.places.begin(), made.places.end(), made.tiers.size() - 1), 0);
    }
}

TEST(MemoryTiers, OneMemoryIsPlannedAsBefore)
{
    std::mt19937 random(3);
    for (int i = 0; i < 50; ++i) {
        TierCase made = make_case(random, 40, 1);
        std::vector<memory_block_t> blocks = made.blocks;
        size_t total = 0;
        ASSERT_EQ(plan_memory(blocks.data(), 40, 64, &total), TENGINE_OK);
        ASSERT_EQ(plan_tiers(&made, 64), TENGINE_OK);
        EXPECT_LE(made.tiers[0].used, total);
    }
}

TEST(MemoryTiers, WrongArgumentsAreRefused)
{
    TierCase made;
    EXPECT_EQ(plan_tiers(&made), TENGINE_EINVAL) << "no memory";
    made.tiers = {{100, 2, 0}, {SIZE_MAX, 1, 0}};
    EXPECT_EQ(plan_tiers(&made), TENGINE_EINVAL) << "the slower one first";
    made.tiers = {{100, 1, 0}, {200, 2, 0}};
    made.blocks = {{201, 0, 1, 0}};
    made.moved = {1};
    EXPECT_EQ(plan_tiers(&made), TENGINE_ELIMIT);
    made.blocks = {{100, 0, 1, 0}, {200, 1, 1, 0}, {50, 2, 3, 0}};
    made.moved = {1, 1, 0};
    EXPECT_EQ(plan_tiers(&made), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(made.places, (std::vector<int32_t>{0, 1, 1}))
        << "blocks that are not moved are not fast";
}

}  // namespace
}  // namespace tengine
