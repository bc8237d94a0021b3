// SPDX-License-Identifier: Apache-2.0
#include "graph/context.h"

#include <gtest/gtest.h>
#include <memory>

#include "tengine/device.h"

namespace {

TEST(Context, KeepsDevicesInOrderWithCopiesOfTheirOptions)
{
    const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context(create_ir_context("c"),
                                                                         destroy_ir_context);
    struct device first = {}, second = {};
    init_ir_device(&first, "first");
    init_ir_device(&second, "second");
    int options = 7;
    ASSERT_EQ(add_ir_context_device(context.get(), &first, &options, sizeof(options)), TENGINE_OK);
    ASSERT_EQ(add_ir_context_device(context.get(), &second, nullptr, 0), TENGINE_OK);
    options = 8;
    EXPECT_EQ(*static_cast<int*>(find_ir_context_device(context.get(), &first)->options), 7);
    EXPECT_EQ(find_ir_context_device(context.get(), &second)->options, nullptr);
    EXPECT_EQ(add_ir_context_device(context.get(), &first, nullptr, 0), TENGINE_EEXIST);
    ASSERT_EQ(remove_ir_context_device(context.get(), &first), TENGINE_OK);
    EXPECT_EQ(remove_ir_context_device(context.get(), &first), TENGINE_ENOENT);
    EXPECT_EQ(get_vector_num(context->devices), 1);
}

TEST(Context, KeysKeepTheirLastValue)
{
    vector_t* list = nullptr;
    EXPECT_EQ(find_ir_key_value(list, "a"), nullptr);
    ASSERT_EQ(set_ir_key_value(&list, "a", "1"), TENGINE_OK);
    ASSERT_EQ(set_ir_key_value(&list, "b", ""), TENGINE_OK);
    ASSERT_EQ(set_ir_key_value(&list, "a", "2"), TENGINE_OK);
    ASSERT_EQ(set_ir_key_value(&list, "b", find_ir_key_value(list, "a")), TENGINE_OK);
    ASSERT_EQ(set_ir_key_value(&list, "a", find_ir_key_value(list, "a")), TENGINE_OK);
    EXPECT_STREQ(find_ir_key_value(list, "a"), "2");
    EXPECT_STREQ(find_ir_key_value(list, "b"), "2");
    EXPECT_EQ(find_ir_key_value(list, "c"), nullptr);
    EXPECT_EQ(get_vector_num(list), 2);
    release_vector(list);
}

}  // namespace
