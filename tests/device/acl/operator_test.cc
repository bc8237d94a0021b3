// SPDX-License-Identifier: Apache-2.0
// Every operator that the ACL device takes against the reference, at awkward sizes. The table of
// docs/acl.md is compared with the results.
#include <algorithm>
#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "device/acl/docs_table.h"
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

std::vector<std::string> list_names()
{
    std::set<std::string> names;
    for (const NodeCase& node_case : list_cases())
        names.insert(node_case.of.op);
    return {names.begin(), names.end()};
}

class AclOperator : public testing::TestWithParam<std::string>
{
  protected:
    std::vector<NodeCase> cases() const
    {
        std::vector<NodeCase> chosen;
        for (const NodeCase& node_case : list_cases())
            if (node_case.of.op == GetParam()) chosen.push_back(node_case);
        return chosen;
    }
    DocsRow docs_row() const
    {
        static const std::map<std::string, DocsRow> rows = read_docs_rows(false);
        const auto row = rows.find(GetParam());
        EXPECT_NE(row, rows.end()) << "docs/acl.md lacks " << GetParam();
        return row == rows.end() ? DocsRow() : row->second;
    }
};

TEST_P(AclOperator, AgreesInFp32)
{
    int number = 0, taken = 0;
    double bound = 0;
    for (const NodeCase& node_case : cases()) {
        SCOPED_TRACE(node_case.name());
        const Agreement agreement = compare(node_case, TENGINE_DT_FP32);
        EXPECT_EQ(agreement.on_acl, node_case.refusal.empty()) << agreement.refusals;
        EXPECT_NE(agreement.refusals.find(node_case.refusal), std::string::npos)
            << agreement.refusals;
        EXPECT_LE(agreement.error, agreement.bound);
        if (node_case.pointwise) continue;
        ++number;
        taken += agreement.on_acl;
        if (agreement.on_acl) bound = std::max(bound, agreement.bound);
    }
    const DocsRow row = docs_row();
    EXPECT_EQ(row.cases, std::to_string(number));
    // The table is that of 64 bits; with 32 ACL does not take Round.
    if (taken == 0 && sizeof(void*) == 4) return;
    EXPECT_TRUE(row.has("fp32"));
    EXPECT_EQ(row.taken, std::to_string(taken));
    EXPECT_EQ(row.last, format_relative(bound));
}

// ACL says which of its functions refuses, and why.
bool names_function(const std::string& refusals)
{
    return std::regex_search(refusals, std::regex(": (NE|CPP)\\w+(<\\w+>)?: \\w+ \\w+"));
}

bool computes_half()
{
    static const bool computes = compare({{"Relu", {tools::fed({7})}}}, TENGINE_DT_FP16).on_acl;
    return computes;
}

// Arithmetic in fp16 needs a processor that has it, and a library that was made for such; ACL says
// so. Operators that move elements need neither.
TEST_P(AclOperator, AgreesInFp16)
{
    bool is_taken = false;
    for (const NodeCase& node_case : cases()) {
        if (node_case.pointwise) continue;
        SCOPED_TRACE(node_case.name());
        const Agreement agreement = compare(node_case, TENGINE_DT_FP16);
        EXPECT_LE(agreement.error, agreement.bound);
        const bool is_moved = moves_elements(node_case.of);
        is_taken = is_taken || (agreement.on_acl && is_moved == moves_elements(GetParam()));
        if (is_moved) {
            EXPECT_EQ(agreement.on_acl, node_case.refusal.empty()) << agreement.refusals;
            EXPECT_EQ(agreement.error, 0);
        } else if (!agreement.on_acl && node_case.refusal.empty()) {
            EXPECT_TRUE(names_function(agreement.refusals)) << agreement.refusals;
        }
    }
    if (!computes_half() || docs_row().has("fp16")) {
        EXPECT_EQ(docs_row().has("fp16"), is_taken);
    }
}

TEST_P(AclOperator, MovesBytes)
{
    for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        const bool is_int8 = data_type == TENGINE_DT_INT8;
        const bool moves = moves_elements(GetParam());
        EXPECT_EQ(docs_row().has(is_int8 ? "int8" : "uint8"), moves);
        if (!moves) continue;
        for (const NodeCase& node_case : cases()) {
            SCOPED_TRACE(node_case.name() + (is_int8 ? " int8" : " uint8"));
            const Agreement agreement = compare(node_case, data_type);
            EXPECT_EQ(agreement.on_acl, node_case.refusal_of_bytes.empty()) << agreement.refusals;
            EXPECT_NE(agreement.refusals.find(node_case.refusal_of_bytes), std::string::npos)
                << agreement.refusals;
            EXPECT_EQ(agreement.error, 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, AclOperator, testing::ValuesIn(list_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tengine::acl
