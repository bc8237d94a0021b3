// SPDX-License-Identifier: Apache-2.0
// Every operator that the ACL device takes against the reference, at awkward sizes.
#include <gtest/gtest.h>
#include <set>

#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

std::vector<std::string> list_names()
{
    std::set<std::string> names;
    for (const NodeCase& node_case : list_cases())
        names.insert(node_case.op);
    return {names.begin(), names.end()};
}

class AclOperator : public testing::TestWithParam<std::string>
{
};

TEST_P(AclOperator, AgreesInFp32)
{
    for (const NodeCase& node_case : list_cases()) {
        if (node_case.op != GetParam()) continue;
        SCOPED_TRACE(node_case.name());
        const Agreement agreement = compare(node_case, TENGINE_DT_FP32);
        EXPECT_EQ(agreement.on_acl, node_case.refusal.empty()) << agreement.refusals;
        EXPECT_NE(agreement.refusals.find(node_case.refusal), std::string::npos)
            << agreement.refusals;
        EXPECT_LE(agreement.error, agreement.bound);
    }
}

// Arithmetic in fp16 needs a processor that has it, and a library that was made for such; ACL then
// says so.
TEST_P(AclOperator, AgreesInFp16)
{
    for (const NodeCase& node_case : list_cases()) {
        if (node_case.op != GetParam() || node_case.pointwise) continue;
        SCOPED_TRACE(node_case.name());
        const Agreement agreement = compare(node_case, TENGINE_DT_FP16);
        if (!agreement.on_acl) {
            EXPECT_NE(agreement.refusals, "");
        }
        EXPECT_LE(agreement.error, agreement.bound);
    }
}

INSTANTIATE_TEST_SUITE_P(All, AclOperator, testing::ValuesIn(list_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tengine::acl
