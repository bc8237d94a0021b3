// SPDX-License-Identifier: Apache-2.0
#include "cases/quantized.h"

namespace tengine::tools {
namespace {

constexpr const char* kMean = "com.microsoft.QLinearAveragePool";

struct Pool
{
    std::vector<int> input;
    std::vector<int64_t> kernel, strides, pads = {0, 0, 0, 0};
    std::vector<std::pair<std::string, int>> ints = {};
    std::vector<int64_t> dilations = {};
};

std::vector<Pool> list_pools()
{
    return {{{1, 1, 1, 1}, {1, 1}, {1, 1}},
            {{2, 3, 7, 9}, {2, 2}, {2, 2}},
            {{1, 3, 13, 13}, {3, 3}, {2, 2}},
            {{1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
            {{1, 5, 17, 31}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{1, 5, 17, 31}, {2, 2}, {1, 1}, {0, 0, 1, 1}},
            {{1, 5, 17, 31}, {2, 3}, {1, 2}, {0, 1, 1, 0}},
            {{1, 2, 16, 17}, {7, 7}, {1, 1}, {3, 3, 3, 3}},
            {{1, 2, 16, 17}, {5, 4}, {3, 2}},
            {{1, 2, 14, 15}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {{"ceil_mode", 1}}},
            {{1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {{"count_include_pad", 1}}},
            {{1, 3, 9, 9}, {3, 2}, {1, 1}, {1, 0, 1, 1}, {{"count_include_pad", 1}}},
            {{1, 7, 7, 7}, {7, 7}, {1, 1}},
            {{2, 5, 33}, {3}, {2}, {1, 1}}};
}

// Channels around the lengths of vectors; windows at and beyond the edges, dilated, of a power of
// two values, and with more values than 16 bits can sum.
std::vector<Pool> list_channels()
{
    return {{{1, 64, 9, 7}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
            {{2, 3, 5, 6}, {2, 2}, {2, 2}},
            {{1, 7, 8, 8}, {3, 2}, {1, 1}, {1, 0, 2, 1}, {}, {2, 3}},
            {{1, 8, 6, 6}, {2, 4}, {1, 2}},
            {{1, 17, 4, 5}, {4, 5}, {1, 1}, {3, 4, 3, 4}},
            {{3, 33, 5, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
            {{1, 72, 3, 3}, {2, 2}, {1, 1}},
            {{1, 130, 17, 16}, {17, 16}, {1, 1}},
            {{1, 16, 20, 19}, {1, 259}, {1, 1}, {0, 128, 0, 130}},
            {{1, 24, 40, 21}, {18, 20}, {3, 1}}};
}

struct Scaling
{
    double x_scale, y_scale, x_zero, y_zero;
};

Case make_mean(const char* op, const std::vector<int>& input, const Scaling& scaling)
{
    Case made = {op,
                 {fed_bytes(input), scales({scaling.x_scale}), zero_points({scaling.x_zero}),
                  scales({scaling.y_scale}), zero_points({scaling.y_zero})}};
    made.types = byte_types();
    return made;
}

void set_window(const Pool& pool, Case* of)
{
    of->lists = {{"kernel_shape", pool.kernel}, {"strides", pool.strides}, {"pads", pool.pads}};
    if (!pool.dilations.empty()) of->lists.push_back({"dilations", pool.dilations});
    of->ints = pool.ints;
    of->types = byte_types();
}

// Largest values, means of those inside and of all.
void add_channels(std::vector<Case>* cases)
{
    for (Pool pool : list_channels()) {
        Case largest = {"MaxPool", {fed_bytes(pool.input)}};
        set_window(pool, &largest);
        cases->push_back(largest);
        for (const int counts_padding : {0, 1}) {
            Case mean = make_mean(kMean, pool.input, {0.043, 0.057, 117, 140});
            pool.ints = {{"count_include_pad", counts_padding}};
            set_window(pool, &mean);
            cases->push_back(mean);
        }
    }
}

}  // namespace

void add_more_quantized_pools(std::vector<Case>* cases)
{
    add_channels(cases);
    for (const Pool& pool : list_pools())
        for (const Scaling& scaling : std::vector<Scaling>{{0.043, 0.043, 117, 117},
                                                           {0.043, 0.057, 117, 140},
                                                           {0.043, 0.031, 117, 140},
                                                           {0.043, 0.043, 0, 0},
                                                           {0.043, 0.043, 255, 255}}) {
            Case made = make_mean(kMean, pool.input, scaling);
            set_window(pool, &made);
            cases->push_back(made);
        }
    for (const std::vector<int>& input : std::vector<std::vector<int>>{{1, 1, 1, 1},
                                                                       {2, 3, 7, 7},
                                                                       {1, 17, 13, 5},
                                                                       {1, 3, 31, 33},
                                                                       {1, 1, 100, 90},
                                                                       {2, 3, 17},
                                                                       {1, 3, 4, 4},
                                                                       {2, 64, 1, 7},
                                                                       {1, 129, 16, 16},
                                                                       {3, 70, 8, 8},
                                                                       {1, 16, 31, 9},
                                                                       {1, 257, 57, 9},
                                                                       {1, 7, 30, 30}})
        for (const Scaling& scaling : std::vector<Scaling>{{0.043, 0.043, 117, 117},
                                                           {0.043, 0.043, 255, 0},
                                                           {0.043, 0.057, 117, 140},
                                                           {0.043, 0.0107, 117, 140}})
            cases->push_back(make_mean("com.microsoft.QLinearGlobalAveragePool", input, scaling));
}

}  // namespace tengine::tools
