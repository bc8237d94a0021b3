// SPDX-License-Identifier: Apache-2.0
// Devices that fail to compile a part: it is halved until they can, and single nodes go to the
// default device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "graph/preparation.h"
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
        for (int i = 1; i <= kLength; ++i) {
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
    for (int most = 1; most <= kLength; ++most) {
        device_.script.max_nodes = most;
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        int nodes = 0;
        for (int i = 0; i < part_num(); ++i) {
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
    for (int i = 0; i < session_.execution()->node_num; ++i) {
        const node* node = session_.execution()->node_list[i];
        const bool refused = std::string(get_ir_node_op(node)) == "Abs";
        EXPECT_EQ(node->device, refused ? find_default_device() : device_.get()) << node->name;
        EXPECT_EQ(node->core->refusal_num, refused ? 1 : 0) << node->name;
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

TEST_F(PrepareTest, APartHasTheNameOfItsGraph)
{
    ASSERT_EQ(set_ir_graph_name(session_.source(), "net"), TENGINE_OK);
    device_.on_pre_run = [](subgraph* part) { EXPECT_STREQ(part->graph->name, "net"); };
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_GT(device_.pre_runs, 0);
}

TEST_F(PrepareTest, NothingIsHalvedWhereNothingMayFallBack)
{
    session_.set("split.fail_on_fallback", "1");
    session_.set("run.shape_cache", "0");
    device_.script.max_nodes = 2;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << "halves are not a fallback";
    expect_right_results();
    device_.fail_pre_run = true;
    EXPECT_EQ(session_.prerun(), TENGINE_EFALLBACK);
    EXPECT_TRUE(says("told to fail"));
    EXPECT_EQ(session_.execution(), nullptr);
    EXPECT_EQ(device_.allocations, device_.allocator_releases);
}

// Boundary tensors have memory and readers of their own, so that the device's other results are
// unreliable too: the part counts as failed.
TEST_F(PrepareTest, ADeviceThatReshapesABorderDoesNotCompileThePart)
{
    for (const bool input : {true, false}) {
        device_.on_pre_run = [input](subgraph* part) {
            const int32_t* list = input ? part->input_tensor_list : part->output_tensor_list;
            const int other[] = {1};
            EXPECT_EQ(set_ir_tensor_shape(part->graph->tensor_list[list[0]], other, 1), TENGINE_OK);
        };
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(part_num(), 1);
        EXPECT_EQ(session_.part(0)->device, find_default_device());
        ASSERT_EQ(session_.execution()->node_list[0]->core->refusal_num, 1);
        EXPECT_THAT(session_.execution()->node_list[0]->core->refusal_list[0].verdict.message,
                    testing::HasSubstr("crosses the boundary of the part, has changed its shape"));
        expect_right_results();
    }
}

TEST_F(PrepareTest, AnotherThreadMayCancelIt)
{
    device_.on_pre_run = [this](subgraph*) {
        EXPECT_TRUE(cancel_ir_preparation(session_.source()));
    };
    device_.script.max_nodes = 1;
    EXPECT_EQ(session_.prerun(), TENGINE_ECANCELED);
    EXPECT_TRUE(says("was cancelled"));
    EXPECT_EQ(session_.execution(), nullptr);
    EXPECT_FALSE(cancel_ir_preparation(session_.source()));
    device_.on_pre_run = nullptr;
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    expect_right_results();
}

TEST_F(PrepareTest, AGraphMayHoldNoMoreThanItsLimit)
{
    session_.set("memory.limit_mb", "0.00001");
    EXPECT_EQ(session_.prerun(), TENGINE_ELIMIT);
    EXPECT_TRUE(says("that memory.limit_mb allows"));
    session_.set("memory.limit_mb", "1");
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    expect_right_results();
}

}  // namespace
