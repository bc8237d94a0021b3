// SPDX-License-Identifier: Apache-2.0
// The number of calls of a device's describe() when programs read its lists.
#include "module/description.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "module/module.h"
#include "support/test_device.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace {

using tengine::test::TestDevice;

class DescriptionTest : public testing::Test
{
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0); }
    void TearDown() override { release_tengine(); }

    static std::vector<std::string> read_operators(const char* device)
    {
        std::vector<std::string> names;
        const int number = tengine_device_get_operator_number(device);
        for (int i = 0; i < number; ++i)
            names.emplace_back(tengine_device_get_operator(device, i));
        return names;
    }
};

using Names = std::vector<std::string>;

TEST_F(DescriptionTest, ADeviceIsAskedOnceForAList)
{
    TestDevice device("LISTED", {"Relu", "Neg", "Abs", "Add"});
    EXPECT_EQ(read_operators("LISTED"), (Names{"Relu", "Neg", "Abs", "Add"}));
    EXPECT_EQ(device.describes, 1);
    ASSERT_EQ(tengine_device_get_data_type_number("LISTED"), 1);
    EXPECT_EQ(device.describes, 2);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(tengine_device_get_data_type("LISTED", 0), TENGINE_DT_FP32);
    EXPECT_EQ(device.describes, 2);
}

TEST_F(DescriptionTest, AnElementNeedsNoCount)
{
    TestDevice device("LISTED", {"Relu", "Neg"});
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 1), "Neg");
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 0), "Relu");
    EXPECT_EQ(tengine_device_get_operator("LISTED", 2), nullptr);
    EXPECT_EQ(tengine_device_get_operator("LISTED", -1), nullptr);
    EXPECT_EQ(device.describes, 1);
}

TEST_F(DescriptionTest, DevicesAreAskedEachForItself)
{
    TestDevice one("ONE", {"Relu"}), other("OTHER", {"Neg", "Abs"});
    ASSERT_EQ(tengine_device_get_operator_number("ONE"), 1);
    ASSERT_EQ(tengine_device_get_operator_number("OTHER"), 2);
    EXPECT_STREQ(tengine_device_get_operator("ONE", 0), "Relu");
    EXPECT_STREQ(tengine_device_get_operator("OTHER", 1), "Abs");
    EXPECT_EQ(one.describes, 1);
    EXPECT_EQ(other.describes, 1);
}

// After a compiler is unregistered its dispatch has other operators.
TEST_F(DescriptionTest, TheCountIsThatOfThePresentAnswer)
{
    TestDevice device("LISTED", {"Relu", "Neg"});
    EXPECT_EQ(read_operators("LISTED"), (Names{"Relu", "Neg"}));
    device.script.operators = "Abs";
    EXPECT_EQ(read_operators("LISTED"), (Names{"Abs"}));
    EXPECT_EQ(tengine_device_get_operator("LISTED", 1), nullptr);
    EXPECT_EQ(device.describes, 2);
}

TEST_F(DescriptionTest, AnAnswerGoesWithItsDevice)
{
    TestDevice device("LISTED", {"Relu", "Neg"});
    EXPECT_EQ(read_operators("LISTED"), (Names{"Relu", "Neg"}));
    ASSERT_EQ(unregister_device(device.get()), TENGINE_OK);
    EXPECT_EQ(tengine_device_get_operator("LISTED", 0), nullptr);
    device.script.operators = "Abs";
    ASSERT_EQ(register_device(device.get()), TENGINE_OK);
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 0), "Abs");
}

// Operators have other ids after the library is initialised again.
TEST_F(DescriptionTest, AnswersGoWithTheLibrary)
{
    TestDevice device("LISTED", {"Relu"});
    ASSERT_EQ(tengine_device_get_operator_number("LISTED"), 1);
    release_tengine();
    ASSERT_EQ(init_tengine(), 0);
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 0), "Relu");
    EXPECT_EQ(device.describes, 2);
}

TEST_F(DescriptionTest, AFailureLeavesNoAnswer)
{
    TestDevice device("LISTED", {"Relu", "Neg"});
    ASSERT_EQ(tengine_device_get_operator_number("LISTED"), 2);
    auto* allocator = const_cast<struct allocator*>(device.get()->allocator);
    const auto describe = allocator->describe;
    allocator->describe = [](struct device*, vector*, vector*, vector*) { return -1; };
    EXPECT_EQ(tengine_device_get_operator_number("LISTED"), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EDEVICE);
    EXPECT_EQ(tengine_device_get_operator("LISTED", 0), nullptr);
    allocator->describe = describe;
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 0), "Relu");
}

}  // namespace
