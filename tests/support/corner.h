// SPDX-License-Identifier: Apache-2.0
// Elements of a dense tensor that lie in a smaller one of the same rank: its corner at the begin of
// all axes.
#pragma once

#include <cstddef>
#include <vector>

namespace tengine::test {

inline size_t count_elements(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

// Calls visit(place in `whole`, place in `part`) for all elements of the part.
template <class Visit>
void for_corner(const std::vector<int>& whole, const std::vector<int>& part, const Visit& visit)
{
    for (size_t i = 0; i < count_elements(part); ++i) {
        size_t rest = i, place = 0, stride = 1;
        for (size_t axis = part.size(); axis-- > 0;) {
            const auto dim = static_cast<size_t>(part[axis]);
            place += rest % dim * stride;
            rest /= dim;
            stride *= static_cast<size_t>(whole[axis]);
        }
        visit(place, i);
    }
}

}  // namespace tengine::test
