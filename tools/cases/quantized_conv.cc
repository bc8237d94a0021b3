// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cases/quantized.h"

namespace tengine::tools {
namespace {

struct Conv
{
    QuantizedWindow window;
    double x_zero = 117, w_zero = 128, y_zero = 140;
    bool is_per_channel = false, has_bias = true;
    int weight_type = kCaseType;
    double zero_step = 0;  // from a channel's zero point to the next
    double weight_low = 0, weight_high = 255;
    double gain = 1;  // above 1 the results leave the range of a byte
};

Case make_conv(const Conv& conv)
{
    const QuantizedWindow& window = conv.window;
    const int outputs = window.weights[0];
    const double scale = conv.gain * weight_scale(count_products(window.weights));
    const int scale_number = conv.is_per_channel ? outputs : 1;
    Operand weights = constant_bytes(window.weights, conv.weight_type);
    weights.low = conv.weight_low;
    weights.high = conv.weight_high;
    std::vector<double> zeros;
    for (int i = 0; i < scale_number; ++i)
        zeros.push_back(std::fmod(conv.w_zero + conv.zero_step * i, 256));
    Case made = {
        "QLinearConv",
        {fed_bytes(window.input), scales({0.043}), zero_points({conv.x_zero}), weights,
         scales(spread(scale, scale_number)), zero_points(zeros, conv.weight_type), scales({0.057}),
         zero_points({conv.y_zero}), conv.has_bias ? sums({outputs}) : absent()}};
    set_window(window, &made);
    return made;
}

// Those that list_cases() does not have.
std::vector<QuantizedWindow> list_more_windows()
{
    return {{{1, 17, 7, 7}, {13, 17, 1, 1}},
            {{2, 7, 13, 17}, {1, 7, 1, 1}, {2, 2}},
            {{1, 3, 31, 33}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}},
            {{2, 7, 33}, {5, 7, 3}, {2}, {1, 1}, {1}},
            // Depthwise.
            {{1, 13, 17, 17}, {13, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 13},
            {{2, 7, 13, 17}, {7, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 7},
            {{1, 17, 13, 13}, {17, 1, 5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 17},
            {{1, 16, 13, 13}, {16, 1, 3, 3}, {2, 1}, {0, 0, 1, 0}, {1, 1}, 16},
            {{1, 7, 17, 17}, {7, 1, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 7},
            {{1, 5, 9, 11}, {5, 1, 2, 7}, {1, 2}, {1, 3, 0, 3}, {1, 1}, 5},
            {{1, 7, 13, 13}, {14, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 7},
            {{1, 7, 33}, {7, 1, 3}, {1}, {1, 1}, {1}, 7},
            // Groups of several channels.
            {{1, 6, 13, 13}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
            {{2, 9, 7, 11}, {6, 3, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 3},
            {{2, 14, 17}, {14, 2, 5}, {2}, {2, 1}, {1}, 7},
            // Blocks of a product: a few channels beyond a vector's, many, and one after another.
            {{1, 3, 7, 7}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{2, 13, 5, 17}, {17, 13, 1, 1}},
            {{1, 16, 9, 9}, {7, 16, 1, 1}, {2, 2}},
            {{1, 12, 13, 11}, {24, 4, 3, 5}, {2, 1}, {2, 3, 0, 1}, {1, 2}, 3},
            {{1, 87, 3, 3}, {130, 87, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{1, 2, 40, 33}, {9, 2, 7, 7}, {1, 1}, {3, 3, 3, 3}},
            {{1, 29, 5, 5}, {11, 29, 1, 1}},
            {{1, 22, 6, 9}, {41, 22, 2, 1}},
            {{1, 32, 5, 8}, {11, 32, 1, 1}, {2, 1}},
            {{1, 33, 9, 6}, {19, 33, 3, 3}, {1, 1}, {1, 0, 2, 1}},
            {{10, 32, 4, 5}, {17, 32, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{1, 290, 1, 5}, {130, 290, 1, 1}},
            {{1, 290, 1, 2}, {130, 290, 1, 1}, {1, 2}},
            {{3, 2, 300}, {5, 2, 4}, {3}, {2, 7}, {2}},
            {{2, 27, 31}, {12, 9, 3}, {1}, {0, 1}, {1}, 3},
            {{1, 24, 50}, {35, 24, 1}, {1}, {0, 0}, {1}},
            // Products of one element, two output channels for an input channel, no image.
            {{3, 1, 300}, {5, 1, 4}, {3}, {2, 7}, {2}},
            {{1, 4, 5, 5}, {8, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4},
            {{0, 2, 6, 6}, {8, 2, 2, 2}},
            // Three axes.
            {{1, 2, 3, 5, 4}, {6, 2, 2, 3, 2}, {1, 1, 1}, {1, 0, 1, 0, 1, 0}, {1, 1, 1}},
            {{1, 3, 5, 5, 5}, {2, 3, 3, 3, 3}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}}};
}

// Weights of the data's type and of either, with a zero point in the middle and not, and with a
// scale, and a zero point, for each channel.
void add_weights(const QuantizedWindow& window, std::vector<Case>* cases)
{
    for (const int weight_type : {int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
        Conv conv = {window};
        conv.weight_type = weight_type;
        cases->push_back(make_conv(conv));
        if (window.weights[0] > 1) {
            conv.is_per_channel = true;
            cases->push_back(make_conv(conv));
        }
    }
    for (const int weight_type : {kCaseType, int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
        Conv conv = {window};
        conv.weight_type = weight_type;
        conv.w_zero = 101;
        conv.has_bias = false;
        cases->push_back(make_conv(conv));
    }
    if (window.weights[0] > 1) {
        Conv varied = {window};
        varied.is_per_channel = true;
        varied.zero_step = 29;
        varied.has_bias = false;
        cases->push_back(make_conv(varied));
    }
    // Weights with half the range: their distance from the zero point is a byte.
    Conv shifted = {window};
    shifted.is_per_channel = true;
    shifted.weight_low = 64;
    shifted.weight_high = 191;
    shifted.w_zero = 100;
    cases->push_back(make_conv(shifted));
}

// Zero points and results at both ends.
void add_extremes(const QuantizedWindow& window, std::vector<Case>* cases)
{
    for (const double zero : {0, 255}) {
        Conv conv = {window};
        conv.x_zero = zero;
        cases->push_back(make_conv(conv));
        conv = {window};
        conv.y_zero = zero;
        cases->push_back(make_conv(conv));
        conv = {window};
        conv.w_zero = zero;
        conv.gain = 0.5;
        cases->push_back(make_conv(conv));
        conv.x_zero = conv.y_zero = zero;
        cases->push_back(make_conv(conv));
    }
    for (const double gain : {0.02, 7.0, 400.0}) {
        Conv conv = {window};
        conv.gain = gain;
        cases->push_back(make_conv(conv));
        conv.is_per_channel = true;
        conv.weight_type = TENGINE_DT_INT8;
        cases->push_back(make_conv(conv));
    }
}

}  // namespace

void add_more_quantized_convs(std::vector<Case>* cases)
{
    const std::vector<QuantizedWindow> windows = list_quantized_windows();
    const std::vector<QuantizedWindow> more = list_more_windows();
    for (const QuantizedWindow& window : windows)
        add_weights(window, cases);
    for (const QuantizedWindow& window : more) {
        cases->push_back(make_conv({window}));
        add_weights(window, cases);
    }
    const QuantizedWindow &square = windows[3], &deep = windows[6];
    // Like a product, with a window, and depthwise: so few channels that names have all scales.
    const QuantizedWindow plain = {{1, 17, 7, 7}, {7, 17, 1, 1}};
    const QuantizedWindow depthwise = {{1, 7, 17, 17}, {7, 1, 3, 3}, {1, 1},
                                       {1, 1, 1, 1},   {1, 1},       7};
    for (const QuantizedWindow& window : {plain, square, depthwise})
        add_extremes(window, cases);
    Conv conv = {square};
    conv.is_per_channel = true;
    conv.w_zero = 0;
    cases->push_back(make_conv(conv));
    // Results beyond 32 bits, and far below a step.
    conv.w_zero = 128;
    conv.gain = 1e8;
    cases->push_back(make_conv(conv));
    conv = {deep};
    conv.gain = 0.02;
    cases->push_back(make_conv(conv));
}

}  // namespace tengine::tools
