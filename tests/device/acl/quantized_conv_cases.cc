// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "device/acl/quantized_case.h"

namespace tengine::acl {
namespace {

struct Conv
{
    std::vector<int> input, weights;
    std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
    int group = 1;
    int x_zero = 117, w_zero = 128, y_zero = 140;
    bool per_channel = false, bias = true;
    int weight_type = -1, weight_range = 256;
    float gain = 1;  // above 1 the results leave the range of a byte
    std::string refusal = "";
};

// Scales that let results fill the range of a byte.
QuantizedCase make_conv(const Conv& conv)
{
    int length = 1;
    for (size_t i = 1; i < conv.weights.size(); ++i)
        length *= conv.weights[i];
    const int outputs = conv.weights[0];
    const float scale = conv.gain / (90 * std::sqrt(static_cast<float>(length)));
    std::vector<float> weight_scales = {scale};
    std::vector<int> weight_zeros = {conv.w_zero};
    for (int i = 1; i < outputs && conv.per_channel; ++i) {
        weight_scales.push_back(scale * (1 + 0.07F * static_cast<float>(i % 5)));
        weight_zeros.push_back(conv.w_zero);
    }
    QuantizedCase made = {
        "QLinearConv",
        {fed_bytes(conv.input), scales({0.043F}), zero_points({conv.x_zero}),
         constant_bytes(conv.weights, conv.weight_type, conv.weight_range), scales(weight_scales),
         zero_points(weight_zeros, conv.weight_type), scales({0.057F}), zero_points({conv.y_zero}),
         conv.bias ? sums({outputs}) : none()}};
    made.lists = {{"strides", conv.strides}, {"pads", conv.pads}, {"dilations", conv.dilations}};
    made.integers = {{"group", conv.group}};
    made.refusal = conv.refusal;
    return made;
}

// Images, windows and channels, for one way to have weights.
std::vector<Conv> list_shapes()
{
    return {
        {{1, 1, 1, 1}, {1, 1, 1, 1}},
        {{1, 17, 7, 7}, {13, 17, 1, 1}},
        {{2, 7, 13, 17}, {1, 7, 1, 1}, {2, 2}},
        {{1, 3, 13, 13}, {7, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
        {{2, 7, 17, 9}, {13, 7, 3, 5}, {2, 1}, {0, 2, 1, 1}},
        {{1, 5, 17, 17}, {17, 5, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
        {{1, 3, 31, 33}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}},
        {{1, 64, 9, 9}, {33, 64, 3, 3}, {1, 1}, {1, 1, 1, 1}},
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
    };
}

// Zero points at both ends, for a matrix-like, a windowed and a depthwise one.
void add_extremes(std::vector<QuantizedCase>& cases)
{
    for (const Conv& shape : {list_shapes()[1], list_shapes()[3], list_shapes()[9]}) {
        for (const int zero : {0, 255}) {
            Conv conv = shape;
            conv.x_zero = zero;
            cases.push_back(make_conv(conv));
            conv = shape;
            conv.y_zero = zero;
            cases.push_back(make_conv(conv));
            conv = shape;
            conv.w_zero = zero;
            conv.gain = 0.5F;
            cases.push_back(make_conv(conv));
            conv.x_zero = conv.y_zero = zero;
            cases.push_back(make_conv(conv));
        }
        for (const float gain : {0.02F, 7.0F, 400.0F}) {
            Conv conv = shape;
            conv.gain = gain;
            cases.push_back(make_conv(conv));
            conv.per_channel = true;
            conv.weight_type = TENGINE_DT_INT8;
            cases.push_back(make_conv(conv));
        }
    }
}

void add_refusals(std::vector<QuantizedCase>& cases)
{
    Conv conv = list_shapes()[3];
    conv.per_channel = true;
    conv.w_zero = 0;
    conv.refusal = "weights with a scale for each channel reach";
    cases.push_back(make_conv(conv));
    conv.w_zero = 128;
    conv.gain = 1e8F;
    conv.refusal = "ACL computes them in 32 bits";
    cases.push_back(make_conv(conv));
    conv = list_shapes()[7];
    conv.gain = 0.02F;
    conv.refusal = "ACL treats factors below";
    cases.push_back(make_conv(conv));
    conv = {{1, 3, 5, 5, 5}, {2, 3, 3, 3, 3}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}};
    conv.refusal = "a window over 3 axes";
    cases.push_back(make_conv(conv));
}

}  // namespace

void add_quantized_conv_cases(std::vector<QuantizedCase>& cases)
{
    for (const Conv& shape : list_shapes()) {
        for (const int weight_type : {-1, int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
            Conv conv = shape;
            conv.weight_type = weight_type;
            cases.push_back(make_conv(conv));
            conv.w_zero = 101;
            conv.bias = false;
            cases.push_back(make_conv(conv));
        }
        for (const int weight_type : {int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
            Conv conv = shape;
            conv.weight_type = weight_type;
            conv.per_channel = true;
            cases.push_back(make_conv(conv));
        }
        Conv shifted = shape;
        shifted.per_channel = true;
        shifted.weight_range = 128;
        shifted.w_zero = 100;
        cases.push_back(make_conv(shifted));
    }
    add_extremes(cases);
    add_refusals(cases);
}

}  // namespace tengine::acl
