// SPDX-License-Identifier: Apache-2.0
// base/sort.h and base/sort.hpp.
#include "base/sort.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "base/sort.hpp"

namespace tengine {
namespace {

int compare_ints(const void* left, const void* right)
{
    const int a = *static_cast<const int*>(left), b = *static_cast<const int*>(right);
    return (a > b) - (a < b);
}

TEST(Sort, OrdersEveryLength)
{
    std::mt19937 random(1);
    for (size_t number = 0; number < 300; ++number) {
        std::vector<int> items(number);
        for (int& item : items)
            item = static_cast<int>(random() % 100);
        std::vector<int> wanted = items;
        std::sort(wanted.begin(), wanted.end());
        sort_items(items.data(), number, sizeof(int), compare_ints);
        ASSERT_EQ(items, wanted) << number;
    }
}

TEST(Sort, OrdersIndicesOfEveryLength)
{
    std::mt19937 random(3);
    for (size_t number = 0; number < 100; ++number) {
        std::vector<int32_t> indices(number);
        for (int32_t& index : indices)
            index = static_cast<int32_t>(random());  // of both signs, far apart
        std::vector<int32_t> wanted = indices;
        std::sort(wanted.begin(), wanted.end());
        sort_indices(indices.data(), number);
        ASSERT_EQ(indices, wanted) << number;
    }
}

TEST(SortStably, KeepsTheOrderOfEquals)
{
    std::mt19937 random(2);
    for (size_t number = 0; number < 300; ++number) {
        Vector<std::pair<int, size_t>> items;
        for (size_t i = 0; i < number; ++i)
            items.emplace_back(random() % 10, i);
        Vector<std::pair<int, size_t>> wanted = items;
        std::sort(wanted.begin(), wanted.end());
        sort_stably(items, [](const auto& a, const auto& b) { return a.first < b.first; });
        ASSERT_EQ(items, wanted) << number;
    }
}

}  // namespace
}  // namespace tengine
