// SPDX-License-Identifier: Apache-2.0
// A quantised model as tools write it, with QuantizeLinear and DequantizeLinear around the nodes:
// as written, in float, and with the nodes between them in integers.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "device/acl/acl_run.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::acl {
namespace {

constexpr float kStep = 0.03F;

// The name of `from` after going through bytes.
std::string through_bytes(test::IrBuilder& builder, const std::string& from, float scale,
                          int zero_point, int data_type)
{
    builder.floats(from + "_scale", {}, {scale});
    builder.constant(from + "_zero", {}, std::vector{static_cast<uint8_t>(zero_point)}, data_type);
    const std::vector<std::string> parameters = {from + "_scale", from + "_zero"};
    builder.add("QuantizeLinear", {from, parameters[0], parameters[1]}, {from + "_bytes"});
    builder.add("DequantizeLinear", {from + "_bytes", parameters[0], parameters[1]},
                {from + "_back"});
    return from + "_back";
}

Build build_model(int data_type)
{
    return [data_type](test::IrBuilder& builder) {
        const int middle = data_type == TENGINE_DT_INT8 ? 0 : 128;
        builder.input("x", {1, 6, 13, 11});
        std::vector<int8_t> weights(size_t{9} * 6 * 3 * 3);
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = static_cast<int8_t>(i * 37 % 255 - 127);
        builder.constant("w", {9, 6, 3, 3}, weights, TENGINE_DT_INT8);
        builder.floats("w_scale", {}, {0.002F});
        builder.constant("w_zero", {}, std::vector<int8_t>{0}, TENGINE_DT_INT8);
        builder.add("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"w_back"});
        const std::string x = through_bytes(builder, "x", 1.0F / 127, middle, data_type);
        builder.add("Conv", {x, "w_back"}, {"c"});
        builder.add("Relu", {"c"}, {"r"});
        builder.outputs({through_bytes(builder, "r", kStep, middle - 128, data_type).c_str()});
    };
}

class AclQdq : public testing::TestWithParam<std::pair<int, int>>
{
};

TEST_P(AclQdq, AgreesWithTheCpu)
{
    const auto [data_type, precision] = GetParam();
    RunSettings on_acl, on_cpu = {{}};
    on_acl.precision = on_cpu.precision = precision;
    AclRun ours(on_acl, build_model(data_type)), reference(on_cpu, build_model(data_type));
    for (AclRun* run : {&ours, &reference}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(4);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    EXPECT_EQ(ours.redone(), 0);
    int integer_nodes = 0;
    for (int i = 0; i < ours.execution()->node_num; ++i) {
        const node& node = *ours.execution()->node_list[i];
        const std::string op = get_ir_node_op(&node);
        integer_nodes += op == "QLinearConv";
        // ACL for 32 bits cuts off where it should round.
        if (sizeof(void*) == 4 && op == "QuantizeLinear") continue;
        EXPECT_STREQ(node.device->name, "ACL") << ours.refusals();
    }
    EXPECT_EQ(integer_nodes, precision == TENGINE_MODE_FP32 ? 0 : 1);
    const std::vector<float> got = ours.outputs(), wanted = reference.outputs();
    ASSERT_EQ(got.size(), wanted.size());
    size_t differing = 0, positive = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_LE(std::lround(std::fabs(got[i] - wanted[i]) / kStep), 1) << i;
        differing += got[i] != wanted[i];
        positive += wanted[i] > 0;
    }
    // As for a QLinearConv alone: quantized_operator_test.cc.
    EXPECT_LE(differing, got.size() / 128);
    EXPECT_GT(positive, got.size() / 4);
}

INSTANTIATE_TEST_SUITE_P(Types, AclQdq,
                         testing::Values(std::pair{TENGINE_DT_INT8, TENGINE_MODE_FP32},
                                         std::pair{TENGINE_DT_UINT8, TENGINE_MODE_FP32},
                                         std::pair{TENGINE_DT_INT8, TENGINE_MODE_INT8},
                                         std::pair{TENGINE_DT_UINT8, TENGINE_MODE_UINT8}),
                         [](const auto& name) {
                             return std::string(name.param.first == TENGINE_DT_INT8 ? "Int8"
                                                                                    : "Uint8") +
                                    (name.param.second == TENGINE_MODE_FP32 ? "AsWritten"
                                                                            : "InIntegers");
                         });

}  // namespace
}  // namespace tengine::acl
