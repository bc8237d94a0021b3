// SPDX-License-Identifier: Apache-2.0
// Operands and windows of the cases on int8 and uint8. Scales let results fill the range of the
// type, and none is a short binary fraction, so that no exact value lies in the middle of two
// integers.
#pragma once

#include <vector>

#include "cases/case.h"

namespace tengine::tools {

// Biases of quantised accumulators.
Operand sums(std::vector<int> dims);

struct QuantizedWindow
{
    std::vector<int> input, weights;
    std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
    int group = 1;
};

// Those of list_cases().
std::vector<QuantizedWindow> list_quantized_windows();

// Sets the window's attributes, and the types to int8 and uint8.
void set_window(const QuantizedWindow& window, Case* of);

// The weight scale for an accumulator of this number of products.
double weight_scale(int products);
// The products of a result of a convolution.
int count_products(const std::vector<int>& weights);
// This number of scales around `scale`.
std::vector<double> spread(double scale, int number);

void add_more_quantized_convs(std::vector<Case>* cases);
void add_more_quantized_products(std::vector<Case>* cases);
void add_more_quantized_pairs(std::vector<Case>* cases);
void add_more_quantized_pools(std::vector<Case>* cases);

}  // namespace tengine::tools
