// SPDX-License-Identifier: Apache-2.0
// The division of products of pixels into blocks and items, and the walk over these; see
// pixel_problem.h.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/product/pixel_problem.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kItemsPerWorker = 4;

int64_t count_cached_bytes()
{
    return static_cast<int64_t>(get_cpu_cache_size().l2);
}

// The units of the worker that has most of them, if blocks of `size` units are distributed.
int64_t find_longest(int64_t units, int64_t size, int64_t workers)
{
    const int64_t whole = units / size, each = whole / workers * size;
    return whole % workers > 0 ? each + size : each + units % size;
}

// The size of blocks, from half of `most` to `most` units, that distributes the units most evenly.
int64_t find_even_size(int64_t units, int64_t most, int64_t workers)
{
    int64_t best = most;
    for (int64_t size = most - 1; size > most / 2; --size)
        if (find_longest(units, size, workers) < find_longest(units, best, workers)) best = size;
    return best;
}

// The work to be cut into items for the workers: blocks of units, each with all panels, or with a
// share of the panels if there are not enough pixels, or if the weights are larger than the input.
struct Work
{
    int64_t units;    // lines, or tiles of one line
    int64_t fitting;  // into a block
    int64_t others;   // images and groups
    int64_t panels;
    bool has_large_weights;
};

struct Cut
{
    int64_t blocks, units;  // of each; the last may have fewer
    int64_t panel_parts;
};

Cut cut_work(const Work& work, int64_t workers)
{
    const int64_t most = std::max<int64_t>(work.units, 1);
    int64_t blocks = divide_up(work.units, std::clamp<int64_t>(work.fitting, 1, most));
    const int64_t wanted = workers > 1 ? workers * kItemsPerWorker : 1;
    int64_t parts = 1;
    if (workers > 1 && work.panels >= wanted && work.has_large_weights)
        parts = divide_up(wanted, work.others * blocks);
    else if (work.others * blocks < wanted)
        blocks = std::clamp<int64_t>(divide_up(wanted, work.others), blocks, most);
    parts =
        std::clamp<int64_t>(std::max(parts, wanted / std::max<int64_t>(work.others * blocks, 1)), 1,
                            std::max<int64_t>(work.panels, 1));
    int64_t size = divide_up(work.units, std::max<int64_t>(blocks, 1));
    if (parts == 1 && work.others == 1) size = find_even_size(work.units, size, workers);
    return {size > 0 ? divide_up(work.units, size) : 0, size, parts};
}

// The operands and the functions of a run.
struct Walk
{
    const PixelProblem& problem;
    const PixelFunctions& functions;
    const PixelRun& run;

    void copy(const void* from, int64_t step, int64_t pixels, char*& to) const
    {
        if (pixels > 0) functions.copy(problem, run, from, step, pixels, to);
        to += pixels * problem.pixel_step * problem.format.element_size;
    }
};

// `lines` of a block from output line `first` on, with padding.
void copy_lines(const Walk& walk, const char* image, int64_t first, int64_t lines, char* copy)
{
    const PixelProblem& problem = walk.problem;
    const window_axis &y = problem.axes[1], &x = problem.axes[2];
    const int64_t step = problem.image_step, line_bytes = x.input * step * problem.input_size;
    const int64_t before = std::min<int64_t>(x.pad_begin, problem.copy_pixels);
    const int64_t present = std::min<int64_t>(x.input, problem.copy_pixels - before);
    for (int64_t i = 0; i < lines_for(y, lines); ++i) {
        const int64_t line = first * y.stride - y.pad_begin + i;
        if (line < 0 || line >= y.input) {
            walk.copy(nullptr, 0, problem.copy_pixels, copy);
            continue;
        }
        walk.copy(nullptr, 0, before, copy);
        walk.copy(image + line * line_bytes, step, present, copy);
        walk.copy(nullptr, 0, problem.copy_pixels - before - present, copy);
    }
}

