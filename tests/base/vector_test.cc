// SPDX-License-Identifier: Apache-2.0
// tengine/vector.h: the container of the device contract.
#include "tengine/vector.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace tengine {
namespace {

std::vector<int> g_freed;

void note_freed(void* element)
{
    g_freed.push_back(*static_cast<int*>(element));
}

std::vector<int> contents(const vector_t* v)
{
    std::vector<int> out;
    for (int i = 0; i < get_vector_num(v); ++i) {
        out.push_back(*static_cast<int*>(get_vector_data(v, i)));
    }
    return out;
}

class Vector : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        g_freed.clear();
        v_ = create_vector(sizeof(int), note_freed);
        ASSERT_NE(nullptr, v_);
    }
    void TearDown() override { release_vector(v_); }
    void push(int value) { ASSERT_EQ(0, push_vector_data(v_, &value)); }

    vector_t* v_ = nullptr;
};

TEST_F(Vector, PushGetSet)
{
    EXPECT_EQ(0, get_vector_num(v_));
    for (int i = 0; i < 100; ++i)
        push(i * i);
    EXPECT_EQ(100, get_vector_num(v_));
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(i * i, *static_cast<int*>(get_vector_data(v_, i)));
    const int other = -1;
    EXPECT_EQ(0, set_vector_data(v_, 50, &other));
    EXPECT_EQ(-1, *static_cast<int*>(get_vector_data(v_, 50)));
    EXPECT_TRUE(g_freed.empty());
}

TEST_F(Vector, BadArguments)
{
    push(1);
    EXPECT_EQ(nullptr, create_vector(0, nullptr));
    EXPECT_EQ(nullptr, create_vector(-4, nullptr));
    EXPECT_EQ(nullptr, get_vector_data(v_, -1));
    EXPECT_EQ(nullptr, get_vector_data(v_, 1));
    EXPECT_EQ(nullptr, get_vector_data(nullptr, 0));
    EXPECT_EQ(-1, set_vector_data(v_, 1, &g_freed));
    EXPECT_EQ(-1, set_vector_data(v_, 0, nullptr));
    EXPECT_EQ(-1, push_vector_data(v_, nullptr));
    EXPECT_EQ(-1, push_vector_data(nullptr, &g_freed));
    EXPECT_EQ(-1, resize_vector(v_, -1));
    EXPECT_EQ(-1, resize_vector(nullptr, 1));
    EXPECT_EQ(0, get_vector_num(nullptr));
    remove_vector_via_index(v_, 1);
    remove_vector_via_index(v_, -1);
    remove_vector_via_index(nullptr, 0);
    EXPECT_EQ(-1, remove_vector_via_pointer(v_, nullptr));
    EXPECT_EQ(-1, remove_vector_via_pointer(nullptr, &g_freed));
    release_vector(nullptr);
    EXPECT_EQ(std::vector<int>{1}, contents(v_));
}

TEST_F(Vector, ResizeGrowsWithZeroesAndShrinks)
{
    for (int i = 1; i <= 5; ++i)
        push(i);
    ASSERT_EQ(0, resize_vector(v_, 2));
    EXPECT_EQ((std::vector<int>{3, 4, 5}), g_freed);
    ASSERT_EQ(0, resize_vector(v_, 4));
    EXPECT_EQ((std::vector<int>{1, 2, 0, 0}), contents(v_));
    ASSERT_EQ(0, resize_vector(v_, 1000));
    EXPECT_EQ(1000, get_vector_num(v_));
    EXPECT_EQ(0, *static_cast<int*>(get_vector_data(v_, 999)));
    ASSERT_EQ(0, resize_vector(v_, 0));
    EXPECT_EQ(0, get_vector_num(v_));
}

TEST_F(Vector, RemoveByIndexAndPointer)
{
    for (int i = 0; i < 5; ++i)
        push(i);
    remove_vector_via_index(v_, 1);
    EXPECT_EQ((std::vector<int>{0, 2, 3, 4}), contents(v_));
    EXPECT_EQ(0, remove_vector_via_pointer(v_, get_vector_data(v_, 3)));
    EXPECT_EQ((std::vector<int>{0, 2, 3}), contents(v_));
    EXPECT_EQ((std::vector<int>{1, 4}), g_freed);
    int outside = 2;
    EXPECT_EQ(-1, remove_vector_via_pointer(v_, &outside));
    EXPECT_EQ(-1, remove_vector_via_pointer(v_, static_cast<char*>(get_vector_data(v_, 1)) + 1));
    EXPECT_EQ(3, get_vector_num(v_));
}

TEST_F(Vector, PushOfAnOwnElementSurvivesGrowth)
{
    push(42);
    while (get_vector_num(v_) < 200)
        ASSERT_EQ(0, push_vector_data(v_, get_vector_data(v_, 0)));
    EXPECT_EQ(std::vector<int>(200, 42), contents(v_));
}

TEST_F(Vector, StorageIsAnAlignedPlainArray)
{
    for (int i = 0; i < 1000; ++i) {
        push(i);
        ASSERT_EQ(0u, reinterpret_cast<uintptr_t>(v_->mem) % 64);
        ASSERT_GE(v_->mem, v_->real_mem);
        ASSERT_GE(v_->space_num, v_->elem_num);
    }
    EXPECT_EQ(v_->elem_size, v_->entry_size);
    EXPECT_EQ(8, v_->ahead_num);
    EXPECT_EQ(999, static_cast<int*>(v_->mem)[999]);
}

TEST(VectorLimits, NoMemoryLeavesItAsItWas)
{
    vector_t* v = create_vector(1 << 20, nullptr);
    ASSERT_NE(nullptr, v);
    ASSERT_EQ(0, resize_vector(v, 2));
    static_cast<char*>(get_vector_data(v, 1))[5] = 'x';
    EXPECT_EQ(-1, resize_vector(v, INT_MAX));
    EXPECT_EQ(2, get_vector_num(v));
    EXPECT_EQ('x', static_cast<char*>(get_vector_data(v, 1))[5]);
    release_vector(v);
}

TEST(VectorLimits, OddElementSizes)
{
    for (int size : {1, 3, 12, 100}) {
        vector_t* v = create_vector(size, nullptr);
        std::vector<char> element(static_cast<size_t>(size));
        for (int i = 0; i < 50; ++i) {
            memset(element.data(), i, element.size());
            ASSERT_EQ(0, push_vector_data(v, element.data()));
        }
        for (int i = 0; i < 50; ++i) {
            memset(element.data(), i, element.size());
            EXPECT_EQ(0, memcmp(element.data(), get_vector_data(v, i), element.size()));
        }
        release_vector(v);
    }
}

TEST(VectorLimits, RandomOperationsAgainstStdVector)
{
    std::mt19937 random(1);
    vector_t* v = create_vector(sizeof(int), nullptr);
    std::vector<int> expected;
    for (int step = 0; step < 5000; ++step) {
        const int value = static_cast<int>(random() % 1000);
        const int num = static_cast<int>(expected.size());
        const unsigned action = random() % 8;
        if (action < 5 || num == 0) {
            ASSERT_EQ(0, push_vector_data(v, &value));
            expected.push_back(value);
        } else if (action < 7) {
            remove_vector_via_index(v, value % num);
            expected.erase(expected.begin() + value % num);
        } else {
            ASSERT_EQ(0, resize_vector(v, num + value % 16 - 8 < 0 ? 0 : num + value % 16 - 8));
            expected.resize(static_cast<size_t>(get_vector_num(v)));
        }
        ASSERT_EQ(expected, contents(v)) << step;
    }
    release_vector(v);
}

}  // namespace
}  // namespace tengine
