// SPDX-License-Identifier: Apache-2.0
// Arrays element by element, for the tests of operators that move elements: an expected result is a
// function of the position.
#pragma once

#include <algorithm>

#include "tengine_case.h"

namespace tengine::test {

using Place = std::vector<int>;

inline int64_t flat_place(const std::vector<int>& dims, const Place& place)
{
    int64_t flat = 0;
    for (size_t i = 0; i < dims.size(); ++i)
        flat = flat * dims[i] + place[i];
    return flat;
}

inline double at(const Array& array, const Place& place)
{
    return array.values.at(static_cast<size_t>(flat_place(array.dims, place)));
}

// Makes an array whose element at `place` is value_of(place).
template <class F>
Array build(const std::vector<int>& dims, F value_of, int data_type = TENGINE_DT_FP32)
{
    Array made{dims, {}, data_type};
    const int64_t num = count_elements(dims);
    for (int64_t flat = 0; flat < num; ++flat) {
        Place place(dims.size());
        for (size_t i = dims.size(), rest = static_cast<size_t>(flat); i-- > 0;) {
            place[i] = static_cast<int>(rest % static_cast<size_t>(dims[i]));
            rest /= static_cast<size_t>(dims[i]);
        }
        made.values.push_back(value_of(place));
    }
    return made;
}

inline Array reshaped(Array array, const std::vector<int>& dims)
{
    EXPECT_EQ(count_elements(array.dims), count_elements(dims));
    array.dims = dims;
    return array;
}

inline Array transposed(const Array& array, const std::vector<int>& order)
{
    std::vector<int> dims;
    for (const int axis : order)
        dims.push_back(array.dims[static_cast<size_t>(axis)]);
    return build(dims, [&](const Place& place) {
        Place from(place.size());
        for (size_t i = 0; i < order.size(); ++i)
            from[static_cast<size_t>(order[i])] = place[i];
        return at(array, from);
    });
}

inline Array ints(const std::vector<int>& dims, const std::vector<double>& values,
                  int data_type = TENGINE_DT_INT64)
{
    return {dims, values, data_type};
}

inline Array int_list(const std::vector<double>& values, int data_type = TENGINE_DT_INT64)
{
    return ints({static_cast<int>(values.size())}, values, data_type);
}

}  // namespace tengine::test
