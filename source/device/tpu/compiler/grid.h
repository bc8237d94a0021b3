// SPDX-License-Identifier: Apache-2.0
// Nested loops over vectors as the grids that instructions have: loops that are one in memory are
// merged, and nests of more than two loops, or longer than a grid may be, become several.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace tengine::tpu {

// One loop: how often, and how far each operand moves from turn to turn.
struct Loop
{
    int64_t count = 1;
    std::array<int64_t, 3> pitch{};  // those of a, b and d; 0 for those that are not there
};

struct Grid
{
    Loop outer, inner;
    std::array<int64_t, 3> offset{};  // that of the first vector
};

// `loops` with the outermost first.
void for_each_grid(std::vector<Loop> loops, const std::function<void(const Grid&)>& emit);

// Takes loops into the vector as long as each operand's vectors lie one after the other; returns
// how many elements of `element_bytes` it then has. `operands` says which of a, b, d there are.
int64_t fold_into_vector(std::vector<Loop>& loops, int64_t length, int element_bytes,
                         const std::array<bool, 3>& operands);

}  // namespace tengine::tpu
