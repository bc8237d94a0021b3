// SPDX-License-Identifier: Apache-2.0
// Attributes and shapes in the case tables of the ACL device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tengine/ir.h"

namespace tengine::acl {

// Lists by their keys.
using IntLists = std::vector<std::pair<std::string, std::vector<int64_t>>>;
using Integers = std::vector<std::pair<std::string, int>>;
using Floats = std::vector<std::pair<std::string, float>>;

void set_attributes(node* node, const IntLists& lists, const Integers& integers,
                    const Floats& floats);
// " key=value" of each.
std::string describe_attributes(const IntLists& lists, const Integers& integers,
                                const Floats& floats);

// "scalar" when there are none.
template <class T>
std::string join(const std::vector<T>& values, char separator)
{
    std::string text;
    for (const T& value : values)
        text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(value);
    return text.empty() ? "scalar" : text;
}

// Elements of a shape.
size_t count(const std::vector<int>& dims);

}  // namespace tengine::acl
