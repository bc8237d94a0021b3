// SPDX-License-Identifier: Apache-2.0
// Recurring parts in other shapes: their devices find the objects of their earlier compilation.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

class SparePartTest : public testing::Test
{
  protected:
    SparePartTest()
    {
        session_.set("run.shape_cache", "0");
        device_.on_pre_run = [this](subgraph* part) { found_ += part->device_graph != nullptr; };
    }

    void prepare(int size)
    {
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    }

    void expect_right_results(int size)
    {
        session_.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.read("y").size(), static_cast<size_t>(size));
        EXPECT_FLOAT_EQ(session_.read("y")[0], three_steps_of(0.5f));
    }

    // Returns the old parts that device A found since the last call.
    int count_found()
    {
        const int found = found_;
        found_ = 0;
        return found;
    }

    const LogCapture log_;
    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
    int found_ = 0;
};

TEST_F(SparePartTest, ADeviceFindsItsPartsInOtherShapes)
{
    add_three_steps(session_);
    prepare(3);
    EXPECT_EQ(count_found(), 0);
    for (const int size : {5, 1, 5, 3}) {
        prepare(size);
        EXPECT_EQ(count_found(), 2);
        expect_right_results(size);
    }
    EXPECT_EQ(device_.pre_runs, 10);
    EXPECT_EQ(device_.post_runs, 8);
    EXPECT_EQ(device_.releases, 0) << "each was taken up";
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(device_.releases, 2);
}

TEST_F(SparePartTest, PartsOfAKeptShapeAreNotTakenFromIt)
{
    add_three_steps(session_);
    session_.set("run.shape_cache", "1");
    prepare(3);
    prepare(5);
    EXPECT_EQ(count_found(), 0);
    prepare(7);  // ends 3
    EXPECT_EQ(count_found(), 2);
    expect_right_results(7);
    prepare(5);
    expect_right_results(5);
    EXPECT_EQ(device_.pre_runs, 6);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(device_.releases, 4);
}

TEST_F(SparePartTest, OtherOptionsBeginAnew)
{
    add_three_steps(session_);
    prepare(3);
    session_.set("split.report", "none");
    prepare(5);
    EXPECT_EQ(count_found(), 0);
    EXPECT_EQ(device_.releases, 2);
    expect_right_results(5);
}

TEST_F(SparePartTest, ADeviceWithoutReleaseGraphFindsNothing)
{
    int (*const release)(struct device*, void*) = device_.get()->interface->release_graph;
    device_.get()->interface->release_graph = nullptr;
    add_three_steps(session_);
    std::vector<void*> made;
    device_.on_run = [&](subgraph* part) {
        made.push_back(part->device_graph);
        return TENGINE_OK;
    };
    for (const int size : {3, 5}) {
        prepare(size);
        expect_right_results(size);
    }
    EXPECT_EQ(count_found(), 0);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    for (void* device_graph : made)  // such a device does this in post_run
        release(device_.get(), device_graph);
}

TEST_F(SparePartTest, PartsThatAreNotFoundAreReleased)
{
    add_three_steps(session_);
    prepare(3);
    device_.script.max_nodes = 1;
    device_.refusal = [](const node& node) {
        return std::string(get_ir_node_op(&node)) == "Neg" ? "not today" : "";
    };
    prepare(5);
    EXPECT_EQ(count_found(), 1);
    EXPECT_EQ(device_.releases, 1);
    expect_right_results(5);
}

int (*scripted_pre_run)(struct device*, struct subgraph*, void*);

int refuse_old_parts(struct device* device, struct subgraph* part, void* options)
{
    const bool is_old = part->device_graph != nullptr;
    const int status = scripted_pre_run(device, part, options);
    return is_old ? tengine_error_set(TENGINE_EDEVICE, "told to fail") : status;
}

// A pre_run that fails with the old part may compile from the beginning before the part is halved.
TEST_F(SparePartTest, AFailureWithAnOldPartIsNotTheLastWord)
{
    add_three_steps(session_);
    prepare(3);
    scripted_pre_run = device_.get()->interface->pre_run;
    device_.get()->interface->pre_run = refuse_old_parts;
    prepare(5);
    EXPECT_EQ(session_.part(0)->device, device_.get());
    EXPECT_EQ(device_.pre_runs, 6);
    EXPECT_EQ(device_.releases, 2);
    EXPECT_EQ(device_.allocations, device_.allocator_releases + 2);
    expect_right_results(5);
}

TEST(SparePart, ConstantsAndAttributesMakeAPart)
{
    const LogCapture log;
    TestDevice other("B", {"Mul", "LeakyRelu"});
    Session session({&other});
    session.set("run.shape_cache", "0");
    int found = 0;
    other.on_pre_run = [&](subgraph* part) { found += part->device_graph != nullptr; };
    session.builder().input("x", {2, 3});
    tensor* scale = session.builder().floats("scale", {3}, {1, 2, 3});
    session.builder().add("Mul", {"x", "scale"}, {"m"});
    node* leaky = session.builder().add("LeakyRelu", {"m"}, {"y"});
    session.builder().outputs({"y"});
    const auto prepare = [&](int rows) {
        const int dims[] = {rows, 3};
        found = 0;
        EXPECT_EQ(set_ir_tensor_shape(session.at("x"), dims, 2), TENGINE_OK);
        EXPECT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        return found;
    };
    const auto run = [&](int rows) {
        session.feed("x", Floats(static_cast<size_t>(rows) * 3, -1));
        EXPECT_EQ(session.run(), TENGINE_OK);
        return session.read("y")[1];
    };
    Floats first = {1, 2, 3};  // as that of a program, whose graph has a new revision when it goes
    set_ir_tensor_data(scale, first.data(), false);
    EXPECT_EQ(prepare(2), 0);
    EXPECT_EQ(prepare(4), 1);
    EXPECT_FLOAT_EQ(run(4), -0.02f);
    Floats values = {5, 6, 7};
    set_ir_tensor_data(scale, values.data(), false);
    EXPECT_EQ(prepare(5), 0) << "another constant";
    EXPECT_FLOAT_EQ(run(5), -0.06f);
    Floats equal = values;
    set_ir_tensor_data(scale, equal.data(), false);
    EXPECT_EQ(prepare(4), 1) << "one of equal values";
    static_cast<float*>(leaky->op.param_mem)[0] = 0.5f;
    EXPECT_EQ(prepare(5), 0) << "another attribute";
    EXPECT_FLOAT_EQ(run(5), -3);
}

TEST_F(SparePartTest, WatchedPartsAreFoundToo)
{
    session_.set("run.watchdog_ms", "1000");
    add_three_steps(session_);
    for (const int size : {3, 5, 3}) {
        prepare(size);
        expect_right_results(size);
    }
    EXPECT_EQ(count_found(), 4);
}

}  // namespace
