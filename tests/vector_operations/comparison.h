// SPDX-License-Identifier: Apache-2.0
// The comparison of vector operations with their definitions, for any type and number of lanes:
// compiled once; templates would be compiled for each operation, type, width and instruction set.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "vector_operations/operands.h"

namespace tengine::vector_operations {

// The operations on the numbers of a type, for comparisons.
struct NumberType
{
    size_t bytes;
    void (*draw)(std::mt19937_64& engine, void* out_number);
    bool (*is_same)(const void* got, const void* expected);
    double (*value_of)(const void* number);
};

template <class T>
inline constexpr NumberType kNumberType = {
    sizeof(T),
    [](std::mt19937_64& engine, void* number) { *static_cast<T*>(number) = draw<T>(engine); },
    [](const void* got, const void* expected) {
        return is_same(*static_cast<const T*>(got), *static_cast<const T*>(expected));
    },
    [](const void* number) { return static_cast<double>(*static_cast<const T*>(number)); }};

// The numbers n for which operations are computed, by the lanes of a vector and the bytes of a
// lane.
using Parameters = std::vector<size_t> (*)(size_t lanes, size_t bytes);
std::vector<size_t> no_parameter(size_t lanes, size_t bytes);  // only 0

// Operations on vectors of one type and number of lanes, with one instruction set.
struct Comparison
{
    const char* target;
    const char* const* names;  // of the operations
    size_t operation_num;
    const NumberType* type;
    const NumberType* result;
    size_t lanes, result_lanes;
    Parameters parameters;
    // Computes the results of all operations on the lanes of a, b and c: each operation's results
    // begin kMostLanes numbers after those of the one before.
    void (*compute)(const void* a, const void* b, const void* c, size_t n, void* results);
    void (*define)(const void* a, const void* b, const void* c, size_t n, size_t lanes,
                   size_t result_lanes, void* results);
};

// Adds a failure of the running test for each operation whose result differs from its definition.
void compare(const Comparison& comparison);

}  // namespace tengine::vector_operations
