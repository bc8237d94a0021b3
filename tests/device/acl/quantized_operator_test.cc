// SPDX-License-Identifier: Apache-2.0
// Every operator on quantised bytes that the ACL device takes against the reference, at awkward
// sizes and zero points.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "device/acl/quantized_case.h"

namespace tengine::acl {
namespace {

// Both round an exact value to one of its two neighbours, so bytes differ by one step at most.
constexpr double kMostSteps = 1;
// ACL rounds sums twice, with n bits between that it shifts away behind the first time: the second
// time goes wrong where the exact value lies within 2^-(n+1) steps of the middle of two bytes. The
// factors of the cases have 7 bits and more, but for the few that saturate.
constexpr double kDifferingShare = 1.0 / 128;

std::vector<std::string> list_names()
{
    std::set<std::string> names;
    for (const QuantizedCase& quantized_case : list_quantized_cases())
        names.insert(quantized_case.op);
    return {names.begin(), names.end()};
}

class AclQuantizedOperator : public testing::TestWithParam<std::string>
{
};

TEST_P(AclQuantizedOperator, IsOneStepOffSeldom)
{
    double differing = 0, expected = 0;
    for (const QuantizedCase& quantized_case : list_quantized_cases()) {
        if (quantized_case.op != GetParam()) continue;
        for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
            SCOPED_TRACE(quantized_case.name() + (data_type == TENGINE_DT_INT8 ? " i8" : " u8"));
            const int threads = data_type == TENGINE_DT_INT8 ? 1 : 2;
            const Steps steps = compare(quantized_case, data_type, threads);
            EXPECT_EQ(steps.on_acl, quantized_case.refusal.empty()) << steps.refusals;
            EXPECT_NE(steps.refusals.find(quantized_case.refusal), std::string::npos)
                << steps.refusals;
            EXPECT_LE(steps.largest, kMostSteps);
            if (!steps.on_acl) continue;
            differing += static_cast<double>(steps.differing);
            expected += static_cast<double>(steps.number) * (kDifferingShare + quantized_case.ties);
        }
    }
    RecordProperty("differing", std::to_string(differing));
    EXPECT_LE(differing, expected);
}

INSTANTIATE_TEST_SUITE_P(All, AclQuantizedOperator, testing::ValuesIn(list_names()),
                         [](const auto& name) {
                             return name.param.substr(name.param.rfind('.') + 1);
                         });

}  // namespace
}  // namespace tengine::acl
