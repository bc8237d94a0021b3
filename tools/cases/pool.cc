// SPDX-License-Identifier: Apache-2.0
#include "cases/case.h"

namespace tengine::tools {
namespace {

struct Pool
{
    std::vector<int> input;
    std::vector<int64_t> kernel, strides = {}, pads = {}, dilations = {};
    std::vector<std::pair<std::string, int>> ints = {};
};

std::vector<Pool> list_pools()
{
    return {{{1, 1, 1, 1}, {1, 1}},
            {{2, 3, 8, 10}, {2, 2}, {2, 2}},
            {{1, 3, 13, 13}, {3, 3}, {2, 2}},
            {{1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
            {{1, 5, 9, 33}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{1, 5, 9, 33}, {2, 3}, {1, 2}, {0, 1, 1, 0}},
            {{1, 2, 16, 17}, {7, 7}, {1, 1}, {3, 3, 3, 3}},
            {{1, 2, 14, 15}, {3, 3}, {2, 2}, {}, {}, {{"ceil_mode", 1}}},
            {{1, 2, 14, 15}, {2, 2}, {2, 2}, {}, {}, {{"ceil_mode", 1}}},
            {{1, 2, 16, 17}, {5, 4}, {3, 2}},
            {{1, 64, 7, 7}, {7, 7}},
            {{1, 67, 9, 9}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
            {{1, 3, 15, 17}, {3, 2}, {1, 1}, {}, {2, 3}},
            {{2, 19, 7, 9}, {3, 2}, {2, 1}, {1, 0, 1, 1}},
            {{1, 40, 7, 7}, {2, 3}, {1, 2}, {0, 2, 1, 0}, {2, 1}},
            {{2, 5, 33}, {3}, {2}, {1, 1}},
            {{1, 3, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}}};
}

Case make(const char* op, const Pool& pool, const Types& types)
{
    Case made = {op, {fed(pool.input)}, {{"kernel_shape", pool.kernel}}};
    if (!pool.strides.empty()) made.lists.push_back({"strides", pool.strides});
    if (!pool.pads.empty()) made.lists.push_back({"pads", pool.pads});
    if (!pool.dilations.empty()) made.lists.push_back({"dilations", pool.dilations});
    made.ints = pool.ints;
    made.types = types;
    return made;
}

void add_windows(std::vector<Case>* cases)
{
    Types moved = float_types();
    moved.insert(moved.end(), byte_types().begin(), byte_types().end());
    for (const Pool& pool : list_pools()) {
        // Padding, were it counted as 0, would be the largest.
        Case largest = make("MaxPool", pool, moved);
        largest.low = -3;
        largest.high = -1;
        cases->push_back(largest);
        cases->push_back(make("AveragePool", pool, float_types()));
        cases->push_back(make("LpPool", pool, float_types()));
        if (pool.pads.empty()) continue;
        Case counted = make("AveragePool", pool, float_types());
        counted.ints.push_back({"count_include_pad", 1});
        cases->push_back(counted);
    }
    Case both = make("MaxPool", {{2, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}}, moved);
    both.outputs = {kCaseType, TENGINE_DT_INT64};
    cases->push_back(both);
    // Padding and strides that no model has.
    cases->push_back(make("MaxPool",
                          {{1, 3, 4, 5},
                           {3, 3},
                           {700000000, 700000000},
                           {900000000, 900000000, 900000000, 900000000},
                           {900000000, 900000000}},
                          moved));
}

void add_regions(std::vector<Case>* cases)
{
    Operand boxes = fed({3, 4});
    boxes.is_constant = true;
    boxes.values = {0, 0, 6, 6, 1, 2, 7, 8, 3, 3, 9, 9};
    Operand images = int64_list({0, 0, 1});
    for (const char* mode : {"avg", "max"}) {
        Case made = {"RoiAlign", {fed({2, 5, 11, 13}), boxes, images}};
        made.ints = {{"output_height", 3}, {"output_width", 5}, {"sampling_ratio", 2}};
        made.texts = {{"mode", mode}};
        made.types = float_types();
        cases->push_back(made);
        made.inputs[0] = fed({2, 19, 11, 13});  // channels that pay for a copy of the image
        cases->push_back(made);
    }
    Operand places = fed({3, 5});
    places.is_constant = true;
    places.values = {0, 0, 0, 6, 6, 0, 1, 2, 7, 8, 1, 3, 3, 9, 9};
    Case made = {"MaxRoiPool", {fed({2, 5, 11, 13}), places}, {{"pooled_shape", {3, 2}}}};
    made.types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_FP64};
    cases->push_back(made);
}

}  // namespace

void add_pool_cases(std::vector<Case>* cases)
{
    add_windows(cases);
    for (const char* op : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})
        for (const std::vector<int>& shape : std::vector<std::vector<int>>{{1, 1, 1, 1},
                                                                           {2, 3, 7, 7},
                                                                           {1, 17, 13, 5},
                                                                           {1, 64, 7, 7},
                                                                           {2, 70, 13, 12},
                                                                           {1, 3, 31, 33},
                                                                           {2, 3, 17}}) {
            Case made = {op, {fed(shape)}};
            made.types = float_types();
            cases->push_back(made);
        }
    add_regions(cases);
}

}  // namespace tengine::tools
