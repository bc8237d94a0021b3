// SPDX-License-Identifier: Apache-2.0
// A device or scheduler that a context, a graph or a call uses cannot be unregistered, by whatever
// way the use came about, and can be as soon as the use has ended.
#include <atomic>
#include <functional>
#include <thread>

#include "fixture.h"
#include "onnx_graph.h"
#include "scheduler/watchdog.h"
#include "support/test_device.h"
#include "tengine/device.h"
#include "tengine/graph.h"

namespace tengine {
namespace {

testing::AssertionResult is_in_use(struct device* device, const std::string& user)
{
    const int status = unregister_device(device);
    const std::string sentence = tengine_error_message();
    const std::string start = std::string("device '") + device->name + "' is in use: " + user;
    if (status == TENGINE_ESTATE && sentence.rfind(start, 0) == 0 &&
        find_device_via_name(device->name) == device)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << status << ": " << sentence;
}

testing::AssertionResult is_unused(struct device* device)
{
    if (unregister_device(device) == TENGINE_OK && !find_device_via_name(device->name) &&
        register_device(device) == TENGINE_OK)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << tengine_error_message();
}

constexpr char kContext[] = "a context lists it";
constexpr char kGraph[] = "a graph uses it";
constexpr char kCall[] = "a call of it has not returned";

class DeviceUseTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (context_) destroy_context(context_);
        ApiTest::TearDown();
    }
    context_t make_context()
    {
        context_ = create_context("c", 1);
        EXPECT_EQ(add_context_device(context_, "A"), 0) << get_tengine_error();
        return context_;
    }
    // The program's handle; the context lives as long as a graph has it.
    void drop_context()
    {
        destroy_context(context_);
        context_ = nullptr;
    }
    void take_device_out() { EXPECT_EQ(remove_context_device(context_, "A"), 0); }
    static graph_t make_graph(context_t context)
    {
        const graph_t graph = create_relu_graph(context);
        EXPECT_TRUE(write_floats(get_graph_tensor(graph, "x"), {-1, 2, -3, 4}));
        return graph;
    }
    static void reshape(graph_t graph, int number)
    {
        const int shape[] = {number};
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), shape, 1), 0);
    }

    test::TestDevice a_{"A", {"Relu", "Neg"}};
    context_t context_ = nullptr;
};

TEST_F(DeviceUseTest, AContextListsIt)
{
    make_context();
    EXPECT_TRUE(is_in_use(a_.get(), kContext));
    take_device_out();
    EXPECT_TRUE(is_unused(a_.get()));
    ASSERT_EQ(add_context_device(context_, "A"), 0);
    ASSERT_EQ(add_context_device(context_, "A"), -1);
    take_logged_failures();
    EXPECT_TRUE(is_in_use(a_.get(), kContext));
    drop_context();
    EXPECT_TRUE(is_unused(a_.get()));
    ASSERT_EQ(set_default_device("A"), 0);
    context_ = create_context("first", 0);
    EXPECT_TRUE(is_in_use(a_.get(), kContext));
    drop_context();
    EXPECT_TRUE(is_unused(a_.get()));
}

