// SPDX-License-Identifier: Apache-2.0
// Packs of constants that the preparations of a graph share.
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "base/alloc.h"
#include "graph/graph_pool.h"

namespace {

const char kind_a = 0, kind_b = 0;
const float weights[] = {1, 2, 3}, others[] = {1, 2, 3};

class GraphPackTest : public testing::Test
{
  protected:
    ~GraphPackTest() override { release_graph_pool(pool_); }

    static ir_pack_key_t key_of(const void* kind, const void* data, int64_t size = 7)
    {
        ir_pack_key_t key = {};
        key.kind = kind;
        key.constants[0] = data;
        key.sizes[2] = size;
        return key;
    }

    char* hold(const ir_pack_key_t& key, uint64_t bytes = 100)
    {
        const auto fill = [](void* pack, void* argument) {
            ++*static_cast<int*>(argument);
            std::memset(pack, *static_cast<int*>(argument), 100);
        };
        return static_cast<char*>(hold_graph_pack(pool_, &key, bytes, fill, &fill_num_));
    }

    graph_pool* pool_ = create_graph_pool();
    int fill_num_ = 0;
};

TEST_F(GraphPackTest, EqualKeysShareOnePack)
{
    char* first = hold(key_of(&kind_a, weights));
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % ALLOC_ALIGNMENT, 0u);
    EXPECT_EQ(hold(key_of(&kind_a, weights)), first);
    EXPECT_EQ(fill_num_, 1);
    const size_t half = get_graph_pack_share(pool_, first);
    release_graph_pack(pool_, first);
    EXPECT_EQ(first[99], 1);
    EXPECT_NEAR(static_cast<double>(get_graph_pack_share(pool_, first)),
                2 * static_cast<double>(half), 1);
    release_graph_pack(pool_, first);
    char* again = hold(key_of(&kind_a, weights));
    EXPECT_EQ(fill_num_, 2) << "the last holder has let it go";
    release_graph_pack(pool_, again);
}

TEST_F(GraphPackTest, OtherKeysHaveTheirOwn)
{
    char* packs[] = {hold(key_of(&kind_a, weights)), hold(key_of(&kind_b, weights)),
                     hold(key_of(&kind_a, others)), hold(key_of(&kind_a, weights, 8))};
    EXPECT_EQ(fill_num_, 4);
    for (char* pack : packs)
        release_graph_pack(pool_, pack);
}

TEST_F(GraphPackTest, ManyAreFoundAgain)
{
    std::vector<char*> packs;
    for (int64_t size = 0; size < 1000; ++size)
        packs.push_back(hold(key_of(&kind_a, weights, size)));
    for (int64_t size = 0; size < 1000; size += 2)
        release_graph_pack(pool_, packs[static_cast<size_t>(size)]);
    fill_num_ = 0;
    for (int64_t size = 0; size < 1000; ++size) {
        char* again = hold(key_of(&kind_a, weights, size));
        if (size % 2 == 1) {
            EXPECT_EQ(again, packs[static_cast<size_t>(size)]);
            release_graph_pack(pool_, again);
        }
        release_graph_pack(pool_, again);
    }
    EXPECT_EQ(fill_num_, 500);
}

TEST_F(GraphPackTest, WithoutAKindNothingIsShared)
{
    char* first = hold(key_of(nullptr, weights));
    char* second = hold(key_of(nullptr, weights));
    EXPECT_NE(first, second);
    EXPECT_EQ(fill_num_, 2);
    release_graph_pack(pool_, first);
    release_graph_pack(pool_, second);
}

// Two threads that make the same pack use that of the first.
TEST_F(GraphPackTest, APackIsFoundOnceItIsOffered)
{
    const ir_pack_key_t key = key_of(&kind_a, weights);
    EXPECT_EQ(find_graph_pack(pool_, &key), nullptr);
    void* first = make_graph_pack(pool_, &key, 100);
    void* second = make_graph_pack(pool_, &key, 100);
    EXPECT_EQ(find_graph_pack(pool_, &key), nullptr) << "it may not be filled yet";
    EXPECT_EQ(offer_graph_pack(pool_, first), first);
    EXPECT_EQ(offer_graph_pack(pool_, second), first);
    EXPECT_EQ(hold(key), first);
    EXPECT_EQ(fill_num_, 0);
    for (int i = 0; i < 3; ++i)
        release_graph_pack(pool_, first);
    EXPECT_EQ(find_graph_pack(pool_, &key), nullptr);
    void* dropped = make_graph_pack(pool_, &key, 100);
    release_graph_pack(pool_, dropped);
    EXPECT_EQ(find_graph_pack(pool_, &key), nullptr);
}

TEST_F(GraphPackTest, APackMayOutliveItsGraphs)
{
    char* pack = hold(key_of(&kind_a, weights));
    graph_pool* pool = pool_;
    release_graph_pool(pool_);
    pool_ = nullptr;
    EXPECT_EQ(pack[0], 1);
    release_graph_pack(pool, pack);
}

TEST_F(GraphPackTest, AShortageOfMemoryIsSaid)
{
    EXPECT_EQ(hold(key_of(&kind_a, weights), UINT64_MAX), nullptr);
    EXPECT_EQ(fill_num_, 0);
}

}  // namespace
