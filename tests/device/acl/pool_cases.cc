// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

namespace tengine::acl {

void add_pool_cases(std::vector<NodeCase>& cases)
{
    for (const char* op : {"MaxPool", "AveragePool"}) {
        const auto add = [&](const std::vector<int>& input, const std::vector<int64_t>& kernel,
                             const std::vector<int64_t>& strides,
                             const std::vector<int64_t>& pads = {}, Integers integers = {}) {
            NodeCase made = {op, {fed(input)}, {{"kernel_shape", kernel}, {"strides", strides}}};
            if (!pads.empty()) made.lists.push_back({"pads", pads});
            made.integers = std::move(integers);
            // Padding, were it counted as 0, would be the largest.
            made.low = -3;
            made.high = -1;
            cases.push_back(made);
        };
        add({1, 1, 1, 1}, {1, 1}, {1, 1});
        add({2, 3, 7, 9}, {2, 2}, {2, 2});
        add({1, 3, 13, 13}, {3, 3}, {2, 2});
        add({1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1});
        add({1, 5, 17, 31}, {3, 3}, {1, 1}, {1, 1, 1, 1});
        add({1, 5, 17, 31}, {2, 3}, {1, 2}, {0, 1, 1, 0});
        add({1, 2, 16, 17}, {7, 7}, {1, 1}, {3, 3, 3, 3});
        add({1, 2, 16, 17}, {5, 4}, {3, 2});
        add({1, 2, 14, 15}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {{"ceil_mode", 1}});
        add({1, 2, 14, 15}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {{"ceil_mode", 1}});
        add({1, 7, 7, 7}, {7, 7}, {1, 1});
        add({2, 5, 33}, {3}, {2}, {1, 1});
        if (op[0] == 'A') {
            add({1, 3, 13, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {{"count_include_pad", 1}});
            add({1, 3, 9, 9}, {3, 2}, {1, 1}, {1, 0, 1, 1}, {{"count_include_pad", 1}});
        }
    }
    for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"})
        for (const std::vector<int>& shape : std::vector<std::vector<int>>{
                 {1, 1, 1, 1}, {2, 3, 7, 7}, {1, 17, 13, 5}, {1, 3, 31, 33}, {2, 3, 17}})
            cases.push_back({op, {fed(shape)}});
}

}  // namespace tengine::acl
