// SPDX-License-Identifier: Apache-2.0
// Contexts: the list of devices, options, default device, life time.
#include <string>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

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
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(get_context_attr(context, "a", &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(set_context_attr(context, nullptr, &value, sizeof value), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
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
