// SPDX-License-Identifier: Apache-2.0
// Devices that fail a run: the default device runs the part; the failure is reported once, then
// counted.
#include <climits>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

class FaultTest : public testing::Test
{
  protected:
    FaultTest()
    {
        add_three_steps(session_);
        session_.feed("x", {-1, 0, 1, 2});
    }

    void expect_right_results()
    {
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.read("r"), (Floats{0, 0, 1, 2}));
        const Floats results = session_.read("y");
        for (size_t i = 0; i < results.size(); ++i)
            EXPECT_FLOAT_EQ(results[i], three_steps_of(static_cast<float>(i) - 1));
    }

    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
};

TEST_F(FaultTest, TheDefaultDeviceDoesARunThatFails)
{
    const LogCapture log;
    device_.script.fail_run = 3;  // the first part's second run
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    for (int i = 0; i < 3; ++i)
        expect_right_results();
    EXPECT_EQ(device_.runs, 2 + 2 + 1);
    EXPECT_EQ(log.count("told to fail"), 1) << "reported once";
    EXPECT_EQ(log.count("device 'A', run of part 0 (1 nodes): told to fail; CPU runs the part"), 1);
    EXPECT_EQ(session_.part(0)->core->redo_num, 2) << "then counted";
    EXPECT_EQ(session_.part(2)->core->redo_num, 0);
    EXPECT_EQ(session_.part(0)->device, find_default_device());
    EXPECT_EQ(session_.part(2)->device, device_.get());
    EXPECT_GE(session_.part(0)->core->measured_ns, 0);
    const node* relu = find_node(session_.execution(), "r");
    EXPECT_EQ(relu->device, find_default_device());
    EXPECT_EQ(relu->core->predicted_ns, -1) << "was that of the other device";
    ASSERT_EQ(relu->core->refusal_num, 1);
    EXPECT_EQ(relu->core->refusal_list[0].device, device_.get());
    EXPECT_EQ(relu->core->refusal_list[0].verdict.code, IR_REASON_RUN);
    EXPECT_STREQ(relu->core->refusal_list[0].verdict.message,
                 "device 'A', run of part 0 (1 nodes): told to fail");
}

TEST_F(FaultTest, TheNextPrerunTriesTheDeviceAgain)
{
    const LogCapture log;
    device_.fail_run = true;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results();
    expect_right_results();
    EXPECT_EQ(device_.runs, 2) << "one for each part";
    EXPECT_EQ(device_.post_runs, 2);
    EXPECT_EQ(device_.releases, 2);
    device_.fail_run = false;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    expect_right_results();
    EXPECT_EQ(device_.runs, 4);
    EXPECT_EQ(session_.part(0)->core->redo_num, 0);
    EXPECT_EQ(session_.part(0)->device, device_.get());
}

TEST_F(FaultTest, AnyStatusButZeroIsAFailure)
{
    const LogCapture log;
    device_.fail_run = true;
    for (const int status : {1, 7, -7, -1, -12345, 1 << 20, INT_MAX, INT_MIN}) {
        device_.script.status = status;
        ASSERT_EQ(session_.prerun(), TENGINE_OK);
        expect_right_results();
        EXPECT_EQ(session_.part(0)->core->redo_num, 1) << status;
        const node* relu = find_node(session_.execution(), "r");
        EXPECT_EQ(std::string(relu->core->refusal_list[0].verdict.message),
                  "device 'A', run of part 0 (1 nodes): it returned " + std::to_string(status));
    }
    device_.fail_run = false;
    device_.fail_pre_run = true;
    for (const int status : {1, INT_MIN}) {
        device_.script.status = status;
        ASSERT_EQ(session_.prerun(), TENGINE_OK);
        expect_right_results();
        EXPECT_EQ(get_vector_num(session_.execution()->subgraph_list), 1);
    }
}

// Makes a tensor of a part longer than expected.
int lengthen(graph* part, int index)
{
    const int dims[] = {1000};
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(part->tensor_list[index], dims, 1));
    return allocate_ir_tensor(part->tensor_list[index]);
}

TEST_F(FaultTest, AnOutputOfAnotherSizeIsAFailure)
{
    const LogCapture log;
    ASSERT_EQ(session_.prerun(), TENGINE_OK);
    device_.on_run = [](subgraph* part) {
        TENGINE_RETURN_IF_ERROR(lengthen(part->graph, part->input_tensor_list[0]));
        return lengthen(part->graph, part->output_tensor_list[0]);
    };
    expect_right_results();
    EXPECT_EQ(log.count("output 'r' has 4000 bytes, expected 16"), 1);
}

// x @ w on A has all multiply-accumulates.
TEST(Fault, FallingBackStopsAtTheShareOfMacsThatIsAllowed)
{
    const LogCapture log;
    TestDevice device("A", {"MatMul"});
    Session session({&device});
    session.builder().input("x", {2, 2});
    session.builder().floats("w", {2, 2}, {1, 2, 3, 4});
    session.builder().add("MatMul", {"x", "w"}, {"p"});
    session.builder().add("Neg", {"p"}, {"y"});
    session.builder().outputs({"y"});
    session.feed("x", {1, 0, 0, 1});
    session.set("split.max_fallback_macs", "50");
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    device.fail_run = true;
    EXPECT_EQ(session.run(), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(),
                 "device 'A', run of part 0 (1 nodes): told to fail; falling back to CPU is not "
                 "allowed (split.fail_on_fallback, split.max_fallback_macs)");
    EXPECT_EQ(session.source()->status, GRAPH_STAT_ERROR);
    EXPECT_EQ(session.run(), TENGINE_EDEVICE) << "the device is asked each time";
    EXPECT_EQ(device.runs, 2);
    device.fail_run = false;
    ASSERT_EQ(session.run(), TENGINE_OK);
    EXPECT_EQ(session.read("y"), (Floats{-1, -2, -3, -4}));
    session.set("split.max_fallback_macs", "100");
    ASSERT_EQ(session.prerun(), TENGINE_OK);
    device.fail_run = true;
    ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(session.read("y"), (Floats{-1, -2, -3, -4}));
}

}  // namespace
