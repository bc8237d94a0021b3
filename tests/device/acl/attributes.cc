// SPDX-License-Identifier: Apache-2.0
#include "device/acl/attributes.h"

#include <gtest/gtest.h>

#include "operator/param.h"

namespace tengine::acl {

void set_attributes(node* node, const IntLists& lists, const Integers& integers,
                    const Floats& floats)
{
    for (const auto& [key, values] : lists)
        EXPECT_EQ(set_node_ints(node, key.c_str(), values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    for (const auto& [key, value] : integers)
        EXPECT_EQ(set_node_int(node, key.c_str(), value), TENGINE_OK);
    for (const auto& [key, value] : floats)
        EXPECT_EQ(set_node_float(node, key.c_str(), value), TENGINE_OK);
}

std::string describe_attributes(const IntLists& lists, const Integers& integers,
                                const Floats& floats)
{
    std::string text;
    for (const auto& [key, values] : lists)
        text += " " + key + "=" + join(values, ',');
    for (const auto& [key, value] : integers)
        text += " " + key + "=" + std::to_string(value);
    for (const auto& [key, value] : floats)
        text += " " + key + "=" + std::to_string(value);
    return text;
}

size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

}  // namespace tengine::acl
