// SPDX-License-Identifier: Apache-2.0
#include "module/module.h"

#include <cstddef>
#include <cstring>
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

// ---- devices that were compiled against other headers ----

int accept_device(struct device* /*device*/)
{
    return 0;
}

int accept_part(struct device* /*device*/, struct subgraph* /*part*/)
{
    return 0;
}

// A device whose tables end where Tengine Lite's did; the memory after them does not belong to it.
class ShortDevice
{
  public:
    explicit ShortDevice(const char* name) : abi_(IR_ABI)
    {
        std::memset(&interface_, 0x5a, sizeof interface_);
        std::memset(&allocator_, 0x5a, sizeof allocator_);
        interface_.init = accept_device;
        interface_.pre_run = [](struct device*, struct subgraph*, void*) { return 0; };
        interface_.run = interface_.post_run = accept_part;
        interface_.release_graph = nullptr;
        interface_.release_device = accept_device;
        allocator_.describe = [](struct device*, struct vector*, struct vector*, struct vector*) {
            return 0;
        };
        init_ir_device(&device_, name);
        device_.interface = &interface_;
        device_.allocator = &allocator_;
        abi_.interface_size = offsetof(struct interface, save);
        abi_.allocator_size = offsetof(struct allocator, inspect);
    }

    ir_abi_t abi_;
    struct device device_;
    struct interface interface_;
    struct allocator allocator_;
};

TEST(DeviceAbi, ShorterTablesAreFilledUp)
{
    ShortDevice old("old");
    ASSERT_EQ(register_ir_device(&old.device_, &old.abi_), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(old.device_.interface->run, old.interface_.run);
    EXPECT_FALSE(old.device_.interface->save);
    EXPECT_FALSE(old.device_.interface->option);
    EXPECT_FALSE(old.device_.allocator->inspect);
    EXPECT_FALSE(old.device_.allocator->survey);
    EXPECT_EQ(find_device_via_name("old"), &old.device_);
    ASSERT_EQ(unregister_device(&old.device_), TENGINE_OK);
    EXPECT_EQ(old.device_.interface, &old.interface_);
    EXPECT_EQ(old.device_.allocator, &old.allocator_);
}

TEST(DeviceAbi, ALaterMinorVersionIsTaken)
{
    ShortDevice later("later");
    later.abi_.minor += 3;
    later.abi_.interface_size = sizeof later.interface_ + 8;
    later.abi_.allocator_size = sizeof later.allocator_ + 8;
    ASSERT_EQ(register_ir_device(&later.device_, &later.abi_), TENGINE_OK);
    EXPECT_EQ(later.device_.interface, &later.interface_);
    EXPECT_EQ(unregister_device(&later.device_), TENGINE_OK);
}

TEST(DeviceAbi, AnotherMajorVersionIsRefusedWithBothVersions)
{
    ShortDevice other("other");
    other.abi_.major = IR_ABI_MAJOR + 1;
    other.abi_.minor = 7;
    EXPECT_EQ(register_ir_device(&other.device_, &other.abi_), TENGINE_EVERSION);
    EXPECT_STREQ(tengine_error_message(),
                 "device 'other' was compiled for device ABI 2.7; this library has 1.3");
    EXPECT_EQ(other.device_.interface, &other.interface_);
    EXPECT_FALSE(find_device_via_name("other"));
}

TEST(DeviceAbi, TablesShorterThanTheFirstOnesAreRefused)
{
    ShortDevice tiny("tiny");
    tiny.abi_.interface_size = 8;
    EXPECT_EQ(register_ir_device(&tiny.device_, &tiny.abi_), TENGINE_EINVAL);
    ShortDevice strange("strange");
    ++strange.abi_.device_size;
    EXPECT_EQ(register_ir_device(&strange.device_, &strange.abi_), TENGINE_EVERSION);
    EXPECT_EQ(register_ir_device(&strange.device_, nullptr), TENGINE_EINVAL);
}

TEST(DeviceAbi, AFailingInitGivesTheTablesBack)
{
    ShortDevice failing("failing");
    failing.interface_.init = [](struct device*) { return -5; };
    EXPECT_EQ(register_ir_device(&failing.device_, &failing.abi_), TENGINE_EDEVICE);
    EXPECT_EQ(failing.device_.interface, &failing.interface_);
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
