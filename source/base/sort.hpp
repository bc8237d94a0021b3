// SPDX-License-Identifier: Apache-2.0
// Sorting of the containers of containers.hpp; arrays of C are sorted by sort.h.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/containers.hpp"

namespace tengine {

// std::stable_sort: merges runs of 1, 2, 4, … items, to and fro between `items` and a copy.
template <class T, class Less>
void sort_stably(Vector<T>& items, Less less)
{
    const size_t number = items.size();
    Vector<T> merged(items);
    for (size_t run = 1; run < number; run *= 2) {
        for (size_t begin = 0; begin < number; begin += 2 * run) {
            const auto first = items.begin() + static_cast<ptrdiff_t>(begin);
            const auto middle =
                items.begin() + static_cast<ptrdiff_t>(std::min(begin + run, number));
            const auto last =
                items.begin() + static_cast<ptrdiff_t>(std::min(begin + 2 * run, number));
            std::merge(first, middle, middle, last, merged.begin() + static_cast<ptrdiff_t>(begin),
                       less);
        }
        items.swap(merged);
    }
}

}  // namespace tengine
