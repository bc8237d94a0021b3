// SPDX-License-Identifier: Apache-2.0
#include "cases/quantized.h"

namespace tengine::tools {
namespace {

struct Conv
{
    QuantizedWindow window;
    double x_zero = 117, w_zero = 128, y_zero = 140;
    bool is_per_channel = false, has_bias = true;
    int weight_type = kCaseType;
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
    const std::vector<double> zeros(static_cast<size_t>(scale_number), conv.w_zero);
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
            // Three axes.
            {{1, 3, 5, 5, 5}, {2, 3, 3, 3, 3}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}}};
}

// Weights of the data's type and of either, with a zero point in the middle and not, and with a
// scale for each channel.
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
