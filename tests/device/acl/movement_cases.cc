// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

using Shapes = std::vector<std::vector<int>>;

void add_joins(std::vector<NodeCase>& cases)
{
    const auto concat = [&](const Shapes& shapes, int axis) {
        NodeCase made = {"Concat", {}, {}, {{"axis", axis}}};
        for (const std::vector<int>& shape : shapes)
            made.inputs.push_back(fed(shape));
        cases.push_back(made);
    };
    concat({{7}, {1}, {13}}, 0);
    concat({{3, 7}, {3, 13}}, 1);
    concat({{3, 7}, {2, 7}}, 0);
    concat({{2, 5, 7, 9}, {2, 3, 7, 9}}, 1);
    concat({{2, 5, 7, 9}, {2, 5, 1, 9}, {2, 5, 4, 9}}, 2);
    concat({{2, 5, 7, 9}, {2, 5, 7, 17}}, 3);
    concat({{2, 5, 7, 9}, {1, 5, 7, 9}}, 0);
    concat({{1, 5, 13, 13}, {1, 7, 13, 13}, {1, 1, 13, 13}}, 1);
    concat({{1, 17}, {1, 17}}, 0);

    const auto split = [&](const std::vector<int>& shape, int axis, std::vector<int64_t> sizes) {
        NodeCase made = {"Split", {fed(shape), ints(sizes)}, {}, {{"axis", axis}}};
        made.outputs = static_cast<int>(sizes.size());
        cases.push_back(made);
    };
    split({21}, 0, {7, 1, 13});
    split({2, 9, 7, 5}, 1, {4, 5});
    split({2, 9, 7, 5}, 3, {1, 4});
    split({3, 9, 7, 5}, 0, {1, 2});
    split({1, 8, 7, 5}, 1, {4, 4});
}

void add_slices(std::vector<NodeCase>& cases)
{
    const auto slice = [&](const std::vector<int>& shape, std::vector<int64_t> begin,
                           std::vector<int64_t> end, std::vector<int64_t> axes,
                           std::vector<int64_t> steps) {
        cases.push_back({"Slice", {fed(shape), ints(begin), ints(end), ints(axes), ints(steps)}});
    };
    slice({17}, {3}, {13}, {0}, {1});
    slice({2, 9, 7, 5}, {1, 2}, {7, 5}, {1, 2}, {1, 1});
    slice({2, 9, 7, 5}, {1}, {2}, {0}, {1});
    slice({2, 9, 7, 13}, {0}, {13}, {3}, {2});
    slice({2, 9, 7, 13}, {1, 2}, {9, 7}, {1, 2}, {3, 2});
    slice({1, 3, 8, 8}, {1, 0}, {8, 8}, {2, 3}, {2, 2});

    const auto pad = [&](const std::vector<int>& shape, std::vector<int64_t> pads,
                         const char* mode) {
        NodeCase made = {"Pad", {fed(shape), ints(std::move(pads))}};
        if (mode) {
            made.texts = {{"mode", mode}};
            made.refusal_of_bytes = "ACL does not reflect bytes";
        }
        cases.push_back(made);
        if (mode) return;
        made.inputs.push_back(scalar(0.75F));
        cases.push_back(made);
    };
    pad({7}, {1, 2}, nullptr);
    pad({2, 5, 7, 9}, {0, 0, 1, 1, 0, 0, 1, 1}, nullptr);
    pad({2, 5, 7, 9}, {0, 1, 0, 3, 0, 2, 1, 0}, nullptr);
    pad({2, 5, 7, 9}, {1, 0, 0, 0, 0, 0, 0, 0}, nullptr);
    pad({1, 3, 7, 9}, {0, 0, 2, 3, 0, 0, 1, 2}, "reflect");
    pad({3, 7}, {0, 1, 0, 1}, "reflect");
}

