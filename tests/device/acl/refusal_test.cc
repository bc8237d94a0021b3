// SPDX-License-Identifier: Apache-2.0
// Nodes that the ACL device leaves to others, beside the cases of the operators' tables: shapes
// that ACL does not have, functions whose results are not ONNX's, and the messages that say so.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

using tools::constant;
using tools::constant_bytes;
using tools::fed;
using tools::fed_bytes;
using tools::int64_list;
using tools::scales;
using tools::zero_points;

void expect_refusal(const NodeCase& node_case, int data_type = TENGINE_DT_FP32)
{
    SCOPED_TRACE(node_case.name());
    const Agreement agreement = compare(node_case, data_type);
    EXPECT_FALSE(agreement.on_acl);
    EXPECT_NE(agreement.refusals.find(node_case.refusal), std::string::npos) << agreement.refusals;
}

const std::vector<int> kHigh = {2, 1, 1, 2, 1, 3, 4, 5};
constexpr const char* kHighRefusal = "8 dimensions, expected at most 6";

TEST(AclRefusal, OfHighRanks)
{
    std::vector<NodeCase> cases = {
        {{"Relu", {fed(kHigh)}}},
        {{"MatMul", {fed(kHigh), constant({5, 3})}}},
        {{"MatMul", {fed(kHigh), fed({3, 5, 3})}}},
        {{"ReduceSum", {fed(kHigh), int64_list({7})}}},
        {{"MaxPool", {fed(kHigh)}, {{"kernel_shape", {1, 1, 1, 1, 2, 2}}}}},
        {{"GlobalMaxPool", {fed(kHigh)}}},
        {{"Softmax", {fed(kHigh)}}},
        {{"Unsqueeze", {fed({3, 4}), int64_list({0, 1, 2, 3, 4, 5})}}},
    };
    for (NodeCase& node_case : cases) {
        node_case.refusal = kHighRefusal;
        expect_refusal(node_case);
    }
    NodeCase join = {{"Concat", {fed(kHigh), fed(kHigh)}, {}, {{"axis", 5}}}};
    join.refusal = kHighRefusal;
    expect_refusal(join, TENGINE_DT_INT8);
}

TEST(AclRefusal, OfHighRanksInBytes)
{
    const tools::Operand scale = scales({0.1}), zero = zero_points({128});
    std::vector<NodeCase> cases = {
        {{"Relu", {fed_bytes(kHigh)}}},
        {{"MaxPool", {fed_bytes(kHigh)}, {{"kernel_shape", {1, 1, 1, 1, 2, 2}}}}},
        {{"DequantizeLinear", {fed_bytes(kHigh), scale, zero}}},
        {{"tengine.Lookup", {fed_bytes(kHigh), constant_bytes({256})}}},
        {{"QLinearMatMul",
          {fed_bytes(kHigh), scale, zero, constant_bytes({5, 3}), scale, zero, scales({3}), zero}}},
    };
    for (NodeCase& node_case : cases) {
        node_case.refusal = kHighRefusal;
        expect_refusal(node_case, TENGINE_DT_INT8);
    }
}

TEST(AclRefusal, OfNoElements)
{
    std::vector<NodeCase> cases = {
        {{"MatMul", {fed({3, 0}), fed({0, 4})}}},
        {{"MatMul", {fed({2, 0, 3}), fed({2, 3, 4})}}},
        {{"Gemm", {fed({0, 3}), constant({3, 4})}}},
        {{"ReduceSum", {fed({0, 3}), int64_list({0})}}},
    };
    for (NodeCase& node_case : cases) {
        node_case.refusal = "has no elements";
        expect_refusal(node_case);
    }
}

// ACL's Log(0) is -88, its Floor(1e10) 2^31, its Sin(1e5) wrong in the third digit; the norm of
// small numbers is 1e-6 at least.
TEST(AclRefusal, OfFunctionsThatAreNotOnnxs)
{
    const float infinite = std::numeric_limits<float>::infinity();
    std::vector<NodeCase> cases = {
        {{"Log", {fed_list({0, -1, infinite, 1, NAN})}}},
        {{"Floor", {fed_list({1e10F, -1e10F, NAN, 3e38F, 0.5F})}}},
        {{"Sin", {fed_list({1e5F, 1e10F, 3e38F, 1, 2})}}},
        {{"LpNormalization", {fed_list({1e-7F, 1e-7F})}}},
    };
    for (NodeCase& node_case : cases) {
        node_case.refusal = "the device has no " + node_case.of.op;
        expect_refusal(node_case);
    }
}

// validate() of some functions throws.
TEST(AclRefusal, HasTheFunctionAlsoWhenItThrows)
{
    NodeCase join = {{"Concat", {fed({2, 1, 3, 1, 5}), fed({1, 1, 3, 1, 5})}, {}, {{"axis", 0}}}};
    join.refusal = ": NEConcatenateLayer: ";
    expect_refusal(join);
}

NodeCase resize(const std::vector<std::pair<std::string, std::string>>& texts, const char* refusal)
{
    NodeCase made = {
        {"Resize",
         {fed({1, 2, 3, 4}), tools::absent(), tools::absent(), int64_list({1, 2, 6, 8})}}};
    made.of.texts = texts;
    made.refusal = refusal;
    return made;
}

TEST(AclRefusal, OfResizeNamesTheCause)
{
    const char* rule = "coordinate_transformation_mode";
    expect_refusal(resize({{"mode", "cubic"}},
                          "ACL does not support mode 'cubic' here: expected nearest, linear"));
    expect_refusal(
        resize({{"mode", "linear"}, {rule, "pytorch_half_pixel"}},
               "ACL does not support coordinate_transformation_mode 'pytorch_half_pixel' here: "
               "expected half_pixel, asymmetric, align_corners"));
    expect_refusal(
        resize({{"mode", "nearest"}, {rule, "asymmetric"}},
               "ACL does not support nearest_mode 'round_prefer_floor' here: expected floor"));
    NodeCase channels = resize({{"mode", "nearest"}, {rule, "asymmetric"}}, "");
    channels.of.inputs[3] = int64_list({1, 4, 6, 8});
    channels.refusal = "axis 1 has scale 2.000000; ACL resizes only rows and columns";
    expect_refusal(channels);
    channels.of.inputs[3] = tools::absent();
    channels.of.inputs[2] = constant_list({1, 1, 2, 1.3F});
    channels.refusal = "axis 3 has scale 1.300000 and size 5; ACL's scale is the quotient";
    expect_refusal(channels);
}

TEST(AclRefusal, OfScalesHasTheScale)
{
    for (const auto& [scale, text] : std::vector<std::pair<double, const char*>>{
             {0, "a scale of 0,"}, {-0.5, "a scale of -0.5,"}}) {
        NodeCase made = {{"DequantizeLinear", {fed_bytes({7}), scales({scale})}}};
        made.refusal = text;
        expect_refusal(made, TENGINE_DT_INT8);
    }
}

TEST(AclRefusal, OfTypesHasTheType)
{
    tools::Operand reals = fed({7}), zero = tools::int64_list({1});
    reals.data_type = TENGINE_DT_FP32;
    zero.data_type = TENGINE_DT_INT16;
    zero.dims = {};
    NodeCase made = {{"QuantizeLinear", {reals, scales({0.01}), zero}}};
    made.refusal = "int16, which the device does not support";
    expect_refusal(made, TENGINE_DT_INT8);
}

}  // namespace
}  // namespace tengine::acl
