// SPDX-License-Identifier: Apache-2.0
// Contexts: the list of devices, options, default device, life time.
#include <cstring>
#include <gmock/gmock.h>
#include <string>

#include "fixture.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using test::TestDevice;
using testing::HasSubstr;

using ContextTest = ApiTest;

TEST_F(ContextTest, DefaultContextHasTheDefaultDevice)
{
    const context_t context = create_context(nullptr, 0);
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(get_context_device_number(context), 1);
    EXPECT_EQ(set_context_device(context, get_default_device(), nullptr, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    destroy_context(context);
}

TEST_F(ContextTest, EmptyContextIsFilledByName)
{
    const context_t context = create_context("empty", 1);
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(get_context_device_number(context), 0);
    EXPECT_EQ(add_context_device(context, get_default_device()), 0);
    EXPECT_EQ(get_context_device_number(context), 1);
    EXPECT_EQ(add_context_device(context, get_default_device()), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(remove_context_device(context, nullptr), 0);
    EXPECT_EQ(get_context_device_number(context), 1);
    EXPECT_EQ(remove_context_device(context, get_default_device()), 0);
    EXPECT_EQ(get_context_device_number(context), 0);
    EXPECT_EQ(remove_context_device(context, get_default_device()), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    destroy_context(context);
}

TEST_F(ContextTest, DeviceNamesAreExact)
{
    const context_t context = create_context("c", 1);
    for (const char* name : {"cpu", "no such device", "CPU "}) {
        EXPECT_EQ(add_context_device(context, name), -1);
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
        EXPECT_EQ(remove_context_device(context, name), -1);
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    }
    for (const char* name : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(set_context_device(context, name, nullptr, 0), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    destroy_context(context);
}

TEST_F(ContextTest, OptionsAreCopied)
{
    const context_t context = create_context("c", 1);
    int option = 7;
    EXPECT_EQ(set_context_device(context, get_default_device(), &option, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_context_device(context, get_default_device(), nullptr, sizeof option), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(set_context_device(context, get_default_device(), &option, sizeof option), 0);
        option = -1;
        EXPECT_EQ(remove_context_device(context, get_default_device()), 0);
    }
    destroy_context(context);
}

TEST_F(ContextTest, AttributesAreNotSupportedYet)
{
    const context_t context = create_context("c", 0);
    int value = 0;
    EXPECT_EQ(set_context_attr(context, "a", &value, sizeof value), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("tengine_context_set_option"));
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(get_context_attr(context, "a", &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(set_context_attr(context, nullptr, &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_context(context);
}

TEST_F(ContextTest, OptionsAreListedWithTheirDefaults)
{
    const context_t context = create_context("c", 0);
    const int number = tengine_option_get_number();
    ASSERT_GT(number, 0);
    for (int i = 0; i < number; ++i) {
        const char* key = tengine_option_get_name(i);
        EXPECT_STREQ(tengine_context_get_option(context, key), tengine_option_get_default(i));
        EXPECT_GT(std::strlen(tengine_option_get_help(i)), 0u) << key;
    }
    for (const int index : {-1, number}) {
        EXPECT_EQ(tengine_option_get_name(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_option_get_default(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_option_get_help(index), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    destroy_context(context);
}

TEST_F(ContextTest, OptionsAreSetByKey)
{
    const context_t context = create_context("c", 0);
    const context_t other = create_context("other", 0);
    EXPECT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    EXPECT_STREQ(tengine_context_get_option(context, "split.prune"), "0");
    EXPECT_STREQ(tengine_context_get_option(other, "split.prune"), "1");
    destroy_context(other);

    EXPECT_EQ(tengine_context_set_option(context, "split.prune", "2"), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("invalid value '2': expected one of 0 1"));
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_context_set_option(context, "pipeline.frames", "many"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_context_set_option(context, "pipeline.frames", "1000"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_STREQ(tengine_context_get_option(context, "split.prune"), "0");
    EXPECT_STREQ(tengine_context_get_option(context, "pipeline.frames"), "2");
    for (const char* key : {static_cast<const char*>(nullptr), ""}) {
        EXPECT_EQ(tengine_context_set_option(context, key, "0"), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(tengine_context_get_option(context, key), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(tengine_context_set_option(context, "split.prune", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_context(context);
}

TEST_F(ContextTest, UnknownOptionsAreAnsweredWithThoseThereAre)
{
    const context_t context = create_context("c", 0);
    for (const char* key : {"split.prun", "NPU.config", ".", "a key without a dot"}) {
        EXPECT_EQ(tengine_context_set_option(context, key, "0"), -1) << key;
        EXPECT_THAT(get_tengine_error(), HasSubstr("split.prune, "));
        EXPECT_THAT(get_tengine_error(),
                    HasSubstr(", " + std::string(get_default_device()) + ".<key>"));
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << key;
        EXPECT_EQ(tengine_context_get_option(context, key), nullptr) << key;
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << key;
    }
    destroy_context(context);
}

TEST_F(ContextTest, ASchedulerThatIsNoneIsToldAtOnce)
{
    const context_t context = create_context("c", 0);
    EXPECT_EQ(tengine_context_set_option(context, "scheduler", "sync"), 0) << get_tengine_error();
    EXPECT_EQ(tengine_context_set_option(context, "scheduler", "synchronous"), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("'synchronous': expected sync"));
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_STREQ(tengine_context_get_option(context, "scheduler"), "sync");
    EXPECT_EQ(tengine_context_set_option(context, "scheduler", ""), 0);
    EXPECT_STREQ(tengine_context_get_option(context, "scheduler"), "");
    destroy_context(context);
}

TEST_F(ContextTest, OptionsOfADeviceAreItsOwnToJudge)
{
    TestDevice a("A"), b("B"), mute("mute");
    mute.get()->interface->check_option = nullptr;
    const context_t context = create_context("c", 1);
    EXPECT_EQ(tengine_context_set_option(context, "A.fail_run", "3"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << "not in the list yet";
    for (const char* name : {"A", "B", "mute"})
        ASSERT_EQ(add_context_device(context, name), 0);
    EXPECT_EQ(tengine_context_get_option(context, "A.fail_run"), nullptr);
    EXPECT_TRUE(answered_with(TENGINE_ENOENT)) << "not set yet";
    EXPECT_EQ(tengine_context_set_option(context, "A.fail_run", "3"), 0) << get_tengine_error();
    EXPECT_STREQ(tengine_context_get_option(context, "A.fail_run"), "3");
    EXPECT_EQ(tengine_context_get_option(context, "B.fail_run"), nullptr);

    EXPECT_EQ(tengine_context_set_option(context, "A.fail_run", "three"), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("a whole number"));
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_context_set_option(context, "A.fail_walk", "3"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    for (const char* key : {"A.", "mute.fail_run", "mute."}) {
        EXPECT_EQ(tengine_context_set_option(context, key, "3"), -1) << key;
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << key;
    }
    EXPECT_EQ(tengine_context_set_option(context, "A.fail_run", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_STREQ(tengine_context_get_option(context, "A.fail_run"), "3");
    destroy_context(context);
}

TEST_F(ContextTest, OptionsReachTheirDeviceAtTheNextPrerun)
{
    TestDevice a("A", {"Relu"});
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "split.report", "none"), 0);
    const graph_t graph = create_relu_graph(context);
    ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"), {-1, 0, 1, 2}));
    const auto device = [&] {
        tengine_execution_node node;
        if (prerun_graph(graph) < 0 || tengine_graph_get_execution_node(graph, 0, &node) < 0)
            return std::string(get_tengine_error());
        return std::string(node.device);
    };
    EXPECT_EQ(device(), "A");
    ASSERT_EQ(tengine_context_set_option(context, "A.verdict", "1"), 0);
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(a.runs, 1);
    EXPECT_EQ(device(), "CPU");

    ASSERT_EQ(tengine_context_set_option(context, "A.verdict", "0"), 0);
    ASSERT_EQ(tengine_context_set_option(context, "A.fail_all_runs", "1"), 0);
    EXPECT_EQ(device(), "A");
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    tengine_subgraph part;
    ASSERT_EQ(tengine_graph_get_subgraph(graph, 0, &part), 0) << get_tengine_error();
    EXPECT_EQ(part.redo_number, 1);
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(ContextTest, ADeviceThatRefusesWithoutASentenceGetsOne)
{
    TestDevice silent("silent"), garbage("garbage");
    silent.get()->interface->check_option = [](device*, const char*, const char*) -> int {
        return TENGINE_ERANGE;
    };
    garbage.get()->interface->check_option = [](device*, const char*, const char*) { return 7; };
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "silent"), 0);
    ASSERT_EQ(add_context_device(context, "garbage"), 0);
    EXPECT_EQ(tengine_context_set_option(context, "silent.k", "v"), -1);
    EXPECT_THAT(get_tengine_error(), HasSubstr("device 'silent': option 'k': value 'v' rejected"));
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_context_set_option(context, "garbage.k", "v"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    EXPECT_EQ(tengine_context_get_option(context, "garbage.k"), nullptr);
    destroy_context(context);
}

TEST_F(ContextTest, DefaultDeviceCanBeSet)
{
    const std::string name = get_default_device();
    EXPECT_EQ(set_default_device(name.c_str()), 0);
    EXPECT_EQ(get_default_device(), name);
    EXPECT_EQ(set_default_device("no such device"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(set_default_device(nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_default_device(), name);
}

TEST_F(ContextTest, DestroyTakesNull)
{
    destroy_context(nullptr);
    EXPECT_EQ(get_tengine_errno(), 0);
}

TEST_F(ContextTest, GraphsOutliveTheirContext)
{
    const context_t context = create_context("shared", 0);
    const graph_t first = create_relu_graph(context);
    const graph_t second = create_relu_graph(context);
    destroy_context(context);
    EXPECT_EQ(get_context_device_number(context), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(create_graph(context, nullptr, nullptr), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(prerun_graph(first), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(first), 0);
    EXPECT_EQ(prerun_graph(second), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(second), 0);
}

}  // namespace
}  // namespace tengine
