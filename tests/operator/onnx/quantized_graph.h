// SPDX-License-Identifier: Apache-2.0
// Quantised tensors in constant graphs, and the exact results that integer operators are compared
// with.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "constant_graph.h"

namespace tengine::test {

template <class T>
int saturate(long double value)
{
    return static_cast<int>(std::clamp<long double>(value, std::numeric_limits<T>::min(),
                                                    std::numeric_limits<T>::max()));
}

// Returns the integer of an operator's result in real steps.
template <class T>
T quantize(long double steps, int zero_point)
{
    return static_cast<T>(saturate<T>(std::nearbyint(steps) + zero_point));
}

// Adds inputs name, name_scale and name_zero.
template <class T>
void add_tensor(ConstantGraph* graph, const std::string& name, std::vector<int> dims,
                const std::vector<T>& values, float scale, int zero_point)
{
    graph->input<T>(name, std::move(dims), values);
    graph->input<float>(name + "_scale", {}, {scale});
    graph->input<T>(name + "_zero", {}, {static_cast<T>(zero_point)});
}

template <class T>
void add_result(ConstantGraph* graph, float scale, int zero_point)
{
    graph->input<float>("y_scale", {}, {scale});
    graph->input<T>("y_zero", {}, {static_cast<T>(zero_point)});
}

template <class T>
std::vector<T> random_bytes(size_t number, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<T> values(number);
    for (T& value : values)
        value = static_cast<T>(random());
    return values;
}

}  // namespace tengine::test
