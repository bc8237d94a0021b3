// SPDX-License-Identifier: Apache-2.0
// The table of docs/acl.md: TENGINE_WRITE_TABLE=1 device_acl_test --gtest_filter='AclTable.*'
// prints it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

struct Row
{
    int cases = 0;
    int taken = 0;
    double error = 0;
    double bound = 0;
    std::string refusal;
};

void print_table(int data_type)
{
    std::map<std::string, Row> rows;
    for (const NodeCase& node_case : list_cases()) {
        if (node_case.pointwise) continue;
        const Agreement agreement = compare(node_case, data_type);
        Row& row = rows[node_case.op];
        ++row.cases;
        if (!agreement.on_acl) {
            row.refusal = agreement.refusals;
            continue;
        }
        ++row.taken;
        row.error = std::max(row.error, agreement.error);
        row.bound = std::max(row.bound, agreement.bound);
    }
    for (const auto& [op, row] : rows) {
        if (row.taken > 0)
            std::printf("| %s | %d | %d | %.1e | %.1e |\n", op.c_str(), row.cases, row.taken,
                        row.error, row.bound);
        else
            std::printf("| %s | %d | 0 | %s", op.c_str(), row.cases, row.refusal.c_str());
    }
}

TEST(AclTable, OfTheDocs)
{
    if (!std::getenv("TENGINE_WRITE_TABLE"))
        GTEST_SKIP() << "prints the table of docs/acl.md when TENGINE_WRITE_TABLE is set";
    std::printf("fp32\n");
    print_table(TENGINE_DT_FP32);
    std::printf("fp16\n");
    print_table(TENGINE_DT_FP16);
}

}  // namespace
}  // namespace tengine::acl
