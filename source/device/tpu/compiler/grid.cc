// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/grid.h"

#include <algorithm>

namespace tengine::tpu {
namespace {

constexpr int64_t kLongestLoop = UINT16_MAX;

bool is_one_loop(const Loop& outer, const Loop& inner)
{
    for (size_t i = 0; i < outer.pitch.size(); ++i)
        if (outer.pitch[i] != inner.count * inner.pitch[i]) return false;
    return outer.count * inner.count <= kLongestLoop;
}

std::vector<Loop> merge_loops(const std::vector<Loop>& loops)
{
    std::vector<Loop> merged;
    for (const Loop& loop : loops) {
        if (loop.count == 1) continue;
        if (!merged.empty() && is_one_loop(merged.back(), loop)) {
            const int64_t count = merged.back().count * loop.count;
            merged.back() = loop;
            merged.back().count = count;
        } else {
            merged.push_back(loop);
        }
    }
    return merged;
}

void emit_from(const std::vector<Loop>& loops, size_t depth, Grid grid,
               const std::function<void(const Grid&)>& emit)
{
    if (loops.size() - depth <= 2) {
        if (loops.size() - depth == 2) grid.outer = loops[depth];
        if (loops.size() > depth) grid.inner = loops.back();
        emit(grid);
        return;
    }
    for (int64_t i = 0; i < loops[depth].count; ++i) {
        Grid turn = grid;
        for (size_t k = 0; k < grid.offset.size(); ++k)
            turn.offset[k] += i * loops[depth].pitch[k];
        emit_from(loops, depth + 1, turn, emit);
    }
}

// Splits a loop that is too long for a grid in two; the remainder becomes a grid of its own.
bool split_long_loop(const std::vector<Loop>& loops, const Grid& grid,
                     const std::function<void(const std::vector<Loop>&, const Grid&)>& part)
{
    const auto long_loop = std::find_if(loops.begin(), loops.end(),
                                        [](const Loop& loop) { return loop.count > kLongestLoop; });
    if (long_loop == loops.end()) return false;
    const auto index = static_cast<size_t>(long_loop - loops.begin());
    std::vector<Loop> rest = loops;
    Grid at = grid;
    for (int64_t done = 0; done < long_loop->count; done += kLongestLoop) {
        rest[index].count = std::min(kLongestLoop, long_loop->count - done);
        part(rest, at);
        for (size_t k = 0; k < at.offset.size(); ++k)
            at.offset[k] += kLongestLoop * long_loop->pitch[k];
    }
    return true;
}

void emit_split(const std::vector<Loop>& loops, const Grid& grid,
                const std::function<void(const Grid&)>& emit)
{
    const bool split = split_long_loop(
        loops, grid,
        [&emit](const std::vector<Loop>& part, const Grid& at) { emit_split(part, at, emit); });
    if (!split) emit_from(loops, 0, grid, emit);
}

}  // namespace

void for_each_grid(std::vector<Loop> loops, const std::function<void(const Grid&)>& emit)
{
    emit_split(merge_loops(loops), Grid{}, emit);
}

int64_t fold_into_vector(std::vector<Loop>& loops, int64_t length, int element_bytes,
                         const std::array<bool, 3>& operands)
{
    while (!loops.empty()) {
        const Loop& loop = loops.back();
        for (size_t i = 0; i < operands.size(); ++i)
            if (loop.count > 1 && operands[i] && loop.pitch[i] != length * element_bytes)
                return length;
        length *= loop.count;
        loops.pop_back();
    }
    return length;
}

}  // namespace tengine::tpu
