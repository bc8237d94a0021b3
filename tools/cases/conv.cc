// SPDX-License-Identifier: Apache-2.0
// Convolutions, at sizes that are awkward for fast kernels.
#include "cases/case.h"

namespace tengine::tools {

Case conv_case(const char* op, const std::vector<int>& input, const std::vector<int>& weight,
               const ConvWindow& window)
{
    Case made = {op, {fed(input), constant(weight)}};
    const bool is_transposed = made.op == "ConvTranspose";
    if (window.has_bias)
        made.inputs.push_back(constant({is_transposed ? weight[1] * window.group : weight[0]}));
    if (!window.strides.empty()) made.lists.push_back({"strides", window.strides});
    if (!window.pads.empty()) made.lists.push_back({"pads", window.pads});
    if (!window.dilations.empty()) made.lists.push_back({"dilations", window.dilations});
    if (window.group != 1) made.ints.push_back({"group", window.group});
    made.types = float_types();
    return made;
}

namespace {

void add_plain(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases->push_back(conv_case("Conv", input, weight, window));
    };
    // 1x1: the input is the matrix; with stride or padding it is not.
    add({1, 1, 1, 1}, {1, 1, 1, 1});
    add({1, 13, 7, 17}, {7, 13, 1, 1});
    add({2, 17, 13, 31}, {33, 17, 1, 1});
    add({3, 5, 1, 1}, {17, 5, 1, 1}, {{}, {}, {}, 1, false});
    add({1, 7, 13, 13}, {5, 7, 1, 1}, {{2, 2}});
    add({3, 9, 11, 7}, {40, 9, 1, 1}, {{3, 2}});
    add({2, 70, 9, 21}, {37, 70, 1, 1}, {{1, 2}});
    add({1, 7, 5, 6}, {5, 7, 1, 1}, {{}, {1, 0, 2, 1}});
    // Windows: strides, one-sided padding, dilation, padding beyond the kernel, groups.
    add({1, 3, 7, 7}, {4, 3, 3, 3}, {{}, {1, 1, 1, 1}});
    add({2, 3, 31, 33}, {13, 3, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 5, 17, 13}, {7, 5, 5, 3}, {{3, 2}, {0, 2, 1, 0}, {}, 1, false});
    add({1, 4, 17, 19}, {6, 4, 3, 3}, {{}, {2, 2, 2, 2}, {2, 3}});
    add({1, 2, 5, 5}, {3, 2, 3, 3}, {{4, 4}, {6, 6, 6, 6}, {3, 3}});
    add({2, 12, 9, 9}, {8, 3, 3, 3}, {{}, {1, 1, 1, 1}, {}, 4});
    add({1, 6, 7, 11}, {9, 2, 1, 1}, {{}, {}, {}, 3});
    add({1, 3, 64, 65}, {17, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}});
    // Padding and strides that no model has, and few results.
    add({1, 3, 5, 5}, {20, 3, 3, 3},
        {{300000000, 300000000},
         {1000000000, 1000000000, 1000000000, 1000000000},
         {500000000, 500000000}});
    // Windows that lie beyond the input: in part, all but their middle, entirely.
    add({1, 37, 9, 13}, {70, 37, 3, 3}, {{}, {6, 6, 6, 6}, {6, 6}});
    add({2, 8, 5, 7}, {10, 4, 3, 3}, {{}, {7, 7, 7, 7}, {7, 7}, 2});
    add({1, 6, 3, 4}, {7, 6, 3, 3}, {{}, {5, 4, 6, 5}});
    // More columns than a block has.
    add({1, 33, 61, 67}, {5, 33, 7, 7}, {{}, {3, 3, 3, 3}});
    // 1-d and 3-d.
    add({2, 5, 33}, {7, 5, 4}, {{2}, {1, 2}});
    add({1, 7, 129}, {3, 7, 1});
    add({1, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {{2, 1, 1}, {1, 1, 0, 1, 0, 1}});
    add({1, 4, 3, 5, 4}, {6, 2, 2, 2, 2}, {{}, {1, 0, 1, 0, 1, 1}, {2, 1, 1}, 2});
    // Nothing to do, and nothing to sum.
    add({0, 3, 5, 5}, {2, 3, 3, 3});
    add({1, 0, 5, 5}, {2, 0, 3, 3});
    // Many channels, and weights that are computed.
    add({1, 64, 28, 28}, {64, 64, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 256, 14, 14}, {64, 256, 1, 1});
    Case computed = conv_case("Conv", {1, 5, 9, 11}, {7, 5, 3, 3}, {{}, {}, {}, 1, false});
    computed.inputs[1] = fed({7, 5, 3, 3});
    cases->push_back(computed);
    add({1, 7, 13, 17}, {9, 7, 5, 5}, {{}, {2, 2, 2, 2}});
    add({1, 16, 13, 17}, {17, 16, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 16, 14, 14}, {7, 16, 5, 5}, {{}, {2, 2, 2, 2}});
    add({2, 7, 9, 11}, {13, 7, 3, 3}, {{}, {}, {}, 1, false});
    add({1, 32, 28, 28}, {64, 32, 3, 3}, {{}, {1, 1, 1, 1}});
    // As many tiles of six by six results as pay for larger weights.
    add({1, 16, 62, 62}, {17, 16, 3, 3}, {{}, {1, 1, 1, 1}});
}

void add_depthwise(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         ConvWindow window = {}) {
        window.group = input[1];
        cases->push_back(conv_case("Conv", input, weight, window));
    };
    for (int width : {1, 7, 13, 16, 17, 31, 33, 67})
        add({1, 3, 9, width}, {3, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    for (int height : {1, 2, 3, 4, 5, 8})
        add({1, 2, height, 19}, {2, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({2, 5, 17, 35}, {5, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 5, 16, 34}, {5, 1, 5, 5}, {{2, 2}, {2, 1, 2, 3}});
    add({1, 3, 13, 13}, {3, 1, 5, 5}, {{}, {2, 2, 2, 2}, {}, 1, false});
    add({1, 3, 13, 31}, {9, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 2, 21, 23}, {4, 1, 3, 3}, {{3, 5}, {1, 4, 2, 0}, {2, 2}});
    add({1, 2, 21, 23}, {2, 1, 3, 2}, {{2, 3}, {0, 3, 0, 3}, {1, 4}});
    add({1, 2, 3, 3}, {2, 1, 3, 3}, {{2, 2}, {7, 7, 7, 7}});
    add({1, 3, 40, 9}, {3, 1, 1, 1});
    add({2, 4, 77}, {8, 1, 5}, {{2}, {2, 2}});
    add({1, 4, 1001}, {4, 1, 9}, {{}, {8, 0}});
    // More rows than a band has; strides too wide for the band (the product takes it).
    add({1, 1, 700, 300}, {1, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    add({1, 2, 33, 35}, {2, 1, 3, 3}, {{11, 9}, {1, 1, 1, 1}});
    add({1, 4, 3, 5, 6}, {4, 1, 2, 2, 2});
    // Enough channels for the windows of pairs of vectors.
    for (const int kernel : {3, 5})
        for (const int stride : {1, 2}) {
            const int pad = kernel / 2;
            add({1, 67, 9, 21}, {67, 1, kernel, kernel}, {{stride, stride}, {pad, pad, pad, pad}});
        }
    add({1, 64, 14, 14}, {64, 1, 3, 3}, {{}, {1, 1, 1, 1}});
    // Images that are copied: lines of seven pixels, of some more, of few, and of too few.
    add({2, 67, 7, 7}, {67, 1, 5, 5}, {{}, {2, 2, 2, 2}});
    add({1, 70, 5, 10}, {70, 1, 5, 5}, {{}, {2, 1, 0, 3}});
    add({1, 64, 9, 5}, {64, 1, 5, 5}, {{}, {4, 2, 4, 2}, {2, 1}});
    add({1, 64, 6, 3}, {64, 1, 5, 5}, {{}, {2, 2, 2, 2}});
}

void add_transposed(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& input, const std::vector<int>& weight,
                         const ConvWindow& window = {}) {
        cases->push_back(conv_case("ConvTranspose", input, weight, window));
    };
    add({1, 1, 1, 1}, {1, 1, 1, 1});
    add({1, 3, 7, 5}, {3, 4, 3, 3});
    add({2, 5, 13, 7}, {5, 3, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 4, 6, 5}, {4, 3, 3, 2}, {{3, 2}, {0, 1, 2, 0}, {2, 3}, 2});
    add({1, 2, 3, 3}, {2, 3, 2, 2}, {{5, 4}, {}, {}, 1, false});
    add({1, 7, 33}, {7, 5, 4}, {{2}, {1, 1}});
    add({1, 3, 3, 4, 5}, {3, 2, 2, 3, 2}, {{2, 1, 2}, {1, 0, 0, 0, 1, 1}});
    // Strides, windows, dilations and padding that differ; groups, more than a panel of channels,
    // tiles along columns, strides wider than the window, padding beyond it, a single pixel.
    add({2, 20, 9, 14}, {20, 37, 2, 2}, {{2, 2}});
    add({1, 12, 30, 5}, {12, 70, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 9, 11, 8}, {9, 18, 3, 3}, {{2, 2}, {1, 1, 0, 0}});
    add({1, 6, 8, 9}, {6, 20, 5, 3}, {{2, 3}, {4, 1, 0, 2}, {3, 2}});
    add({2, 8, 5, 6}, {8, 13, 4, 3}, {{2, 1}, {1, 1, 1, 1}, {1, 4}, 4});
    add({1, 3, 4, 5}, {3, 40, 2, 1}, {{5, 3}, {1, 0, 0, 0}, {2, 1}});
    add({2, 17, 1, 1}, {17, 19, 4, 4});
    add({1, 5, 3, 2}, {5, 17, 7, 6}, {{}, {3, 2, 3, 2}});
    add({1, 4, 6, 7}, {4, 14, 3, 3}, {{2, 2}, {7, 0, 2, 9}, {2, 3}});
    add({1, 4, 2, 2}, {4, 12, 5, 5}, {{30, 2}, {2, 2, 2, 2}});
    // One difference from the plain window each, and padding as large as the window.
    add({1, 4, 9, 9}, {4, 2, 3, 3}, {{}, {}, {}, 2});
    add({1, 4, 9, 9}, {4, 2, 3, 3}, {{}, {}, {2, 2}});
    add({1, 1, 5, 5}, {1, 1, 1, 1}, {{}, {1, 1, 1, 1}});
    add({1, 2, 4, 4}, {2, 3, 2, 2}, {{3, 3}, {2, 2, 2, 2}});
    add({1, 8, 17, 13}, {8, 9, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 8, 17, 13}, {8, 9, 2, 2}, {{2, 2}});
    add({1, 4, 9, 7}, {4, 5, 3, 3}, {{2, 2}, {0, 0, 1, 1}});
    // More than one block of channels, and of rows.
    add({1, 8, 65, 67}, {8, 9, 4, 4}, {{2, 2}, {1, 1, 1, 1}});
    add({1, 2, 301, 303}, {2, 2, 5, 5}, {{}, {2, 2, 2, 2}});
}

}  // namespace

void add_conv_cases(std::vector<Case>* cases)
{
    add_plain(cases);
    add_depthwise(cases);
    add_transposed(cases);
}

}  // namespace tengine::tools