TEST_F(DeviceUseTest, AGraphIsPrepared)
{
    const graph_t graph = make_graph(make_context());
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    take_device_out();
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    ASSERT_EQ(run_graph(graph, 1), 0) << "it still runs there";
    EXPECT_EQ(a_.runs, 1);
    ASSERT_EQ(postrun_graph(graph), 0);
    EXPECT_TRUE(is_unused(a_.get()));
    ASSERT_EQ(prerun_graph(graph), 0);
    EXPECT_TRUE(is_unused(a_.get())) << "prepared without it";
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(DeviceUseTest, TheGraphKeepsTheContext)
{
    const graph_t graph = make_graph(make_context());
    drop_context();
    EXPECT_TRUE(is_in_use(a_.get(), kContext));
    ASSERT_EQ(prerun_graph(graph), 0);
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_TRUE(is_unused(a_.get()));
}

TEST_F(DeviceUseTest, TheDeviceOfAGraphAndItsInstances)
{
    const graph_t graph = make_graph(nullptr);
    ASSERT_EQ(set_graph_device(graph, "A"), 0);
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    const graph_t instance = tengine_graph_share(graph);
    ASSERT_NE(instance, nullptr) << get_tengine_error();
    EXPECT_TRUE(write_floats(get_graph_tensor(instance, "x"), {-1, 2, -3, 4}));
    ASSERT_EQ(set_graph_device(graph, "CPU"), 0);
    EXPECT_TRUE(is_in_use(a_.get(), kGraph)) << "the instance";
    ASSERT_EQ(prerun_graph(instance), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    ASSERT_EQ(run_graph(instance, 1), 0);
    EXPECT_EQ(a_.runs, 1);
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    EXPECT_EQ(destroy_graph(instance), 0);
    EXPECT_TRUE(is_unused(a_.get()));
}

// In the preparations that are kept for shapes that come again, and in the one that has ended,
// whose compiled parts the next one may use.
TEST_F(DeviceUseTest, KeptPreparations)
{
    for (const char* kept : {"2", "0"}) {
        make_context();
        ASSERT_EQ(tengine_context_set_option(context_, "run.shape_cache", kept), 0);
        const graph_t graph = make_graph(context_);
        ASSERT_EQ(prerun_graph(graph), 0);
        reshape(graph, 5);
        a_.fail_pre_run = 1;
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_STREQ(get_node_device(get_graph_node(graph, "y")), "CPU");
        a_.fail_pre_run = 0;
        take_device_out();
        EXPECT_TRUE(is_in_use(a_.get(), kGraph)) << kept;
        ASSERT_EQ(postrun_graph(graph), 0);
        EXPECT_TRUE(is_unused(a_.get())) << kept;
        EXPECT_EQ(destroy_graph(graph), 0);
        drop_context();
    }
}

TEST_F(DeviceUseTest, APreparationThatFailed)
{
    make_context();
    ASSERT_EQ(tengine_context_set_option(context_, "split.fail_on_fallback", "1"), 0);
    const graph_t graph = make_graph(context_);
    a_.fail_pre_run = 1;
    ASSERT_EQ(prerun_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_EFALLBACK));
    a_.fail_pre_run = 0;
    EXPECT_TRUE(is_in_use(a_.get(), kContext));
    take_device_out();
    EXPECT_TRUE(is_unused(a_.get()));
    // A second one, which ends the first.
    ASSERT_EQ(add_context_device(context_, "A"), 0);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    reshape(graph, 6);
    a_.fail_pre_run = 1;
    ASSERT_EQ(prerun_graph(graph), -1);
    take_logged_failures();
    a_.fail_pre_run = 0;
    take_device_out();
    EXPECT_TRUE(is_unused(a_.get()));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(DeviceUseTest, ANodeOfABody)
{
    using namespace onnx;
    const std::string less =
        onnx::graph({node("Neg", {"x"}, {"less"})}, {}, {value("less", kFloat, {2})});
    const std::string same =
        onnx::graph({node("Abs", {"x"}, {"same"})}, {}, {value("same", kFloat, {2})});
    const graph_t graph = load(
        onnx::graph(
            {node("If", {"on"}, {"y"},
                  {graph_attribute("then_branch", less), graph_attribute("else_branch", same)})},
            {value("x", kFloat, {2}), value("on", kBool)}, {value("y", kFloat, {2})}),
        make_context());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    take_device_out();
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    const bool on = true;
    ASSERT_EQ(set_tensor_data(get_graph_tensor(graph, "on"), &on, 1), 0);
    ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"), {1, 2}));
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(a_.runs, 1);
    ASSERT_EQ(postrun_graph(graph), 0);
    EXPECT_TRUE(is_unused(a_.get()));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(DeviceUseTest, ACallThatHangs)
{
    make_context();
    ASSERT_EQ(tengine_context_set_option(context_, "run.watchdog_ms", "20"), 0);
    const graph_t graph = make_graph(context_);
    a_.script.hang_run = 1;
    a_.script.hang_ms = -1;
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    EXPECT_EQ(destroy_graph(graph), 0);
    drop_context();
    EXPECT_TRUE(is_in_use(a_.get(), kCall));
    a_.release_hangs();
    ASSERT_EQ(wait_hung_calls(60000), 0);
    EXPECT_TRUE(is_unused(a_.get()));
}

TEST_F(DeviceUseTest, EveryDeviceOfTheBuild)
{
    for (int i = 0; i < get_device_count(); ++i) {
        struct device* device = find_device_via_index(i);
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, device->name), 0);
        EXPECT_TRUE(is_in_use(device, kContext));
        const graph_t graph = make_graph(context);
        destroy_context(context);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_TRUE(is_in_use(device, kGraph));
        EXPECT_TRUE(is_in_use(find_default_device(), kGraph)) << "which takes what is left";
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

// The refusal disturbs no graph: some run meanwhile, and others come and go.
TEST_F(DeviceUseTest, WhileOtherThreadsRun)
{
    make_context();
    std::atomic<bool> ends{false};
    std::atomic<int> rounds{0};
    const auto repeat = [&](const std::function<void()>& step) {
        return std::thread([&ends, &rounds, step] {
            while (!ends) {
                step();
                ++rounds;
            }
        });
    };
    const graph_t graph = make_graph(context_);
    ASSERT_EQ(prerun_graph(graph), 0);
    std::thread runs = repeat([graph] { EXPECT_EQ(run_graph(graph, 1), 0); });
    std::thread makes = repeat([this] {
        const graph_t other = make_graph(context_);
        EXPECT_EQ(prerun_graph(other), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(other), 0);
        const context_t context = create_context("other", 1);
        EXPECT_EQ(add_context_device(context, "A"), 0);
        destroy_context(context);
    });
    while (rounds < 300)
        EXPECT_TRUE(is_in_use(a_.get(), kGraph));
    ends = true;
    runs.join();
    makes.join();
    EXPECT_EQ(destroy_graph(graph), 0);
    drop_context();
    EXPECT_TRUE(is_unused(a_.get()));
}

TEST_F(DeviceUseTest, ASchedulerOfAPreparedGraph)
{
    static ir_scheduler_t own = *find_scheduler_via_name("sync");
    own.name = "own";
    ASSERT_EQ(register_scheduler(&own), TENGINE_OK) << tengine_error_message();
    make_context();
    ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "own"), 0);
    const graph_t graph = make_graph(context_);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(unregister_scheduler(&own), TENGINE_ESTATE);
    EXPECT_STREQ(tengine_error_message(),
                 "scheduler 'own' is in use: a graph uses it; call postrun_graph or destroy_graph "
                 "first");
    ASSERT_EQ(run_graph(graph, 1), 0);
    ASSERT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(unregister_scheduler(&own), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
