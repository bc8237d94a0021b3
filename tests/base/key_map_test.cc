// SPDX-License-Identifier: Apache-2.0
#include "base/key_map.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace {

std::vector<int32_t> list_values(const key_map_t& map, uint64_t key)
{
    std::vector<int32_t> values;
    for (const key_entry_t* entry = find_key(&map, key); entry; entry = find_next_key(&map, entry))
        values.push_back(entry->value);
    return values;
}

TEST(KeyMap, AnEmptyOneHasNothing)
{
    key_map_t map = {};
    EXPECT_EQ(find_key(&map, 0), nullptr);
    release_key_map(&map);
}

// Keys that differ only in their highest bits share a bucket.
TEST(KeyMap, ValuesOfAKeyComeTheLastOneFirst)
{
    key_map_t map = {};
    std::map<uint64_t, std::vector<int32_t>> wanted;
    std::mt19937 random(3);
    for (int32_t i = 0; i < 1000; ++i) {
        const uint64_t key = (uint64_t{random() % 7} << 60) + random() % 13;
        ASSERT_EQ(add_key(&map, key, i), 0);
        wanted[key].insert(wanted[key].begin(), i);
    }
    for (const auto& [key, values] : wanted)
        EXPECT_EQ(list_values(map, key), values) << key;
    EXPECT_EQ(find_key(&map, 13), nullptr);
    EXPECT_EQ(find_key(&map, uint64_t{7} << 60), nullptr);
    release_key_map(&map);
    EXPECT_EQ(find_key(&map, 0), nullptr);
}

}  // namespace
