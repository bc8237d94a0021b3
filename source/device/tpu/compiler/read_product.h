// SPDX-License-Identifier: Apache-2.0
// The common part of the readers of convolutions (read_product.cc) and of matrix products
// (read_matrix.cc): they make a ProductLayer whose shapes, window and weights are set; then come
// sums to bytes or to bf16.
#pragma once

#include <memory>
#include <vector>

#include "device/tpu/compiler/product_layer.h"
#include "device/tpu/compiler/read.h"

namespace tengine::tpu {

using Product = std::unique_ptr<ProductLayer>;

// The input indices of an integer product's numbers, and a factor beside the scales.
struct ProductInputs
{
    int x, w, y, bias;
    double alpha = 1;
};

// The values of a tensor of zero points; one of 0 when there is none.
std::vector<int> zeros_of(const tensor* zero);

// Scales and zero points of the weights: constant, one or one for each output channel.
bool check_weights(const NodeReader& reader, int index, int channels);

// Bias, factors and the range of the result; the layer goes into the network. `bias` is the index
// of an input.
bool finish_bytes(const NodeReader& reader, const ProductInputs& at, Product layer);
bool finish_float(const NodeReader& reader, int bias, Product layer);

}  // namespace tengine::tpu
