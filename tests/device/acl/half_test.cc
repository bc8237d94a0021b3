// SPDX-License-Identifier: Apache-2.0
// A graph in fp16: nodes that move elements are ACL's, arithmetic is where processor and library
// have it, and otherwise the report has ACL's own message.
#include "base/half.h"

#include <gtest/gtest.h>
#include <regex>

#include "device/acl/acl_run.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::acl {
namespace {

void set_list(node* node, const char* key, const std::vector<int64_t>& values)
{
    EXPECT_EQ(set_node_ints(node, key, values.data(), static_cast<int>(values.size())), TENGINE_OK);
}

void build_in_half(test::IrBuilder& builder)
{
    builder.input("x", {1, 8, 6, 10}, TENGINE_DT_FP16);
    set_list(builder.add("Transpose", {"x"}, {"turned"}), "perm", {0, 2, 3, 1});
    builder.ints("flat", {1, 60, 8});
    builder.add("Reshape", {"turned", "flat"}, {"reshaped"});
    builder.ints("parts", {3, 5});
    EXPECT_EQ(
        set_node_int(builder.add("Split", {"reshaped", "parts"}, {"left", "right"}), "axis", 2),
        TENGINE_OK);
    EXPECT_EQ(set_node_int(builder.add("Concat", {"right", "left"}, {"joined"}), "axis", 2),
              TENGINE_OK);
    builder.ints("image", {1, 8, 6, 10});
    builder.add("Reshape", {"joined", "image"}, {"imaged"});
    builder.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
    builder.add("Pad", {"imaged", "pads"}, {"padded"});
    std::vector<uint16_t> weights(size_t{4} * 8 * 3 * 3);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = fp32_to_fp16(static_cast<float>(i % 13) / 13 - 0.5F);
    builder.constant("w", {4, 8, 3, 3}, weights, TENGINE_DT_FP16);
    builder.add("Conv", {"padded", "w"}, {"convolved"});
    builder.add("Sigmoid", {"convolved"}, {"y"});
    builder.outputs({"padded", "y"});
}

TEST(AclHalf, MovementIsAclsAndArithmeticSaysWhyNot)
{
    AclRun ours({}, build_in_half), reference({{}}, build_in_half);
    for (AclRun* run : {&ours, &reference}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(9);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    EXPECT_EQ(ours.redone(), 0);
    for (const char* name : {"turned", "reshaped", "left", "joined", "imaged", "padded"}) {
        const node* moving = test::find_node(ours.execution(), name);
        ASSERT_NE(moving, nullptr) << name;
        EXPECT_STREQ(moving->device->name, "ACL") << ours.refusals();
    }
    EXPECT_EQ(ours.output("padded"), reference.output("padded"));
    const std::regex sentence("NE\\w+: \\w+ .*F16.*");
    for (const char* name : {"convolved", "y"}) {
        const node* computing = test::find_node(ours.execution(), name);
        ASSERT_NE(computing, nullptr) << name;
        if (std::string(computing->device->name) == "ACL") continue;
        ASSERT_EQ(computing->core->refusal_num, 1) << name;
        EXPECT_TRUE(std::regex_match(computing->core->refusal_list[0].verdict.message, sentence))
            << computing->core->refusal_list[0].verdict.message;
    }
    // Sums of 72 products in fp16.
    const std::vector<float> got = ours.output("y"), wanted = reference.output("y");
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], (4 + 72) / 1024.0F) << i;
}

}  // namespace
}  // namespace tengine::acl