// Output pixels from `first` to before `last` of all images, as a pointwise convolution reads them.
void gather_pixels(const Walk& walk, const char* images, int64_t first, int64_t last, char* copy)
{
    const PixelProblem& problem = walk.problem;
    const window_axis &y = problem.axes[1], &x = problem.axes[2];
    const int64_t step = problem.image_step, size = problem.input_size;
    if (y.stride == 1 && x.stride == 1)
        return walk.copy(images + first * step * size, step, last - first, copy);
    for (int64_t i = first, count; i < last; i += count) {
        const int64_t image = i / problem.output_plane, at = i % problem.output_plane;
        const int64_t row = at / x.output * y.stride, column = at % x.output;
        const int64_t pixel = image * problem.input_plane + row * x.input + column * x.stride;
        count = std::min(x.output - column, last - i);
        walk.copy(images + pixel * step * size, x.stride * step, count, copy);
    }
}

// Copies a block of an image, from line or pixel `first` on.
void copy_block(const Walk& walk, const char* image, int64_t first, const PixelBlock& block,
                char* copy)
{
    if (kGathersPixels && walk.problem.is_pointwise)
        return gather_pixels(walk, image, first, first + block.pixels, copy);
    copy_lines(walk, image, first, block.lines, copy);
}

// Block `number` of all groups and images, its panels from `first` to before `last`.
void run_block(const Walk& walk, int64_t number, int64_t first, int64_t last, char* scratch)
{
    const PixelProblem& problem = walk.problem;
    const int64_t index = number % problem.blocks, slice = number / problem.blocks;
    const int64_t image = slice / problem.groups, group = slice % problem.groups;
    const window_axis &y = problem.axes[1], &x = problem.axes[2];
    const bool is_pointwise = problem.is_pointwise;
    const int64_t line = is_pointwise ? 0 : index * problem.block_lines;
    const int64_t pixel = is_pointwise ? index * problem.block_pixels : 0;
    const int64_t channel = group * problem.input_channels;
    const char* input =
        static_cast<const char*>(walk.run.input) +
        (image * problem.input_plane * problem.image_step + channel) * problem.input_size;
    const int64_t pixels = problem.copies && !is_pointwise ? problem.copy_pixels : x.input;
    const int64_t pixel_bytes = problem.pixel_step * problem.format.element_size;

    PixelBlock block = {};
    block.lines = std::min(problem.block_lines, problem.lines - line);
    block.pixels = std::min(problem.block_pixels, problem.line_pixels - pixel);
    block.packed = static_cast<const char*>(walk.run.packed) + group * problem.group_bytes;
    block.output =
        ((image * problem.lines + line) * problem.line_pixels + pixel) * problem.output_step +
        group * problem.output_channels;
    block.line_step = int64_t{y.stride} * pixels * pixel_bytes;
    block.input =
        input + line * block.line_step + pixel * problem.input_step * problem.format.element_size;
    block.scratch = scratch + problem.copy_bytes();
    if (problem.copies) {
        char* copy = find_block_elements(scratch);
        block.is_held = holds_block(scratch, number);
        if (!block.is_held) copy_block(walk, input, is_pointwise ? pixel : line, block, copy);
        block.input = copy;
    }

    // One K segment for each row of the window, or for each of its taps.
    int64_t segments[kMostSegments];
    const int64_t across = problem.segment_num / y.kernel;
    for (int64_t i = 0; i < problem.segment_num; ++i)
        segments[i] = (i / across * y.dilation * pixels + i % across * x.dilation) * pixel_bytes;
    block.segments = segments;
    walk.functions.multiply(problem, walk.run, block, first, last);
}

}  // namespace

