// SPDX-License-Identifier: Apache-2.0
// Every operator on quantised bytes that the ACL device takes against the reference, at awkward
// sizes and zero points.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "device/acl/docs_table.h"
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

// Both round an exact value to one of its two neighbours, so bytes differ by one step at most.
constexpr double kMostSteps = 1;
// ACL rounds sums twice, with n bits between that it shifts away after the first time: the second
// time goes wrong where the exact value lies within 2^-(n+1) steps of the middle of two bytes. The
// factors of the cases have 7 bits and more, except the few that saturate.
constexpr double kDifferingShare = 1.0 / 128;

std::vector<std::string> list_names()
{
    std::set<std::string> names;
    for (const NodeCase& node_case : list_quantized_cases())
        names.insert(node_case.of.op);
    return {names.begin(), names.end()};
}

class AclQuantizedOperator : public testing::TestWithParam<std::string>
{
};

TEST_P(AclQuantizedOperator, IsOneStepOffSeldom)
{
    double differing = 0, expected = 0;
    int cases = 0, taken = 0;
    std::string types;
    for (const NodeCase& node_case : list_quantized_cases()) {
        if (node_case.of.op != GetParam()) continue;
        ++cases;
        for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
            if (!node_case.is_of(data_type)) continue;
            SCOPED_TRACE(node_case.name() + (data_type == TENGINE_DT_INT8 ? " i8" : " u8"));
            const int threads = data_type == TENGINE_DT_INT8 ? 1 : 2;
            const Steps steps = compare_steps(node_case, data_type, threads);
            EXPECT_EQ(steps.on_acl, node_case.refusal.empty()) << steps.refusals;
            EXPECT_NE(steps.refusals.find(node_case.refusal), std::string::npos) << steps.refusals;
            EXPECT_LE(steps.largest, kMostSteps);
            if (!steps.on_acl) continue;
            const char* type = data_type == TENGINE_DT_INT8 ? "int8" : "uint8";
            if ((" " + types).find(" " + std::string(type)) == std::string::npos)
                types += (types.empty() ? "" : " ") + std::string(type);
            taken += data_type == TENGINE_DT_INT8;
            differing += static_cast<double>(steps.differing);
            expected += static_cast<double>(steps.number) * (kDifferingShare + node_case.ties);
        }
    }
    EXPECT_LE(differing, expected);
    const auto rows = read_docs_rows(true);
    ASSERT_EQ(rows.count(GetParam()), 1U) << "docs/acl.md lacks " << GetParam();
    EXPECT_EQ(rows.at(GetParam()).cases, std::to_string(cases));
    // The table is that of 64 bits.
    if (sizeof(void*) == 8) {
        EXPECT_EQ(rows.at(GetParam()).types, types);
        EXPECT_EQ(rows.at(GetParam()).taken, std::to_string(taken));
    }
}

INSTANTIATE_TEST_SUITE_P(All, AclQuantizedOperator, testing::ValuesIn(list_names()),
                         [](const auto& name) {
                             return name.param.substr(name.param.rfind('.') + 1);
                         });

}  // namespace
}  // namespace tengine::acl
