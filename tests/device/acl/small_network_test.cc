// SPDX-License-Identifier: Apache-2.0
// Small networks run whole on ACL, in fp32, int8 and uint8, with the results of the default device.
#include "device/acl/small_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "device/acl/node_case.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::acl {
namespace {

class AclSmallNetwork : public testing::TestWithParam<size_t>
{
  protected:
    const SmallNetwork& network() const { return list_small_networks()[GetParam()]; }
};

void run_both(AclRun& ours, AclRun& reference)
{
    for (AclRun* run : {&ours, &reference}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(kSmallNetworkSeed);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    ASSERT_EQ(ours.redone(), 0);
}

float find_largest(const std::vector<float>& values)
{
    float largest = 0;
    for (const float value : values)
        largest = std::max(largest, std::fabs(value));
    return largest;
}

float find_difference(const std::vector<float>& got, const std::vector<float>& wanted)
{
    EXPECT_EQ(got.size(), wanted.size());
    float difference = 0;
    for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i)
        difference = std::max(difference, std::fabs(got[i] - wanted[i]));
    return difference;
}

// Every node may add the error that it may have alone. Relative to the largest value that grows
// little on its way, since the layers keep the size of values.
float find_float_bound(const graph& execution)
{
    int64_t units = 0;
    for (int i = 0; i < execution.node_num; ++i)
        units += error_units(*execution.node_list[i]);
    return std::ldexp(static_cast<float>(units), -23);
}

void expect_agreement_in_float(const SmallNetwork& network)
{
    AclRun ours({}, build_network(network)), reference({{}}, build_network(network));
    ASSERT_NO_FATAL_FAILURE(run_both(ours, reference));
    EXPECT_EQ(ours.nodes_on("CPU"), 0) << ours.refusals();
    const std::vector<float> wanted = reference.outputs();
    const float largest = find_largest(wanted);
    // Some results are far from 0 and from each other, so that a wrong one is seen.
    ASSERT_GT(largest, 0.1F);
    ASSERT_GT(find_difference(wanted, std::vector<float>(wanted.size(), wanted[0])), largest / 4);
    EXPECT_LE(find_difference(ours.outputs(), wanted) / largest,
              find_float_bound(*ours.execution()));
}

TEST_P(AclSmallNetwork, AgreesInFloat)
{
    expect_agreement_in_float(network());
}

// Sums and means in int8 and uint8 are seldom one step off, and the results are of a hundred such
// bytes and more, which a step of one moves by far less than a step.
constexpr long kMostSteps = 1;

bool is_integer_node(const node& node)
{
    const char* op = get_ir_node_op(&node);
    return std::strncmp(op, "QLinear", 7) == 0 || std::strcmp(op, "QGemm") == 0;
}

// Nodes that ACL for 32 bits does not do: it cuts off there where it should round.
bool may_be_refused(const node& node)
{
    const std::string op = get_ir_node_op(&node);
    return sizeof(void*) == 4 && (op == "QLinearAdd" || op == "QuantizeLinear");
}

void expect_agreement_in_bytes(const SmallNetwork& network, int precision)
{
    const Build build = build_calibrated_network(network, precision);
    RunSettings on_acl, on_cpu = {{}};
    on_acl.precision = on_cpu.precision = precision;
    AclRun ours(on_acl, build), reference(on_cpu, build), exact({{}}, build);
    ASSERT_NO_FATAL_FAILURE(run_both(ours, reference));
    ASSERT_NO_FATAL_FAILURE(run_both(exact, exact));
    int integer_nodes = 0;
    for (int i = 0; i < ours.execution()->node_num; ++i) {
        const node& node = *ours.execution()->node_list[i];
        integer_nodes += is_integer_node(node);
        if (may_be_refused(node)) continue;
        EXPECT_STREQ(node.device->name, "ACL") << ours.refusals();
    }
    // All convolutions and products, and the nodes that pool and add.
    EXPECT_GE(integer_nodes, 8);
    const std::vector<float> wanted = reference.outputs();
    const float step = get_ir_graph_tensor(ours.source(), ours.source()->output_tensors[0])->scale;
    EXPECT_LE(std::lround(find_difference(ours.outputs(), wanted) / step), kMostSteps);
    EXPECT_LE(find_difference(ours.outputs(), exact.outputs()), find_largest(wanted) / 4);
    std::printf("%s: %g steps, %g of the largest from float\n", network.name,
                find_difference(ours.outputs(), wanted) / step,
                find_difference(ours.outputs(), exact.outputs()) / find_largest(wanted));
}

TEST_P(AclSmallNetwork, AgreesInInt8)
{
    expect_agreement_in_bytes(network(), TENGINE_MODE_INT8);
}

TEST_P(AclSmallNetwork, AgreesInUint8)
{
    expect_agreement_in_bytes(network(), TENGINE_MODE_UINT8);
}

class AclClassicNetwork : public testing::TestWithParam<size_t>
{
};

TEST_P(AclClassicNetwork, AgreesInFloat)
{
    expect_agreement_in_float(list_classic_networks()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(All, AclClassicNetwork,
                         testing::Range(size_t{0}, list_classic_networks().size()),
                         [](const auto& index) {
                             return std::string(list_classic_networks()[index.param].name);
                         });

INSTANTIATE_TEST_SUITE_P(All, AclSmallNetwork,
                         testing::Range(size_t{0}, list_small_networks().size()),
                         [](const auto& index) {
                             return std::string(list_small_networks()[index.param].name);
                         });

}  // namespace
}  // namespace tengine::acl