void place_pixels(PixelProblem& problem, bool converts, int64_t gap)
{
    const window_axis &y = problem.axes[1], &x = problem.axes[2];
    const bool has_padding = y.pad_begin > 0 || x.pad_begin > 0 ||
                             lines_for(y, y.output) > y.input || lines_for(x, x.output) > x.input;
    const bool gathers = kGathersPixels && problem.is_pointwise && (x.stride > 1 || y.stride > 1);
    problem.copies = converts || has_padding || gathers;
    problem.pixel_step = problem.copies ? problem.input_channels + gap : problem.image_step;
    problem.input_step = problem.pixel_step * (problem.is_pointwise ? 1 : x.stride);
    problem.lines = problem.is_pointwise ? 1 : y.output;
    problem.line_pixels = problem.is_pointwise ? problem.batch * problem.output_plane : x.output;
    if (problem.is_pointwise) problem.batch = 1;
    problem.panels = divide_up(problem.output_channels, problem.format.columns);
    const int64_t last = problem.panels - 1;
    problem.group_bytes = problem.panel_at(last) + problem.panel_width(last) * problem.column_bytes;
    problem.has_far_weights = problem.group_bytes > count_cached_bytes() / 2;
}

int64_t find_block_room(const PixelProblem& problem, int64_t panel_bytes)
{
    const int64_t cache = count_cached_bytes();
    if (!problem.has_far_weights) return cache / 2;
    return std::max(cache / 2, cache / 8 * 7 - panel_bytes);
}

void cut_blocks(PixelProblem& problem, int64_t depth, int64_t room, int64_t workers)
{
    const window_axis &y = problem.axes[1], &x = problem.axes[2];
    const bool is_pointwise = problem.is_pointwise;
    const int64_t size = problem.format.element_size, rows = problem.tile_rows;
    const int64_t line_bytes = std::max(x.input, x.output) * problem.input_channels * size;
    const int64_t unit_bytes = is_pointwise ? rows * depth * size : line_bytes * y.stride;
    const int64_t halo = is_pointwise ? 0 : (lines_for(y, 1) - y.stride) * line_bytes;
    Work work = {};
    work.units = is_pointwise ? divide_up(problem.line_pixels, rows) : problem.lines;
    work.fitting = (room - halo) / std::max<int64_t>(unit_bytes, 1);
    work.others = problem.batch * problem.groups;
    work.panels = problem.panels;
    work.has_large_weights =
        problem.group_bytes > problem.input_plane * problem.input_channels * problem.input_size;
    const Cut cut = cut_work(work, workers);
    problem.panel_parts = cut.panel_parts;
    problem.blocks = cut.blocks;
    problem.block_lines = is_pointwise ? 1 : cut.units;
    problem.block_pixels = is_pointwise ? cut.units * rows : problem.line_pixels;
    if (!problem.copies) return;
    problem.copy_lines = is_pointwise || cut.units == 0 ? 1 : lines_for(y, cut.units);
    problem.copy_pixels =
        is_pointwise ? std::min(problem.block_pixels, problem.line_pixels) : lines_for(x, x.output);
}

void multiply_blocks(thread_pool_t* pool, const PixelProblem& problem,
                     const PixelFunctions& functions, const PixelRun& run, void* scratch)
{
    const Walk walk = {problem, functions, run};
    const int64_t parts = problem.panel_parts;
    const auto scratch_of = [&](int worker) {
        return static_cast<char*>(scratch) + problem.worker_bytes() * static_cast<uint64_t>(worker);
    };
    for (int worker = 0; problem.copies && worker < get_thread_pool_size(pool); ++worker)
        forget_block(scratch_of(worker));
    parallel_for(pool, problem.items(), 1, [&](int64_t first, int64_t last, int worker) {
        for (int64_t item = first; item < last; ++item) {
            const int64_t part = item % parts;
            run_block(walk, item / parts, problem.panels * part / parts,
                      problem.panels * (part + 1) / parts, scratch_of(worker));
        }
    });
}

void multiply_blocks_here(const PixelProblem& problem, const PixelFunctions& functions,
                          const PixelRun& run, int64_t first, int64_t last, void* scratch)
{
    const Walk walk = {problem, functions, run};
    if (problem.copies) forget_block(static_cast<char*>(scratch));
    for (int64_t number = 0; number < problem.batch * problem.groups * problem.blocks; ++number)
        run_block(walk, number, first, last, static_cast<char*>(scratch));
}

}  // namespace tengine::cpu
