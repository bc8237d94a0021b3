// SPDX-License-Identifier: Apache-2.0
// The table of cases (tools/cases), whose names reports and tests of devices have.
#include <gtest/gtest.h>
#include <set>

#include "cases/case.h"

namespace tengine::tools {
namespace {

TEST(CaseTable, NamesAreUnique)
{
    std::set<std::string> names;
    for (const auto& list :
         {list_cases(), list_quantized_cases(), list_network_cases(), list_measured_cases()})
        for (const Case& each : list)
            EXPECT_TRUE(names.insert(each.name()).second) << each.name();
}

TEST(CaseTable, EveryCaseHasATypeAndAShapeClass)
{
    for (const auto& list : {list_cases(), list_quantized_cases()})
        for (const Case& each : list) {
            EXPECT_FALSE(each.types.empty()) << each.name();
            EXPECT_FALSE(each.shape_class.empty()) << each.name();
        }
}

}  // namespace
}  // namespace tengine::tools
