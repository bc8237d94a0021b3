// SPDX-License-Identifier: Apache-2.0
// Operators that move elements.
#include "cases/case.h"

namespace tengine::tools {
namespace {

using Shapes = std::vector<std::vector<int>>;

Case make(const char* op, std::vector<Operand> inputs)
{
    Case made = {op, std::move(inputs)};
    made.types = all_types();
    return made;
}

void add_joins(std::vector<Case>* cases)
{
    const auto concat = [&](const Shapes& shapes, int axis) {
        Case made = make("Concat", {});
        for (const std::vector<int>& shape : shapes)
            made.inputs.push_back(fed(shape));
        made.ints = {{"axis", axis}};
        cases->push_back(made);
    };
    concat({{5}, {1}, {17}}, 0);
    concat({{3, 9}, {3, 15}}, 1);
    concat({{2, 5, 7, 9}, {2, 3, 7, 9}}, 1);
    concat({{1, 64, 7, 9}, {1, 32, 7, 9}}, 1);
    concat({{2, 3, 7, 9}, {2, 3, 1, 9}, {2, 3, 4, 9}}, 2);
    concat({{2, 3, 7, 9}, {2, 3, 7, 17}}, 3);
    concat({{1, 9}, {1, 9}}, 0);
    concat({{3, 7}, {2, 7}}, 0);
    concat({{2, 5, 7, 9}, {1, 5, 7, 9}}, 0);
    concat({{1, 5, 13, 13}, {1, 7, 13, 13}, {1, 1, 13, 13}}, 1);
    concat({{0, 9}, {2, 9}}, 0);
    const auto split = [&](const std::vector<int>& shape, int axis, std::vector<double> sizes) {
        Case made = make("Split", {fed(shape), int64_list(sizes)});
        made.ints = {{"axis", axis}};
        made.outputs.assign(sizes.size(), kCaseType);
        cases->push_back(made);
    };
    split({23}, 0, {7, 1, 15});
    split({2, 9, 7, 5}, 1, {4, 5});
    split({2, 9, 7, 5}, 3, {1, 4});
    split({3, 9, 7, 5}, 0, {1, 2});
    split({1, 96, 9, 9}, 1, {64, 32});
}

void add_slices(std::vector<Case>* cases)
{
    const auto slice = [&](const std::vector<int>& shape, std::vector<double> begin,
                           std::vector<double> end, std::vector<double> axes,
                           std::vector<double> steps) {
        cases->push_back(make("Slice", {fed(shape), int64_list(begin), int64_list(end),
                                        int64_list(axes), int64_list(steps)}));
    };
    slice({19}, {3}, {15}, {0}, {1});
    slice({2, 9, 7, 5}, {1, 2}, {7, 5}, {1, 2}, {1, 1});
    slice({2, 9, 7, 5}, {1}, {2}, {0}, {1});
    slice({2, 9, 7, 13}, {0}, {13}, {3}, {2});
    slice({2, 9, 7, 13}, {1, 2}, {9, 7}, {1, 2}, {3, 2});
    slice({1, 3, 8, 8}, {1, 0}, {8, 8}, {2, 3}, {2, 2});
    slice({1, 64, 9, 9}, {32}, {64}, {1}, {1});
    slice({2, 9, 7, 13}, {12, 6}, {0, 0}, {3, 2}, {-1, -2});
    slice({5, 7}, {2}, {2}, {1}, {1});
    const auto pad = [&](const std::vector<int>& shape, std::vector<double> pads,
                         const char* mode) {
        Case made = make("Pad", {fed(shape), int64_list(std::move(pads))});
        made.texts = {{"mode", mode}};
        cases->push_back(made);
        if (mode[0] != 'c') return;
        made.inputs.push_back(number(1));
        cases->push_back(made);
    };
    pad({9}, {1, 2}, "constant");
    pad({2, 5, 7, 9}, {0, 0, 1, 1, 0, 0, 1, 1}, "constant");
    pad({2, 5, 7, 9}, {0, 1, 0, 3, 0, 2, 1, 0}, "constant");
    pad({2, 5, 7, 9}, {1, 0, 0, 0, 0, 0, 0, 0}, "constant");
    pad({1, 3, 7, 9}, {0, 0, 2, 3, 0, 0, 1, 2}, "reflect");
    pad({3, 7}, {0, 1, 0, 1}, "reflect");
    pad({1, 3, 7, 9}, {0, 0, 2, 3, 0, 0, 1, 2}, "edge");
    pad({3, 7}, {0, 1, 0, 1}, "wrap");
}

void add_shapes(std::vector<Case>* cases)
{
    cases->push_back(make("Reshape", {fed({2, 3, 5, 7}), int64_list({2, 105})}));
    cases->push_back(make("Reshape", {fed({210}), int64_list({2, 3, 5, 7})}));
    cases->push_back(make("Reshape", {fed({2, 3, 35}), int64_list({0, -1})}));
    cases->push_back(make("Reshape", {fed({2, 3, 35}), int64_list({2, 3, 5, 1, 7, 1})}));
    cases->push_back(make("Flatten", {fed({2, 3, 5, 7})}));
    cases->push_back(make("Squeeze", {fed({1, 3, 1, 7}), int64_list({0, 2})}));
    cases->push_back(make("Unsqueeze", {fed({3, 7}), int64_list({0, 3})}));
    for (const auto& [shape, wanted] :
         std::vector<std::pair<std::vector<int>, std::vector<double>>>{
             {{3, 1}, {3, 17}}, {{1}, {2, 5, 7}}, {{2, 1, 7}, {2, 5, 7}}})
        cases->push_back(make("Expand", {fed(shape), int64_list(wanted)}));
    for (const auto& [shape, repeats] :
         std::vector<std::pair<std::vector<int>, std::vector<double>>>{
             {{17}, {3}}, {{3, 7}, {2, 1}}, {{2, 3, 5}, {1, 2, 3}}})
        cases->push_back(make("Tile", {fed(shape), int64_list(repeats)}));
    for (const char* op : {"Shape", "Size"}) {
        cases->push_back(make(op, {fed({2, 3, 5})}));
        cases->back().outputs = {TENGINE_DT_INT64};
    }
}

void add_transposes(std::vector<Case>* cases)
{
    const auto transpose = [&](const std::vector<int>& shape, std::vector<int64_t> perm) {
        cases->push_back(make("Transpose", {fed(shape)}));
        cases->back().lists = {{"perm", std::move(perm)}};
    };
    transpose({9, 13}, {1, 0});
    transpose({2, 3, 17}, {2, 0, 1});
    transpose({2, 3, 17}, {0, 2, 1});
    for (const std::vector<int64_t>& perm : std::vector<std::vector<int64_t>>{{0, 2, 3, 1},
                                                                              {0, 3, 1, 2},
                                                                              {0, 2, 1, 3},
                                                                              {0, 1, 3, 2},
                                                                              {3, 2, 1, 0},
                                                                              {1, 0, 2, 3},
                                                                              {2, 3, 0, 1}}) {
        transpose({2, 3, 5, 7}, perm);
        transpose({1, 5, 1, 7}, perm);
        transpose({1, 64, 9, 9}, perm);
    }
    for (const int block : {2, 3}) {
        for (const char* mode : {"DCR", "CRD"}) {
            cases->push_back(make("DepthToSpace", {fed({2, block * block * 3, 5, 7})}));
            cases->back().ints = {{"blocksize", block}};
            cases->back().texts = {{"mode", mode}};
        }
        cases->push_back(make("SpaceToDepth", {fed({2, 3, block * 5, block * 7})}));
        cases->back().ints = {{"blocksize", block}};
    }
    for (const int upper : {0, 1}) {
        cases->push_back(make("Trilu", {fed({2, 7, 9})}));
        cases->back().ints = {{"upper", upper}};
    }
    Operand lengths = int64_list({3, 1, 5});
    cases->push_back(make("ReverseSequence", {fed({5, 3, 7}), lengths}));
}

void add_resize(const std::vector<int>& shape, const std::vector<double>& sizes,
                const std::string& mode, const std::string& rule, std::vector<Case>* cases)
{
    const bool is_nearest = mode == "nearest";
    Case made = make("Resize", {fed(shape), absent(), absent(), int64_list(sizes)});
    made.texts = {{"mode", mode}, {"coordinate_transformation_mode", rule}};
    if (is_nearest) made.texts.push_back({"nearest_mode", "floor"});
    made.types = is_nearest ? number_types() : float_types();
    if (mode == "linear") made.types.insert(made.types.end(), {TENGINE_DT_INT8, TENGINE_DT_UINT8});
    made.low = 0;
    cases->push_back(made);
}

void add_resizes(std::vector<Case>* cases)
{
    for (const std::vector<double>& sizes : std::vector<std::vector<double>>{
             {2, 3, 14, 18}, {2, 3, 21, 13}, {2, 3, 4, 5}, {2, 3, 7, 9}})
        for (const auto& [mode, rule] :
             std::vector<std::pair<const char*, const char*>>{{"nearest", "asymmetric"},
                                                              {"nearest", "half_pixel"},
                                                              {"linear", "half_pixel"},
                                                              {"linear", "asymmetric"},
                                                              {"linear", "align_corners"},
                                                              {"cubic", "half_pixel"}})
            add_resize({2, 3, 7, 9}, sizes, mode, rule, cases);
    const auto add_nearest = [&](const std::vector<int>& shape, const std::vector<double>& sizes) {
        add_resize(shape, sizes, "nearest", "asymmetric", cases);
    };
    add_nearest({1, 1, 2, 128}, {1, 1, 64, 256});
    // Where the quotient is a whole number, and the product with the inverse just below.
    add_nearest({1, 1, 256, 3}, {1, 1, 282, 3});
    add_nearest({1, 1, 3, 126}, {1, 1, 3, 142});
    add_nearest({1, 1, 3, 2}, {1, 1, 6, 82});
}

}  // namespace

void add_movement_cases(std::vector<Case>* cases)
{
    add_joins(cases);
    add_slices(cases);
    add_shapes(cases);
    add_transposes(cases);
    add_resizes(cases);
}

}  // namespace tengine::tools
