// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

void add_batch_norm(std::vector<NodeCase>& cases, const std::vector<int>& shape)
{
    const std::vector<int> channels = {shape.size() > 1 ? shape[1] : 1};
    NodeCase made = {"BatchNormalization",
                     {fed(shape), constant(channels), constant(channels), constant(channels),
                      constant(channels)}};
    // The variance is one of the constants.
    made.low = 0.1F;
    made.high = 2;
    cases.push_back(made);
}

}  // namespace

void add_normalization_cases(std::vector<NodeCase>& cases)
{
    for (const std::vector<int>& shape : std::vector<std::vector<int>>{
             {1, 1, 1, 1}, {2, 3, 7, 9}, {1, 17, 13, 5}, {2, 13}, {2, 5, 31}, {1, 3, 2, 5, 7}})
        add_batch_norm(cases, shape);
    for (const std::vector<int>& shape :
         std::vector<std::vector<int>>{{1, 1, 1, 7}, {2, 3, 7, 9}, {1, 17, 13, 5}, {2, 5, 31}})
        cases.push_back(
            {"InstanceNormalization", {fed(shape), constant({shape[1]}), constant({shape[1]})}});
    for (const int size : {1, 3, 5})
        for (const std::vector<int>& shape : std::vector<std::vector<int>>{
                 {1, 1, 1, 1}, {2, 7, 5, 9}, {1, 17, 13, 5}, {2, 17}, {2, 7, 9}, {1, 7, 2, 3, 5}}) {
            NodeCase made = {
                "LRN", {fed(shape)}, {}, {{"size", size}}, {{"alpha", 0.3F}, {"bias", 2.0F}}};
            // x / (2 + ...)^0.75 by exp(0.75 log(...)), of which ACL's logarithm is wrong by 1.5e-6
            // up to 2.4 (a polynomial with terms of 22 that cancel out; all values of [1, 1.2]
            // tried) and its exponential by 2.1e-7, relatively. No result is greater than 1.
            made.absolute = 0.75F * 1.5e-6F + 2.1e-7F;
            cases.push_back(made);
        }
    for (const char* op : {"Softmax", "LogSoftmax"}) {
        const auto add = [&](const std::vector<int>& shape, int axis) {
            NodeCase made = {op, {fed(shape)}, {}, {{"axis", axis}}};
            made.low = -5;
            made.high = 5;
            cases.push_back(made);
        };
        for (const int length : {1, 7, 10, 17, 1000})
            add({2, length}, -1);
        add({17}, 0);
        for (const int axis : {0, 1, 2, 3})
            add({2, 5, 7, 9}, axis);
        add({1, 3, 13}, 1);
    }
}

}  // namespace tengine::acl
