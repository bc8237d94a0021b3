// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

struct Window
{
    std::vector<int64_t> strides = {}, pads = {}, dilations = {};
    int group = 1;
    bool bias = true;
    bool fast_math = false;
};

NodeCase conv(const char* op, const std::vector<int>& input, const std::vector<int>& weight,
              const Window& window)
{
    NodeCase made;
    made.op = op;
    made.inputs = {fed(input), constant(weight)};
    const bool transposed = made.op == "ConvTranspose";
    if (window.bias)
        made.inputs.push_back(constant({transposed ? weight[1] * window.group : weight[0]}));
    if (!window.strides.empty()) made.lists.push_back({"strides", window.strides});
    if (!window.pads.empty()) made.lists.push_back({"pads", window.pads});
    if (!window.dilations.empty()) made.lists.push_back({"dilations", window.dilations});
    if (window.group != 1) made.integers.push_back({"group", window.group});
    if (window.fast_math) made.options["fast_math"] = "1";
    return made;
}

void add_plain_cases(std::vector<NodeCase>& cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const Window& window = {}) {
        cases.push_back(conv("Conv", input, weight, window));
    };
    add({1, 1, 1, 1}, {1, 1, 1, 1});
    add({1, 13, 7, 17}, {7, 13, 1, 1});
    add({2, 17, 13, 31}, {33, 17, 1, 1});
    add({3, 5, 1, 1}, {17, 5, 1, 1}, {{}, {}, {}, 1, false});
    add({1, 7, 13, 13}, {5, 7, 1, 1}, {{2, 2}});
    add({1, 7, 5, 6}, {5, 7, 1, 1}, {{}, {1, 0, 2, 1}});
    add({1, 3, 7, 7}, {4, 3, 3, 3}, {{}, {1, 1, 1, 1}});
    add({2, 3, 31, 33}, {13, 3, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 5, 17, 13}, {7, 5, 5, 3}, {{3, 2}, {0, 2, 1, 0}, {}, 1, false});
    add({1, 4, 17, 19}, {6, 4, 3, 3}, {{}, {2, 2, 2, 2}, {2, 3}});
    add({1, 3, 64, 65}, {17, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}});
    add({1, 7, 13, 17}, {9, 7, 5, 5}, {{}, {2, 2, 2, 2}});
    add({2, 5, 33}, {7, 5, 4}, {{2}, {1, 2}});
    add({1, 7, 129}, {3, 7, 1});
    add({1, 3, 5, 6, 7}, {4, 3, 3, 2, 3});
    cases.back().refusal = "a window over 3 axes";
    for (const bool fast : {false, true}) {
        add({1, 16, 13, 17}, {17, 16, 3, 3}, {{}, {1, 1, 1, 1}, {}, 1, true, fast});
        add({1, 16, 14, 14}, {7, 16, 5, 5}, {{}, {2, 2, 2, 2}, {}, 1, true, fast});
        add({2, 7, 9, 11}, {13, 7, 3, 3}, {{}, {}, {}, 1, false, fast});
        add({1, 32, 28, 28}, {64, 32, 3, 3}, {{}, {1, 1, 1, 1}, {}, 1, true, fast});
    }
}

void add_grouped_cases(std::vector<NodeCase>& cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const Window& window) {
        cases.push_back(conv("Conv", input, weight, window));
    };
    add({2, 12, 9, 9}, {8, 3, 3, 3}, {{}, {1, 1, 1, 1}, {}, 4});
    add({1, 6, 7, 11}, {9, 2, 1, 1}, {{}, {}, {}, 3});
    const auto depthwise = [&](const std::vector<int>& input, const std::vector<int>& weight,
                               Window window = {}) {
        window.group = input[1];
        add(input, weight, window);
    };
    for (const int width : {1, 7, 13, 16, 17, 31, 33})
        depthwise({1, 3, 9, width}, {3, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    for (const int height : {1, 2, 5, 8})
        depthwise({1, 2, height, 19}, {2, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    depthwise({2, 5, 17, 35}, {5, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    depthwise({1, 5, 16, 34}, {5, 1, 5, 5}, {{2, 2}, {2, 1, 2, 3}});
    depthwise({1, 3, 13, 13}, {3, 1, 5, 5}, {{}, {2, 2, 2, 2}, {}, 1, false});
    depthwise({1, 3, 13, 31}, {9, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    depthwise({1, 2, 21, 23}, {4, 1, 3, 3}, {{3, 5}, {1, 4, 2, 0}, {2, 2}});
    depthwise({1, 3, 40, 9}, {3, 1, 1, 1});
    depthwise({2, 4, 77}, {8, 1, 5}, {{2}, {2, 2}});
    depthwise({1, 64, 14, 14}, {64, 1, 3, 3}, {{}, {1, 1, 1, 1}});
}

void add_transposed_cases(std::vector<NodeCase>& cases)
{
    const auto transposed = [&](const std::vector<int>& input, const std::vector<int>& weight,
                                const Window& window = {}) {
        cases.push_back(conv("ConvTranspose", input, weight, window));
    };
    transposed({1, 1, 1, 1}, {1, 1, 1, 1});
    transposed({1, 3, 7, 5}, {3, 4, 3, 3});
    transposed({2, 5, 13, 7}, {5, 3, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    transposed({1, 2, 3, 3}, {2, 3, 2, 2}, {{5, 4}, {}, {}, 1, false});
    transposed({1, 7, 33}, {7, 5, 4}, {{2}, {1, 1}});
    cases.back().refusal = "weights->dimension(width_idx) != weights->dimension(height_idx)";
    transposed({1, 4, 9, 9}, {4, 2, 3, 3}, {{}, {}, {}, 2});
    cases.back().refusal = "ACL does not support group 2";
    transposed({1, 4, 9, 9}, {4, 2, 3, 3}, {{}, {}, {2, 2}});
    cases.back().refusal = "ACL does not support dilations 2";
    transposed({1, 1, 5, 5}, {1, 1, 1, 1}, {{}, {1, 1, 1, 1}});
    cases.back().refusal = "ACL does not support pads 1";
    transposed({1, 2, 4, 4}, {2, 3, 2, 2}, {{3, 3}, {2, 2, 2, 2}});
    cases.back().refusal = "ACL does not support pads 2";
    transposed({1, 8, 17, 13}, {8, 9, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    transposed({1, 8, 17, 13}, {8, 9, 2, 2}, {{2, 2}});
    transposed({1, 4, 9, 7}, {4, 5, 3, 3}, {{2, 2}, {0, 0, 1, 1}});
}

}  // namespace

void add_conv_cases(std::vector<NodeCase>& cases)
{
    add_plain_cases(cases);
    add_grouped_cases(cases);
    add_transposed_cases(cases);
}

}  // namespace tengine::acl
