// SPDX-License-Identifier: Apache-2.0
#include "cases/quantized.h"

namespace tengine::tools {
namespace {

struct Pool
{
    std::vector<int> input;
    std::vector<int64_t> kernel, strides, pads = {0, 0, 0, 0};
    std::vector<std::pair<std::string, int>> ints = {};
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

}  // namespace

void add_more_quantized_pools(std::vector<Case>* cases)
{
    for (const Pool& pool : list_pools())
        for (const Scaling& scaling : std::vector<Scaling>{{0.043, 0.043, 117, 117},
                                                           {0.043, 0.057, 117, 140},
                                                           {0.043, 0.031, 117, 140},
                                                           {0.043, 0.043, 0, 0},
                                                           {0.043, 0.043, 255, 255}}) {
            Case made = make_mean("com.microsoft.QLinearAveragePool", pool.input, scaling);
            made.lists = {
                {"kernel_shape", pool.kernel}, {"strides", pool.strides}, {"pads", pool.pads}};
            made.ints = pool.ints;
            cases->push_back(made);
        }
    for (const std::vector<int>& input : std::vector<std::vector<int>>{{1, 1, 1, 1},
                                                                       {2, 3, 7, 7},
                                                                       {1, 17, 13, 5},
                                                                       {1, 3, 31, 33},
                                                                       {1, 1, 100, 90},
                                                                       {2, 3, 17}})
        for (const Scaling& scaling : std::vector<Scaling>{{0.043, 0.043, 117, 117},
                                                           {0.043, 0.043, 255, 0},
                                                           {0.043, 0.057, 117, 140},
                                                           {0.043, 0.0107, 117, 140}})
            cases->push_back(make_mean("com.microsoft.QLinearGlobalAveragePool", input, scaling));
}

}  // namespace tengine::tools
