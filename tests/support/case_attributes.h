// SPDX-License-Identifier: Apache-2.0
// The attributes of a case of the table (tools/cases) on a node of the graph.
#pragma once

#include <gtest/gtest.h>

#include "cases/case.h"
#include "operator/param.h"

namespace tengine::test {

inline void set_attributes(node* node, const tools::Case& of)
{
    for (const auto& [name, values] : of.lists)
        EXPECT_EQ(set_node_ints(node, name.c_str(), values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    for (const auto& [name, value] : of.ints)
        EXPECT_EQ(set_node_int(node, name.c_str(), value), TENGINE_OK);
    for (const auto& [name, value] : of.floats)
        EXPECT_EQ(set_node_float(node, name.c_str(), value), TENGINE_OK);
    for (const auto& [name, value] : of.texts)
        EXPECT_EQ(set_node_text(node, name.c_str(), value.c_str(), value.size()), TENGINE_OK);
}

}  // namespace tengine::test