void add_shapes(std::vector<NodeCase>& cases)
{
    cases.push_back({"Reshape", {fed({2, 3, 5, 7}), ints({2, 105})}});
    cases.push_back({"Reshape", {fed({210}), ints({2, 3, 5, 7})}});
    cases.push_back({"Reshape", {fed({2, 3, 35}), ints({2, 3, 5, 1, 7, 1})}});
    cases.push_back({"Flatten", {fed({2, 3, 5, 7})}});
    cases.push_back({"Squeeze", {fed({1, 3, 1, 7}), ints({0, 2})}});
    cases.push_back({"Unsqueeze", {fed({3, 7}), ints({0, 3})}});
    const auto transpose = [&](const std::vector<int>& shape, std::vector<int64_t> perm) {
        cases.push_back({"Transpose", {fed(shape)}, {{"perm", std::move(perm)}}});
    };
    transpose({7, 13}, {1, 0});
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
        transpose({1, 3, 5, 7}, perm);
        transpose({1, 5, 1, 7}, perm);
    }
    for (const int block : {2, 3}) {
        cases.push_back(
            {"DepthToSpace", {fed({2, block * block * 3, 5, 7})}, {}, {{"blocksize", block}}});
        cases.push_back(
            {"SpaceToDepth", {fed({2, 3, block * 5, block * 7})}, {}, {{"blocksize", block}}});
    }
}

void add_reductions(std::vector<NodeCase>& cases)
{
    for (const char* op :
         {"ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceProd", "ReduceMax", "ReduceMin"}) {
        for (const std::vector<int64_t>& axes :
             std::vector<std::vector<int64_t>>{{0}, {1}, {2}, {3}, {2, 3}, {0, 2}})
            for (const int keep : {0, 1})
                cases.push_back({op, {fed({2, 5, 7, 9}), ints(axes)}, {}, {{"keepdims", keep}}});
        cases.push_back({op, {fed({1, 7, 13, 17}), ints({2, 3})}});
        cases.push_back({op, {fed({33}), ints({0})}});
    }
    // A scalar has no axes.
    cases.push_back({"ReduceSumSquare", {fed({})}});
}

void add_resizes(std::vector<NodeCase>& cases)
{
    const auto resize = [&](const std::vector<int>& shape, std::vector<int64_t> sizes,
                            const char* mode, const char* rule) {
        NodeCase made = {"Resize", {fed(shape), absent(), absent(), ints(std::move(sizes))}};
        made.texts = {{"mode", mode}, {"coordinate_transformation_mode", rule}};
        // Three steps are rounded for places up to 8 and 6: the scale, a product, and a difference.
        // That is 7.1 and 6.6 units of 2^-23, times the most that neighbours differ by, 1.
        if (mode[0] == 'l') made.ulps = 4 + 7.1F + 6.6F;
        made.low = 0;
        if (mode[0] == 'n') made.texts.push_back({"nearest_mode", "floor"});
        cases.push_back(made);
    };
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {2, 3, 14, 18}, {2, 3, 21, 13}, {2, 3, 4, 5}, {2, 3, 7, 9}}) {
        resize({2, 3, 7, 9}, sizes, "nearest", "asymmetric");
        for (const char* rule : {"half_pixel", "asymmetric", "align_corners"})
            resize({2, 3, 7, 9}, sizes, "linear", rule);
    }
    resize({1, 1, 2, 128}, {1, 1, 64, 256}, "nearest", "asymmetric");
    // Where the quotient is a whole number, and the product with the inverse just below.
    resize({1, 1, 256, 3}, {1, 1, 282, 3}, "nearest", "asymmetric");
    cases.back().refusal = "ACL takes pixel 127 for 141, not 128";
    resize({1, 1, 3, 126}, {1, 1, 3, 142}, "nearest", "asymmetric");
    cases.back().refusal = "ACL takes pixel 62 for 71, not 63";
    resize({1, 1, 3, 2}, {1, 1, 6, 82}, "nearest", "asymmetric");
    cases.back().refusal = "ACL takes pixel 0 for 41, not 1";
}

}  // namespace

void add_movement_cases(std::vector<NodeCase>& cases)
{
    cases.push_back({"Identity", {fed({2, 3, 17})}});
    add_joins(cases);
    add_slices(cases);
    add_shapes(cases);
    add_reductions(cases);
    add_resizes(cases);
}

}  // namespace tengine::acl
