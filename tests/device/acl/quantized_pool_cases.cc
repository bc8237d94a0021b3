// SPDX-License-Identifier: Apache-2.0
#include "device/acl/quantized_case.h"

namespace tengine::acl {
namespace {

struct Pool
{
    std::vector<int> input;
    std::vector<int64_t> kernel, strides, pads = {0, 0, 0, 0};
    Integers integers = {};
    bool has_border = false;  // windows that hold fewer values
};

std::vector<Pool> list_pools()
{
    return {
        {{1, 1, 1, 1}, {1, 1}, {1, 1}},
        {{2, 3, 7, 9}, {2, 2}, {2, 2}},
        {{1, 3, 13, 13}, {3, 3}, {2, 2}},
        {{1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, true},
        {{1, 5, 17, 31}, {3, 3}, {1, 1}, {1, 1, 1, 1}, {}, true},
        {{1, 5, 17, 31}, {2, 2}, {1, 1}, {0, 0, 1, 1}, {}, true},
        {{1, 5, 17, 31}, {2, 3}, {1, 2}, {0, 1, 1, 0}, {}, true},
        {{1, 2, 16, 17}, {7, 7}, {1, 1}, {3, 3, 3, 3}, {}, true},
        {{1, 2, 16, 17}, {5, 4}, {3, 2}},
        {{1, 2, 14, 15}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {{"ceil_mode", 1}}, true},
        {{1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {{"count_include_pad", 1}}},
        {{1, 3, 9, 9}, {3, 2}, {1, 1}, {1, 0, 1, 1}, {{"count_include_pad", 1}}},
        {{1, 7, 7, 7}, {7, 7}, {1, 1}},
        {{2, 5, 33}, {3}, {2}, {1, 1}, {}, true},
    };
}

QuantizedCase make_mean(const Pool& pool, float x_scale, float y_scale, int x_zero, int y_zero)
{
    QuantizedCase made = {"com.microsoft.QLinearAveragePool",
                          {fed_bytes(pool.input), scales({x_scale}), zero_points({x_zero}),
                           scales({y_scale}), zero_points({y_zero})}};
    made.lists = {{"kernel_shape", pool.kernel}, {"strides", pool.strides}, {"pads", pool.pads}};
    made.integers = pool.integers;
    int64_t values = 1;
    for (const int64_t size : pool.kernel)
        values *= size;
    if (x_scale == y_scale && values % 2 == 0) made.ties = 1 / static_cast<double>(values);
    if (pool.has_border) made.refusal = "windows at the edge have fewer values";
    return made;
}

QuantizedCase make_global_mean(const std::vector<int>& input, float x_scale, float y_scale,
                               int x_zero, int y_zero)
{
    return {"com.microsoft.QLinearGlobalAveragePool",
            {fed_bytes(input), scales({x_scale}), zero_points({x_zero}), scales({y_scale}),
             zero_points({y_zero})}};
}

}  // namespace

void add_quantized_pool_cases(std::vector<QuantizedCase>& cases)
{
    for (const Pool& pool : list_pools()) {
        QuantizedCase made = {"MaxPool", {fed_bytes(pool.input)}};
        made.lists = {
            {"kernel_shape", pool.kernel}, {"strides", pool.strides}, {"pads", pool.pads}};
        for (const auto& integer : pool.integers)
            if (integer.first == "ceil_mode") made.integers.push_back(integer);
        cases.push_back(made);
        cases.push_back(make_mean(pool, 0.043F, 0.043F, 117, 117));
        cases.push_back(make_mean(pool, 0.043F, 0.057F, 117, 140));
        cases.push_back(make_mean(pool, 0.043F, 0.031F, 117, 140));
        for (const int zero : {0, 255})
            cases.push_back(make_mean(pool, 0.043F, 0.043F, zero, zero));
    }
    for (const std::vector<int>& input : std::vector<std::vector<int>>{{1, 1, 1, 1},
                                                                       {2, 3, 7, 7},
                                                                       {1, 17, 13, 5},
                                                                       {1, 3, 31, 33},
                                                                       {1, 1, 100, 90},
                                                                       {2, 3, 17}}) {
        cases.push_back(make_global_mean(input, 0.043F, 0.043F, 117, 117));
        cases.push_back(make_global_mean(input, 0.043F, 0.043F, 255, 0));
        cases.push_back(make_global_mean(input, 0.043F, 0.057F, 117, 140));
        cases.push_back(make_global_mean(input, 0.043F, 0.0107F, 117, 140));
    }
}

}  // namespace tengine::acl
