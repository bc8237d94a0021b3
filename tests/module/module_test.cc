// SPDX-License-Identifier: Apache-2.0
#include "module/module.h"

#include <gtest/gtest.h>
#include <string>

#include "support/test_device.h"

namespace {

using tengine::test::TestDevice;

TEST(Module, StartsTwiceAndAgainAfterRelease)
{
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(init_modules(), TENGINE_OK);
        EXPECT_TRUE(are_modules_initialised());
        EXPECT_GT(get_op_method_count(), 100);
        EXPECT_NE(find_default_device(), nullptr);
        release_modules();
        release_modules();
        EXPECT_EQ(get_op_method_count(), 0);
        EXPECT_EQ(find_default_device(), nullptr);
        EXPECT_EQ(get_device_count(), 0);
    }
}

TEST(Module, TheDefaultDeviceComesLast)
{
    ASSERT_EQ(init_modules(), TENGINE_OK);
    EXPECT_EQ(find_device_via_index(get_device_count() - 1), find_default_device());
    EXPECT_EQ(find_device_via_index(get_device_count()), nullptr);
    EXPECT_EQ(find_device_via_index(-1), nullptr);
}

TEST(Module, NamesAreTakenOnce)
{
    TestDevice first("first");
    struct device again = *first.get();
    EXPECT_EQ(register_device(&again), TENGINE_EEXIST);
    EXPECT_EQ(find_device_via_name("first"), first.get());
    EXPECT_EQ(find_device_via_name("First"), nullptr);
    EXPECT_EQ(find_device_via_name(nullptr), nullptr);
}

TEST(Module, AnIncompleteDeviceIsRefusedByName)
{
    ASSERT_EQ(init_modules(), TENGINE_OK);
    struct device device;
    init_ir_device(&device, "half");
    EXPECT_EQ(register_device(&device), TENGINE_EINVAL);
    EXPECT_STREQ(tengine_error_message(), "device 'half' lacks interface");
    TestDevice whole("whole");
    struct interface interface = *whole.get()->interface;
    interface.run = nullptr;
    device.interface = &interface;
    EXPECT_EQ(register_device(&device), TENGINE_EINVAL);
    EXPECT_STREQ(tengine_error_message(), "device 'half' lacks interface.run");
    EXPECT_EQ(register_device(nullptr), TENGINE_EINVAL);
}

TEST(Module, AFailingInitKeepsTheDeviceOut)
{
    TestDevice whole("whole");
    struct interface interface = *whole.get()->interface;
    interface.init = [](struct device*) { return -5; };
    struct device device = *whole.get();
    device.name = "failing";
    device.interface = &interface;
    EXPECT_EQ(register_device(&device), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(), "device 'failing': init returned -5");
    EXPECT_EQ(find_device_via_name("failing"), nullptr);
}

TEST(Module, TheFirstDeviceCanBeChosen)
{
    TestDevice chosen("chosen");
    EXPECT_EQ(get_first_device(), find_default_device());
    EXPECT_EQ(set_first_device("absent"), TENGINE_ENOENT);
    ASSERT_EQ(set_first_device("chosen"), TENGINE_OK);
    EXPECT_EQ(get_first_device(), chosen.get());
    ASSERT_EQ(set_first_device(find_default_device()->name), TENGINE_OK);
}

TEST(Module, OperatorIdsAreStableWithinARun)
{
    ASSERT_EQ(init_modules(), TENGINE_OK);
    const int conv = get_op_type("", "Conv");
    EXPECT_GE(conv, OP_BUILTIN_LAST);
    EXPECT_STREQ(find_op_name(conv), "Conv");
    EXPECT_EQ(get_op_type("nowhere", "Conv"), -1);
    EXPECT_EQ(find_op_name(-1), nullptr);
    EXPECT_EQ(get_op_type("tengine", "InputOp") == get_op_type("", "InputOp"), false);
}

}  // namespace
