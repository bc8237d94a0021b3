// SPDX-License-Identifier: Apache-2.0
// Devices that fail to compile a part: it is halved until they can, and single nodes go to the
// default device.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

// A chain of Neg and Abs: t1 = -x, t2 = |t1|, t3 = -t2 ...
class PrepareTest : public testing::Test
{
  protected:
    static constexpr int kLength = 9;

    PrepareTest()
    {
        session_.builder().input("x", {2});
        std::string last = "x";
        for (int i = 1; i <= kLength; i++) {
            const std::string next = "t" + std::to_string(i);
            session_.builder().add(i % 2 ? "Neg" : "Abs", {last}, {next});
            last = next;
        }
        session_.builder().outputs({last});
        session_.feed("x", {-1, 2});
    }

    void expect_right_results()
    {
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.read("t" + std::to_string(kLength)), (Floats{-1, -2}));
    }

    int part_num() { return get_vector_num(session_.execution()->subgraph_list); }

    const LogCapture log_;
    TestDevice device_{"A", {"Neg", "Abs"}};
    Session session_{&device_};
};

TEST_F(PrepareTest, PartsAreHalvedUntilTheDeviceCompilesThem)
{
    for (int most = 1; most <= kLength; most++) {
        device_.script.max_nodes = most;
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        int nodes = 0;
        for (int i = 0; i < part_num(); i++) {
            EXPECT_EQ(session_.part(i)->device, device_.get());
            EXPECT_LE(session_.part(i)->node_num, most);
            nodes += session_.part(i)->node_num;
        }
        EXPECT_EQ(nodes, kLength);
        expect_right_results();
    }
}

TEST_F(PrepareTest, NodesTheDeviceCannotCompileGoToTheDefaultDevice)
{
    device_.script.cannot_compile = "Abs";
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < session_.execution()->node_num; i++) {
        const node* node = session_.execution()->node_list[i];
        const bool refused = std::string(get_ir_node_op(node)) == "Abs";
        EXPECT_EQ(node->device, refused ? find_default_device() : device_.get()) << node->name;
        EXPECT_EQ(node->refusal_num, refused ? 1 : 0) << node->name;
    }
    expect_right_results();
}

TEST_F(PrepareTest, ADeviceThatCompilesNothingLeavesOnePart)
{
    device_.fail_pre_run = true;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(part_num(), 1);
    EXPECT_EQ(session_.part(0)->device, find_default_device());
    expect_right_results();
    EXPECT_EQ(device_.allocations, device_.allocator_releases);
    EXPECT_EQ(device_.runs, 0);
}

TEST_F(PrepareTest, NothingIsHalvedWhereNothingMayFallBack)
{
    session_.set("split.fail_on_fallback", "1");
    device_.script.max_nodes = 2;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << "halves are not a fallback";
    expect_right_results();
    device_.fail_pre_run = true;
    EXPECT_EQ(session_.prerun(), TENGINE_EFALLBACK);
    EXPECT_TRUE(says("told to fail"));
    EXPECT_EQ(session_.execution(), nullptr);
    EXPECT_EQ(device_.allocations, device_.allocator_releases);
}

}  // namespace
