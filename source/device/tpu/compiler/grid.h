// SPDX-License-Identifier: Apache-2.0
// Nested loops over vectors as grids of instructions: loops that are contiguous in memory are
// merged, and nests of more than two loops, or with more turns than a grid may have, become several
// grids.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace tengine::tpu {

// One loop: the number of turns, and the distance of each operand from turn to turn.
struct Loop
{
    int64_t count = 1;
    std::array<int64_t, 3> pitch{};  // of a, b and d; 0 for absent operands
};

struct Grid
{
    Loop outer, inner;
    std::array<int64_t, 3> offset{};  // of the first vector
};

// `loops` with the outermost first.
void for_each_grid(std::vector<Loop> loops, const std::function<void(const Grid&)>& emit);

// Merges loops into the vector while each operand's vectors are contiguous; returns the number of
// elements of `element_bytes` in it. `operands` has a bit for each of a, b, d.
int64_t fold_into_vector(std::vector<Loop>& loops, int64_t length, int element_bytes,
                         const std::array<bool, 3>& operands);

}  // namespace tengine::tpu
